"""Every ratio of a generator is in its knobs, with a reason; a plain `flip()` is one half."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module

import pytest

from generators.passes.table import PASSES
from tests.source_trees import ROOT, nodes_of, tree_of

FOLDERS = (
    "generators",
    "generators/tir",
    "generators/tir/recipes",
    "generators/relax",
    "generators/recipes",
    "generators/operators",
    "generators/passes",
    "fuzzer/worker",
)
SOURCE = ROOT / "generators" / "source.py"
"""Where `flip` is, with its default of one half."""
PLAIN_SIZES = {"HeaderKnobs.lengths", "VectorLoopKnobs.lanes", "PointerKnobs.lanes"}
"""Sizes whose names say all there is to say."""
MARK = "knob"
"""In the names of the files that hold nothing but ratios."""


def sources(folder: str, *, knobs: bool = False) -> dict[str, ast.Module]:
    """The files of a generator by name: those of its knobs, or all the others."""
    paths = sorted((ROOT / folder).glob("*.py"))
    paths = [path for path in paths if path != SOURCE]
    return {p.stem: tree_of(p) for p in paths if (MARK in p.stem) == knobs}


def groups(folder: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """The records of ratios, each with its file: those in files of knobs, and one recipe's own in the recipe's."""
    for name, tree in {**sources(folder), **sources(folder, knobs=True)}.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and (MARK in name or node.name.endswith("Knobs")):
                yield name, node


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


def drawn(node: ast.expr) -> bool:
    """Whether a random number is drawn in an expression, by NumPy or Python."""
    calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
    return any(isinstance(f, ast.Attribute) and f.attr == "random" for f in calls)


def compared(tree: ast.AST) -> Iterator[ast.expr]:
    """What random numbers are compared with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            yield from (side for side in sides if any(map(drawn, sides)) and not drawn(side))


def constants(tree: ast.Module) -> dict[str, list[float]]:
    """The floats of the names that a file binds at its top."""
    bound = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    return {ast.unparse(node.targets[0]): literals(node.value) for node in bound}


def offences(tree: ast.Module, passed: dict[str, set[str]]) -> Iterator[str]:
    """Ratios written out: at a `flip`, beside a random number, in a name that one of these takes, in weights that a
    list gives, in an option that stands twice, or handed to a parameter of `passed`. A table of kinds with
    weights stands at the top of a file."""
    yield from local_weights(tree)
    for share in shares(tree):
        yield from (f"flip({value})" for value in literals(share))
    known = constants(tree)
    for bound in compared(tree):
        yield from (f"random() < {value}" for value in literals(bound))
        yield from (f"random() < {name}" for name in names(iter([bound])) if known.get(name))
    taken = names(shares(tree)) | names(compared(tree))
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ) if name in taken:
                yield from (f"{name} = {number}" for number in literals(value))
            case ast.Call(func=ast.Attribute(attr="pick"), args=[ast.Tuple(elts=options)]):
                said = [ast.unparse(option) for option in options]
                yield from (f"pick(({', '.join(said)}))" for _ in options[:1] if len({*said}) < len(said))
            case ast.Call(func=ast.Name(id="weighted"), args=[_, ast.Tuple() as pairs]) if not names(iter([pairs])):
                yield f"weighted({ast.unparse(pairs)})"
            case ast.Call(func=ast.Name(id="weighted"), args=[_, ast.ListComp(elt=ast.Tuple(elts=[_, weight]))]):
                written = [n.value for n in ast.walk(weight) if isinstance(n, ast.Constant)]
                whole = [n for n in names(iter([weight])) if n.isupper() and n in known]
                yield from (f"weighted(.., {one})" for one in (*whole, *(n for n in written if n not in (0, 1))))
            case ast.Call(func=ast.Name(id=called)) if called in passed:
                given = [*node.args, *(k.value for k in node.keywords if k.arg in passed[called])]
                yield from (f"{called}({number})" for argument in given for number in literals(argument))
            case ast.FunctionDef(name=called, args=arguments):
                own = [*arguments.args, *arguments.kwonlyargs]
                defaults = [*arguments.defaults, *arguments.kw_defaults]
                if passed.get(called, set()) & {a.arg for a in own}:
                    yield from (f"def {called}(.. = {number})" for default in defaults for number in literals(default))


