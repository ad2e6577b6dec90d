"""Oracles of whole cases (Sequential against single passes; what is left for the VM), and the table of oracles."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import tvm

from generators.case import PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES, PIPELINES, default_call
from oracles.checks import executable, sequential
from oracles.checks.legalised import LEGALIZE
from oracles.evidence import LeftForVm
from oracles.oracle import BuildOracle
from oracles.table import ORACLES
from oracles.trace import Step, Trace
from oracles.verdict import Failed, Inconclusive, Passed, Skipped
from tests.oracles.modules import DATAFLOW, HEAD
from tests.oracles.oracle_bench import PASSES_UNDER_TEST, RealBench, module_of, module_pass, step_of

UNKNOWN_SHAPE = (
    HEAD
    + """
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2)):
        y = R.exp(x)
        return y
"""
)
CALLS = itertools.count()


def traced(calls: list[PassCall], module: Any, bench: RealBench) -> Trace:
    steps: list[Step] = []
    current = module
    for index, call in enumerate(calls):
        step = step_of(call, current, bench, PASSES.get(call.name), index=index)
        steps.append(step)
        if step.after is None:
            break
        current = step.after
    return Trace(module, (), tuple(steps))


def stamp(module: Any) -> Any:
    """Gives something else each time: every module gets another number."""
    return _stamped(module, next(CALLS))


def _stamped(module: Any, number: int) -> Any:
    functions = {name: f.with_attr("stamp", number) for name, f in module.functions.items()}
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


class Carry:
    """Two passes, of which the second does what the first has left behind, which making the second forgets."""

    def __init__(self) -> None:
        self.left = 0

    def passes(self) -> list[tuple[str, Any]]:
        return [("Leaves", self._leaves), ("Takes", self._takes)]

    def _leaves(self) -> Any:
        return tvm.transform.module_pass(lambda module, _: self._with(module, 1), opt_level=0, name="Leaves")

    def _takes(self) -> Any:
        self.left = 0
        return tvm.transform.module_pass(lambda module, _: _stamped(module, self.left), opt_level=0, name="Takes")

    def _with(self, module: Any, left: int) -> Any:
        self.left = left
        return module


def test_sequential_gives_what_single_passes_give() -> None:
    bench = RealBench(target="llvm")
    trace = traced([default_call(name) for name in PIPELINES["llvm"][:6]], module_of(DATAFLOW), bench)
    assert isinstance(sequential.judge(trace, bench), Passed)


def test_state_that_passes_carry_is_found() -> None:
    bench, made = RealBench(), Carry().passes()
    PASSES_UNDER_TEST.update(made)
    verdict = sequential.judge(traced([PassCall(name, name) for name, _ in made], module_of(DATAFLOW), bench), bench)
    assert isinstance(verdict, Failed)
    assert verdict.culprit == sequential.CULPRIT


def test_a_pass_that_differs_from_itself_is_no_matter_of_sequential() -> None:
    bench = RealBench()
    trace = traced([module_pass(stamp, "Stamp"), default_call("Normalize")], module_of(DATAFLOW), bench)
    verdict = sequential.judge(trace, bench)
    assert isinstance(verdict, Inconclusive)
    assert "Stamp" in verdict.reason


def test_a_case_with_an_error_is_not_compared() -> None:
    bench = RealBench()
    calls = [default_call("Normalize"), PassCall("x", "relax.transform.DeadCodeElimination(['absent'])")]
    assert isinstance(sequential.judge(traced(calls, module_of(DATAFLOW), bench), bench), Skipped)


def test_an_official_pipeline_leaves_nothing_for_the_vm() -> None:
    bench = RealBench(target="llvm")
    trace = traced([default_call(name) for name in PIPELINES["llvm"]], module_of(DATAFLOW), bench)
    assert trace.steps[-1].row.place.gives is Phase.SYMBOLED
    assert isinstance(executable.judge(trace, bench), Passed)


def test_an_operator_left_for_the_vm_is_found_with_its_reason() -> None:
    bench = RealBench(target="llvm")
    trace = traced([default_call(name) for name in PIPELINES["default_build"]], module_of(UNKNOWN_SHAPE), bench)
    verdict = executable.judge(trace, bench)
    assert isinstance(verdict, Failed)
    assert verdict.message == "an operator with operands of unknown shape or dtype is left for the VM"
    assert (verdict.culprit, verdict.evidence) == (LEGALIZE, LeftForVm())


def test_every_row_has_a_name_a_promise_and_a_file() -> None:
    here = Path(executable.__file__).parent
    for name, row in ORACLES.items():
        assert row.name == name
        assert row.promise
        assert 0 < row.share <= 1
        assert isinstance(row, BuildOracle) or (here / f"{name}.py").exists()
