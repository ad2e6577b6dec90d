"""Names of code that documents, docstrings and comments write in backticks: each is a name of ours or of others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from tests.source_trees import ROOT, tree_of
from tests.test_documents import DOCUMENTS, SOURCES, prose

NAME = re.compile(r"`([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`")
OF_OTHERS = frozenset(
    {
        *("GetDataSize", "__restrict__", "_te_median", "fnmatch", "get_sample_index", "is_available", "ldmatrix", "nc"),
        *("ld", "linear_algebra", "obj2group_", "qdq", "statistical", "te_grad", "test_storage_clean"),
    }
)
"""Names of TVM, CUDA and PyTorch that no code of ours holds."""
EXAMPLES = frozenset({"OUTPUT", "before_0_28", "main_inner", "x4"})
"""Names that a text makes up."""
HERE = Path(__file__)
WRITTEN = [path for path in DOCUMENTS if path.name != "CHANGELOG.md" and "bugs" not in path.parts]


def _names_in(tree: ast.Module) -> Iterator[str]:
    """The names that code holds, and the words of its strings, but not of docstrings."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")
            case ast.Constant(value=str(text)) if id(node) not in said:
                yield from re.findall(r"\w+", text)


@cache
def _known() -> frozenset[str]:
    names = {name for path in SOURCES if path != HERE for name in _names_in(tree_of(path))}
    stems = {part for path in (*SOURCES, *DOCUMENTS) for part in path.relative_to(ROOT).with_suffix("").parts}
    return frozenset(names | stems | OF_OTHERS | EXAMPLES | {"py", "md", "toml", "json"})


@cache
def _members() -> dict[str, frozenset[str]]:
    """What each class without a base of ours defines, by name."""
    found: dict[str, frozenset[str]] = {}
    for path in SOURCES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and all(ast.unparse(base) in _PLAIN for base in node.bases):
                found[node.name] = frozenset(_names_in(ast.Module(node.body, [])))
    return found


_PLAIN = ("Enum", "IntEnum", "NamedTuple", "Protocol", "Trait", "msgspec.Struct")


def unknown_in(text: str) -> set[str]:
    """The names in a text of which a part is none, or none of the class before it."""
    found = set()
    for name in NAME.findall(text):
        parts = name.split(".")
        of_classes = [(owner, member) for owner, member in pairwise(parts) if owner in _members()]
        defined = all(member in _members()[owner] for owner, member in of_classes)
        if not defined or not all(part in _known() or part.isdigit() for part in parts):
            found.add(name)
    return found


def test_names_that_are_none_are_seen() -> None:
    assert unknown_in("`PassRow.fires` of `generators.passes.row`, `relax.add`, `ORACLES`, `judge()`") == set()
    assert unknown_in("`PassRow.flames`, `no_such_thing_here()`, `generators.passes.rowing`") == {
        *("PassRow.flames", "no_such_thing_here", "generators.passes.rowing")
    }


def test_what_the_texts_name_is_a_name() -> None:
    unknown = {path: unknown_in(prose(path)) for path in (*WRITTEN, *SOURCES) if path != HERE}
    assert {str(path.relative_to(ROOT)): names for path, names in unknown.items() if names} == {}
