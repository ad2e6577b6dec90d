"""The LLVM build: what it gives is what the reference gives, and what stops it has a name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from generators.case import EntryCall
from generators.passes.official import rest_of_pipeline
from generators.passes.row import Phase
from generators.passes.table import PIPELINES, SETUP, TIR_PASSES, default_call
from generators.source import SeededSource
from oracles.activities import Activity, Building
from oracles.builds.build import (
    CODEGEN,
    Built,
    NotBuilt,
    build,
    not_runnable,
    other_devices,
    unregistered,
)
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.trace import Raised
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of
from tests.quick import one_in

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4, 4), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        cls = Module
        h = R.nn.softmax(R.matmul(x, y), axis=1)
        if c:
            t = R.add(h, x)
            r = R.negative(t)
        else:
            r = R.multiply(h, x)
        s = cls.sub(r)
        return (s, R.argmax(x, axis=1), R.shape([n, 4]))
    @R.function(private=True)
    def sub(a: R.Tensor(("m", 4), "float32")) -> R.Tensor(("m", 4), "float32"):
        @R.function
        def twice(b: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
            return R.add(b, b)
        return R.matmul(a, twice(R.ones((4, 4), "float32")))
"""
HIGH_LEVEL = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32")):
        return R.add(x, x)
"""
CALLS = tuple(
    EntryCall("main", (np.arange(n * 4, dtype=np.float32).reshape(n, 4) / 8, np.eye(4, dtype=np.float32), np.array(c)))
    for n, c in ((2, True), (3, False))
)


def prepared(module: Any) -> tuple[Numbers, Workbench]:
    numbers = Numbers(module, CALLS)
    return numbers, Workbench(SeededSource(0), numbers)


def test_build_agrees_with_the_reference_and_says_what_it_does() -> None:
    module = module_of(PROGRAM)
    numbers, bench = prepared(module)
    activities: list[Activity] = []
    built = build(module, Phase.HIGH, bench, 0, activities.append)
    assert isinstance(built, Built)
    assert numbers.judge_run(built.run) is None
    passes = ("LambdaLift", *rest_of_pipeline(Phase.HIGH))
    said = [Building("build", culprit) for culprit in (*passes, CODEGEN)]
    assert activities[: len(said)] == said
    of_tir = {activity.culprit for activity in activities[len(said) :] if isinstance(activity, Building)}
    assert {"tirx.LowerIntrin", "tirx.MakePackedAPI", CODEGEN} <= of_tir <= {*TIR_PASSES, CODEGEN}
    assert activities[-1] == Building("build", CODEGEN), "code generation and the run come after the last pass"

    def off_by_one(function: str, arguments: list[Any]) -> Any:
        return built.run(function, [arguments[1], *arguments[1:]])

    assert isinstance(numbers.judge_run(off_by_one), Wrong)


@pytest.mark.parametrize("phase", one_in(3, (phase for phase in Phase if not phase.of_relax)))
def test_a_module_builds_from_every_phase_of_tir(phase: Phase) -> None:
    """Packed functions too, which are called by other symbols than they have."""
    module = module_of(PROGRAM)
    numbers, bench = prepared(module)
    for call in (default_call("LambdaLift"), *SETUP[phase]):
        module = bench.apply(call, module)
        assert not isinstance(module, Raised), call.name
    built = build(module, phase, bench, 0)
    assert isinstance(built, Built)
    assert numbers.judge_run(built.run) is None


def test_pass_that_stops_the_build_is_the_culprit(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ValueError("no")

    monkeypatch.setattr(relax.transform, "CallTIRRewrite", refuse)
    module = module_of(PROGRAM)
    stopped = build(module, Phase.HIGH, prepared(module)[1], 0)
    assert isinstance(stopped, NotBuilt)
    assert (stopped.culprit, stopped.error.kind, stopped.error.message) == ("CallTIRRewrite", "ValueError", "no")


def test_what_code_generation_cannot_emit_is_blamed_on_it() -> None:
    # A module taken for lowered is not lowered again, and the VM has no code for relax.add.
    module = relax.transform.AttachGlobalSymbol()(module_of(HIGH_LEVEL))
    stopped = build(module, Phase.SYMBOLED, prepared(module)[1], 0)
    assert isinstance(stopped, NotBuilt) and (stopped.culprit, stopped.error.kind) == (CODEGEN, "InternalError")


@pytest.mark.parametrize("phase", Phase)
def test_rest_of_the_pipeline_is_a_tail_of_an_official_one(phase: Phase) -> None:
    rest = rest_of_pipeline(phase)
    assert any(rest == () or names[-len(rest) :] == rest for names in PIPELINES.values())


@pytest.mark.parametrize(("device", "other"), [("llvm:0", False), ("llvm:1", True)])
def test_values_on_a_second_device_are_seen(device: str, other: bool) -> None:
    module = module_of(f"""
@I.ir_module
class Module:
    I.module_global_infos({{"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]}})
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.hint_on_device(x, R.device(1, {device[-1]}))
        return R.add(y, y)
""")
    assert not other_devices(module)
    assert other_devices(relax.transform.RealizeVDevice()(module)) == other


@pytest.mark.parametrize(("name", "reason"), [("vm.builtin.copy", None), ("nobody.has", "packed function nobody.has")])
def test_a_program_that_calls_an_unregistered_function_is_not_built(name: str, reason: str | None) -> None:
    text = f"""@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), dtype="float32")):
        y = R.call_packed("{name}", x, ty_args=R.Tensor((2,), dtype="float32"))
        return y
"""
    said = unregistered(module_of(text))
    assert said is None if reason is None else said is not None and said.startswith(reason)


def test_a_cuda_graph_is_not_run_where_the_run_time_has_none() -> None:
    module = module_of("""@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.negative(R.abs(x))
        return y
""")
    t = relax.transform
    passes = (t.LegalizeOps, t.ToNonDataflow, t.RemovePurityChecking, t.CallTIRRewrite, t.StaticPlanBlockMemory)
    planned = tvm.transform.Sequential([make() for make in passes])(module)
    assert not_runnable(planned) is None
    with tvm.transform.PassContext(config={"relax.backend.use_cuda_graph": True}):
        graphs = t.RewriteCUDAGraph()(planned)
    has_graphs = tvm.get_global_func("vm.builtin.cuda_graph.get_cached_alloc", allow_missing=True) is not None
    assert (not_runnable(graphs) is None) == has_graphs


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ('T.call_extern("float32", "fabsf", A[i])', None),
        ('T.call_extern("float32", "mystery", A[i])', "extern function mystery"),
        ('T.call_packed("mystery", A[i])', "packed function mystery"),
    ],
)
def test_a_prim_func_that_calls_a_missing_function_is_not_built(call: str, reason: str | None) -> None:
    text = f"""@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            T.evaluate({call})
"""
    said = unregistered(module_of(text))
    assert said is None if reason is None else said is not None and said.startswith(reason)
