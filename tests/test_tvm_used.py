"""Every name of TVM that the rooms use exists in the TVM that is installed, after older names were supplied.

On a new release this test is the list of what was renamed (docs/new-tvm.md). It loads nothing that needs these names.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from generators.compat import supplied as supplied
from generators.compat.names import there
from tests.source_trees import ROOT, nodes_of, product_files, tree_of

ROOTS = ("tvm", "tvm_ffi")


def imported_names(tree: ast.Module) -> dict[str, str]:
    """What the names that a file imports from TVM stand for: `relax` for tvm.relax."""
    names = {}
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            names |= {a.asname or a.name: a.name for a in node.names if a.name.split(".")[0] in ROOTS}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ROOTS:
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def used_names(path: Path) -> Iterator[str]:
    """The dotted names of TVM that a file uses."""
    tree = tree_of(path)
    names = imported_names(tree)
    yield from names.values()
    for node in nodes_of(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            if first in names and all(part.isidentifier() for part in rest):
                yield ".".join((names[first], *rest))


def test_every_name_that_is_used_exists() -> None:
    users: dict[str, set[str]] = defaultdict(set)
    for path in product_files():
        for name in used_names(path):
            users[name].add(str(path.relative_to(ROOT)))
    assert len(users) > 200
    assert {name: sorted(files) for name, files in users.items() if not there(name)} == {}
