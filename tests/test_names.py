"""One name, one meaning: a class or a type alias at the top of a file of the rooms or `benchmarks` has a name that no
other file gives, and a function says by its name what it gives."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.source_trees import ORDERED, ROOT, nodes_of, sources, tree_of


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


VAGUE = {"_said": set(), "taken": set(), "walk": {"oracles/walk.py", "generators/passes/sequences.py"}}
"""Words that do not say what a function gives: they meant as many things as there were files. A walk is
drawn in one file and applied in the other."""


def test_functions_are_named_by_what_they_give() -> None:
    found = {word: set[str]() for word in VAGUE}
    for path in sources():
        if path.relative_to(ROOT).parts[0] in ORDERED:
            for node in nodes_of(tree_of(path)):
                if isinstance(node, ast.FunctionDef) and node.name in found:
                    found[node.name].add(str(path.relative_to(ROOT)))
    assert {word: files - VAGUE[word] for word, files in found.items() if files - VAGUE[word]} == {}


def test_every_way_to_give_a_name_is_seen() -> None:
    given = ("class A: ...", "B: TypeAlias = int", "Do = TypeVar('Do')", "En = NewType('En', int)")
    others = ("C = TypeVar('C')", "f: int = 1", "g = A()", "def H(): ...")
    assert list(named(ast.parse("\n".join((*given, *others))))) == ["A", "B", "Do", "En"]
