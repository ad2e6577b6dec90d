"""What the plugin counts of calls that are not judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus.causes.cause import UNCERTAIN
from corpus.finding import Finding
from fuzzer.plugin import ending
from fuzzer.plugin.ending import as_it_is
from fuzzer.plugin.spy import Missed
from fuzzer.plugin.suite_watch import Ledger, Sighting, SuiteWatch
from fuzzer.protocol import Failure
from reports.summary import read_out
from tests.reports.reports_data import finding

SEEN = Sighting(Failure(0, "survives", "crash", "it crashed", "", "FuseOps", "B"), 0, finding().case, 1.0, count=3)


def test_the_first_exception_of_ours_is_kept_and_each_is_counted() -> None:
    one, other = Ledger(), Ledger()
    one.missed["own fault would begin like this"] += 1
    other.at_fault("KeyError: 'x'")
    other.at_fault("ValueError: y")
    one.merge(other)
    assert one.fault == "own fault: KeyError: 'x'"
    assert one.missed.total() == 3


def test_a_pass_that_raises_is_counted_as_rejecting_its_module(tmp_path: Path) -> None:
    watch = SuiteWatch(tmp_path, 1.0)
    watch._missed(Missed("whatever is said", raised=True), "Mine")
    watch._missed(Missed("the pass raised"), "Mine")
    assert watch.ledger.tally.passes["Mine"]["rejected"] == 1
    assert watch.ledger.missed == {"whatever is said": 1, "the pass raised": 1}


def reduced(monkeypatch: pytest.MonkeyPatch, ledger: Ledger, scratch: Path, shrink: Any) -> Finding | None:
    monkeypatch.setattr(ending, "_shrink", shrink)
    return ending._reduced(SEEN, scratch, float("inf"), ledger)


def test_a_fault_of_ours_in_the_reduction_leaves_the_finding_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_fault(*_: object) -> Finding:
        raise KeyError("ours")

    ledger = Ledger()
    found = reduced(monkeypatch, ledger, tmp_path, at_fault)
    assert found is not None and found.case == SEEN.case and found.count == 3
    assert found.cause.startswith(UNCERTAIN) and "KeyError" in found.own_fault
    assert ledger.fault is not None and "KeyError" in ledger.fault


def test_a_fault_of_ours_while_a_cause_is_looked_for_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(as_it_is(SEEN), own_fault="looking for the cause: KeyError")
    ledger, silent = Ledger(), Ledger()
    found = reduced(monkeypatch, ledger, tmp_path, lambda *_: small)
    assert found is not None and found.verdict == small.verdict
    assert ledger.fault is not None and "looking for the cause: KeyError" in ledger.fault
    reduced(monkeypatch, silent, tmp_path, lambda *_: replace(small, own_fault=""))
    assert silent.fault is None


def test_what_has_not_shown_again_stands_in_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "_findings", lambda *_: ([], 2))
    ended = ending.end(Ledger(), tmp_path / "out", tmp_path, ".")
    assert read_out(tmp_path / "out").facts.unconfirmed == 2
    assert any("2 did not show again" in line for line in ended.lines)
