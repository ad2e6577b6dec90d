"""Expressions of constants alone, as numbers: what launches of threads depend on must be known while decoding."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from oracles.reference.tir.intrinsics import INTRINSICS
from oracles.reference.tir.nodes import Bin, Call, Cast, Cmp, Const, Expr, Logic, Not, Select

_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "floormod": operator.mod,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "min": min,
    "max": max,
}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _NotKnown(Exception):
    """Something in the expression is no constant, or its value is not defined."""


def settled(expr: Expr) -> Expr:
    """The integer or bool that an expression of constants is; any other expression as it is."""
    if isinstance(expr, Const) or expr.dtype.kind not in "iub":
        return expr
    try:
        return Const(_value(expr), expr.dtype)
    except _NotKnown:
        return expr


def _value(expr: Expr) -> Any:
    match expr:
        case Const(value, dtype):
            return dtype.numpy.type(value) if dtype.kind == "f" else value
        case Bin(op, a, b, dtype) if dtype.kind in "iu" and op in _INTEGERS:
            return _fitting(_integer(op, _value(a), _value(b)), expr)
        case Cmp(op, a, b, _):
            return bool(_COMPARED[op](_value(a), _value(b)))
        case Logic(op, a, b, _):
            return _value(b) if _value(a) is (op == "and") else op == "or"
        case Not(a, _):
            return not _value(a)
        case Select(cond, then, other, _):
            return _value(then if _value(cond) else other)
        case Cast(a, dtype):
            value = _value(a)
            if dtype.kind == "f":
                return dtype.numpy.type(value)
            if a.dtype.kind == "f" and not np.isfinite(value):
                raise _NotKnown
            return bool(value) if dtype.kind == "b" else _fitting(int(value), expr)
        case Call(name, args, dtype) if name in INTRINSICS and args and args[0].dtype.kind == "f":
            return INTRINSICS[name].make(args[0].dtype, dtype, False)(*(_value(arg) for arg in args))
        case _:
            raise _NotKnown


def _integer(op: str, a: int, b: int) -> int:
    if (op.startswith("floor") and b == 0) or (op in ("shl", "shr") and not 0 <= b < 64):
        raise _NotKnown
    return _INTEGERS[op](a, b)


def _fitting(value: int, expr: Expr) -> int:
    if not expr.dtype.low <= value <= expr.dtype.high:
        raise _NotKnown
    return value
