"""Modules lowered for CUDA run on the CPU as the reference says; what goes wrong on the way is distinguished."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm_ffi
from tvm import tirx

from generators import tvm_api
from generators.case import EntryCall
from generators.passes.row import Phase
from generators.passes.table import PIPELINES, TIR_PIPELINE, default_call
from generators.source import SeededSource
from oracles.builds.build import NotBuilt
from oracles.builds.cuda_cpu import Fault, available
from oracles.builds.cuda_cpu import machine as machine_module
from oracles.builds.cuda_cpu.machine import EMPTY as EMPTY_LAUNCH
from oracles.builds.cuda_cpu.machine import RACE, SYMPTOM, CudaCpuModule, NotCompiled, build, judge
from oracles.evidence import OrderOfThreads
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.reference.values import Tensor, from_argument
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 40), "float32"), y: R.Tensor((40, 24), "float32")):
        h = R.nn.softmax(R.matmul(x, y), axis=1)
        r = R.astype(R.sum(h, axis=[1]), "float16")
        return (h, R.exp(r), R.sort(x))
"""


def _calls() -> list[EntryCall]:
    random = np.random.default_rng(3)
    y = (random.integers(-2, 3, (40, 24)) / 4).astype(np.float32)
    return [EntryCall("main", ((random.integers(-2, 3, (n, 40)) / 4).astype(np.float32), y)) for n in (6, 1)]


def _lowered(program: str, names: tuple[str, ...]) -> tuple[Any, Workbench, Numbers]:
    module = module_of(program)
    numbers = Numbers(module, _calls())
    bench = Workbench(SeededSource(0), numbers, target="cuda-cpu")
    for name in names:
        module = bench.apply(default_call(name), module)
    return module, bench, numbers


@pytest.fixture(scope="module")
def whole() -> tuple[CudaCpuModule, Numbers]:
    module, bench, numbers = _lowered(PROGRAM, PIPELINES["cuda"])
    built = build(module, Phase.HIGH, bench)
    assert isinstance(built, CudaCpuModule), built
    return built, numbers


def test_a_lowered_module_runs_as_the_reference_says(whole: tuple[CudaCpuModule, Numbers]) -> None:
    built, numbers = whole
    assert "__syncthreads" in built.cuda
    assert judge(built, numbers) is None
    assert built.launcher.launches > 0


def test_results_of_other_numbers_are_wrong(whole: tuple[CudaCpuModule, Numbers]) -> None:
    built, numbers = whole
    halved = [EntryCall(c.function, (c.arguments[0] / np.float32(2), *c.arguments[1:])) for c in numbers.calls]
    arguments = [[from_argument(a) for a in call.arguments] for call in halved]

    def run(function: str, given: list[Any], packed: Any = None) -> Any:
        return built.run(function, arguments[0])

    outcome = numbers.judge_run(run)
    assert isinstance(outcome, Wrong)
    assert outcome.symptom == "wrong result"


SYNCED = TIR_PIPELINE[: TIR_PIPELINE.index("s_tir.LowerThreadAllreduce") + 1]


def _is_barrier(statement: Any) -> bool:
    return tvm_api.op_name(statement.value) == "tirx.tvm_storage_sync"


def _nothing_for_barriers(statement: Any) -> Any:
    return tirx.Evaluate(0) if _is_barrier(statement) else statement


def test_a_module_without_its_barriers_is_found_out() -> None:
    module, bench, numbers = _lowered(PROGRAM, (*PIPELINES["cuda"], *SYNCED))
    for variable, function in list(module.functions.items()):
        if isinstance(function, tirx.PrimFunc) and variable.name_hint == "matmul":
            module.update_func(variable, tvm_ffi.structural_map(function, [(tirx.Evaluate, _nothing_for_barriers)]))
    built = build(module, Phase.SYNCED, bench)
    assert isinstance(built, CudaCpuModule)
    assert isinstance(judge(built, numbers), Wrong)


