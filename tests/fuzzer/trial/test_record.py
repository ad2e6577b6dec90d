"""What is counted of a verdict, and what a table of verdicts leaves out."""

from __future__ import annotations

import pytest

from fuzzer.oneshot.check import row_of
from fuzzer.render import show_check
from fuzzer.results import CheckResult
from fuzzer.trial.record import Record
from oracles.verdict import PASSED, Skipped

NO_GAP = Skipped("about another pass", applies=False)
GAP = Skipped("does not apply: or so it says")


def test_where_there_was_nothing_to_judge_is_counted_apart_too() -> None:
    record = Record(0)
    for verdict in (NO_GAP, GAP, PASSED):
        record.add_verdict("normal_form", verdict)
    counts, _ = record.take()
    assert counts.skipped == {"does not apply: about another pass": 1, GAP.reason: 1}
    assert counts.not_applicable == {"about another pass": 1}
    assert counts.oracles["normal_form"] == {"passed": 1, "failed": 0, "skipped": 2, "inconclusive": 0}


def test_what_does_not_apply_is_left_out_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    rows = tuple(row_of("normal_form", "FuseOps", verdict) for verdict in (NO_GAP, GAP, PASSED))
    show_check(CheckResult(rows), as_json=False)
    said = capsys.readouterr().out
    assert "about another pass" not in said and GAP.reason in said
    assert "1 passed, 1 skipped, 1 not applicable." in said
