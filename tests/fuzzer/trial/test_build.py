"""Whose fault a failed build is, and which modules are not to be built at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tvm import relax

from corpus.scripts.module_text import live_module
from fuzzer.trial.build import blamed, judge_builds, not_to_be_built
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import judge
from fuzzer.trial.options import JudgeOptions
from fuzzer.trial.record import Record
from generators.case import EntryCall, ModuleText
from generators.passes.row import Phase
from generators.passes.table import PASSES, default_call
from generators.source import SeededSource
from oracles.builds import build
from oracles.builds.builders import BUILDERS, same_bug
from oracles.builds.cuda_cpu import machine
from oracles.builds.needs import LLVM
from oracles.checks import survives
from oracles.evidence import Evidence, HostTouchesDevice, InKernel, NotANumber, OrderOfThreads
from oracles.reference.numbers import Numbers
from oracles.table import BUILD
from oracles.trace import Position, Raised
from oracles.verdict import Failed, Passed, Skipped, Verdict
from oracles.walk import step_of
from oracles.workbench import Workbench
from tests.oracles.modules import add_in_place

WRONG = Failed("wrong result", "3 is not 4")
NO_BUILD = Failed("does not build", "unknown intrinsic", "", build.CODEGEN)
CRASH = Failed("crash", "SIGSEGV", "", "VMShapeLower")
CLEAN = Passed()
EMPTY_LAUNCH = Failed("any words", "any words", "", build.CODEGEN, InKernel(machine.EMPTY, "k", "division by zero"))
DIVIDES = Failed("any words", "any words", "", build.CODEGEN, InKernel("division by zero", "k", "division by zero"))
RACE = Failed("any words", "any words", evidence=OrderOfThreads("descending"))


@pytest.mark.parametrize(
    ("verdict", "base", "first", "only_some", "culprit"),
    [
        (WRONG, CLEAN, None, False, "FoldConstant"),
        (WRONG, WRONG, None, False, build.CODEGEN),
        (WRONG, CRASH, None, False, "FoldConstant"),
        (WRONG, WRONG, "LegalizeOps", False, "LegalizeOps"),
        (WRONG, CLEAN, "LegalizeOps", False, "LegalizeOps"),
        (WRONG, CLEAN, build.CODEGEN, False, build.CODEGEN),
        (NO_BUILD, CLEAN, None, False, "FoldConstant"),
        (NO_BUILD, NO_BUILD, None, False, build.CODEGEN),
        (CRASH, CLEAN, None, False, "VMShapeLower"),
        (EMPTY_LAUNCH, CLEAN, None, False, build.CODEGEN),
        (DIVIDES, CLEAN, None, False, "FoldConstant"),
        (RACE, CLEAN, None, False, "FoldConstant"),
        (CRASH, CLEAN, None, True, "FoldConstant"),
        (WRONG, CLEAN, None, True, "FoldConstant"),
        (WRONG, CLEAN, build.CODEGEN, True, "FoldConstant"),
        (WRONG, CLEAN, "tirx.CommonSubexprElim", True, "tirx.CommonSubexprElim"),
        (WRONG, CLEAN, "tirx.VectorizeLoop", True, "FoldConstant"),
        (WRONG, WRONG, "LegalizeOps", True, None),
        (WRONG, CRASH, None, True, None),
        (WRONG, Skipped("whatever"), None, True, None),
        (WRONG, Skipped("whatever"), None, False, build.CODEGEN),
    ],
)
def test_a_failed_build_is_blamed_on_the_passes_only_where_it_needs_them(
    verdict: Failed, base: Verdict, first: str | None, only_some: bool, culprit: str | None
) -> None:
    result = blamed(verdict, base, "FoldConstant", first, only_some=only_some)
    assert (result.culprit if isinstance(result, Failed) else None) == culprit


@pytest.mark.parametrize(
    ("evidence", "one", "culprit"),
    [
        (EMPTY_LAUNCH.evidence, True, build.CODEGEN),
        (RACE.evidence, True, None),
        (DIVIDES.evidence, False, None),
        (HostTouchesDevice(), True, "tirx.VerifyMemory"),
        (NotANumber(), False, None),
        (None, False, None),
    ],
)
def test_evidence_tells_which_failures_are_one_bug(evidence: Evidence | None, one: bool, culprit: str | None) -> None:
    bug = same_bug(evidence)
    assert (bug is not None) == one
    assert (bug.culprit if bug else None) == culprit


ARGSORT = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), dtype="float32")):
        return R.argsort(x)
"""


def _not_to_be_built(module: Any, phase: Phase, applied: list[str]) -> Verdict | None:
    return not_to_be_built(Position.at(module, phase), [], applied, threads=False)


RAISED = Raised("InternalError", "Check failed: planted", explicit=False)


