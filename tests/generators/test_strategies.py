"""The public strategies, used as their users do: drawn things are valid, shrink, and become small."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from random import Random
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from tvm import relax

from generators import tvm_api
from generators.case import Case
from generators.passes.sequences import DrawnSequence
from generators.passes.table import PASSES
from generators.program import Program
from generators.relax.knobs import Knobs
from generators.strategies import cases, pass_sequences, programs, relax_modules
from generators.unavailable import Unavailable

hypothesis_seed = hypothesis.seed(20)
few = settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))
search = settings(few, max_examples=150, phases=(Phase.generate, Phase.shrink))
SMALL = Knobs(operators=(1, 3))


def operators_in(module: Any) -> list[str]:
    """Names of the operators called in the Relax functions of a module."""
    found: list[str] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Call) and (name := tvm_api.op_name(expr)):
            found.append(name)

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return found


@hypothesis_seed
@few
@given(relax_modules())
def test_modules_are_well_formed(module: Any) -> None:
    assert relax.analysis.check_well_formed(module)
    assert "main" in {g.name_hint for g in module.functions}


@hypothesis_seed
@few
@given(relax_modules(Knobs(operators=(1, 2)), wants=("num_input",)))
def test_wanted_features_are_there(module: Any) -> None:
    assert "num_input" in module["main"].attrs


@hypothesis_seed
@few
@given(programs())
def test_programs_come_with_the_arguments_of_their_functions(program: Program) -> None:
    assert program.calls[0].function == "main"
    assert all(len(call.arguments) == len(program.module[call.function].params) for call in program.calls)


@hypothesis_seed
@few
@given(pass_sequences(kinds=("walk",), length=3))
def test_sequences_name_passes_of_the_table(drawn: DrawnSequence) -> None:
    assert drawn.passes
    assert len(drawn.tiers) == len(drawn.passes)
    assert {call.name for call in (*drawn.setup, *drawn.passes)} <= set(PASSES)


@hypothesis_seed
@few
@given(pass_sequences(["DeadCodeElimination"], kinds=("single",)))
def test_sequences_are_limited_to_what_is_under_test(drawn: DrawnSequence) -> None:
    assert [call.name for call in drawn.passes] == ["DeadCodeElimination"]


@hypothesis_seed
@few
@given(cases(["FoldConstant", "EliminateCommonSubexpr"]))
def test_cases_hold_a_readable_module(case: Case) -> None:
    text = case.module
    module = tvm_api.module_from_json(text.json) if text.json else tvm_api.module_from_script(text.script)
    assert relax.analysis.check_well_formed(module)
    assert case.passes
    assert case.target == "llvm"


@pytest.mark.deep
def test_a_counterexample_becomes_small() -> None:
    """A user's pass that is wrong on two common operators: little more than one call of them is left, with most seeds
    of the search."""
    wrong = {"relax.add", "relax.multiply"}
    left = []
    for seed in range(3):
        smallest = hypothesis.find(
            relax_modules(SMALL),
            lambda module: bool(wrong & set(operators_in(module))),
            settings=search,
            random=Random(seed),
        )
        assert wrong & set(operators_in(smallest))
        left.append(len(operators_in(smallest)))
    assert sorted(left)[1] <= 3, left


def test_shrinking_reaches_the_simplest_program() -> None:
    smallest = hypothesis.find(programs(SMALL), lambda program: True, settings=search, random=Random(7))
    assert sum(smallest.operators.values()) <= 1


def test_what_cannot_be_drawn_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: Any) -> Program:
        raise Unavailable("nothing fits")

    monkeypatch.setattr("generators.strategies.draw_program", never)
    with pytest.raises(Unsatisfiable):
        hypothesis.find(programs(), lambda program: True, settings=few)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no such pass: Nothing"):
        hypothesis.find(pass_sequences(["Nothing"]), lambda drawn: True, settings=few)
    with pytest.raises(KeyError):
        hypothesis.find(programs(recipes=["nothing"]), lambda program: True, settings=few)
