"""The difference that a wrong result shows: the functions that changed and nothing else, in lines that people read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generators.case import EntryCall, PassCall
from generators.passes.table import PASSES
from generators.source import SeededSource
from oracles.checks.numeric import judge
from oracles.ir.difference import HEAD, LONGEST, difference
from oracles.reference.numbers import Numbers
from oracles.verdict import Failed
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of, step_between

BEFORE = """
@I.ir_module
class Module:
    @R.function
    def same(x: R.Tensor((3,), "float32")):
        return x
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
"""
AFTER = BEFORE.replace("R.add", "R.multiply")


def test_only_what_changed_is_shown() -> None:
    lines = difference(module_of(BEFORE), module_of(AFTER)).splitlines()
    assert lines[:3] == ["--- before", "+++ after", "@@ main @@"]
    assert [line.split(" = ")[1] for line in lines if line.startswith("-  ")] == ["R.add(x, x)"]
    assert [line.split(" = ")[1] for line in lines if line.startswith("+  ")] == ["R.multiply(x, x)"]
    assert not any("same" in line for line in lines)


def test_a_function_that_is_gone_is_shown() -> None:
    module = module_of(BEFORE)
    del module[module.get_global_var("same")]
    lines = difference(module_of(BEFORE), module).splitlines()
    assert "@@ same @@" in lines and any(line.startswith("-def same") for line in lines)


def test_equal_modules_differ_in_nothing_and_long_ones_are_cut() -> None:
    assert difference(module_of(BEFORE), module_of(BEFORE)) == HEAD
    body = "".join(f"            y{n} = R.add(x, x)\n" for n in range(400))
    long = BEFORE.replace("            y = R.add(x, x)\n", f"{body}            y = R.add(x, x)\n")
    assert len(difference(module_of(BEFORE), module_of(long))) < LONGEST + 100


def test_a_wrong_result_shows_what_the_pass_did() -> None:
    before, after = module_of(BEFORE), module_of(AFTER)
    numbers = Numbers(before, [EntryCall("main", (np.array([1, 2, 3], np.float32),))])
    row = replace(PASSES["Normalize"], name="Mine")
    step = step_between(PassCall("Mine", ""), row, before, after)
    verdict = judge(step, Workbench(SeededSource(0), numbers))
    assert isinstance(verdict, Failed)
    assert verdict.difference == difference(before, after)