ENDLESS = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def spin(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        T.func_attr({"tirx.is_scheduled": True})
        t = T.launch_thread("threadIdx.x", 32)
        while A[t] < T.float32(1):
            B[t] = A[t]
    @R.function
    def main(x: R.Tensor((32,), "float32")) -> R.Tensor((32,), "float32"):
        cls = Module
        r = R.call_tir(cls.spin, (x,), out_ty=R.Tensor((32,), "float32"))
        return r
"""


def test_a_fault_of_a_kernel_reaches_the_caller() -> None:
    module, bench, _ = _lowered(ENDLESS, PIPELINES["cuda"])
    built = build(module, Phase.HIGH, bench, deadline_s=0.1)
    assert isinstance(built, CudaCpuModule), built
    with pytest.raises(Fault, match="deadline"):
        built.run("main", [from_argument(np.zeros(32, np.float32))])
    judged = judge(built, Numbers(module_of(COPIED), [COPY]))
    assert isinstance(judged, Wrong)
    assert judged.symptom == f"{SYMPTOM}deadline"


COPIED = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((32,), "float32")) -> R.Tensor((32,), "float32"):
        r = R.add(x, x)
        return r
"""
COPY = EntryCall("main", (np.zeros(32, np.float32),))


RACING = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def last(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
        T.func_attr({"tirx.is_scheduled": True})
        t = T.launch_thread("threadIdx.x", 32)
        B[0] = A[t]
    @R.function
    def main(x: R.Tensor((32,), "float32")) -> R.Tensor((1,), "float32"):
        cls = Module
        r = R.call_tir(cls.last, (x,), out_ty=R.Tensor((1,), "float32"))
        return r
"""
LAST = COPIED.replace("R.add(x, x)", "R.strided_slice(x, axes=[0], begin=[31], end=[32])").replace(
    '-> R.Tensor((32,), "float32")', '-> R.Tensor((1,), "float32")'
)


def test_a_result_that_only_one_order_gives_depends_on_the_order() -> None:
    module, bench, _ = _lowered(RACING, PIPELINES["cuda"])
    built = build(module, Phase.HIGH, bench)
    assert isinstance(built, CudaCpuModule), built
    call = EntryCall("main", (np.arange(32, dtype=np.float32),))
    judged = judge(built, Numbers(module_of(LAST), [call]))
    assert isinstance(judged, Wrong)
    assert judged.symptom == f"{SYMPTOM}{RACE}"
    assert judged.evidence == OrderOfThreads("descending")


def test_an_order_that_is_told_apart_by_its_results_alone_is_the_evidence() -> None:
    """The reference takes any value: only the first order's result is there to compare with."""
    module, bench, _ = _lowered(RACING, PIPELINES["cuda"])
    built = build(module, Phase.HIGH, bench)
    assert isinstance(built, CudaCpuModule), built
    numbers = Numbers(module_of(LAST), [EntryCall("main", (np.arange(32, dtype=np.float32),))])
    (result,) = numbers.starting.results
    unknown = Tensor(np.zeros(1), "float32", np.full(1, np.inf))
    numbers.starting.results = (replace(result, value=unknown),)
    judged = judge(built, numbers)
    assert isinstance(judged, Wrong)
    assert (judged.symptom, judged.evidence) == (f"{SYMPTOM}{RACE}", OrderOfThreads("descending"))


EMPTY = COPIED.replace("R.add(x, x)", "R.strided_slice(x, axes=[0], begin=[0], end=[0])").replace(
    '-> R.Tensor((32,), "float32")', '-> R.Tensor((0,), "float32")'
)


def test_a_kernel_for_no_element_runs_once_as_on_the_device() -> None:
    module, bench, _ = _lowered(EMPTY, PIPELINES["cuda"])
    built = build(module, Phase.HIGH, bench)
    assert isinstance(built, CudaCpuModule), built
    judged = judge(built, Numbers(module_of(EMPTY), [COPY]))
    assert isinstance(judged, Wrong)
    assert judged.symptom == f"{SYMPTOM}{EMPTY_LAUNCH}"
    assert "an array of 0 bytes" in judged.message


def test_what_tvm_refuses_is_not_built() -> None:
    module, bench, _ = _lowered(COPIED, ())
    built = build(module, Phase.HIGH, bench)
    assert isinstance(built, NotBuilt)


def test_a_source_that_is_no_cuda_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    module, bench, _ = _lowered(COPIED, PIPELINES["cuda"])
    lower = machine_module.lower

    def spoilt(*given: Any) -> Any:
        lowered = lower(*given)
        return type(lowered)(lowered.executable, lowered.cuda + "\nint x = no_such_name;", lowered.kernels)

    monkeypatch.setattr(machine_module, "lower", spoilt)
    built = build(module, Phase.HIGH, bench)
    assert isinstance(built, NotCompiled)
    assert "no_such_name" in built.message
