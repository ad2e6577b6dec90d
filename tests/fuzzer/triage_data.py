"""What a run leaves, for tests of triage: three findings of two causes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from corpus.finding import Finding
from corpus.registry import cause_id, read_registry
from reports.finding_row import row_of
from reports.summary import Report, write_out
from tests.corpus.stored_cases import found, put_finding
from tests.reports.reports_data import facts, tally

TODAY = date(2026, 11, 23)
FINDINGS = (
    found("a", "FuseOps", "first of a", tier="C", at_s=1.0),
    found("a", "CSE", "second of a", tier="A", at_s=2.0),
    found("b", "DeadCodeElimination", at_s=3.0),
)
A, B = cause_id("a"), cause_id("b")


def left_by_a_run(out: Path, *findings: Finding) -> Path:
    """The folder of a run that has found these."""
    for one in findings:
        put_finding(out, one)
    write_out(out, Report(facts(), tally(), tuple(row_of(one) for one in findings)))
    return out


def titles(known: Path) -> dict[str, str]:
    """The status of each cause of a registry."""
    return {entry.cause: entry.status for entry in read_registry(known).entries}
