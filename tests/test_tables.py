"""No file outside of a table says what a row of the table owns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from generators.passes import traits
from generators.passes.row import Role
from generators.passes.table import PASSES, the
from generators.passes.traits import AgainWith, Naming, ObjectNamed, ReliesOn, Trait
from oracles.oracle import StepOracle
from oracles.table import ORACLES
from tests.source_trees import ROOT, nodes_of, product_files, tree_of

TABLE = ROOT / "generators" / "passes"
NAMES = {part for name in PASSES for part in (name, name.split("[")[0])}


def literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The strings of a module with their lines."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def outside() -> list[Path]:
    """The files of the product outside of the pass table."""
    return [path for path in product_files() if TABLE not in path.parents]


def test_no_name_of_a_pass_stands_outside_of_the_pass_table() -> None:
    files = outside()
    assert len(files) > 200
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in files
        for line, text in literals(tree_of(path))
        if text in NAMES
    ]
    assert not found, "ask the row for it: a field, a role (generators.passes.table.the), or a pipeline of the table"


def test_a_name_of_a_pass_would_be_seen() -> None:
    tree = ast.parse("LEFT = ('s_tir.ThreadSync', 'FoldConstant')")
    assert [text for _, text in literals(tree) if text in NAMES] == [
        "s_tir.ThreadSync",
        "FoldConstant",
    ]


def test_every_role_has_a_row() -> None:
    several = {Role.SYNCHRONISES, Role.APPLIES_TRACES}
    assert {row.role for row in PASSES.values()} == {*Role, None}
    for role in set(Role) - several:
        assert the(role).role is role


def test_facts_name_what_the_table_has() -> None:
    for row in PASSES.values():
        relied_on = row.trait(ReliesOn)
        assert relied_on is None or relied_on.name in PASSES
        named = row.trait(ObjectNamed)
        assert named is None or named.name != row.name, "give a name only where it is another one"
        assert not (row.has(AgainWith) and not row.promise.idempotent), "without the promise there is no exception"


def test_a_row_has_each_trait_once_and_every_trait_has_a_row() -> None:
    for row in PASSES.values():
        assert len({type(trait) for trait in row.traits}) == len(row.traits), row.name
    known = {kind for kind in vars(traits).values() if isinstance(kind, type) and issubclass(kind, Trait)}
    assert {type(trait) for row in PASSES.values() for trait in row.traits} == known - {Trait, Naming}
    assert all(trait.names for row in PASSES.values() for trait in row.traits if isinstance(trait, Naming))


ONE_CLASS = ("Step", "Bench", "Program", "Place", "Plan", "Draft", "Witness", "View", "Case", "Trace", "Finding")
"""Words that have one meaning: at most one class is called so."""


def classes(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """The names of the classes in these files, with where they are."""
    for path in paths:
        for node in nodes_of(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                yield node.name, f"{path.relative_to(ROOT).as_posix()}: {node.name}"


def test_a_word_with_one_meaning_is_one_class() -> None:
    called: dict[str, list[str]] = {word: [] for word in ONE_CLASS}
    for name, where in classes([*outside(), *TABLE.glob("*.py")]):
        if name in called:
            called[name].append(where)
    assert called["Step"] and called["Place"]
    assert [places for places in called.values() if len(places) > 1] == []


def test_every_oracle_of_structure_says_what_a_flawed_module_is() -> None:
    """Else a pass of other people's tests is blamed for the module that it was given."""
    rows = [row for row in ORACLES.values() if isinstance(row, StepOracle)]
    assert {row.name for row in rows if row.of_structure} == {row.name for row in rows if row.is_flawed is not None}
