"""The recipe for a calling convention works as CONTRIBUTING.md has it: two files, and numbers and scripts follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project_copy import ProjectCopy, project_copy, recipe

TITLE = "Add a calling convention"
USES_IT = """
import ast

import numpy as np
import tvm
from tvm import relax

import oracles
from generators.case import EntryCall, PassCall
from generators.passes.table import PASSES
from oracles.calls.script import Way
from oracles.calls.table import way_after
from oracles.checks.numeric import judge
from oracles.reference.numbers import Numbers
from oracles.trace import Position
from oracles.verdict import PASSED
from oracles.walk import walk
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, row_of

TEXT = '''
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        z = R.subtract(x, y)
        return z
'''
MODULE = module_of(TEXT)


def reverse(module):
    main = module["main"]
    changed = relax.Function(main.params[::-1], main.body, main.ret_ty, main.is_pure, main.attrs)
    return tvm.IRModule({"main": changed})


def verdict(calling):
    bench = RealBench()
    arguments = (np.array([1, 2], "float32"), np.array([5, 9], "float32"))
    bench.numbers = Numbers(MODULE, (EntryCall("main", arguments),))
    rows = {"Reverse": row_of("Reverse", calling=calling)}
    (step,) = walk(Position.at(MODULE), [module_pass(reverse, "Reverse")], rows, bench)
    return judge(step, bench)


assert oracles.__file__.startswith(FOLDER), oracles.__file__
assert verdict("reversed_parameters") == PASSED
assert verdict("same") != PASSED
PASSES["Reverse"] = row_of("Reverse", calling="reversed_parameters")
function = ast.parse(TEXT).body[0].body[0]
way = Way("main", ["first", "second"], function)
way_after(PassCall("Reverse", "Reverse()"), way)
assert way.arguments == ["second", "first"]
"""


@pytest.fixture
def copy(tmp_path: Path) -> ProjectCopy:
    return project_copy(tmp_path / "project")


def test_the_recipe_touches_two_files() -> None:
    assert {piece.path for piece in recipe(TITLE)} == {"oracles/calls/reordered.py", "oracles/calls/table.py"}


def test_calls_and_scripts_follow_the_new_convention(copy: ProjectCopy) -> None:
    copy.follow(*recipe(TITLE))
    ended = copy.python("-c", f"FOLDER = {str(copy.folder)!r}\n{USES_IT}")
    assert (ended.returncode, ended.stderr[-2000:]) == (0, ""), ended.stdout


@pytest.mark.deep
def test_without_the_row_the_convention_is_not_known(copy: ProjectCopy) -> None:
    ended = copy.python("-c", f"FOLDER = {str(copy.folder)!r}\n{USES_IT}")
    assert ended.returncode == 1
    assert ended.stderr.endswith("AssertionError\n")
