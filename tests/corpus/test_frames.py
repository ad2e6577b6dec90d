"""What a script says is in a template: Python decides which part of it stands there, and with which names."""

from __future__ import annotations

import ast
from pathlib import Path

import jinja2
import jinja2.nodes
import pytest

from corpus.frames import FRAMES, WIDTH, entries
from corpus.scripts.poison_fill import Fill
from corpus.scripts.repro_calls import ScriptCall
from tests.source_trees import ROOT, nodes_of, tree_of

WRITERS = [
    *sorted((ROOT / "corpus" / "scripts").glob("repro*.py")),
    *(ROOT / "corpus" / "scripts" / name for name in ("poison_fill.py", "script_losses.py")),
]


@pytest.mark.parametrize("path", WRITERS, ids=lambda path: path.stem)
def test_no_lines_of_a_script_are_kept_in_python(path: Path) -> None:
    """A text of more than one line that is no docstring."""
    tree = tree_of(path)
    docstrings = {id(node.value) for node in nodes_of(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in nodes_of(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    kept = [node.value for node in texts if id(node) not in docstrings and "\n" in node.value.rstrip("\n")]
    assert kept == []


def test_entries_stand_in_one_line_where_they_fit() -> None:
    assert entries(["a", "b"], "got = f", tail=".numpy()") == "got = f(a, b).numpy()"
    assert entries([], "inputs = ", "[]") == "inputs = []"


def test_entries_that_do_not_fit_stand_in_a_line_each() -> None:
    long = "x" * (WIDTH - len("inputs = [, y]"))
    assert entries([long, "y"], "inputs = ", "[]") == f"inputs = [{long}, y]"
    assert entries([f"{long}x", "y"], "inputs = ", "[]") == f"inputs = [\n    {long}x,\n    y,\n]"


def read_of(template: str, record: str) -> set[str]:
    """The attributes that a template reads of a record of this name."""
    source = (ROOT / "corpus" / "frames" / template).read_text(encoding="utf-8")
    found = FRAMES.parse(source).find_all(jinja2.nodes.Getattr)
    return {node.attr for node in found if isinstance(node.node, jinja2.nodes.Name) and node.node.name == record}


@pytest.mark.parametrize(
    ("template", "record", "kind"), [("calls.py.j2", "call", ScriptCall), ("scratch.py.j2", "fill", Fill)]
)
def test_what_a_template_reads_of_a_record_is_there(template: str, record: str, kind: type) -> None:
    read = read_of(template, record)
    assert read
    assert [name for name in sorted(read) if not hasattr(kind, name)] == []
