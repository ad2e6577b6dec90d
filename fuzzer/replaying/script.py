"""What a repro script is made of, read from its syntax: where it makes its module, what it asserts, whether it forks.

Scripts of the corpus are of any age. What is looked for is what `corpus/frames` has written since it writes scripts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from corpus.answers import WORDS

_FORM = {ast.unparse(ast.parse(WORDS[name], mode="eval")) for name in ("SAME_FORM", "SAME_COUNT")}


@dataclass(frozen=True, slots=True)
class ScriptParts:
    """Lines of a script. module: that make its module. form: that assert how many results there are, of which dtypes
    and shapes. loads: the module is read from a file of JSON. forks: the bug is shown in a child."""

    module: frozenset[int] = frozenset()
    form: frozenset[int] = frozenset()
    loads: bool = False
    forks: bool = False


def parts_of(text: str) -> ScriptParts:
    """The parts of a script; none where it is no Python."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ScriptParts()
    classes = [node for node in nodes if isinstance(node, ast.ClassDef) and node.decorator_list]
    loads = [node for node in nodes if isinstance(node, ast.Assign) and _reads_module(node.value)]
    form = [node for node in nodes if isinstance(node, ast.Assert) and ast.unparse(node.test) in _FORM]
    spans = ((min(d.lineno for d in node.decorator_list), _last(node)) for node in classes)
    return ScriptParts(
        _lines([*spans, *((node.lineno, _last(node)) for node in loads)]),
        _lines((node.lineno, _last(node)) for node in form),
        loads=bool(loads),
        forks=any(isinstance(node, ast.Call) and ast.unparse(node.func) == "os.fork" for node in nodes),
    )


def _reads_module(value: ast.expr) -> bool:
    """Whether it is `tvm.ir.load_json(file.read())`."""
    match value:
        case ast.Call(ast.Attribute(attr="load_json"), [ast.Call(ast.Attribute(attr="read"))]):
            return True
        case _:
            return False


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _lines(spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(line for first, last in spans for line in range(first, last + 1))
