"""Four lints: every test holds something that can fail, no wait has a number of seconds of its own, nothing must be
done within some seconds, and tests raise the product's limits on the clock.

A test holds that when it, or a function of the tests that it calls, has an assertion that is no constant, expects an
exception, or calls an `assert_*` of a library. Functions are matched by their bare names, so one of the same name
elsewhere counts; whether the assertion is ever reached is not seen. Waits are found by a regular expression that knows
`timeout=` and `.wait()` with a literal. What must be done within some seconds is a comparison of seconds with a number
(a name that ends in `_s`, or `seconds`), or code, also in a text, that goes on until the clock shows so many seconds
more; what sleeps for a literal is not found. A limit of the product is a name of a module that ends in `_S`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.patience import LEFT, OF_COMMANDS, OF_JUDGING
from tests.source_trees import nodes_of, product_files, tree_of

TESTS = Path(__file__).resolve().parent
FILES = sorted(TESTS.rglob("*.py"))
EXPECTS = ("raises", "warns")


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    yield from (node for node in nodes_of(tree) if isinstance(node, ast.FunctionDef))


@cache
def called(node: ast.AST) -> set[str]:
    """The last part of the name of everything that is called, or handed on by name."""
    calls = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
    names = {f.attr for f in calls if isinstance(f, ast.Attribute)}
    return names | {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def asserts(node: ast.AST) -> bool:
    """Whether a function can fail by what is in it."""
    own = [one.test for one in ast.walk(node) if isinstance(one, ast.Assert)]
    if any(not isinstance(test, ast.Constant) for test in own):
        return True
    return any(name in EXPECTS or name.startswith("assert_") for name in called(node))


def able_to_fail(trees: list[ast.Module]) -> set[str]:
    """The names of the functions that can fail, by themselves or by one that they call."""
    every = [function for tree in trees for function in functions(tree)]
    found = {function.name for function in every if asserts(function)}
    while more := {f.name for f in every if f.name not in found and called(f) & found}:
        found |= more
    return found


def test_the_check_finds_tests_that_cannot_fail() -> None:
    source = """
def helper(x): assert x > 1
def test_by_helper(): helper(2)
def test_by_exception():
    with pytest.raises(ValueError): int("x")
def test_constant(): assert True
def test_nothing(): print(1)
"""
    tree = ast.parse(source)
    assert able_to_fail([tree]) == {"helper", "test_by_helper", "test_by_exception"}


def test_every_test_can_fail() -> None:
    trees = [tree_of(path) for path in FILES]
    helpers = able_to_fail(trees)
    idle = [
        f"{path.relative_to(TESTS)}: {function.name}"
        for path, tree in zip(FILES, trees, strict=True)
        if path.name.startswith("test_")
        for function in functions(tree)
        if function.name.startswith("test_") and not asserts(function) and not called(function) & helpers
    ]
    assert idle == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_limits_on_the_clock_are_generous(path: Path) -> None:
    """A limit is HANGS_S of tests/patience.py; campaigns are bounded by `cases`, or asked for their end alone."""
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"timeout=\d[\d.]*|\.wait\(\d[\d.]*\)", text) == []


UNTIL = re.compile(r"time\.(?:monotonic|time|perf_counter)\(\) *\+ *(?!HANGS_S\b)\S")
"""Code that goes on for some seconds, and asks the clock how many."""


def in_seconds(tree: ast.Module) -> Iterator[ast.Compare]:
    """The comparisons that hold only where something took less than a number of seconds."""
    for node in nodes_of(tree):
        match node:
            case ast.Compare(left, [ast.Lt() | ast.LtE(), *_], [ast.Constant(), *_]) if is_seconds(left):
                yield node
            case ast.Compare(ast.Constant(), [ast.Gt() | ast.GtE(), *_], [right, *_]) if is_seconds(right):
                yield node


def is_seconds(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.endswith("_s") or name == "seconds"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_nothing_must_be_done_within_some_seconds(path: Path) -> None:
    """A clock of the test's own says the same on a busy machine."""
    own = path == Path(__file__).resolve()
    assert own or UNTIL.findall(path.read_text(encoding="utf-8")) == []
    assert [ast.unparse(node) for node in in_seconds(tree_of(path))] == []


@pytest.mark.parametrize("line", ["assert short_s < 3", "assert limit.seconds <= 3.0 and x", "assert 3 > ended.wall_s"])
def test_a_bound_in_seconds_is_seen(line: str) -> None:
    assert len(list(in_seconds(ast.parse(line)))) == 1
    assert not list(in_seconds(ast.parse(line.replace("3.0", "LIMIT_S").replace("3", "LIMIT_S"))))


def test_code_that_goes_on_for_some_seconds_is_seen() -> None:
    assert UNTIL.search("end = time.monotonic() + (60 if slow else 3)")
    assert not UNTIL.search("end = time.monotonic() + HANGS_S")


def limits() -> set[str]:
    """The constants of the product that are a number of seconds, under the name of each module that knows them, without
    short ones between two looks (`_POLL_S`, `_LONG_S`)."""
    found: set[str] = set()
    for path in product_files():
        module = ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
        assigned = [one for node in tree_of(path).body for one in names_of(node)]
        found.update(f"{module}.{name}" for name in assigned if name.endswith("_S") and name not in SHORT)
    return found


SHORT = ("_POLL_S", "_LONG_S")


def names_of(node: ast.stmt) -> list[str]:
    """The names that a statement of a module binds to a value, or takes from another module."""
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    flat = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [one.id for one in flat if isinstance(one, ast.Name)]


def test_every_limit_of_the_product_on_the_clock_is_raised_or_left_for_a_reason() -> None:
    """On a busy machine a limit of seconds ends what does not hang."""
    assert limits() == {*OF_JUDGING, *OF_COMMANDS, *LEFT}
    assert all(LEFT.values())
