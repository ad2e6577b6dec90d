"""The recipe for an operator followed to the letter, in a project that does not have the operator yet."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from tests.project_copy import Piece, ProjectCopy, display, project_copy, recipe
from tests.quick import one_in

FUNCTION, ROW, INDEPENDENT = recipe("Add an operator")
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


def without(source: str, table: str) -> str:
    """The file before the operator was added."""
    rows = display(source, table)
    if isinstance(rows, ast.Dict):
        first, last = next(
            (key, value)
            for key, value in zip(rows.keys, rows.values, strict=True)
            if key is not None and ast.unparse(key) == repr(NAME)
        )
    else:
        (first,) = (r for r in rows.elts if isinstance(r, ast.Call) and ast.unparse(r.args[0]) == repr(NAME))
        last = first
    lines = source.splitlines(keepends=True)
    assert last.end_lineno is not None
    return "".join((*lines[: first.lineno - 1], *lines[last.end_lineno :]))


@pytest.fixture
def copy(tmp_path: Path) -> ProjectCopy:
    project = project_copy(tmp_path / "project")
    for piece in (ROW, INDEPENDENT):
        file = project.folder / piece.path
        file.write_text(without(file.read_text(encoding="utf-8"), piece.row_of), encoding="utf-8")
    return project


@pytest.mark.parametrize("meaning, right", one_in(2, (("np.square", True), ("np.negative", False))))
def test_one_row_is_drawn_and_a_wrong_meaning_is_seen(copy: ProjectCopy, meaning: str, right: bool) -> None:
    assert ROW.text.count("np.square") == 1
    copy.follow(FUNCTION, replace(ROW, text=ROW.text.replace("np.square", meaning)))
    ended = copy.python("-c", f"FOLDER = {str(copy.folder)!r}\n{DRAWN}")
    assert (ended.returncode, ended.stdout) == (0, f"{right}\n" * 3), ended.stderr


@pytest.mark.deep
@pytest.mark.parametrize("pieces, passes", [((FUNCTION, ROW, INDEPENDENT), True), ((FUNCTION, ROW), False)])
def test_the_operator_is_compared_with_another_implementation(
    copy: ProjectCopy, pieces: tuple[Piece, ...], passes: bool
) -> None:
    copy.follow(*pieces)
    status, line = copy.pytest("tests/generators/test_operators_independent.py", "-k", "relax.square or has_a_reason")
    assert (status == 0) == passes, line


@pytest.mark.deep
def test_without_the_row_there_is_no_operator(copy: ProjectCopy) -> None:
    ended = copy.python("-c", f"FOLDER = {str(copy.folder)!r}\n{DRAWN}")
    assert ended.returncode == 1
    assert ended.stderr.endswith("KeyError: 'relax.square'\n")
