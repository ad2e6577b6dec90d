"""The expression for a captured pass as TVM's developers write it, and the file of what it needs. Loads TVM."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from generators import tvm_api
from generators.passes.loaded import source_of
from generators.passes.table import rows_named
from generators.passes.traits import AlsoMadeBy

_HEAD = '''\
"""The pass that `passfuzz capture` has seen, with what it is made of."""

import numpy as np
import tvm
import tvm_ffi
from tvm import relax, s_tir, tirx
from tvm.relax import dpl
'''
KEPT_AS = "captured"
"""The name in PASSES of a pass that the table has, where its arguments need more than an expression."""


def readable(expression: str) -> str:
    """The expression with the shortest names that mean the same: `relax.transform.FuseOps()`."""
    tree = _Shorter().visit(ast.parse(expression, mode="eval"))
    return ast.unparse(tree)


class _Shorter(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802 - ast's name
        words = _words(node)
        if words is None or words[0] != "tvm":
            return self.generic_visit(node)
        wanted = _value(words)
        for name in _shorter(words):
            if _value(name) is wanted and wanted is not None:
                return ast.parse(".".join(name), mode="eval").body
        return node


def _words(node: ast.expr) -> list[str] | None:
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [node.id, *reversed(words)] if isinstance(node, ast.Name) else None


def _shorter(words: list[str]) -> Iterator[list[str]]:
    """The name without some of its packages, shortest first; without a leading `tvm` where that is a name, too."""
    _, *middle, last = words
    for length in range(len(middle) + 1):
        for kept in combinations(middle, length):
            whole = ["tvm", *kept, last]
            yield from ((whole[1:],) if kept and kept[0] in tvm_api.PASS_NAMES else (whole,))


def _value(words: list[str]) -> Any:
    value: Any = tvm_api.PASS_NAMES.get(words[0])
    for word in words[1:]:
        value = getattr(value, word, None)
    return value


def guessed(name: str) -> str:
    """How a pass is constructed of which only the name was seen: as its row does first, or without arguments; ""."""
    for row in rows_named(name):
        if row.sources:
            return row.sources[0]
    dialect, _, rest = name.rpartition(".")
    places = (dialect,) if dialect else ("relax", "tirx", "s_tir")
    found = (["tvm", place, "transform", rest] for place in places if place in tvm_api.PASS_NAMES)
    words = next((words for words in found if rest.isidentifier() and callable(_value(words))), None)
    return "" if words is None else f"{'.'.join(words[1:])}()"


def row_for(name: str, source: str) -> str:
    """The name of the row that a pass is held to: the one with this constructor, else the first; "" for none."""
    rows = rows_named(name)
    same = (row for row in rows if source in (*row.sources, *row.named(AlsoMadeBy)))
    row = next(same, rows[0] if rows else None)
    return "" if row is None else row.name


def pass_file(name: str, expression: str, definitions: str, in_table: bool) -> tuple[str, str]:
    """The text of a file for `--load` that brings the pass, and the expression that takes it from there."""
    key = KEPT_AS if in_table else name
    body = f"{definitions.strip()}\n\n" if definitions.strip() else ""
    of_tir = expression.startswith(("tirx.", "s_tir."))
    contract = f'CONTRACTS = {{{key!r}: {{"phase": "tir"}}}}\n' if of_tir and not in_table else ""
    return f"{_HEAD}\n{body}PASSES = {{{key!r}: lambda: {expression}}}\n{contract}", source_of(key)