def local_weights(tree: ast.Module) -> Iterator[str]:
    """Weights that a function writes out in what it hands to `weighted`, and options that stand twice in what it picks
    from, each in an expression or in a name of its own."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        bound: dict[str, list[ast.expr]] = {}
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AugAssign(ast.Name(id=name), _, value):
                    bound.setdefault(name, []).append(value)
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id="weighted"), args=[_, given]):
                    for part in (part for one in _sources(given, bound) for part in ast.walk(one)):
                        match part:
                            case ast.Tuple(elts=[_, ast.Constant(value=int(weight))]) if weight > 1:
                                yield f"weighted({ast.unparse(part)})"
                case ast.Call(func=ast.Attribute(attr="pick"), args=[ast.Name() as given]):
                    for one in _sources(given, bound):
                        for part in (part for part in ast.walk(one) if isinstance(part, ast.Tuple)):
                            said = [ast.unparse(option) for option in part.elts]
                            yield from (f"pick({name})" for name in said[:1] if len({*said}) < len(said))


def _sources(given: ast.expr, bound: dict[str, list[ast.expr]]) -> list[ast.expr]:
    """The expression, or those that the function binds to its name."""
    return bound.get(given.id, []) if isinstance(given, ast.Name) else [given]


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
        "weighted(s.source, [(row, 3 if row.plants else 1) for row in rows])",
        "W = 3\nweighted(s.source, [(row, W if row.plants else 1) for row in rows])",
        "source.pick((1, 1, 2))",
        "def f(s):\n    return weighted(s, ((stored, 4), (updated, 2)))",
        "def f(s):\n    options = [('a', 1)]\n    options += [('b', 3)] if s else []\n    return weighted(s, options)",
        "def f(s):\n    names = ('sub', 'sub', 'add') + s.more\n    return s.pick(names)",
        's.source.pick(("float32", "int32", "float32"))',
        "random.random() < 0.5",
        "SHARE = 0.3\nchosen = random.random(shape) < SHARE",
        "share = 0.3\nchosen = share > random.random()",
    ),
)
def test_a_ratio_written_out_is_found(text: str) -> None:
    tree = ast.parse(text)
    assert list(offences(tree, parameters_of(tree)))


@pytest.mark.parametrize(
    "text",
    (
        "s.source.flip()",
        "favour(s.source, 1, 2)",
        "source.pick((1, 2, 3))",
        "KINDS = ((stored, 4), (updated, 2))\ndef f(s):\n    return weighted(s, KINDS)",
        "def f(s):\n    options = [('a', KNOBS.a), ('b', 1)]\n    return weighted(s, options)",
        "s.flip(KNOBS.rare / 2)",
        "x = 0.5\ns.flip(KNOBS.rare)",
        "random.random(shape) < KNOBS.rare",
        "weighted(source, [(row, KNOBS.weight if row.plants else 1) for row in rows])",
    ),
)
def test_knobs_and_the_default_are_left_alone(text: str) -> None:
    tree = ast.parse(text)
    assert not list(offences(tree, parameters_of(tree)))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_knob_has_a_reason(folder: str) -> None:
    silent = []
    for name, group in groups(folder):
        module = ".".join((*folder.split("/"), name))
        assert is_dataclass(getattr(import_module(module), group.name))
        following = zip(group.body, [*group.body[1:], None], strict=True)
        silent += [
            f"{group.name}.{ast.unparse(node.target)}"
            for node, after in following
            if isinstance(node, ast.AnnAssign) and not _is_text(after) and not _is_group(node)
        ]
    assert set(silent) - PLAIN_SIZES == set()


def _is_text(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_group(node: ast.AnnAssign) -> bool:
    """A group of knobs, whose docstring says what it is of."""
    return ast.unparse(node.annotation).endswith("Knobs")


def fields(folder: str) -> set[str]:
    """The names of the knobs of a folder, and of their groups."""
    bodies = (group.body for _, group in groups(folder))
    return {ast.unparse(node.target) for body in bodies for node in body if isinstance(node, ast.AnnAssign)}


@cache
def attributes() -> frozenset[str]:
    """The names of all attributes in the sources of the generators."""
    paths = [*sorted((ROOT / "generators").rglob("*.py")), *sorted((ROOT / "fuzzer" / "worker").glob("*.py"))]
    nodes = (node for path in paths for node in nodes_of(tree_of(path)))
    return frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_knob_is_read(folder: str) -> None:
    """By its name, as an attribute, in the generator or where the knobs of others are made of it."""
    assert len(fields(folder)) > 5
    assert fields(folder) - attributes() == set()


def test_a_row_names_a_shape_once_and_says_which_it_favours() -> None:
    for row in PASSES.values():
        for names in (row.fires.recipes, row.fires.prim_recipes):
            assert len(names) == len({*names}), row.name
        assert {*row.fires.favoured} <= {*row.fires.recipes, *row.fires.prim_recipes}, row.name
