"""What judging asks a row of the oracle table for: what runs in an oracle, and whether a result fits other passes."""

from __future__ import annotations

from dataclasses import replace
from inspect import getmodule, getsource

import numpy as np
import pytest

from fuzzer.protocol import Failure
from fuzzer.trial.end_of_child import OurFault, ReferenceStuck, judged_end
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import Judgement, judge
from fuzzer.trial.options import JudgeOptions
from generators import tvm_api
from generators.case import EntryCall, PassCall
from generators.passes.table import PASSES, default_call
from generators.source import SeededSource
from oracles.activities import Asking
from oracles.forked import Ended
from oracles.oracle import BuildOracle, Runs, Stage, StepOracle
from oracles.table import ORACLES

JUDGING = [row for row in ORACLES.values() if not isinstance(row, BuildOracle)]
BY_THEMSELVES = {"pipelines", "round_trip"}
"""They build by whole pipelines, and parse: no call of the bench's shows that."""


@pytest.mark.parametrize("row", JUDGING, ids=lambda row: row.name)
def test_a_row_says_that_its_oracle_runs_passes(row: StepOracle) -> None:
    applies = "bench.apply" in getsource(getmodule(row.judge) or row.judge)
    assert (row.runs is Runs.PASSES) == (applies or row.name in BY_THEMSELVES)


@pytest.mark.parametrize("stage", Stage)
def test_what_runs_says_whose_fault_an_end_is_at_any_stage(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> None:
    asked, exits, dies = Asking("idempotence", "FuseOps"), Ended(status=3), Ended()
    expected = {
        Runs.PASSES: (Failure, Failure),
        Runs.TVM: (OurFault, Failure),
        Runs.REFERENCE: (OurFault, ReferenceStuck),
    }
    for runs, kinds in expected.items():
        monkeypatch.setitem(ORACLES, "idempotence", replace(ORACLES["idempotence"], stage=stage, runs=runs))
        ends = [judged_end(0, asked, ended, deadline_s=20) for ended in (exits, dies)]
        assert tuple(map(type, ends)) == kinds


MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, x)
"""
FIRST, SECOND = "ToNonDataflow", "RemovePurityChecking"


def judged(*, chosen: bool) -> Judgement:
    passes: tuple[PassCall, ...] = (default_call(FIRST), default_call(SECOND))
    calls = (EntryCall("main", (np.ones(2, np.float32),)),)
    experiment = Experiment(0, tvm_api.module_from_script(MODULE), calls, (), passes, ("B", "B"))
    only = frozenset({FIRST, SECOND}) if chosen else None
    options = JudgeOptions(PASSES, tvm_api.PASS_NAMES, frozenset({"survives"}), only)
    return judge(experiment, options, SeededSource(0))


def test_a_row_ends_a_case_of_chosen_passes_whose_next_pass_gets_no_fit_input(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ORACLES["survives"]
    assert isinstance(row, StepOracle)
    assert [step.call.name for step in judged(chosen=True).steps] == [FIRST, SECOND]
    monkeypatch.setitem(ORACLES, "survives", replace(row, unfit=lambda step: "is a dead end"))
    stopped = judged(chosen=True)
    assert [step.call.name for step in stopped.steps] == [FIRST]
    assert stopped.counts.skipped == {f"passes after {FIRST}, which is a dead end": 1}
    assert [step.call.name for step in judged(chosen=False).steps] == [FIRST, SECOND]