@pytest.mark.parametrize(
    ("culprit", "lowered_by", "shown"),
    [
        ("FuseOps", ("LegalizeOps", "FuseOps"), (survives.ORACLE.name, "FuseOps", ("LegalizeOps", "FuseOps"))),
        (build.CODEGEN, ("LegalizeOps",), (BUILD, build.CODEGEN, ())),
    ],
)
def test_a_pass_that_raises_in_a_build_is_shown_as_any_that_crashes(
    culprit: str, lowered_by: tuple[str, ...], shown: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = live_module(ModuleText(ARGSORT))
    not_built = build.NotBuilt(culprit, RAISED, module, Phase.HIGH, lowered_by)
    monkeypatch.setitem(BUILDERS, LLVM.name, replace(BUILDERS[LLVM.name], build=lambda *_: not_built))
    start, record = Position.at(module), Record(0)
    options = JudgeOptions(PASSES, {}, frozenset({BUILD}), force=True)
    bench = Workbench(SeededSource(0), Numbers(module, ()))
    experiment = Experiment(0, module, (), (), (), ())
    judge_builds(experiment, options, SeededSource(0), bench, record, (), start, start)
    assert [(one.oracle, one.culprit, one.tail) for one in record.failures] == [shown]


def test_operators_that_a_skipped_pass_would_have_lowered_are_no_reason_to_blame_a_build() -> None:
    module = relax.transform.LegalizeOps()(live_module(ModuleText(ARGSORT)))
    assert isinstance(_not_to_be_built(module, Phase.LEGAL, ["LegalizeOps"]), Skipped)
    assert _not_to_be_built(module, Phase.LEGAL, ["DispatchSortScan", "LegalizeOps"]) is None
    assert _not_to_be_built(module, Phase.HIGH, []) is None, "the pipeline has the pass"


def test_what_asks_callers_for_other_tensors_is_not_built() -> None:
    start = Position.at(live_module(ModuleText(ARGSORT)), Phase.LEGAL)
    call = default_call("s_tir.RemoveWeightLayoutRewriteBlock")
    step = step_of(0, start, call, PASSES[call.name], start.module)
    assert isinstance(not_to_be_built(start, [step], [call.name], threads=False), Skipped)


MATMUL = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), y: R.Tensor((4, 4), dtype="float32")):
        with R.dataflow():
            z = R.matmul(x, y)
            R.output(z)
        return z
"""


def test_a_pass_that_leaves_its_mark_is_not_applied_to_its_own_result() -> None:
    module, call = live_module(ModuleText(MATMUL)), default_call("s_tir.LowerAutoCopy")
    before, after = (Position.at(module, phase) for phase in (Phase.COMPACT, Phase.LOOPS))
    step = step_of(0, before, call, PASSES[call.name], module)
    assert isinstance(not_to_be_built(before, [step], [call.name], threads=True), Skipped)
    assert not_to_be_built(after, [step], [call.name], threads=True) is None
    other = replace(step, row=PASSES["s_tir.UnifyThreadBinding"])
    assert not_to_be_built(before, [other], [other.row.name], threads=True) is None


@pytest.mark.parametrize("lowered_by_setup", [True, False])
@pytest.mark.parametrize("oracles", [{BUILD}, {BUILD, "numeric"}])
def test_a_build_is_held_to_the_precision_that_its_passes_leave_whoever_else_is_asked(
    oracles: set[str], lowered_by_setup: bool
) -> None:
    """With the numeric oracle out of sight the build was held to float32, and a pass of the lowering was blamed."""
    module = live_module(ModuleText(MATMUL))
    numbers = np.random.default_rng(3).uniform(-2, 2, (2, 4, 4)).astype(np.float32)
    lowering, last = default_call("ToMixedPrecision"), default_call("CanonicalizeBindings")
    setup, passes = ((lowering,), (last,)) if lowered_by_setup else ((), (lowering, last))
    experiment = Experiment(0, module, (EntryCall("main", tuple(numbers)),), setup, passes, ("B",) * len(passes))
    options = JudgeOptions(PASSES, {}, frozenset(oracles), force=True)
    judged = judge(experiment, options, SeededSource(0))
    assert judged.failures == []
    assert judged.counts.oracles[BUILD]["passed"] == 1


def test_running_a_build_leaves_the_constants_of_the_module_alone() -> None:
    module = live_module(ModuleText(add_in_place('c = R.const(np.array([1.0, 2.0], "float32"))')))
    call = EntryCall("main", (np.ones(2, np.float32),))
    numbers = Numbers(module, [call])
    built = build.build(module, Phase.HIGH, Workbench(SeededSource(1, 1), numbers), 0)
    assert isinstance(built, build.Built)
    assert numbers.judge_run(built.run) is None
    assert numbers.judge_run(built.run) is not None, "the second run starts from an overwritten constant"
    (again,) = Numbers(module, [call]).expected
    assert again.value.tolist() == [2.0, 3.0]


THROUGH_BFLOAT = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")):
        with R.dataflow():
            y = R.astype(x, dtype="bfloat16")
            z = R.astype(y, dtype="float32")
            R.output(z)
        return z
"""


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_builds_may_keep_more_precision_than_bfloat16(dtype: str) -> None:
    module = live_module(ModuleText(THROUGH_BFLOAT.replace("bfloat16", dtype)))
    numbers = Numbers(module, [EntryCall("main", (np.array([-0.7531596, 1.0009766], np.float32),))])
    bench = Workbench(SeededSource(1, 1), numbers)
    for name in ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR"):
        module = bench.apply(default_call(name), module)
    built = build.build(module, Phase.FUSED, bench, 0)
    assert isinstance(built, build.Built)
    assert build.as_built(numbers).judge_run(built.run) is None
    assert (build.as_built(numbers) is numbers) == (dtype == "float16")
