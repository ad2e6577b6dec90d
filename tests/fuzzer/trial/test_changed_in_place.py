"""A pass that changes its input in place is blamed, what it left is judged, and the pass behind it is left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tvm

from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Plan
from fuzzer.trial.judge import Court, Experiment, Judged, judge
from fuzzer.worker import child
from fuzzer.worker.draw import repertoire_of
from generators import tvm_api
from generators.case import EntryCall, PassCall
from generators.passes.table import PASSES
from generators.source import SeededSource

SCRIPT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.NAME(x, x)
"""
IN_PLACE = PassCall("InPlace", "in_place")
INNOCENT = PassCall("RemovePurityChecking", "relax.transform.RemovePurityChecking()")


def module_of(name: str) -> Any:
    return tvm_api.module_from_script(SCRIPT.replace("NAME", name))


@tvm.transform.module_pass(opt_level=0, name="InPlace")
def in_place(module: Any, context: Any) -> Any:
    """Subtracts instead, in the module that it was given."""
    module.update_func(module.get_global_var("main"), module_of("subtract")["main"])
    return module


@tvm.transform.module_pass(opt_level=0, name="InPlace")
def put_together_anew(module: Any, context: Any) -> Any:
    """A module of the same functions."""
    return module.clone()


def experiment_of(*passes: PassCall) -> Experiment:
    calls = (EntryCall("main", (np.array([1, 2], np.float32),)),)
    return Experiment(0, module_of("add"), calls, (), passes, ("A",) * len(passes))


PURITY = PASSES["RemovePurityChecking"]


def court_of(*oracles: str, trusting: bool = False) -> Court:
    rows = {**PASSES, "InPlace": replace(PURITY, name="InPlace", place=replace(PURITY.place, gives=None))}
    names = {**tvm_api.PASS_NAMES, "in_place": in_place}
    return Court(rows, names, frozenset(oracles), force=True, trusting=trusting)


def judged(*oracles: str) -> Judged:
    return judge(experiment_of(IN_PLACE, INNOCENT), court_of(*oracles), SeededSource(0))


def test_the_pass_behind_it_is_not_blamed() -> None:
    failures = judged("input_unchanged").failures
    assert [(failure.oracle, failure.culprit) for failure in failures] == [("input_unchanged", "InPlace")]


def test_what_it_left_is_judged() -> None:
    failures = judged("input_unchanged", "numeric").failures
    assert ("numeric", "InPlace") in [(failure.oracle, failure.culprit) for failure in failures]


def test_it_counts_as_changed() -> None:
    cells = judged("numeric").counts.tables["passes"]["InPlace"]
    assert cells["changed"] == 1


@pytest.mark.parametrize("passes", [(IN_PLACE,), (IN_PLACE, INNOCENT), (INNOCENT, IN_PLACE), (IN_PLACE, IN_PLACE)])
def test_misplaced_trust_is_noticed(passes: tuple[PassCall, ...]) -> None:
    seen = judge(experiment_of(*passes), court_of("input_unchanged", "numeric", trusting=True), SeededSource(0))
    assert seen.altered


def test_there_is_no_trust_where_nobody_looks() -> None:
    seen = judge(experiment_of(IN_PLACE, INNOCENT), court_of("numeric", trusting=True), SeededSource(0))
    assert not seen.altered
    assert [(failure.oracle, failure.culprit) for failure in seen.failures] == [("numeric", "InPlace")]


def test_trust_that_is_deserved_is_kept() -> None:
    seen = judge(experiment_of(INNOCENT, INNOCENT), court_of("input_unchanged", trusting=True), SeededSource(0))
    assert not seen.altered
    assert seen.counts.tables["oracles"]["input_unchanged"] == {"passed": 2}


@pytest.mark.parametrize("trusting", [False, True])
def test_what_a_pass_puts_together_anew_is_the_module_that_it_was_given(trusting: bool) -> None:
    """The same objects are the same program: nothing is looked at again."""
    court = court_of("input_unchanged", "numeric", trusting=trusting)
    court = replace(court, names={**court.names, "in_place": put_together_anew})
    steps = judge(experiment_of(IN_PLACE, INNOCENT), court, SeededSource(0)).steps
    assert not steps[0].after.same_as(steps[0].before)
    assert steps[1].before.same_as(steps[0].before)


def test_a_case_is_judged_again_where_trust_was_misplaced(monkeypatch: Any, tmp_path: Path) -> None:
    """As a child of a worker judges it."""
    program = SimpleNamespace(operators={}, rejected={})
    drawn = lambda *_: (experiment_of(IN_PLACE, INNOCENT), program, SeededSource(0))  # noqa: E731
    monkeypatch.setattr(child, "draw_experiment", drawn)
    monkeypatch.setattr(child, "court_of", lambda *_: court_of("input_unchanged"))
    said = list(child.judge_case(Plan(1), repertoire_of(Plan(1)), 0, Recorder.create(tmp_path / "flight")))
    failures = [payload["failure"] for kind, payload in said if kind == "failure"]
    assert [(failure["oracle"], failure["culprit"]) for failure in failures] == [("input_unchanged", "InPlace")]
