"""`--target cuda-cpu`: device code is built and run on the CPU; what is wrong with it is named and made small."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import tirx

from corpus.findings import save_finding
from corpus.reduce import Candidate
from corpus.scripts.module_text import live_module, text_of
from fuzzer.campaign import begin
from fuzzer.campaign.observer import Observers
from fuzzer.commands.run import able
from fuzzer.errors import EnvironmentFault
from fuzzer.protocol import Failure, Plan
from fuzzer.settings import Settings, read_settings
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import Judgement, judge
from fuzzer.trial.options import options_of, oracle_names
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking.shrink import shrink
from generators import tvm_api
from generators.case import Case, EntryCall, ModuleText, PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES, PIPELINES, default_call, rest_of_tir_pipeline
from generators.source import SeededSource
from generators.targets import TARGETS
from oracles.builds import builders, needs
from oracles.builds.builders import BUILDERS, refused
from oracles.builds.cuda_cpu import available, lowering, machine
from oracles.builds.cuda_cpu.machine import NotCompiled
from oracles.evidence import InKernel
from oracles.verdict import CODEGEN, Failed, Skipped
from tests.oracles.oracle_bench import row_of

pytestmark = pytest.mark.warm

with_compiler = pytest.mark.skipif(available() is not None, reason=str(available()))

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 40), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = R.SUM
            R.output(b)
        return b
"""
SUMMED = PROGRAM.replace("R.SUM", "R.sum(a, axis=[1])")
EMPTY = PROGRAM.replace("R.SUM", "R.strided_slice(a, axes=[0], begin=[0], end=[0])")
SHARED = PROGRAM.replace("R.SUM", "R.matmul(a, R.permute_dims(a))")
NORMALIZE = PassCall("Normalize", "relax.transform.Normalize()")
DEAD = PassCall("DeadCodeElimination", "relax.transform.DeadCodeElimination()")
DROP = PassCall("DropBarriers", "drop()")
X = (np.arange(320).reshape(8, 40) / 4).astype(np.float32)
PLAN = Plan(1, targets=("cuda-cpu",), oracles=("build",))


def drop_barriers(module: Any, _context: Any) -> Any:
    def dropped(statement: Any) -> Any:
        return tirx.Evaluate(0) if tvm_api.op_name(statement.value) == "tirx.tvm_storage_sync" else statement

    functions = {name: tvm_ffi.structural_map(f, [(tirx.Evaluate, dropped)]) for name, f in module.functions.items()}
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def dropping() -> Any:
    return tvm.transform.module_pass(drop_barriers, opt_level=0, name=DROP.name)


def candidate(program: str, *passes: PassCall, setup: tuple[PassCall, ...] = ()) -> Candidate:
    return Candidate(live_module(ModuleText(program)), setup, passes, (EntryCall("main", (X,)),))


def repertoire(under_test: tuple[str, ...] | None = None) -> Repertoire:
    rows = {**PASSES, DROP.name: row_of(DROP.name, phases=frozenset({Phase.SYNCED}))}
    return Repertoire(rows, {"drop": dropping}, under_test)


def judged(case: Candidate, repertoire: Repertoire, plan: Plan = PLAN) -> Judgement:
    options = replace(options_of(plan, repertoire), force=True)
    tiers = tuple("B" for _ in case.passes)
    experiment = Experiment(0, case.module, case.calls, case.setup, case.passes, tiers)
    return judge(experiment, options, SeededSource(1, 0))


def failure_of(result: Judgement) -> Failure:
    (failure,) = result.failures
    return failure


