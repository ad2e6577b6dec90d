"""Evaluates the integer expressions that stand in Relax shapes (n*2+1, floordiv, min, ...) without TVM's analyzer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tvm import tirx

from generators.dtypes import Scalar
from generators.tvm_api import Expr, Var, op_name


class UnboundSymbol(Exception):
    """A shape expression names a symbolic variable that has no value yet."""


class UnknownPrimExpr(Exception):
    """A node that shape expressions are not known to hold; the message is its type."""


def _truncdiv(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b >= 0) else -quotient


def _truncmod(a: int, b: int) -> int:
    return a - b * _truncdiv(a, b)


_BINARY: dict[type, Callable[[Scalar, Scalar], Scalar]] = {
    tirx.Add: lambda a, b: a + b,
    tirx.Sub: lambda a, b: a - b,
    tirx.Mul: lambda a, b: a * b,
    tirx.FloorDiv: lambda a, b: a // b,
    tirx.FloorMod: lambda a, b: a % b,
    tirx.Div: _truncdiv,
    tirx.Mod: _truncmod,
    tirx.Min: min,
    tirx.Max: max,
    tirx.EQ: lambda a, b: a == b,
    tirx.NE: lambda a, b: a != b,
    tirx.LT: lambda a, b: a < b,
    tirx.LE: lambda a, b: a <= b,
    tirx.GT: lambda a, b: a > b,
    tirx.GE: lambda a, b: a >= b,
    tirx.And: lambda a, b: bool(a) and bool(b),
    tirx.Or: lambda a, b: bool(a) or bool(b),
}


_IF = ("prim.if_then_else", "tirx.if_then_else")
"""The lazy choice, which TVM writes into the length of a slice that it cannot prove to be in bounds."""


def evaluate(expr: Expr | float, symbols: Mapping[Var, Scalar]) -> Scalar:
    """The value of a scalar PrimExpr under `symbols` (Var -> number).

    Raises UnboundSymbol for a variable without a value, UnknownPrimExpr for a node outside shape
    arithmetic, ZeroDivisionError for a division by zero.
    """
    if isinstance(expr, (int, float)):
        return expr
    if isinstance(expr, (tirx.IntImm, tirx.FloatImm)):
        return expr.value
    if isinstance(expr, tirx.Var):
        if expr in symbols:
            return symbols[expr]
        raise UnboundSymbol(expr.name)
    operation = _BINARY.get(type(expr))
    if operation is not None:
        return operation(evaluate(expr.a, symbols), evaluate(expr.b, symbols))
    if isinstance(expr, tirx.Cast):
        return evaluate(expr.value, symbols)
    if isinstance(expr, tirx.Not):
        return not evaluate(expr.a, symbols)
    if isinstance(expr, tirx.Select):
        chosen = expr.true_value if evaluate(expr.condition, symbols) else expr.false_value
        return evaluate(chosen, symbols)
    if op_name(expr) in _IF:
        condition, one, other = expr.args
        return evaluate(one if evaluate(condition, symbols) else other, symbols)
    raise UnknownPrimExpr(op_name(expr) or type(expr).__name__)
