"""Every ratio of a generator is in its knobs, with a reason; a plain `flip()` is one half."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KNOBS = {
    "tir": ("knobs", "knob_groups", "block_knobs", "loop_knobs", "kernel_knobs", "integer_knobs"),
    "tir/recipes": ("memory_knobs",),
    "relax": ("knobs",),
    "recipes": ("knobs", "kernel_knobs"),
    "operators": ("knobs",),
    "passes": ("knobs",),
}
"""The files of each folder that hold its ratios."""
FOLDERS = tuple(KNOBS)


def sources(folder: str, *, knobs: bool = False) -> dict[str, ast.Module]:
    """The files of a generator by name: those of its knobs, or all the others."""
    paths = sorted((ROOT / "generators" / folder).glob("*.py"))
    return {p.stem: ast.parse(p.read_text(encoding="utf-8")) for p in paths if (p.stem in KNOBS[folder]) == knobs}


def shares(tree: ast.AST) -> Iterator[ast.expr]:
    """What is in a call of `flip` as its probability."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "flip":
            yield from (*node.args, *(k.value for k in node.keywords))


def literals(node: ast.AST | None) -> list[float]:
    """The floats written out in an expression."""
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)] if node is not None else []
    return [value for value in found if isinstance(value, float)]


def names(nodes: Iterator[ast.expr]) -> set[str]:
    """The plain names in expressions."""
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def offences(tree: ast.Module, passed: dict[str, set[str]]) -> Iterator[str]:
    """Ratios written out: at a `flip`, in a name that a `flip` takes, or handed to a parameter of `passed`."""
    for share in shares(tree):
        yield from (f"flip({value})" for value in literals(share))
    taken = names(shares(tree))
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ) if name in taken:
                yield from (f"{name} = {number}" for number in literals(value))
            case ast.Call(func=ast.Name(id="weighted"), args=[_, ast.Tuple() as pairs]) if not names(iter([pairs])):
                yield f"weighted({ast.unparse(pairs)})"
            case ast.Call(func=ast.Name(id=called)) if called in passed:
                given = [*node.args, *(k.value for k in node.keywords if k.arg in passed[called])]
                yield from (f"{called}({number})" for argument in given for number in literals(argument))
            case ast.FunctionDef(name=called, args=arguments):
                own = [*arguments.args, *arguments.kwonlyargs]
                defaults = [*arguments.defaults, *arguments.kw_defaults]
                if passed.get(called, set()) & {a.arg for a in own}:
                    yield from (f"def {called}(.. = {number})" for default in defaults for number in literals(default))


def parameters_of(tree: ast.Module) -> dict[str, set[str]]:
    """The functions of which a parameter is the probability of a `flip`, with the names of those parameters."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            arguments = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)} & names(shares(node))
            if arguments:
                found[node.name] = arguments
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_ratio_stands_outside_of_the_knobs(folder: str) -> None:
    trees = sources(folder)
    passed = {name: given for tree in trees.values() for name, given in parameters_of(tree).items()}
    wrong = [f"{folder}/{name}.py {offence}" for name, tree in trees.items() for offence in offences(tree, passed)]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    (
        "s.source.flip(0.3)",
        "s.source.flip(0.5)",
        "source.flip(0.2 if x else KNOBS.rare)",
        "_SHARE = 0.3\nsource.flip(_SHARE)",
        "def f(s):\n    share = 0.1 if s else KNOBS.rare\n    s.flip(share)",
        "def f(s, share=0.2):\n    s.flip(share)",
        "def f(s, share):\n    s.flip(share)\nf(s, share=0.2)",
        "def f(s, share):\n    s.flip(share)\nf(s, 0.2)",
        "weighted(s.source, ((2, 8), (1, 4)))",
    ),
)
def test_a_ratio_written_out_is_found(text: str) -> None:
    tree = ast.parse(text)
    assert list(offences(tree, parameters_of(tree)))


@pytest.mark.parametrize("text", ("s.source.flip()", "s.flip(KNOBS.rare / 2)", "x = 0.5\ns.flip(KNOBS.rare)"))
def test_knobs_and_the_default_are_left_alone(text: str) -> None:
    tree = ast.parse(text)
    assert not list(offences(tree, parameters_of(tree)))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_knob_has_a_reason(folder: str) -> None:
    silent = []
    for name, tree in sources(folder, knobs=True).items():
        for group in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            assert is_dataclass(getattr(import_module(f"generators.{folder.replace('/', '.')}.{name}"), group.name))
            following = zip(group.body, [*group.body[1:], None], strict=True)
            silent += [
                f"{group.name}.{ast.unparse(node.target)}"
                for node, after in following
                if isinstance(node, ast.AnnAssign) and not _is_text(after) and not _is_group(node)
            ]
    assert silent == []


def _is_text(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_group(node: ast.AnnAssign) -> bool:
    """A group of knobs, whose docstring says what it is of."""
    return ast.unparse(node.annotation).endswith("Knobs")


def fields(folder: str) -> set[str]:
    """The names of the knobs of a folder, and of their groups."""
    classes = (node for tree in sources(folder, knobs=True).values() for node in tree.body)
    bodies = (node.body for node in classes if isinstance(node, ast.ClassDef))
    return {ast.unparse(node.target) for body in bodies for node in body if isinstance(node, ast.AnnAssign)}


@cache
def attributes() -> frozenset[str]:
    """The names of all attributes in the sources of the generators."""
    paths = sorted((ROOT / "generators").rglob("*.py"))
    nodes = (node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_knob_is_read(folder: str) -> None:
    """By its name, as an attribute, in the generator or where the knobs of others are made of it."""
    assert len(fields(folder)) > 5
    assert fields(folder) - attributes() == set()
