"""A pass that leaves the program as it was is to blame where that means something else now: ThreadSync for a race that
it leaves, a pass with a calling convention for a function that is not called so."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm

from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import Judgement, judge
from fuzzer.trial.options import JudgeOptions
from generators import tvm_api
from generators.case import EntryCall, PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES, default_call
from generators.source import SeededSource
from oracles.trace import Position
from oracles.walk import walk
from tests.oracles.oracle_bench import RealBench, module_of

SCRIPT = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def rows(A: T.Buffer((8, 64), "float32"), B: T.Buffer((8, 64), "float32")):
        x = T.launch_thread("threadIdx.x", 64)
        y = T.launch_thread("threadIdx.y", 8)
        S = T.alloc_buffer((8,), "float32", scope="SCOPE")
        if x == 0:
            S[y] = A[y, 0]
        B[y, x] = S[y]

    @R.function
    def main(x: R.Tensor((8, 64), "float32")):
        cls = Module
        with R.dataflow():
            r = R.call_tir(cls.rows, (x,), out_ty=R.Tensor((8, 64), "float32"))
            R.output(r)
        return r
"""
LAUNCHED = """\
        x = T.launch_thread("threadIdx.x", 64)
        y = T.launch_thread("threadIdx.y", 8)
        S = T.alloc_buffer((8,), "float32", scope="SCOPE")
        if x == 0:
            S[y] = A[y, 0]
        B[y, x] = S[y]
"""
LOOPS = SCRIPT.replace(
    LAUNCHED,
    """\
        for y in T.thread_binding(8, thread="threadIdx.y"):
            for x in T.thread_binding(64, thread="threadIdx.x"):
                S = T.alloc_buffer((8,), "float32", scope="shared")
                if x == 0:
                    S[y] = A[y, 0]
                B[y, x] = S[y]
""",
)
SHARED, DYNAMIC, WARPS = (f"s_tir.ThreadSync[{scope}]" for scope in ("shared", "shared.dyn", "warp"))
NEXT = "s_tir.InferFragment"
CALLS = (EntryCall("main", (np.arange(512, dtype=np.float32).reshape(8, 64),)),)


@tvm.transform.module_pass(opt_level=0, name="Lazy")
def hands_on(module: Any, context: Any) -> Any:
    """Gives no function a callback, as LazySetOutput has to."""
    return module


def kernel(scope: str = "shared") -> Any:
    """All threads of a row load what the first of them has stored. ThreadSync sees no conflict: the index uses the
    innermost thread."""
    return module_of(SCRIPT.replace("SCOPE", scope))


def judged(module: Any, *names: str) -> Judgement:
    return judged_from(module, Phase.STORAGE, tuple(map(default_call, names)))


def judged_from(module: Any, phase: Phase, calls: tuple[PassCall, ...]) -> Judgement:
    experiment = Experiment(0, module, CALLS, (), calls, ("A",) * len(calls))
    rows = {**PASSES, "Lazy": replace(PASSES["LazySetOutput"], name="Lazy")}
    names = {**tvm_api.PASS_NAMES, "hands_on": hands_on}
    options = JudgeOptions(rows, names, frozenset({"numeric"}), force=True, phase=phase)
    return judge(experiment, options, SeededSource(0))


@pytest.mark.parametrize(
    ("names", "culprit"),
    [((SHARED, DYNAMIC, WARPS, NEXT), SHARED), ((SHARED,), SHARED), ((DYNAMIC, SHARED, WARPS), SHARED)],
)
def test_the_pass_for_the_memory_that_races_is_to_blame(names: tuple[str, ...], culprit: str) -> None:
    said = judged(kernel(), *names)
    assert not any(step.changed for step in said.steps)
    (failure,) = said.failures
    assert (failure.culprit, failure.symptom) == (culprit, "reference trap: data-race")


def test_no_pass_for_other_memory_is_to_blame() -> None:
    assert not judged(kernel(), DYNAMIC, WARPS).failures


def test_no_pass_is_to_blame_for_threads_that_are_loops_still() -> None:
    """ThreadSync looks into launches alone. A reduction that took LowerOpaqueBlock away ended at such a module."""
    assert not judged(module_of(LOOPS), SHARED, NEXT).failures


def test_each_pass_makes_barriers_explicit_in_its_own_memory() -> None:
    start = Position.at(kernel(), Phase.STORAGE)
    calls = [default_call(name) for name in (SHARED, DYNAMIC, WARPS, NEXT)]
    steps = list(walk(start, calls, PASSES, RealBench()))
    assert [sorted(step.end.synchronised) for step in steps if step.end is not None] == [
        ["shared"],
        ["shared", "shared.dyn"],
        ["global", "shared", "shared.dyn", "warp"],
        ["global", "shared", "shared.dyn", "warp"],
    ]
    assert [step.means_anew for step in steps] == [True, True, True, False]


@pytest.mark.parametrize("later", [(), ("ToNonDataflow",)])
def test_a_pass_that_does_not_change_the_call_as_it_says_is_to_blame(later: tuple[str, ...]) -> None:
    calls = (PassCall("Lazy", "hands_on"), *map(default_call, later))
    (failure,) = judged_from(kernel(), Phase.LEGAL, calls).failures
    assert failure.culprit == "Lazy"
