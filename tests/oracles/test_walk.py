"""The walk of a case through its passes: positions follow what the rows say, and a walk ends where a pass raised."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from generators.case import PassCall
from generators.passes.phases import HIGH
from generators.passes.row import EVERY_SCOPE, Meaning, Phase
from generators.passes.table import PASSES
from generators.passes.traits import Synchronises
from oracles.reference.calling import direct
from oracles.trace import Position, Raised
from oracles.walk import step_of, walk
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, row_of

SCRIPT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.add(x, w)
            R.output(y)
        return y
"""
SAME = module_pass(lambda module: module, "HandsOn")
RENAMES = module_pass(lambda module: tvm.IRModule({"other": module["main"]}), "Renames")


def raising(module: Any) -> Any:
    raise TypeError("planted")


RAISES = module_pass(raising, "Raises")


def walked(start: Position, *calls: PassCall, **rows: Any) -> list[Any]:
    known = {call.name: row_of(call.name) for call in calls}
    return list(walk(start, calls, {**known, **PASSES, **rows}, RealBench()))


@pytest.mark.parametrize("gives", [*Phase, None])
def test_a_pass_leads_to_the_phase_that_its_row_gives_the_first_one_included(gives: Phase | None) -> None:
    """`Phase.HIGH` is 0, which `row.gives or phase` took for no phase: AlterOpImpl gives it."""
    start = Position.at(module_of(SCRIPT), Phase.LEGAL)
    (step,) = walked(start, SAME, HandsOn=row_of("HandsOn", gives=gives))
    assert step.end is not None
    assert step.end.phase == (Phase.LEGAL if gives is None else gives)
    assert step.end.synchronised == (EVERY_SCOPE if gives is not None and gives > Phase.SYNCED else frozenset())


def test_what_a_pass_of_the_table_leads_to_is_in_no_place_taken_for_nothing() -> None:
    """Held over the table, so that a row that gives HIGH is always walked as one."""
    giving_high = [row for row in PASSES.values() if row.place.gives is Phase.HIGH]
    assert giving_high
    start = Position.at(module_of(SCRIPT), Phase.LEGAL)
    for row in giving_high:
        step = step_of(0, start, PassCall(row.name, row.name), row, start.module)
        assert step.end is not None
        assert step.end.phase is Phase.HIGH


def test_the_calling_convention_is_followed_from_pass_to_pass() -> None:
    calls = (
        PassCall("LiftTransformParams", "relax.transform.LiftTransformParams()"),
        PassCall("BundleModelParams", "relax.transform.BundleModelParams()"),
    )
    first, second = walked(Position.at(module_of(SCRIPT)), *calls)
    assert first.start.calling is direct
    assert first.end.calling is second.start.calling is not direct
    assert second.end.calling is not first.end.calling


def test_a_walk_ends_where_a_pass_raised_and_that_step_is_its_last() -> None:
    steps = walked(Position.at(module_of(SCRIPT)), SAME, RAISES, SAME)
    assert [step.call.name for step in steps] == ["HandsOn", "Raises"]
    assert isinstance(steps[-1].outcome, Raised)
    assert (steps[-1].end, steps[-1].after, steps[-1].changed) == (None, None, False)
    assert steps[-1].error.kind == "TypeError"


def test_a_pass_out_of_its_phase_leaves_the_module_between_two_for_good() -> None:
    narrow = row_of("Renames", phases=HIGH)
    first, second = walked(Position.at(module_of(SCRIPT), Phase.LEGAL), RENAMES, SAME, Renames=narrow)
    assert first.changed and not first.start.between
    assert first.end.between and second.end.between


def test_a_pass_out_of_its_phase_that_changes_nothing_leads_nowhere() -> None:
    """LegalizeOps of a module that is legalised, FuseOps without patterns: the rest of the build is as it was."""
    start = Position.at(module_of(SCRIPT), Phase.LEGAL)
    narrow = row_of("HandsOn", phases=HIGH, gives=Phase.PACKED)
    first, second = walked(start, SAME, RENAMES, HandsOn=narrow)
    assert first.end == start
    assert second.end is not None and not second.end.between


def test_a_pass_that_changes_nothing_is_held_to_what_it_says_of_calls_and_barriers() -> None:
    """In whatever phase: one that should have changed something is wrong."""
    says = row_of("HandsOn", phases=HIGH, calling="bind_params", traits=(Synchronises(("shared",)),))
    for phase in (Phase.LEGAL, *HIGH):
        start = Position.at(module_of(SCRIPT), phase)
        (step,) = walked(start, SAME, HandsOn=says)
        assert step.end is not None and step.end.calling is not start.calling
        assert step.end.synchronised == {"shared"} and step.end.phase is phase


@pytest.mark.parametrize(
    ("first", "second", "after"),
    [
        ("float16", None, "float16"),
        ("float16", "bfloat16", "bfloat16"),
        ("float8_e5m2", "float16", "float8_e5m2"),
        (None, None, None),
    ],
)
def test_numbers_are_held_to_the_coarsest_precision_that_a_pass_has_lowered_them_to(
    first: str | None, second: str | None, after: str | None
) -> None:
    again = module_pass(lambda module: tvm.IRModule({"third": module["other"]}), "Again")
    rows = {"Renames": row_of("Renames", lowers_to=first), "Again": row_of("Again", lowers_to=second)}
    steps = walked(Position.at(module_of(SCRIPT)), RENAMES, SAME, again, **rows)
    assert [step.end.floor for step in steps] == [first, first, after]


def test_a_pass_that_finds_nothing_to_lower_lowers_no_precision_and_no_numbers_are_lost() -> None:
    says = row_of("HandsOn", lowers_to="float16", meaning=Meaning.CHANGED)
    (step,) = walked(Position.at(module_of(SCRIPT)), SAME, HandsOn=says)
    assert (step.end.floor, step.end.lost) == (None, None)


def test_tiers_and_what_is_under_test_go_into_the_steps() -> None:
    bench, start = RealBench(), Position.at(module_of(SCRIPT))
    rows = {"HandsOn": row_of("HandsOn"), "Raises": row_of("Raises")}
    steps = list(walk(start, (SAME, RAISES), rows, bench, tiers=("A", "C"), under_test={"Raises"}))
    assert [(step.index, step.tier, step.under_test) for step in steps] == [(0, "A", False), (1, "C", True)]


def test_the_next_pass_gets_what_the_step_before_ended_with() -> None:
    made = module_pass(lambda module: tvm.IRModule({"main": module["main"]}), "Makes")
    first, second = walked(Position.at(module_of(SCRIPT)), made, SAME)
    assert second.start == first.end
    assert first.changed is False, "equal functions of other names of variables are the same program"


def test_a_position_says_in_a_line_where_it_is() -> None:
    start = Position.at(module_of(SCRIPT), Phase.LEGAL, synchronised=EVERY_SCOPE)
    assert str(start) == "LEGAL; barriers explicit; functions main"
