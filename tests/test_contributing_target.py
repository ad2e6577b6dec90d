"""The recipe for a target works as CONTRIBUTING.md has it: one row, and a campaign runs on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project_copy import project_copy, recipe

TITLE = "Add a target"
TARGET = "llvm-x86-64-v2"
BUILT_FOR_IT = """
import numpy as np

from generators.case import EntryCall
from generators.passes.row import Phase
from oracles.builds.build import Built, _current_target
from oracles.builds.builders import BUILDERS
from oracles.builds.needs import builder_of
from oracles.reference.calling import direct
from oracles.reference.numbers import Numbers
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of

MODULE = module_of('''
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
''')
numbers = Numbers(MODULE, (EntryCall("main", (np.ones(2, "float32"),)),))
bench = Workbench(None, numbers, target=TARGET)
assert str(bench.guarded(lambda: _current_target(2)).attrs["mcpu"]) == "x86-64-v2"
builder = BUILDERS[builder_of(TARGET)]
built = builder.build(MODULE, Phase.HIGH, bench, 2, lambda stage: None)
assert isinstance(built, Built), built
assert builder.judge(built, numbers, direct) is None
"""


@pytest.mark.deep
def test_a_campaign_runs_on_a_target_of_one_row(tmp_path: Path) -> None:
    copy = project_copy(tmp_path / "project")
    copy.follow(*recipe(TITLE))
    out = tmp_path / "out"
    options = ("--cases", "3", "--seed", "1", "--jobs", "1", "--json", "--out", str(out))
    ended = copy.python("-m", "fuzzer.cli", "run", "--target", TARGET, *options)
    assert ended.returncode in (0, 1), ended.stderr
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["targets"] == [TARGET]
    assert summary["cases"] == 3
    assert summary["oracles"]["numeric"]["passed"] > 0


def test_modules_are_built_for_the_processor_of_the_row(tmp_path: Path) -> None:
    copy = project_copy(tmp_path / "project")
    copy.follow(*recipe(TITLE))
    ended = copy.python("-c", f"TARGET = {TARGET!r}\n{BUILT_FOR_IT}")
    assert ended.returncode == 0, ended.stderr


def test_the_target_is_listed(tmp_path: Path) -> None:
    copy = project_copy(tmp_path / "project")
    copy.follow(*recipe(TITLE))
    ended = copy.python("-m", "fuzzer.cli", "list", "targets", "--json")
    assert ended.returncode == 0, ended.stderr
    assert TARGET in ended.stdout


@pytest.mark.parametrize("first", [False, True])
def test_a_target_is_of_no_account_for_modules_of_which_only_the_kind_is_known(first: bool, tmp_path: Path) -> None:
    (piece,) = recipe(TITLE)
    copy = project_copy(tmp_path / "project")
    copy.follow(piece)
    order = f"{{n: t.TARGETS[n] for n in sorted(t.TARGETS, key=lambda n: (n == {TARGET!r}) != {first})}}"
    code = (
        f"import generators.targets as t; t.TARGETS = {order}; print([*t.TARGETS].index({TARGET!r}), t.of_kind('llvm'))"
    )
    ended = copy.python("-c", code)
    assert ended.stdout == f"{0 if first else 3} llvm\n", ended.stderr
