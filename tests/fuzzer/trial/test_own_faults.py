"""A finding outlives what raises in our own code while more is asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus.causes.cause import UNCERTAIN
from corpus.finding import Finding
from corpus.replayable import CORPUS
from corpus.store import read_case
from fuzzer.trial import rejudge
from fuzzer.trial.cause import facts
from fuzzer.trial.own_faults import OwnFaults
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.trial.shrinking import shrink
from oracles.forked import ChildRaised
from tests.fuzzer.trial.test_official import of_corpus, plan_at

WRONG_NUMBERS = "canonicalize-loop-begin"
BUILT_CODE_ENDS = "bfloat16-choice-cast-to-uint8"


def raising(*_: Any) -> Any:
    raise ZeroDivisionError("division by zero")


def found(slug: str, folder: Path) -> Finding | None:
    plan = plan_at(folder)
    failure, case, _ = of_corpus(slug, plan)
    return shrink.shrink(plan, repertoire_of(plan), failure, case, read_case(CORPUS / slug).case, 60.0)


@pytest.mark.parametrize(
    ("slug", "raises", "told"),
    [
        (BUILT_CODE_ENDS, "_first_wrong", shrink.LOWERING_TO_BLAME),
        pytest.param(WRONG_NUMBERS, "expectations_of", shrink.EXPECTED, marks=pytest.mark.deep),
        pytest.param(WRONG_NUMBERS, "whose_fault", shrink.WHOSE, marks=pytest.mark.deep),
        pytest.param(WRONG_NUMBERS, "aftermath_of", shrink.AFTER, marks=pytest.mark.deep),
    ],
)
def test_a_fault_of_ours_loses_no_finding(
    slug: str, raises: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shrink, raises, raising)
    finding = found(slug, tmp_path)
    assert finding is not None
    assert finding.cause.startswith(UNCERTAIN)
    assert finding.own_fault.startswith(f"{told}: ZeroDivisionError: division by zero (test_own_faults.py:")
    assert (finding.aftermath.complaint, finding.aftermath.outputs) == ("", ()) or raises != "aftermath_of"


@pytest.mark.deep
def test_a_fault_of_ours_in_the_look_at_the_cause_makes_it_a_guess(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "_facts", raising)
    finding = found(WRONG_NUMBERS, tmp_path)
    assert finding is not None
    assert finding.cause.startswith(UNCERTAIN)
    assert "ZeroDivisionError: division by zero" in finding.own_fault


@pytest.mark.deep
def test_a_finding_without_a_fault_says_nothing(tmp_path: Path) -> None:
    finding = found(WRONG_NUMBERS, tmp_path)
    assert finding is not None
    assert (finding.own_fault, finding.cause.startswith(UNCERTAIN)) == ("", False)
    assert finding.expectations and finding.aftermath.outputs


@pytest.mark.deep
@pytest.mark.parametrize("from_candidate", [2, 5])
def test_a_fault_of_ours_over_a_candidate_refuses_it_and_keeps_what_was_found(
    from_candidate: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = found(WRONG_NUMBERS, tmp_path)
    looked = rejudge.unguarded_divisions
    times: list[int] = []

    def raises_later(module: Any) -> int:
        times.append(1)
        return raising() if len(times) == from_candidate else looked(module)

    monkeypatch.setattr(rejudge, "unguarded_divisions", raises_later)
    finding = found(WRONG_NUMBERS, tmp_path)
    assert whole is not None and whole.reduced is not None and whole.reduced.faulty_steps == 0
    assert finding is not None and finding.reduced is not None
    assert len(times) > from_candidate  # The search has gone on.
    assert finding.reduced.faulty_steps == 1
    assert (finding.signature, finding.own_fault) == (whole.signature, "")


def test_faults_are_joined_in_order() -> None:
    faults = OwnFaults()

    def of_a_child() -> int:
        raise ChildRaised("KeyError: 'x' (a.py:1)")

    answers = [faults.unless_at_fault(*each, 7) for each in (("one", of_a_child), ("two", raising), ("three", int))]
    assert answers == [7, 7, 0]
    assert faults.lines[0] == "one: KeyError: 'x' (a.py:1)"
    assert str(faults).split("; ")[1].startswith("two: ZeroDivisionError: division by zero (")
