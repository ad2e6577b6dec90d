"""What a script says is in a template: Python decides which part of it stands there, and with which names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from corpus.frames import WIDTH, entries
from tests.test_imports import ROOT

WRITERS = [
    *sorted((ROOT / "corpus").glob("repro*.py")),
    *(ROOT / "corpus" / name for name in ("poison_fill.py", "script_losses.py")),
]


@pytest.mark.parametrize("path", WRITERS, ids=lambda path: path.stem)
def test_no_lines_of_a_script_are_kept_in_python(path: Path) -> None:
    """A text of more than one line that is no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    kept = [node.value for node in texts if id(node) not in docstrings and "\n" in node.value.rstrip("\n")]
    assert kept == []


def test_entries_stand_in_one_line_where_they_fit() -> None:
    assert entries(["a", "b"], "got = f", tail=".numpy()") == "got = f(a, b).numpy()"
    assert entries([], "inputs = ", "[]") == "inputs = []"


def test_entries_that_do_not_fit_stand_in_a_line_each() -> None:
    long = "x" * (WIDTH - len("inputs = [, y]"))
    assert entries([long, "y"], "inputs = ", "[]") == f"inputs = [{long}, y]"
    assert entries([f"{long}x", "y"], "inputs = ", "[]") == f"inputs = [\n    {long}x,\n    y,\n]"
