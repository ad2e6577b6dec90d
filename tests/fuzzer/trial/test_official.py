"""Whether an official pipeline shows a failure: cases of the corpus, planted ends of `tvm.compile`, and `shrink`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tvm
from tvm import relax

from corpus.finding_bytes import from_bytes, to_bytes
from corpus.findings import save_finding
from corpus.reduce import Candidate, candidate_of
from corpus.replayable import CORPUS
from corpus.scripts.module_text import live_module
from corpus.store import read_case
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.rejudge import Rejudge
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.trial.shrinking import official
from fuzzer.trial.shrinking.official import official_entry
from fuzzer.trial.shrinking.shrink import shrink
from generators.case import Case, ModuleText, PassCall
from generators.passes.official import calls_of
from generators.passes.row import Phase
from generators.passes.table import default_call
from generators.targets import TARGETS
from oracles.checks import input_unchanged, pipelines, survives
from oracles.evidence import AcrossProcesses, BuiltUntyped, Evidence, Hung, OutOfMemory
from oracles.table import BUILD
from oracles.verdict import CODEGEN, CRASH, WRONG_RESULT
from tests.patience import HANGS_S
from tests.quick import one_in

pytestmark = pytest.mark.warm

COMPILE = 'tvm.compile(Module, target="llvm")'
FUSED = (
    'tvm.compile(Module, target="llvm", relax_pipeline=relax.get_default_pipeline(tvm.target.Target("llvm")))'
)  # fmt: skip

WEIGHT_OF_UNKNOWN_SHAPE = """\
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), w: R.Tensor(dtype="float32", ndim=1)) -> R.Tensor((4,), "float32"):
        R.func_attr({"num_input": 1})
        a: R.Tensor((4,), dtype="float32") = R.negative(x)
        return a
