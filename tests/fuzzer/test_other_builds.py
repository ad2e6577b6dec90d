"""Other builds in a campaign: asked for a share of what the ordinary build has right, found, reduced and repeated."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from inspect import getmodule, getsource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.findings import save_finding
from corpus.reduce import Candidate
from corpus.scripts.module_text import live_module, text_of
from fuzzer.protocol import Failure, Plan
from fuzzer.trial import build as building
from fuzzer.trial.end_of_child import FromOutside, OurFault, ReferenceStuck, judged_end
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import Judgement, judge
from fuzzer.trial.options import options_of, oracle_names
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking.shrink import shrink
from generators.case import Case, EntryCall, ModuleText, PassCall
from generators.passes.table import PASSES
from generators.source import SeededSource
from oracles.activities import Activity, Applying, Asking, Blaming, Building, Interpreting, SettingUp, Working
from oracles.builds.cpu_builds import CPU_BUILDS, GROUPS
from oracles.forked import RAISED, Ended
from oracles.oracle import BuildOracle
from oracles.table import ORACLES
from oracles.verdict import Failed, Passed, Skipped, Verdict

pytestmark = pytest.mark.warm

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            R.output(b)
        return b
"""
X = (np.arange(8).reshape(2, 4) / 8).astype(np.float32)
NORMALIZE = PassCall("Normalize", "relax.transform.Normalize()")
REPERTOIRE = Repertoire(PASSES, {}, None)
START = Candidate(live_module(ModuleText(PROGRAM)), (), (NORMALIZE,), (EntryCall("main", (X,)),))


def judged(*oracles: str, force: bool = True, repertoire: Repertoire = REPERTOIRE, index: int = 0) -> Judgement:
    options = replace(options_of(Plan(1, oracles=oracles), repertoire), force=force)
    experiment = Experiment(index, START.module, START.calls, (), START.passes, ("B",))
    return judge(experiment, options, SeededSource(1, index))


