"""An error of ours in one step of the reducer costs what this step would have found, and is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import pytest

from corpus.reduce import STEPS, Candidate, Smallest
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from corpus.reduce.search import READING, REBUILDING, ReductionStep, search
from tests.corpus.test_reduce_search import noise, relu_of_matmul

searching = import_module("corpus.reduce.search")  # the package has a function of this name


def with_steps(steps: Sequence[ReductionStep], **options: Any) -> Smallest:
    return search(
        noise(12, 3), relu_of_matmul, steps, budget_s=1e6, max_calls=2000, clock=lambda: 0.0, **options
    )  # fmt: skip


def _raises(view: PlanView) -> Sequence[Edit]:
    raise KeyError("a binding that is gone")


def _raises_later(view: PlanView) -> Sequence[Edit]:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        raise AssertionError("no such\nparameter")

    return [edit, edit]


FAULTS = ((_raises, "KeyError: 'a binding that is gone'"), (_raises_later, "AssertionError: no such parameter"))


@pytest.mark.parametrize("edits, fault", FAULTS)
def test_an_error_in_one_step_leaves_the_others(edits: Callable[[PlanView], Sequence[Edit]], fault: str) -> None:
    whole = with_steps(STEPS)
    broken = with_steps([ReductionStep("broken", edits, as_it_is=True), *STEPS, ReductionStep("last", edits)])
    assert broken.bindings_after == whole.bindings_after == 2 and broken.finished
    assert broken.faults == (f"broken: {fault}", f"last: {fault}")
    assert broken.stats().faulty_steps == 2 and whole.stats().faulty_steps == 0 == len(whole.faults)


def test_an_error_while_rebuilding_leaves_what_needs_no_rebuilding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(draft: object) -> object:
        raise RecursionError("too deep")

    monkeypatch.setattr(searching, "realise", fails)
    reduction = with_steps(STEPS)
    assert reduction.whole and reduction.faults == (f"{REBUILDING}: RecursionError: too deep",)
    assert relu_of_matmul(reduction.candidate)


def test_an_error_while_looking_at_what_was_taken_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: Callable[..., PlanView] = searching.view_of
    times: list[int] = []

    def fails(plan: ReductionPlan, module: Any) -> PlanView:
        times.append(1)
        if len(times) > 3:
            raise IndexError("a draft without a block")
        return looked(plan, module)

    taken: list[Candidate] = []
    monkeypatch.setattr(searching, "view_of", fails)
    reduction = with_steps(STEPS, on_success=taken.append)
    assert not reduction.finished and reduction.candidate is taken[-1]
    assert len(reduction.faults) == 1 and reduction.faults[0].endswith("IndexError: a draft without a block")


def test_what_the_predicate_raises_still_ends_the_search() -> None:
    def raises(candidate: Candidate) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        search(noise(12, 3), raises, STEPS, budget_s=1e6, max_calls=9, clock=lambda: 0.0)


def test_a_module_that_we_cannot_read_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(candidate: Candidate) -> ReductionPlan:
        raise NotImplementedError("a node without a draft")

    monkeypatch.setattr(searching, "plan_of", fails)
    reduction = with_steps(STEPS)
    assert not reduction.finished and reduction.bindings_before == reduction.bindings_after > 2
    assert reduction.faults == (f"{READING}: NotImplementedError: a node without a draft",)