"""
"""VMShapeLower dereferences a null pointer (src/relax/backend/vm/vm_shape_lower.cc:816 of TVM 0.27)."""

LOCAL_FUNCTION = """\
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        @R.function
        def inner(y: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            return y
        a: R.Tensor((4,), dtype="float32") = inner(x)
        return a
"""
"""VMShapeLower refuses it before LambdaLift, which is in no official pipeline and which our builds apply."""


def plan_at(folder: Path) -> Plan:
    return Plan(0, scratch=str(folder), deadline_s=HANGS_S)


def failing(case: Candidate, plan: Plan, oracle: str, symptom: str = "", culprit: str = "") -> tuple[Failure, Rejudge]:
    """The failure of a case under an oracle, and what judges it again."""
    asked = Failure(0, oracle, symptom, "", "", culprit, "B")
    rejudge = Rejudge(plan, repertoire_of(plan), asked, Recorder.create(Path(plan.scratch) / "flight"))
    failure = next(found for found in rejudge.failures(case) if found.oracle == oracle)
    return failure, Rejudge(plan, repertoire_of(plan), failure, Recorder.create(Path(plan.scratch) / "again"))


def of_corpus(slug: str, plan: Plan) -> tuple[Failure, Candidate, Rejudge]:
    stored = read_case(CORPUS / slug)
    case = candidate_of(stored.case)
    failure, rejudge = failing(case, plan, stored.oracle)
    return failure, case, rejudge


def never(_candidate: Candidate) -> bool:
    raise AssertionError("nothing is to be judged")


@pytest.mark.parametrize(
    ("slug", "shown"),
    [
        ("bf16-compute-legalize-let", COMPILE),  # an error of a pass
        ("17175-ewise-fma", COMPILE),  # an error of the code generator
        ("canonicalize-loop-begin", COMPILE),  # wrong numbers
        ("static-plan-block-memory-branch", COMPILE),  # an ill-formed module
        ("17487-float16-atan", COMPILE),  # no pass in the case at all
        ("20195-fuse-ops-late-symbol", FUSED),  # in the target's own pipeline alone
        ("fast-math-transform-global-call", ""),  # a pass of no official pipeline
        ("to-mixed-precision-attention-mask", ""),
        ("17340-kill-after-last-use-in-dataflow", ""),  # a pass of both, out of its phase
        ("common-subexpr-elim-let-body", ""),
        ("schedule-merge-itself", ""),  # a signal
    ],
)
def test_cases_of_the_corpus(slug: str, shown: str, tmp_path: Path) -> None:
    plan = plan_at(tmp_path)
    failure, case, rejudge = of_corpus(slug, plan)
    assert official_entry(failure, case, plan, rejudge.interesting) == shown


def test_what_is_said_is_a_call_that_fails(tmp_path: Path) -> None:
    plan = plan_at(tmp_path)
    for slug in ("bf16-compute-legalize-let", "17175-ewise-fma"):
        failure, case, rejudge = of_corpus(slug, plan)
        text = official_entry(failure, case, plan, rejudge.interesting)
        with pytest.raises(Exception, match="Check failed|CodeGenVM cannot emit") as raised:
            eval(text, {"tvm": tvm, "relax": relax, "Module": case.module})
        assert type(raised.value).__name__ == failure.message.split(":")[0]


def test_a_signal_in_the_same_pass_is_the_same_crash(tmp_path: Path) -> None:
    plan = plan_at(tmp_path)
    module = live_module(ModuleText(WEIGHT_OF_UNKNOWN_SHAPE))
    passes = tuple(default_call(name) for name in ("LowerAllocTensor", "LowerRuntimeBuiltin", "VMShapeLower"))
    case = Candidate(module, (), passes, ())
    failure, _ = failing(case, plan, survives.ORACLE.name)
    assert (failure.culprit, failure.symptom) == ("VMShapeLower", CRASH)
    assert official_entry(failure, case, plan, never) == COMPILE
    elsewhere = replace(failure, culprit="StaticPlanBlockMemory")
    assert official_entry(elsewhere, case, plan, lambda _: False) == ""


def test_an_error_of_the_targets_own_pipeline_is_asked_for_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_at(tmp_path)
    failure, case, _ = of_corpus("17768-strided-slice-negative-extent", plan)
    assert official_entry(failure, case, plan, never) == COMPILE
    monkeypatch.setattr(tvm, "compile", lambda *_: None)
    assert official_entry(failure, case, plan, never) == FUSED


def test_an_error_of_another_text_or_place_is_another(tmp_path: Path) -> None:
    plan = plan_at(tmp_path)
    failure, case, _ = of_corpus("bf16-compute-legalize-let", plan)
    text, place = replace(failure, message="InternalError: some other check"), replace(failure, detail="no traceback")
    assert official_entry(failure, case, plan, never) == COMPILE
    assert official_entry(text, case, plan, lambda _: False) == ""
    longer = replace(failure, message=f"another error, of which the end is alike: {failure.message}")
    assert official_entry(longer, case, plan, lambda _: False) == ""
    assert official_entry(place, case, plan, lambda _: False) == ""


def test_of_a_call_that_cannot_be_typed_what_tvm_says_counts(tmp_path: Path) -> None:
    plan = plan_at(tmp_path)
    failure, case, _ = of_corpus("bf16-compute-legalize-let", plan)
    told = replace(failure, message="in words of ours")
    assert official_entry(replace(told, evidence=BuiltUntyped(failure.message)), case, plan, never) == COMPILE
    assert official_entry(replace(told, evidence=BuiltUntyped("another")), case, plan, lambda _: False) == ""


@pytest.mark.parametrize("evidence", [Hung(), OutOfMemory(), AcrossProcesses()])
def test_nothing_is_asked_of_hangs_memory_and_hash_seeds(
    evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(official, "in_child", never)
    plan = plan_at(tmp_path)
    failure = Failure(0, survives.ORACLE.name, CRASH, "", "", "LegalizeOps", "B", evidence=evidence)
    case = Candidate(live_module(ModuleText(WEIGHT_OF_UNKNOWN_SHAPE)), (), (), ())
    assert official_entry(failure, case, plan, never) == ""


def test_nothing_is_asked_of_a_module_that_is_lowered_already(tmp_path: Path) -> None:
    failure = Failure(0, survives.ORACLE.name, CRASH, "", "", "LegalizeOps", "B")
    case = Candidate(live_module(ModuleText(WEIGHT_OF_UNKNOWN_SHAPE)), (), (), ())
    assert official_entry(failure, case, replace(plan_at(tmp_path), phase=int(Phase.PLANNED)), never) == ""


def test_a_pipeline_that_differs_from_the_other_is_named(tmp_path: Path) -> None:
    case = Candidate(live_module(ModuleText(WEIGHT_OF_UNKNOWN_SHAPE)), (), (), ())
    for culprit, text in ((pipelines.DEFAULT_BUILD, COMPILE), (pipelines.TARGET_DEFAULT, FUSED), ("FuseOps", COMPILE)):
        failure = Failure(0, pipelines.ORACLE.name, WRONG_RESULT, "", "", culprit, "B")
        assert official_entry(failure, case, plan_at(tmp_path), never) == text


def test_wrong_numbers_of_a_build_are_judged_without_the_passes(tmp_path: Path) -> None:
    asked: list[Candidate] = []
    module = live_module(ModuleText(WEIGHT_OF_UNKNOWN_SHAPE))
    case = Candidate(module, (default_call("LegalizeOps"),), (default_call("FoldConstant"),), ())
    failure = Failure(0, BUILD, WRONG_RESULT, "", "", CODEGEN, "B")
    assert official_entry(failure, case, plan_at(tmp_path), lambda bare: not asked.append(bare)) == COMPILE
    assert [(bare.setup, bare.passes) for bare in asked] == [((), ())]
    assert official_entry(failure, case, plan_at(tmp_path), lambda _: False) == ""


def test_a_local_function_needs_more_than_an_official_pipeline(tmp_path: Path) -> None:
    failure = Failure(0, BUILD, WRONG_RESULT, "", "", CODEGEN, "B")
    for text, shown in ((LOCAL_FUNCTION, ""), (WEIGHT_OF_UNKNOWN_SHAPE, COMPILE)):
        case = Candidate(live_module(ModuleText(text)), (), (), ())
        assert official_entry(failure, case, plan_at(tmp_path), lambda _: False) == shown


# --- a changed input ------------------------------------------------------------------------------------

RELU = """\
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        a: R.Tensor((4,), dtype="float32") = R.nn.relu(x)
        return a
"""
CUDA = f"tvm.compile(Module, target={TARGETS['cuda'].source})"


SCHEDULES = "ApplyDefaultSchedule"
"""Updates the module that it is given, as the pipeline of CUDA has it."""


def scheduled(plan: Plan) -> Candidate:
    calls = calls_of(TARGETS[plan.target].pipelines[0])
    end = [call.name for call in calls].index(SCHEDULES) + 1
    return Candidate(live_module(ModuleText(RELU)), (), calls[:end], ())


def test_a_module_that_a_pipeline_has_made_is_not_the_users(tmp_path: Path) -> None:
    plan = replace(plan_at(tmp_path), targets=("cuda",))
    case = scheduled(plan)
    failure, rejudge = failing(case, plan, input_unchanged.ORACLE.name)
    assert (failure.culprit, failure.tier) == (SCHEDULES, "B")
    assert official_entry(failure, case, plan, rejudge.interesting) == ""
    like = Case(ModuleText(RELU), case.passes, target="cuda")
    found = shrink(plan, repertoire_of(plan), failure, case, like, 60.0)
    assert found is not None and (found.tier, found.official) == ("B", "")


@pytest.mark.parametrize(("culprit", "shown"), [(SCHEDULES, CUDA), ("FuseOps", "")])
def test_a_changed_module_of_the_user_is_of_the_pipeline(
    culprit: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = replace(plan_at(tmp_path), targets=("cuda",))
    case = scheduled(plan)
    failure, _ = failing(case, plan, input_unchanged.ORACLE.name)

    def compiles(module: tvm.IRModule, **_: object) -> None:
        with tvm.target.Target("cuda"):
            tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Fallback())(module)

    changed = Candidate(relax.transform.LegalizeOps()(case.module), (), case.passes, ())
    monkeypatch.setattr(tvm, "compile", lambda module, _target: compiles(module))
    assert official_entry(replace(failure, culprit=culprit), changed, plan, never) == shown


# --- through the reduction ------------------------------------------------------------------------------


def reduced(slug: str, plan: Plan) -> Any:
    stored = read_case(CORPUS / slug)
    failure, case, _ = of_corpus(slug, plan)
    return shrink(plan, repertoire_of(plan), failure, case, stored.case, 60.0)


def test_a_finding_that_an_official_pipeline_shows_is_tier_a_and_says_so(tmp_path: Path) -> None:
    finding = from_bytes(to_bytes(reduced("bf16-compute-legalize-let", plan_at(tmp_path))))
    assert (finding.tier, finding.official) == ("A", COMPILE)
    readme = (save_finding(tmp_path, finding) / "README.md").read_text()
    assert f"- official pipeline: `{COMPILE}` shows it too\n" in readme


def test_a_build_that_fails_without_passes_is_shown_by_that_call_alone(tmp_path: Path) -> None:
    finding = reduced("17175-ewise-fma", plan_at(tmp_path))
    assert (finding.tier, finding.official) == ("A", COMPILE)
    assert (finding.case.setup, finding.case.passes) == ((), ())
    script = (save_finding(tmp_path, finding) / "repro.py").read_text()
    assert "tvm.compile(mod, " in script and "LegalizeOps" not in script


def test_another_finding_keeps_its_tier(tmp_path: Path) -> None:
    finding = reduced("fast-math-transform-global-call", plan_at(tmp_path))
    assert (finding.tier, finding.official) == ("B", "")
    assert "official pipeline" not in (save_finding(tmp_path, finding) / "README.md").read_text()


@pytest.mark.deep
def test_the_tier_is_that_of_what_is_left(tmp_path: Path) -> None:
    plan = plan_at(tmp_path)
    stored = read_case(CORPUS / "fast-math-transform-global-call")
    failure, case, _ = of_corpus("fast-math-transform-global-call", plan)
    odd = replace(failure, tier="C")
    found = shrink(plan, repertoire_of(plan), odd, case, stored.case, 60.0)
    assert found is not None and found.tier == "B", "it fails in its phase too"
    stored = read_case(CORPUS / "17340-kill-after-last-use-in-dataflow")
    failure, case, _ = of_corpus("17340-kill-after-last-use-in-dataflow", plan)
    found = shrink(plan, repertoire_of(plan), replace(failure, tier="C"), case, stored.case, 60.0)
    assert found is not None and found.tier == "C"


@pytest.mark.parametrize(
    "end",
    one_in(
        3,
        [
            lambda: os.kill(os.getpid(), signal.SIGKILL),
            lambda: os.kill(os.getpid(), signal.SIGSEGV),
            lambda: os._exit(3),
        ],
    ),
    ids=["killed", "signal", "exit"],
)
def test_a_child_that_dies_loses_no_finding(
    end: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tvm, "compile", lambda *_: end())
    finding = reduced("fast-math-transform-global-call", plan_at(tmp_path))
    assert (finding.tier, finding.official) == ("B", "")


def test_a_reduction_does_not_leave_the_documented_order(tmp_path: Path) -> None:
    """LazyTransformParams shows it also without the passes that its docstring asks for, which its script then keeps."""
    plan = plan_at(tmp_path)
    stored = read_case(CORPUS / "17231-lift-transform-params-returned-weight")
    names = ("LiftTransformParams", "ToNonDataflow", "RemovePurityChecking", "LazyTransformParams")
    asked = (default_call("ToNonDataflow"), default_call("RemovePurityChecking"))
    lift = PassCall("LiftTransformParams", "relax.transform.LiftTransformParams()")
    case = replace(candidate_of(stored.case), setup=(), passes=(lift, *asked, default_call("LazyTransformParams")))
    failure, rejudge = failing(case, plan, "definedness")
    assert failure.culprit in names
    without = replace(case, passes=(lift, case.passes[-1]))
    assert rejudge.interesting(case)
    assert not rejudge.interesting(without)
    _, of_its_own = failing(without, plan, "definedness")
    assert of_its_own.interesting(without), "an odd order that was there from the start may stay"
