"""Case folders that tests of this room and of the commands put somewhere; no TVM reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.finding import Finding
from corpus.findings import save_finding, stored_from
from corpus.store import write_case
from tests.reports.reports_data import finding


def found(cause: str | None, culprit: str = "FuseOps", message: str = "Var x is not defined", **facts: str) -> Finding:
    """A finding with a cause."""
    return replace(finding(culprit, message, **facts), cause=cause or "")  # type: ignore[arg-type]


def put_case(folder: Path, cause: str | None) -> None:
    """A case folder."""
    write_case(folder, stored_from(found(cause)), "exit(1)\n", "# A case\n")


def put_finding(out: Path, finding: Finding) -> Path:
    """The folder of a finding under OUT."""
    return save_finding(out, finding)