def counted(result: Judgement) -> dict[str, dict[str, int]]:
    rows = {name: row for name, row in result.counts.oracles.items() if name in CPU_BUILDS}
    return {name: {column: number for column, number in row.items() if number} for name, row in rows.items()}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rows that are asked, none of which builds anything."""
    asked: list[str] = []

    def passed(row: Any, *_given: Any) -> Verdict:
        asked.append(row.name)
        return Passed()

    monkeypatch.setattr(building.cpu_trial, "judge", passed)
    return asked


@pytest.mark.parametrize(("target", "asked"), [("llvm", set(CPU_BUILDS)), ("cuda", set()), ("cuda-cpu", set())])
def test_they_are_asked_where_llvm_builds(target: str, asked: set[str]) -> None:
    assert oracle_names(Plan(1, targets=(target,))) & CPU_BUILDS.keys() == asked
    assert oracle_names(Plan(1, targets=(target,), oracles=("cross_builds",))) == asked & GROUPS["cross_builds"]


def test_all_of_them_where_they_are_forced(told: list[str]) -> None:
    result = judged("cpu_builds", "build_o3", "numeric")
    assert set(told) == GROUPS["cpu_builds"]
    assert counted(result) == {name: {"passed": 1} for name in GROUPS["cpu_builds"]}


def test_one_of_them_in_every_case_where_nothing_else_is_asked(told: list[str]) -> None:
    for index in range(20):
        judged("cpu_builds", "cross_builds", force=False, index=index)
    assert len(told) == 20
    assert len(set(told)) > 7


def test_few_where_other_oracles_are_asked(told: list[str]) -> None:
    for index in range(40):
        judged("cpu_builds", "numeric", force=False, index=index)
    assert len(told) < 5


def test_none_where_only_some_passes_are_under_test(told: list[str]) -> None:
    judged("cpu_builds", repertoire=replace(REPERTOIRE, under_test=("Normalize",)))
    assert told == []


@pytest.mark.parametrize("ordinary", [Failed("wrong result", "1 is not 2"), Skipped("too hard")])
def test_nothing_is_said_where_the_ordinary_build_does_not_agree(
    monkeypatch: pytest.MonkeyPatch, told: list[str], ordinary: Verdict
) -> None:
    monkeypatch.setattr(building.BuildTrial, "attempt", lambda *_given: building.BuildAttempt(ordinary))
    result = judged("build_o3")
    assert told == []
    assert result.failures == []
    assert counted(result) == {"build_o3": {"skipped": 1}}


@pytest.mark.parametrize(
    ("activity", "oracle", "culprit"),
    [
        (Building("build_c", "codegen"), "build_c", "codegen"),
        (Building("build", "VMShapeLower"), "build", "VMShapeLower"),
        (SettingUp("FuseTIR"), "survives", "FuseTIR"),
        (Asking("idempotence", "FuseOps"), "survives", "FuseOps"),
        (Asking("pipelines"), "survives", "pipelines"),
        (Working("parts", "Mine"), "survives", "Mine"),
        (Applying("s_tir.Schedule"), "survives", "s_tir.Schedule"),
        (Blaming("FuseTIR"), "survives", "FuseTIR"),
    ],
)
def test_who_is_blamed_for_the_end_of_a_child(activity: Activity, oracle: str, culprit: str) -> None:
    for ended in (Ended(signal.SIGSEGV), Ended(), Ended(status=0), Ended(status=3)):
        lost = judged_end(3, activity, ended, deadline_s=20)
        assert isinstance(lost, Failure)
        symptom = "hang" if ended.hung else "crash"
        assert (lost.oracle, lost.culprit, lost.symptom) == (oracle, culprit, symptom)
        assert ended.hung or lost.message == f"{ended.how} in {culprit}"
    killed = judged_end(3, activity, Ended(signal.SIGKILL), deadline_s=20)
    assert isinstance(killed, FromOutside) and killed.if_again is not None
    assert (killed.if_again.culprit, killed.if_again.message) == (culprit, f"SIGKILL in {culprit}")
    assert judged_end(3, activity, Ended(status=RAISED), deadline_s=20) == OurFault()


@pytest.mark.parametrize("activity", [Interpreting(), Asking("numeric", "FuseOps")])
def test_no_pass_is_blamed_for_what_ends_in_the_reference(activity: Activity) -> None:
    for ended in (Ended(), Ended(signal.SIGSEGV)):
        assert judged_end(3, activity, ended, deadline_s=20) == ReferenceStuck()
    assert judged_end(3, activity, Ended(signal.SIGKILL), deadline_s=20) == FromOutside()


@pytest.mark.parametrize("activity", [Interpreting(), Working("draw"), Asking("numeric", "FuseOps")])
@pytest.mark.parametrize("status", [0, 3, RAISED])
def test_an_exit_where_no_pass_is_applied_is_our_fault(activity: Activity, status: int) -> None:
    assert judged_end(3, activity, Ended(status=status), deadline_s=20) == OurFault()


JUDGING = [row for row in ORACLES.values() if not isinstance(row, BuildOracle)]
APPLYING = [row.name for row in JUDGING if "bench.apply" in getsource(getmodule(row.judge) or row.judge)]
"""The oracles whose file applies passes."""


@pytest.mark.parametrize("name", APPLYING)
def test_an_exit_where_an_oracle_applies_the_pass_is_a_crash_of_the_pass(name: str) -> None:
    end = judged_end(3, Asking(name, "FuseOps"), Ended(status=3), deadline_s=20)
    assert isinstance(end, Failure) and end.culprit == "FuseOps"


@pytest.mark.deep
@pytest.mark.parametrize("name", ["build_no_cse", "cross_wasm32"])
def test_a_finding_is_made_small_and_shown_by_its_script(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    honest = building.cpu_trial.relax.build

    def planted(module: Any, *rest: Any, **named: Any) -> Any:
        if "exp" in str(module):
            raise NameError("nobody knows exp")
        return honest(module, *rest, **named)

    monkeypatch.setattr(building.cpu_trial, "_machine", lambda row, module, *_given: planted(module))
    (failure,) = judged(name).failures
    assert (failure.oracle, failure.symptom, failure.culprit) == (name, "does not build", "codegen")
    like = Case(text_of(START.module), START.passes, START.calls)
    finding = shrink(Plan(1, scratch=str(tmp_path), oracles=()), REPERTOIRE, failure, START, like, 4.0)
    assert finding is not None
    assert finding.case.passes == ()
    assert "R.exp" in finding.case.module.script and "R.add" not in finding.case.module.script
    folder = save_finding(tmp_path, finding)
    assert CPU_BUILDS[name].promise[1:] in (folder / "README.md").read_text()
    ended = subprocess.run([sys.executable, str(folder / "repro.py")], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "the bug is gone\n")
