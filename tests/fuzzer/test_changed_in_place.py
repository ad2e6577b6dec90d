"""A pass that changes its input in place is blamed, what it left is judged, and the pass behind it is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import tvm

from fuzzer.worker.judge import Court, Experiment, Judged, judge
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


def judged(*oracles: str) -> Judged:
    calls = (EntryCall("main", (np.array([1, 2], np.float32),)),)
    experiment = Experiment(0, module_of("add"), calls, (), (IN_PLACE, INNOCENT), ("A", "A"))
    rows = {**PASSES, "InPlace": replace(PASSES["RemovePurityChecking"], name="InPlace", gives=None)}
    court = Court(rows, {**tvm_api.PASS_NAMES, "in_place": in_place}, frozenset(oracles), force=True)
    return judge(experiment, court, SeededSource(0))


def test_the_pass_behind_it_is_not_blamed() -> None:
    failures = judged("input_unchanged").failures
    assert [(failure.oracle, failure.culprit) for failure in failures] == [("input_unchanged", "InPlace")]


def test_what_it_left_is_judged() -> None:
    failures = judged("input_unchanged", "numeric").failures
    assert ("numeric", "InPlace") in [(failure.oracle, failure.culprit) for failure in failures]


def test_it_counts_as_changed() -> None:
    cells = judged("numeric").counts.tables["passes"]["InPlace"]
    assert cells["changed"] == 1
