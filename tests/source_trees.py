"""The sources of the project as syntax trees, for tests of its shape: each file is parsed once in a process."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("generators", "oracles", "corpus", "reports", "fuzzer")
"""Left to right: a room imports only itself and the rooms before it."""
ORDERED = (*ROOMS, "benchmarks")
"""The folders with an order inside. Benchmarks import any room and tests; no room imports them."""


@cache
def sources() -> tuple[Path, ...]:
    """Every Python file of the rooms, the benchmarks and the tests, stored cases apart."""
    return (*(path for room in (*ORDERED, "tests") for path in _files_of(room)),)


@cache
def product_files() -> tuple[Path, ...]:
    """Those of the rooms."""
    return (*(path for room in ROOMS for path in _files_of(room)),)


def _files_of(room: str) -> Iterator[Path]:
    yield from (path for path in sorted((ROOT / room).rglob("*.py")) if not name_of(path).startswith("corpus/cases/"))


def name_of(path: Path) -> str:
    """The path of a file in the repository."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file. Python's search for garbage would take most of the time of parsing."""
    text = path.read_text(encoding="utf-8")
    was_on = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if was_on:
            gc.enable()


@cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a tree, in the order of `ast.walk`."""
    return tuple(ast.walk(tree))
