"""The operator table joins every family file of its folder."""

from __future__ import annotations

import ast
from pathlib import Path

import generators.operators
from generators.operators.table import FAMILIES, OPERATORS

FOLDER = Path(generators.operators.__file__).parent


def families() -> dict[str, ast.Module]:
    """The files of the folder that define OPERATORS, the table apart."""
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.py"))}
    return {name: tree for name, tree in trees.items() if name != "table" and "OPERATORS" in _assigned(tree)}


def _assigned(tree: ast.Module) -> set[str]:
    targets = [t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_every_family_file_is_in_the_table_once() -> None:
    assert sorted(FAMILIES) == sorted(families())


def test_rows_are_found_by_their_own_name() -> None:
    assert len(OPERATORS) > 150
    assert {name: row.name for name, row in OPERATORS.items()} == {name: name for name in OPERATORS}
