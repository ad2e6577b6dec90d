"""Results to exit statuses: which fact outranks which."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from fuzzer.errors import ExitStatus, of_system
from fuzzer.results import CampaignResult, CheckResult, CheckRow, ReplayResult
from reports import junit
from reports.finding_row import KNOWN, FindingRow, Standing, row_of
from reports.matrix import Column, ReplayRow
from reports.tally import tally_of
from tests.reports.reports_data import finding, known_finding, report


def told(standing: Standing, tier: str = "B") -> FindingRow:
    """A finding of the cause "a"."""
    row = replace(row_of(finding(tier=tier)), cause="a", standing=standing, known=standing in KNOWN)
    return replace(row, signature=f"{row.signature}{tier}")


WELL = {"cases": 100, "generated": 100}
CASES: list[tuple[str, dict[str, Any], dict[str, int], ExitStatus]] = [
    ("nothing found", {}, WELL, ExitStatus.CLEAN),
    ("a new finding", {"findings": (row_of(finding(tier="B")),)}, WELL, ExitStatus.NEW_FINDING),
    ("a known finding", {"findings": (known_finding("FuseOps"),)}, WELL, ExitStatus.CLEAN),
    ("what was mended and is back", {"findings": (told("returned"),)}, WELL, ExitStatus.NEW_FINDING),
    ("a limit of TVM", {"findings": (told("limitation"),)}, WELL, ExitStatus.CLEAN),
    (
        "one cause, seen in order A too",
        {"findings": (told("new", "C"), told("new", "A"))},
        WELL,
        ExitStatus.NEW_FINDING,
    ),
    ("an unusual order", {"findings": (row_of(finding(tier="C")),)}, WELL, ExitStatus.CLEAN),
    ("own fault outranks", {"findings": (row_of(finding()),), "own_fault": "x"}, WELL, ExitStatus.OWN_FAULT),
    ("1 % invalid is borne", {}, {"cases": 99, "generated": 100, "invalid": 1}, ExitStatus.CLEAN),
    ("2 % invalid is not", {}, {"cases": 98, "generated": 100, "invalid": 2}, ExitStatus.OWN_FAULT),
    ("no case at all", {}, {}, ExitStatus.OWN_FAULT),
    ("an own pass's failure that was not reduced", {"unreduced": 1, "new_tiers": ("B",)}, WELL, ExitStatus.NEW_FINDING),
    ("another pass's failure that was not reduced", {"unreduced": 1}, WELL, ExitStatus.CLEAN),
    ("an own pass's failure in an odd order", {"unreduced": 1, "new_tiers": ("C",)}, WELL, ExitStatus.CLEAN),
    ("interrupted at once", {"interrupted": True}, {}, ExitStatus.INTERRUPTED),
    (
        "interrupted after a finding",
        {"interrupted": True, "findings": (row_of(finding()),)},
        WELL,
        ExitStatus.NEW_FINDING,
    ),
]


def test_what_cannot_be_trusted_says_why() -> None:
    spoilt, skipped = tally_of({"cases": 9, "generated": 10, "invalid": 1}), tally_of({"generated": 4})
    skipped.skipped.update({"rare": 1, "killed from outside, twice": 3})
    assert "the generator is wrong" in str(CampaignResult(spoilt, (), 1.0).fault())
    assert "a loaded pass has spoilt the process (Mine)" in str(
        CampaignResult(spoilt, (), 1.0, loaded=("Mine",)).fault()
    )
    assert CampaignResult(skipped, (), 1.0).fault() == "not one case was judged: killed from outside, twice"


@pytest.mark.parametrize(("what", "facts", "counts", "status"), CASES, ids=[case[0] for case in CASES])
def test_campaign(what: str, facts: dict[str, Any], counts: dict[str, int], status: ExitStatus) -> None:
    result = CampaignResult(**{"tally": tally_of(counts), "findings": (), "wall_s": 1.0, **facts})
    assert result.status(("A", "B")) == status, what


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [(("passed", "skipped", "inconclusive"), 0), (("passed", "failed"), 1), ((), 0)],
)
def test_check(verdicts: tuple[str, ...], status: int) -> None:
    rows = tuple(CheckRow("well_formed", "FuseOps", verdict) for verdict in verdicts)
    assert CheckResult(rows).status() == status


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (("passes", "fixed", "fails as known", "changed", "unportable"), 0),
        (("passes", "regressed"), 4),
        (("regressed", "error"), 4),
        (("passes", "error"), 3),
        ((), 0),
    ],
)
def test_replay(outcomes: tuple[str, ...], status: int) -> None:
    assert ReplayResult(tuple(ReplayRow("case", "0.27.0", outcome) for outcome in outcomes)).status() == status


def test_a_tvm_that_cannot_be_had_is_no_clean_replay() -> None:
    rows = (ReplayRow("case", "0.27.0", "passes"),)
    assert ReplayResult(rows, (Column("0.27.0"), Column("9.9", fault="no such version"))).status() == 3
    assert ReplayResult(rows, (Column("0.27.0"),)).status() == 0


@pytest.mark.parametrize("fail_on", [("A", "B"), ("C",), ()])
def test_junit_fails_what_the_exit_status_fails(fail_on: tuple[str, ...]) -> None:
    odd, back = finding("CSE", tier="C"), replace(row_of(finding("DCE", tier="C")), standing="returned")
    whole = report(finding("FuseOps", tier="B"), odd, back, known_finding("Gradient"))
    whole = replace(whole, facts=replace(whole.facts, fail_on=fail_on))
    failed = list(ElementTree.fromstring(junit.render(whole)).iter("failure"))
    assert len(failed) == {"A": 1, "C": 2, "": 0}["".join(fail_on)[:1]]
    result = CampaignResult(tally_of(WELL), whole.findings, 1.0)
    assert (result.status(fail_on) == ExitStatus.NEW_FINDING) is bool(failed)


def test_a_working_directory_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    assert of_system(FileNotFoundError(errno.ENOENT, "No such file or directory")) == "no such file or directory"
    monkeypatch.setattr(os, "getcwd", gone)
    assert of_system(FileNotFoundError(errno.ENOENT, "No such file or directory")).startswith("the working directory: ")
