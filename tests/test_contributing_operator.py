"""The recipe for an operator followed to the letter, in a project that does not have the operator yet."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.project_copy import ProjectCopy, project_copy, recipe

((PATH, BLOCK),) = recipe("Add an operator").items()
NAME = "square"
DRAWN = """
import generators
from generators.operators.table import OPERATORS
from tests.operator_harness import difference, draw_row, llvm_outputs

assert generators.__file__.startswith(FOLDER), generators.__file__
row = OPERATORS["relax.square"]
assert row.draw.__name__ == "_draw_square"
for seed in range(3):
    sample = draw_row(row, seed)
    print(difference(sample, llvm_outputs(sample)) is None)
"""


def table_of(source: str) -> ast.Tuple:
    """The rows of a family of operators."""
    (found,) = (
        n.value
        for n in ast.parse(source).body
        if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "OPERATORS"
    )
    assert isinstance(found, ast.Tuple)
    return found


def without(source: str, name: str) -> str:
    """The file before the operator was added."""
    (row,) = (
        one for one in table_of(source).elts if isinstance(one, ast.Call) and ast.unparse(one.args[0]) == repr(name)
    )
    lines = source.splitlines(keepends=True)
    assert row.end_lineno is not None
    return "".join((*lines[: row.lineno - 1], *lines[row.end_lineno :]))


def added(source: str, block: str) -> str:
    """The file with the functions of the block above its table, and the row in it."""
    (row,) = table_of(block).elts
    above = block.partition("OPERATORS = ")[0]
    head, mark, tail = source.partition("\nOPERATORS = (\n")
    assert mark
    return f"{head}\n{above}{mark}    {ast.get_source_segment(block, row)},\n{tail}"


@pytest.fixture
def copy(tmp_path: Path) -> ProjectCopy:
    project = project_copy(tmp_path / "project")
    file = project.folder / PATH
    file.write_text(without(file.read_text(encoding="utf-8"), NAME), encoding="utf-8")
    return project


def follow(project: ProjectCopy, block: str) -> None:
    file = project.folder / PATH
    file.write_text(added(file.read_text(encoding="utf-8"), block), encoding="utf-8")


@pytest.mark.parametrize("meaning, right", [("np.square", True), ("np.negative", False)])
def test_one_row_is_drawn_and_a_wrong_meaning_is_seen(copy: ProjectCopy, meaning: str, right: bool) -> None:
    assert BLOCK.count("np.square") == 1
    follow(copy, BLOCK.replace("np.square", meaning))
    ended = copy.python("-c", f"FOLDER = {str(copy.folder)!r}\n{DRAWN}")
    assert (ended.returncode, ended.stdout) == (0, f"{right}\n" * 3), ended.stderr


def test_without_the_row_there_is_no_operator(copy: ProjectCopy) -> None:
    ended = copy.python("-c", f"FOLDER = {str(copy.folder)!r}\n{DRAWN}")
    assert ended.returncode == 1
    assert ended.stderr.endswith("KeyError: 'relax.square'\n")
