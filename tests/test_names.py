"""One name, one meaning: a class or a type alias at the top of a file of the rooms or `benchmarks` has a name that no
other file gives."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.source_trees import ORDERED, ROOT, sources, tree_of


def named(tree: ast.Module) -> Iterator[str]:
    """The classes, type aliases and type variables that a file binds at its top. Type variables of one letter say
    nothing but that there is one."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(ast.Name(name), annotation=ast.Name("TypeAlias")):
                yield name
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("TypeVar" | "NewType"))) if len(name) > 1:
                yield name


def test_a_name_is_given_once() -> None:
    found = defaultdict(list)
    for path in sources():
        if path.relative_to(ROOT).parts[0] in ORDERED:
            for name in named(tree_of(path)):
                found[name].append(str(path.relative_to(ROOT)))
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_every_way_to_give_a_name_is_seen() -> None:
    given = ("class A: ...", "B: TypeAlias = int", "Do = TypeVar('Do')", "En = NewType('En', int)")
    others = ("C = TypeVar('C')", "f: int = 1", "g = A()", "def H(): ...")
    assert list(named(ast.parse("\n".join((*given, *others))))) == ["A", "B", "Do", "En"]
