"""Pipeline against pipeline: whichever is wrong, stops or crashes is named; two that agree are left alone."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from generators.case import EntryCall
from generators.passes.table import PIPELINES, TIR_PIPELINE
from generators.source import SeededSource
from oracles.checks import pipelines
from oracles.checks.pipelines import BOTH, DEFAULT_BUILD, TARGET_DEFAULT, compared
from oracles.forked import ChildRaised, Ended, forked
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning
from oracles.reference.values import Tensor
from oracles.trace import Trace
from oracles.verdict import Failed, Passed, Skipped, Verdict
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of
from tests.patience import HANGS_S

SUBTRACTS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), y: R.Tensor((2, 4), "float32")):
        h = R.subtract(R.exp(x), y)
        return (h, R.argmax(h, axis=1))
"""
COUNTS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "int64")):
        return R.ewise_fma(x, x, x)
"""
X = np.arange(8, dtype=np.float32).reshape(2, 4) / 8
CALLS = (EntryCall("main", (X, X[:, ::-1].copy())),)


def judged(script: str = SUBTRACTS, calls: tuple[EntryCall, ...] = CALLS) -> Verdict:
    module = module_of(script)
    bench = Workbench(SeededSource(0), Numbers(module, calls))
    return pipelines.judge(Trace(module, calls, ()), bench)


def swapped(module: Any) -> Any:
    """Subtracts the other way round."""

    @relax.expr_functor.mutator
    class Swap(relax.PyExprMutator):
        def visit_call_(self, call: Any) -> Any:
            call = super().visit_call_(call)
            return relax.op.subtract(*reversed(call.args)) if call.op.name == "relax.subtract" else call

    return tvm.IRModule({name: Swap(module).visit_expr(f) for name, f in module.functions.items()})


def added(module: Any) -> Any:
    """Adds instead of subtracting."""

    @relax.expr_functor.mutator
    class Add(relax.PyExprMutator):
        def visit_call_(self, call: Any) -> Any:
            call = super().visit_call_(call)
            return relax.op.add(*call.args) if call.op.name == "relax.subtract" else call

    return tvm.IRModule({name: Add(module).visit_expr(f) for name, f in module.functions.items()})


def refuses(_module: Any) -> Any:
    raise AttributeError("no such thing")


def states_a_limit(_module: Any) -> Any:
    raise tvm.error.InternalError("this pass currently only supports other modules")


def dies(_module: Any) -> Any:
    os.kill(os.getpid(), signal.SIGSEGV)


def is_killed(_module: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def computes(_module: Any) -> Any:
    while True:
        math.factorial(1000)


def sleeps(_module: Any) -> Any:
    time.sleep(HANGS_S)


def first(change: Callable[[Any], Any], pipeline: Any) -> Any:
    @tvm.transform.module_pass(opt_level=0)
    def run(module: Any, _context: Any) -> Any:
        return change(module)

    return tvm.transform.Sequential([run, pipeline])


def plant(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], Any]) -> None:
    honest = getattr(relax, name)
    monkeypatch.setattr(relax, name, lambda argument: first(change, honest(argument)))


def test_pipelines_that_agree_are_left_alone() -> None:
    assert isinstance(judged(), Passed)


@pytest.mark.parametrize(
    ("name", "culprit"), [("get_pipeline", DEFAULT_BUILD), ("get_default_pipeline", TARGET_DEFAULT)]
)
@pytest.mark.parametrize(
    ("change", "symptom"),
    [(swapped, "wrong result"), (refuses, "does not build"), (dies, "crash")],
    ids=["wrong", "refuses", "dies"],
)
def test_the_wrong_one_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, culprit: str, change: Callable[[Any], Any], symptom: str
) -> None:
    plant(monkeypatch, name, change)
    verdict = judged()
    assert isinstance(verdict, Failed), verdict
    assert (verdict.symptom, verdict.culprit) == (symptom, culprit)


def test_a_kill_from_outside_says_nothing_of_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "get_pipeline", is_killed)
    assert judged() == Skipped("pipelines: killed from outside, or out of memory")


@pytest.mark.parametrize(
    ("change", "wanted"), [pytest.param(computes, Failed, marks=pytest.mark.deep), (sleeps, Skipped)]
)
def test_a_pipeline_without_an_end_hangs_if_it_had_the_cpu(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any], wanted: type[Verdict]
) -> None:
    plant(monkeypatch, "get_pipeline", change)
    monkeypatch.setattr(pipelines, "LIMIT_S", 4 if change is computes else 1)
    # What computes has used more of the CPU than this by then, on any machine; what sleeps has not used four seconds.
    monkeypatch.setattr(pipelines, "HANG_CPU_S", 0.2 if change is computes else 4)
    verdict = judged()
    assert isinstance(verdict, wanted)
    assert not isinstance(verdict, Failed) or (verdict.symptom, verdict.culprit) == ("hang", DEFAULT_BUILD)


def test_an_exception_of_ours_is_no_crash_of_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipelines, "from_argument", lambda argument: 1 // 0)
    with pytest.raises(ChildRaised, match="ZeroDivisionError"):
        judged()


def test_a_stated_limit_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "get_default_pipeline", states_a_limit)
    assert isinstance(judged(), Skipped)


def test_what_neither_builds_says_nothing_of_either(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "get_pipeline", refuses)
    plant(monkeypatch, "get_default_pipeline", refuses)
    assert isinstance(judged(), Skipped)


def test_a_fault_that_both_share_is_the_matter_of_other_oracles(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "get_pipeline", swapped)
    plant(monkeypatch, "get_default_pipeline", swapped)
    assert isinstance(judged(), Passed)


def test_two_wrong_results_that_differ_have_both_to_their_name() -> None:
    numbers = Numbers(module_of(SUBTRACTS), CALLS)
    indices = Tensor(np.zeros(2, np.int64), "int64")
    one, other = ((Tensor(np.full((2, 4), value), "float32"), indices) for value in (77.0, 78.0))
    verdict = compared(numbers, (one,), (other,))
    assert isinstance(verdict, Failed)
    assert verdict.culprit == BOTH


def test_of_two_that_the_reference_contradicts_the_first_wrong_pass_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def first_wrong(names: tuple[str, ...], *rest: Any) -> str:
        asked.append(tuple(names))
        return "FuseTIR"

    monkeypatch.setattr(pipelines, "first_wrong", first_wrong)
    plant(monkeypatch, "get_pipeline", swapped)
    plant(monkeypatch, "get_default_pipeline", added)
    verdict = judged()
    assert isinstance(verdict, Failed)
    assert verdict.culprit == "FuseTIR"
    assert asked == [(*PIPELINES[pipelines.ROWS[DEFAULT_BUILD]], *TIR_PIPELINE)]


@pytest.mark.parametrize(("script", "differs"), [(COUNTS, True), (COUNTS.replace("int64", "float32"), False)])
def test_without_a_reference_only_integers_of_integers_count(script: str, differs: bool) -> None:
    dtype = "int64" if differs else "float32"
    unknown = Numbers(module_of(script), ())
    unknown.starting.nothing = NoMeaning("reference: unknown")
    kind = np.int64 if differs else np.float64
    one, other = (Tensor(np.array(value, kind), dtype) for value in ([1, 2], [1, 3]))
    assert isinstance(compared(unknown, (one,), (other,)), Failed) == differs
    longer = Tensor(np.array([1, 2, 3], kind), dtype)
    assert isinstance(compared(unknown, (one,), (longer,)), Failed)


def test_what_ends_a_child_is_a_value() -> None:
    assert forked(lambda: [1, (2.0, "three")], 10) == [1, (2.0, "three")]
    for work, ended, how in (
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), Ended(signal.SIGSEGV), "SIGSEGV"),
        (signal.pause, Ended(), "hang"),
        (lambda: os._exit(3), Ended(status=3), "exit 3"),
        (lambda: os._exit(0), Ended(status=0), "exit 0"),
    ):
        assert forked(work, 1 if ended.hung else 10) == ended
        assert ended.how == how