@pytest.fixture
def spoilt(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Replaces a text in the CUDA source that TVM has made."""
    lower = lowering.lower

    def spoil(text: str, by: str) -> None:
        def spoiling(*given: Any) -> Any:
            lowered = lower(*given)
            return replace(lowered, cuda=lowered.cuda.replace(text, by))

        monkeypatch.setattr(machine, "lower", spoiling)

    return spoil


def test_every_builder_of_a_target_has_a_row() -> None:
    assert {row.builder for row in TARGETS.values()} == set(BUILDERS)


@pytest.mark.parametrize(
    ("target", "device", "asked"),
    [
        ("llvm", False, {"build", "pipelines"}),
        ("cuda", False, set()),
        ("cuda", True, {"build"}),
        ("cuda-cpu", False, {"build"}),
    ],
)
def test_what_is_built_is_judged_by_what_builds_it(
    monkeypatch: pytest.MonkeyPatch, target: str, device: bool, asked: set[str]
) -> None:
    monkeypatch.setattr(needs, "DRIVER_FILES", ("/",) if device else ())
    assert oracle_names(Plan(1, targets=(target,))) & {"build", "pipelines"} == asked


@with_compiler
def test_a_campaign_builds_device_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan_of = begin.plan_of
    monkeypatch.setattr(begin, "plan_of", lambda *given: replace(plan_of(*given), build_share=1.0))
    settings = read_settings(
        seed=4, cases=30, jobs=1, targets=["cuda-cpu"], passes="Normalize", oracles="numeric,build", out=tmp_path
    )
    result = begin.run_campaign(settings, Observers())
    built = result.tally.oracles["build"]
    assert built["passed"] > 0
    assert built["failed"] == 0
    assert result.fault() is None


@with_compiler
@pytest.mark.parametrize("phase", [Phase.HIGH, Phase.FUSED, Phase.IMPURE, Phase.SYMBOLED])
def test_modules_without_a_schedule_get_one(phase: Phase) -> None:
    names = PIPELINES["llvm"] if phase is Phase.SYMBOLED else ()
    names = names or {Phase.FUSED: PIPELINES["llvm"][:7], Phase.IMPURE: PIPELINES["llvm"][:10]}.get(phase, ())
    passed = judged(candidate(SUMMED, *map(default_call, names)), repertoire())
    assert passed.counts.oracles["build"]["passed"] == 1


@pytest.mark.deep
@with_compiler
def test_wrong_device_code_is_found_and_made_small(spoilt: Callable[[str, str], None], tmp_path: Path) -> None:
    spoilt("+ ", "- ")
    case, known = candidate(SUMMED, NORMALIZE, DEAD), repertoire()
    failure = failure_of(judged(case, known))
    assert (failure.oracle, failure.symptom, failure.culprit) == ("build", "wrong result", CODEGEN)
    plan = replace(PLAN, scratch=str(tmp_path))
    like = Case(text_of(case.module), case.passes, case.calls, "cuda-cpu", (), load=None)
    finding = shrink(plan, known, failure, case, like, 2.0)
    assert finding is not None
    assert len(finding.case.passes) < len(case.passes)
    assert finding.case.target == "cuda-cpu"
    assert finding.fault[0].startswith("So far the reference agrees")
    assert "build before at -O0" in finding.fault[1] and finding.fault[1].endswith("what the program means")
    assert finding.fault[2].startswith("cuda-cpu before")
    assert "`passfuzz check` on this folder" in (save_finding(tmp_path, finding) / "README.md").read_text()


@pytest.mark.deep
@with_compiler
def test_a_pass_that_drops_barriers_is_named() -> None:
    tir = rest_of_tir_pipeline(Phase.SYMBOLED)
    synced = tir[: tir.index("s_tir.LowerThreadAllreduce") + 1]
    setup = tuple(map(default_call, (*PIPELINES["cuda"], *synced)))
    failure = failure_of(judged(candidate(SHARED, DROP, setup=setup), repertoire((DROP.name,))))
    assert failure.culprit == DROP.name
    assert failure.symptom in ("wrong result", f"{machine.SYMPTOM}{machine.RACE}")
    assert judged(candidate(SHARED, setup=setup), repertoire()).failures == []


@with_compiler
@pytest.mark.parametrize("passes", [(), (NORMALIZE,), (default_call("LegalizeOps"),)])
def test_an_empty_launch_is_one_bug(passes: tuple[PassCall, ...]) -> None:
    failure = failure_of(judged(candidate(EMPTY, *passes), repertoire()))
    assert (failure.symptom, failure.culprit) == (f"{machine.SYMPTOM}{machine.EMPTY}", CODEGEN)
    assert isinstance(failure.evidence, InKernel) and failure.evidence.kind == machine.EMPTY
    assert failure.message == "a kernel for no element is launched nevertheless, and fails"
    assert "array of 0 bytes" in failure.detail


@pytest.mark.parametrize(
    ("nvcc", "complaint", "slow", "said"),
    [
        (True, "kernels.cu(3): error: no such type", False, Failed),
        (True, None, False, Skipped),
        (True, TimeoutError("nvcc"), False, Skipped),
        (False, None, False, Skipped),
        (True, "kernels.cu(3): error: no such type", True, Skipped),
    ],
)
def test_source_is_wrong_where_nvcc_says_so_too(
    monkeypatch: pytest.MonkeyPatch, nvcc: bool, complaint: str | Exception | None, slow: bool, said: type
) -> None:
    def to_ptx(_cuda: str, **_options: Any) -> str | None:
        if isinstance(complaint, Exception):
            raise complaint
        return complaint

    monkeypatch.setattr(shutil, "which", lambda name: name if nvcc else None)
    monkeypatch.setattr(builders, "to_ptx", to_ptx)
    verdict = refused(NotCompiled("text", "kernels.cpp:3: error", slow))
    assert type(verdict) is said
    assert not isinstance(verdict, Failed) or (verdict.culprit == CODEGEN and "no such type" in verdict.message)


# --- no compiler ----------------------------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without a C++ compiler."""
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def _settings(tmp_path: Path, *targets: str) -> Settings:
    return read_settings(seed=1, cases=1, targets=targets, out=tmp_path / "out")


def test_a_campaign_goes_on_with_the_targets_that_work(
    bare: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert able(_settings(tmp_path, "llvm", "cuda-cpu", "cuda")).targets == ("llvm", "cuda")
    line = capsys.readouterr().err
    assert line.startswith("passfuzz: warning: --target cuda-cpu: left out: no C++ compiler")
    assert line.count("\n") == 1


def test_nothing_works_without_a_compiler(bare: None, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match=r"--target cuda-cpu: no C\+\+ compiler.*; install g\+\+"):
        able(_settings(tmp_path, "cuda-cpu"))
