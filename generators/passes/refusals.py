"""Where the code of a Python pass refuses: what a refusal names is what the pass does not change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def refusals(code: ast.AST, parameters: Iterable[str]) -> Iterator[ast.expr]:
    """The conditions, each by itself, on which code gives back what it was given, or a loop goes on; not those that
    something is not so, as in `type(node) is not tirx.While`. parameters: of the function that the code is part of."""
    inner = (argument.arg for node in ast.walk(code) if isinstance(node, ast.arguments) for argument in _names(node))
    given = {*parameters, *inner}
    for node in ast.walk(code):
        if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
            continue
        match node.body[0]:
            case ast.Return(value=ast.Name(id=name)) if name not in given:
                continue
            case ast.Continue() | ast.Raise() | ast.Return(value=None | ast.Name() | ast.Constant(value=None)):
                match node.test:
                    case ast.BoolOp(op=ast.Or(), values=tests):
                        pass
                    case test:
                        tests = [test]
                yield from (test for test in tests if not _denies(test))


def _names(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _denies(test: ast.expr) -> bool:
    """Whether a condition may be that something is not so."""
    match test:
        case ast.UnaryOp() | ast.BoolOp():
            return True
        case ast.Compare(ops=[ast.NotIn() | ast.IsNot() | ast.NotEq()]):
            return True
        case ast.Compare(comparators=[ast.Constant(value=False)]):
            return True
        case _:
            return False
