"""A module that differs in some PrimFuncs is judged by these alone, where that settles it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import tirx

from generators.case import EntryCall
from generators.passes.row import EVERY_SCOPE
from generators.passes.table import PIPELINES, TIR_PIPELINE, default_call
from generators.source import SeededSource
from generators.tir.relax_caller import draw_prim_program
from oracles.reference.calling import direct
from oracles.reference.compare import same_bits
from oracles.reference.engine import interpreted
from oracles.reference.numbers import Numbers, Results
from oracles.reference.outcome import Wrong
from oracles.reference.recorded_run import RecordedRun
from oracles.reference.tir.recorded import LIMIT, MOST_CALLS, RecordedCall
from oracles.trace import Raised
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of

X = np.arange(4, dtype="int32")
CALLS = [EntryCall("main", (X,))]
TWICE = "b[i] = a[i] * 2"


def program(called: str = TWICE, unused: str = "b[i] = 0", before: str = "", last: str = "y") -> Any:
    """main calls `called` on its argument, and on the result; `unused` has no caller."""
    return module_of(f"""
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def called(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32")):
        {before or "pass"}
        for i in range(4):
            {called}

    @T.prim_func(private=True, s_tir=True)
    def unused(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32")):
        for i in range(4):
            {unused}

    @R.function
    def main(x: R.Tensor((4,), "int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        y = R.call_tir(cls.called, (x,), out_ty=R.Tensor((4,), "int32"))
        z = R.call_tir(cls.called, ({last},), out_ty=R.Tensor((4,), "int32"))
        return z
""")


def exchanged(module: Any, other: Any, *names: str) -> Any:
    """The module with these functions of another one."""
    result = module.clone()
    for name in names:
        result.update_func(result.get_global_var(name), other[name])
    return result


def run_of(module: Any) -> RecordedRun:
    """A run of main."""
    recorded = RecordedRun(module, direct, frozenset())
    outcome = Numbers(module, CALLS).judge_run(interpreted(module, frozenset(), recorded))
    assert outcome is None
    assert len(recorded.record) == 2
    return recorded


@pytest.mark.parametrize(
    "other",
    [
        program("b[i] = a[i] + a[i]"),
        program("b[3 - i] = a[3 - i] * 2"),
        program("b[i] = T.Cast('int32', T.Cast('int64', a[i]) * T.int64(2))"),
    ],
)
def test_a_rewritten_function_that_gives_the_same_bits_settles_it(other: Any) -> None:
    module = program()
    assert run_of(module).speaks_for(exchanged(module, other, "called"), direct, frozenset())


@pytest.mark.parametrize(
    "wrong",
    [
        program("b[i] = a[i] * 2 + T.Select(a[i] == 6, 1, 0)"),  # wrong in the second call alone
        program("if i < 3: b[i] = a[i] * 2"),  # one element is not written
        program("b[i] = a[i + 1] * 2"),  # out of bounds
        program("b[i] = b[i] * 2"),  # uninitialised
    ],
)
def test_a_function_that_gives_something_else_does_not(wrong: Any) -> None:
    module = program()
    changed = exchanged(module, wrong, "called")
    recorded = run_of(module)
    assert not recorded.speaks_for(changed, direct, frozenset())
    numbers = Numbers(module, CALLS)
    assert numbers.judge_module(exchanged(module, program("b[i] = a[i] + a[i]"), "called")) is None
    assert isinstance(numbers.judge_module(changed), Wrong)


def test_what_the_run_did_not_look_at_may_change() -> None:
    module = program()
    recorded = run_of(module)
    assert recorded.speaks_for(exchanged(module, program(unused="b[i] = 1"), "unused"), direct, frozenset())
    assert recorded.asked == {"main", "called"}


def test_a_changed_relax_function_or_calling_convention_needs_a_run() -> None:
    module = program()
    assert not run_of(module).speaks_for(exchanged(module, program(last="x"), "main"), direct, frozenset())
    assert not run_of(module).speaks_for(module, lambda *call: direct(*call), frozenset())


def test_it_stands_for_the_module_that_it_spoke_for() -> None:
    module, sums = program(), program("b[i] = a[i] + a[i]")
    recorded = run_of(module)
    changed = exchanged(module, sums, "called")
    assert recorded.speaks_for(changed, direct, frozenset())
    assert recorded.functions["called"].same_as(changed["called"])
    assert recorded.speaks_for(changed, direct, EVERY_SCOPE)  # past ThreadSync, looked at anew: it has no threads
    assert not recorded.speaks_for(exchanged(changed, program("b[i] = 0"), "called"), direct, EVERY_SCOPE)


def test_a_function_that_writes_to_its_argument_does_not_settle_it() -> None:
    module = program()
    writes = program("a[i] = 0", before="for j in range(4): b[j] = a[j] * 2")
    assert not run_of(module).speaks_for(exchanged(module, writes, "called"), direct, frozenset())


def test_a_call_whose_arguments_share_memory_is_not_made_again() -> None:
    whole = np.zeros(8, "int32")
    called = program()["called"]
    for given, copied in (((whole[:4], whole[4:]), True), ((whole[:4], whole[2:6]), False)):
        call = RecordedCall.begun(called, None, None, given, [None, None])
        assert (call.arguments is not None) is copied


def test_neither_large_arguments_nor_those_of_many_calls_are_kept() -> None:
    large = np.zeros(LIMIT // 8 + 1, "float64")
    assert RecordedCall.begun(program()["called"], None, None, [large], [None]).arguments is None
    small = [np.zeros(4)]
    assert RecordedCall.begun(program()["called"], None, None, small, [None], MOST_CALLS - 1).arguments is not None
    assert RecordedCall.begun(program()["called"], None, None, small, [None], MOST_CALLS).arguments is None


CALLER = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def add(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32")):
        for i in range(4):
            b[i] = a[i] + {number}

    @T.prim_func(s_tir=True)
    def called(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32")):
        Module.add(a.data, b.data)

    @R.function
    def main(x: R.Tensor((4,), "int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        y = R.call_tir(cls.called, (x,), out_ty=R.Tensor((4,), "int32"))
        return y
"""


def test_a_function_that_a_prim_func_calls_is_looked_at() -> None:
    module, wrong = module_of(CALLER.format(number=1)), module_of(CALLER.format(number=2))
    numbers = Numbers(module, CALLS)
    assert numbers.judge_module(module.clone()) is None
    assert isinstance(numbers.judge_module(exchanged(module, wrong, "add")), Wrong)
    without = tvm.IRModule({gvar: func for gvar, func in module.functions.items() if gvar.name_hint != "add"})
    assert isinstance(numbers.judge_module(without), Wrong)


SCALARS = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def plus(n: T.int64) -> T.int64:
        return n + T.int64({number})

    @R.function
    def main(x: R.Tensor((4,), "int32"), n: R.Prim("int64")):
        cls = Module
        y: R.Prim("int64") = cls.plus(n)
        return y
"""


def test_a_scalar_that_a_prim_func_computes_is_looked_at() -> None:
    module, wrong = module_of(SCALARS.format(number=1)), module_of(SCALARS.format(number=2))
    assert isinstance(module["plus"].body, tirx.Return)
    calls = [EntryCall("main", (X, 3))]
    numbers = Numbers(module, calls)
    recorded = RecordedRun(module, direct, frozenset())
    assert numbers.judge_run(interpreted(module, frozenset(), recorded)) is None
    assert not recorded.speaks_for(exchanged(module, wrong, "plus"), direct, frozenset())


def through_the_pipeline(seed: int) -> list[bool]:
    """A drawn program through the LLVM pipelines: where the recorded speaks for a module, the whole run must agree."""
    program = draw_prim_program(SeededSource(seed, 0))
    numbers = Numbers(program.module, program.calls)
    bench = Workbench(SeededSource(seed, 0), numbers)
    module, recorded, spoke = program.module, None, []
    before: Results = {}
    for name in (*PIPELINES["default_build"], *TIR_PIPELINE):
        after = bench.apply(default_call(name), module)
        if isinstance(after, Raised):
            break
        module = after
        said = recorded is not None and recorded.speaks_for(module, direct, frozenset())
        whole = RecordedRun(module, direct, frozenset())
        results: Results = {}
        outcome = numbers.judge_run(interpreted(module, frozenset(), whole), results=results)
        assert not said or not isinstance(outcome, Wrong), (name, outcome)
        if isinstance(outcome, Wrong):
            break  # TVM's fault
        if said:
            assert before.keys() == results.keys()
            assert all(same_bits(before[index], result) for index, result in results.items()), name
        else:
            recorded = whole
        before = results
        spoke.append(said)
    return spoke


def test_what_is_said_of_each_pass_is_what_the_whole_run_says() -> None:
    spoke = [said for seed in range(4) for said in through_the_pipeline(seed)]
    assert sum(spoke) > len(spoke) / 2


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(4, 40))
def test_it_stays_so_over_many_programs(seed: int) -> None:
    assert through_the_pipeline(seed)
