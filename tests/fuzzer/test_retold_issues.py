"""The tier in an issue is the best of all sightings of its cause."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from corpus.findings import save_finding
from fuzzer.retold_issues import retell_issues
from reports.finding_row import row_of
from tests.reports.reports_data import finding


def test_the_issue_of_each_finding_has_the_tier_of_its_cause(tmp_path: Path) -> None:
    found = [replace(finding(name), tier=tier, cause=cause) for name, tier, cause in
             (("FuseOps", "C", "a"), ("CSE", "A", "a"), ("FuseTIR", "C", "b"))]  # fmt: skip
    issues = [save_finding(tmp_path, one) / "issue.md" for one in found]
    before = [issue.read_text() for issue in issues]
    rows = [row_of(one) for one in found]
    retell_issues(tmp_path, rows, "b")
    assert [issue.read_text() for issue in issues] == before
    retell_issues(tmp_path, rows)
    assert "\nSeverity: official pipeline. " in issues[0].read_text()
    assert before[0].replace("Severity: odd order. It takes an order of passes that no pipeline of TVM has.", "") == (
        issues[0].read_text().replace("Severity: official pipeline. An official pipeline shows it.", "")
    )
    assert [issue.read_text() for issue in issues[1:]] == before[1:]


def test_an_issue_that_is_not_there_or_leads_elsewhere_is_left_alone(tmp_path: Path) -> None:
    one, other = (replace(finding(name), cause="a", tier=tier) for name, tier in (("FuseOps", "C"), ("CSE", "A")))
    issue = save_finding(tmp_path / "out", one) / "issue.md"
    kept = tmp_path / "kept.md"
    issue.rename(kept)
    os.symlink(kept, issue)
    text = kept.read_text()
    retell_issues(tmp_path / "out", [row_of(one), row_of(other)])
    assert kept.read_text() == text
