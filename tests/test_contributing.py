"""The recipes of CONTRIBUTING.md work as they stand."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from generators import tvm_api
from generators.passes import relax_bindings
from generators.passes.row import PassRow
from generators.passes.table import join
from oracles.oracle import StepOracle, TraceOracle
from tests.oracles.oracle_bench import RealBench, module_of, step_of
from tests.project_copy import blocks, project_copy

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = x
            z = R.add(y, y)
            R.output(z)
        return z
"""


def run(*sources: str) -> dict[str, Any]:
    """The names that the blocks define, one after another in one module."""
    names: dict[str, Any] = {"__name__": "recipe"}
    for source in sources:
        exec(compile(source, "CONTRIBUTING.md", "exec"), names)
    return names


def row_in(title: str) -> tuple[Path, str, str]:
    """The row of a recipe for passes: its file, the row before it, and its text."""
    (block,) = blocks(title)
    heading, text = block.split("\n", 1)
    found = re.fullmatch(r'# (\S+\.py), after "(.+)"', heading)
    assert found is not None, heading
    return Path(found[1]), found[2], text


def with_row(source: str, after: str, text: str) -> str:
    """The file with one more row after the one of that name."""
    rows = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args)
    (end,) = (row.end_lineno for row in rows if isinstance(row.args[0], ast.Constant) and row.args[0].value == after)
    lines = source.splitlines(keepends=True)
    return "".join((*lines[:end], text, *lines[end:]))


def test_the_pass_can_be_constructed_and_applied() -> None:
    _, _, text = row_in("Add a pass")
    (row,) = eval(f"({text})", vars(relax_bindings))
    assert isinstance(row, PassRow)
    assert join((row,)) == {row.name: row}
    applied = eval(row.sources[0], dict(tvm_api.PASS_NAMES))(module_of(MODULE))
    assert len(applied["main"].body.blocks[0].bindings) == 1


@pytest.mark.parametrize("title", ["Add a pass", pytest.param("Add a TIR pass", marks=pytest.mark.deep)])
def test_a_pass_that_is_added_as_described_is_drawn_and_judged(title: str, tmp_path: Path) -> None:
    path, after, text = row_in(title)
    project = project_copy(tmp_path / "project")
    file = project.folder / path
    file.write_text(with_row(file.read_text(encoding="utf-8"), after, text), encoding="utf-8")
    name = ast.literal_eval(text.split("(", 1)[1].split(",", 1)[0].strip())
    options = ("--passes", name, "--cases", "3", "--seed", "1", "--jobs", "1", "--out", "out")
    ran = project.python("-m", "fuzzer.cli", "run", *options)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    summary = json.loads((project.folder / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["cases"] == 3
    assert summary["passes"][name]["applied"] > 0


def test_the_oracle_has_a_row_and_judges() -> None:
    oracle = run(blocks("Add an oracle")[0])["ORACLE"]
    assert isinstance(oracle, (StepOracle, TraceOracle))
    assert oracle.name == "public_functions"


def test_the_tests_of_the_oracle_pass_and_can_fail() -> None:
    names = run(*blocks("Add an oracle"))
    tests = [name for name in names if name.startswith("test_")]
    assert len(tests) == 2
    for name in tests:
        names[name]()
    swapped = step_of(names["LOSES_MAIN"], names["MODULE"], RealBench())
    names["step_of"] = lambda *_: swapped
    with pytest.raises(AssertionError):
        names["test_a_pass_that_keeps_them_is_left_alone"]()
