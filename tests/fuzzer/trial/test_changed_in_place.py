"""A pass that changes its input in place is blamed, what it left is judged, and the pass after it is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import Judgement, judge
from fuzzer.trial.options import JudgeOptions
from generators import tvm_api
from generators.case import EntryCall, PassCall
from generators.passes.table import PASSES
from generators.source import SeededSource
from tests.oracles.oracle_bench import poke_type

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


@tvm.transform.module_pass(opt_level=0, name="InPlace")
def in_place_and_copied(module: Any, context: Any) -> Any:
    """Subtracts instead, in the module that it was given, and returns a copy of that."""
    return in_place(module).clone()


def in_place_from_the_second_time() -> Any:
    """A pass that hands on a copy when it is applied first, and later changes what it is given in place."""
    applied: list[int] = []

    @tvm.transform.module_pass(opt_level=0, name="InPlace")
    def run(module: Any, context: Any) -> Any:
        applied.append(1)
        if len(applied) == 1:
            copy = module.clone()
            copy.update_func(copy.get_global_var("main"), module_of("multiply")["main"])
            return copy
        return in_place(module)

    return run


def experiment_of(*passes: PassCall) -> Experiment:
    calls = (EntryCall("main", (np.array([1, 2], np.float32),)),)
    return Experiment(0, module_of("add"), calls, (), passes, ("A",) * len(passes))


PURITY = PASSES["RemovePurityChecking"]


def options_for(*oracles: str) -> JudgeOptions:
    rows = {**PASSES, "InPlace": replace(PURITY, name="InPlace", place=replace(PURITY.place, gives=None))}
    names = {**tvm_api.PASS_NAMES, "in_place": in_place}
    return JudgeOptions(rows, names, frozenset(oracles), force=True)


def judged(*oracles: str) -> Judgement:
    return judge(experiment_of(IN_PLACE, INNOCENT), options_for(*oracles), SeededSource(0))


def test_the_pass_after_it_is_not_blamed() -> None:
    failures = judged("input_unchanged").failures
    assert [(failure.oracle, failure.culprit) for failure in failures] == [("input_unchanged", "InPlace")]


def test_what_it_left_is_judged() -> None:
    failures = judged("input_unchanged", "numeric").failures
    assert ("numeric", "InPlace") in [(failure.oracle, failure.culprit) for failure in failures]


def test_it_counts_as_changed() -> None:
    cells = judged("numeric").counts.passes["InPlace"]
    assert cells["changed"] == 1


def test_a_result_made_of_what_it_was_given_is_judged_by_what_is_in_it_now() -> None:
    """The pass changes its input in place and returns a copy of it: its own doing, and no change of the next pass."""
    options = options_for("input_unchanged", "numeric")
    options = replace(options, names={**options.names, "in_place": in_place_and_copied})
    judged = judge(experiment_of(IN_PLACE, INNOCENT), options, SeededSource(0))
    assert {failure.culprit for failure in judged.failures} == {"InPlace"}
    assert judged.counts.passes["InPlace"]["changed"] == 1


def test_what_a_pass_puts_together_anew_is_the_module_that_it_was_given() -> None:
    """The same objects are the same program: nothing is looked at again."""
    options = options_for("input_unchanged", "numeric")
    options = replace(options, names={**options.names, "in_place": put_together_anew})
    steps = judge(experiment_of(IN_PLACE, INNOCENT), options, SeededSource(0)).steps
    assert not steps[0].returned_input
    assert steps[1].before.same_as(steps[0].before)


def test_what_an_oracle_changes_in_place_is_not_blamed_on_the_next_pass() -> None:
    """The second application of a pass, which the idempotence oracle asks for, changes what the first one gave."""
    rows = {**options_for().rows, "Later": replace(PURITY, name="Later", place=replace(PURITY.place, gives=None))}
    options = replace(
        options_for("idempotence", "input_unchanged"),
        rows=rows,
        names={**options_for().names, "in_place": in_place_from_the_second_time()},
    )
    judged = judge(experiment_of(IN_PLACE, PassCall("Later", INNOCENT.source)), options, SeededSource(0))
    assert ("input_unchanged", "Later") not in [(failure.oracle, failure.culprit) for failure in judged.failures]


def poking(ty: Any) -> Any:
    """A pass that gives a variable this type, deep in a function that stays the same object."""

    @tvm.transform.module_pass(opt_level=0, name="InPlace")
    def run(module: Any, context: Any) -> Any:
        poke_type(module, ty)
        return module

    return run


VAGUE, WRONG = relax.TensorType(dtype="float32", ndim=1), relax.TensorType((3,), "float32")


def of_setup(pass_: Any, *oracles: str) -> Judgement:
    options = options_for(*oracles)
    options = replace(options, names={**options.names, "in_place": pass_})
    return judge(replace(experiment_of(INNOCENT), setup=(IN_PLACE,)), options, SeededSource(0))


@pytest.mark.parametrize("pass_", [in_place, poking(VAGUE)], ids=["another function", "another type"])
def test_what_the_setup_changes_in_place_is_not_blamed_on_the_first_pass(pass_: Any) -> None:
    """Passes of the setup are not asked whether they keep their input: the module is looked at when they are done."""
    judged = of_setup(pass_, "input_unchanged")
    assert judged.counts.passes["RemovePurityChecking"]["applied"] == 1
    assert not judged.failures


def test_numbers_that_the_setup_changes_in_place_are_nobodys_fault() -> None:
    judged = of_setup(in_place, "numeric")
    assert not judged.failures
    assert judged.counts.skipped["numbers: wrong before the passes under test"] == 1


def test_what_the_setup_makes_ill_formed_in_place_is_blamed_on_nobody() -> None:
    judged = of_setup(poking(WRONG), "input_unchanged", "well_formed", "type_soundness")
    assert not judged.failures
    assert not judged.counts.passes
    assert judged.counts.skipped["setup: a pass changes its input in place to something ill-formed"] == 1
