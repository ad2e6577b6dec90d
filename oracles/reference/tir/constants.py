"""Constants while decoding: folding of operations on them, and the value of expressions of constants alone.

Shapes and integer parameters are numbers when a PrimFunc is decoded, so that most index arithmetic folds. The extents
of launches must be known then; `settled` evaluates them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from generators.dtypes import Scalar
from oracles.reference.tir.intrinsics import INTRINSICS
from oracles.reference.tir.nodes import BOOL, Bin, Call, Cast, Cmp, Const, DType, Expr, Logic, Not, Select, Var

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
_FOLDED: dict[str, Callable[[int, int], int]] = {
    **_INTEGERS,
    "div": operator.floordiv,
    "mod": operator.mod,
    "band": operator.and_,
    "bor": operator.or_,
    "bxor": operator.xor,
}
"""`div` and `mod` truncate: they are folded only where they agree with floordiv and floormod."""
_SHIFTS = ("shl", "shr")
_DIVIDES = ("floordiv", "floormod", "div", "mod")
_COMPARED: dict[str, Callable[[Scalar, Scalar], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def fold(op: str, a: Expr, b: Expr, dtype: DType) -> Expr:
    """`Bin(op, a, b)`, folded for integer constants where the result is defined, and for neutral operands."""
    if dtype.kind in "iu" and op in _FOLDED:
        if isinstance(a, Const) and isinstance(b, Const):
            if op in _DIVIDES and (b.value <= 0 or a.value < 0):  # where they differ, and where they trap
                return Bin(op, a, b, dtype)
            if op in _SHIFTS and (a.value < 0 or not 0 <= b.value < dtype.bits):
                return Bin(op, a, b, dtype)
            value = _FOLDED[op](int(a.value), int(b.value))
            if dtype.low <= value <= dtype.high:
                return Const(value, dtype)
        elif isinstance(b, Const):
            if (b.value == 0 and op in ("add", "sub")) or (b.value == 1 and op in ("mul", "floordiv")):
                return a
        elif isinstance(a, Const) and ((a.value == 0 and op == "add") or (a.value == 1 and op == "mul")):
            return b
    return Bin(op, a, b, dtype)


def fold_comparison(op: str, a: Expr, b: Expr) -> Expr:
    """`Cmp(op, a, b)`, folded for constants that are no floats."""
    if isinstance(a, Const) and isinstance(b, Const) and a.dtype.kind != "f":
        return Const(_COMPARED[op](a.value, b.value), BOOL)
    return Cmp(op, a, b)


def is_index(value: Expr) -> bool:
    """Whether `value` is integer arithmetic on variables alone, without a division that may trap: it may be evaluated
    later, twice or never, with the same result."""
    match value:
        case Const() | Var():
            return True
        case Bin(op, a, b, dtype):
            traps = op in _DIVIDES and (not isinstance(b, Const) or b.value == 0)
            return not traps and dtype.kind == "i" and is_index(a) and is_index(b)
        case Cast(a, dtype):
            return dtype.kind == "i" and a.dtype.kind == "i" and is_index(a)
        case _:
            return False


class _NotKnown(Exception):
    """A part of the expression is no constant, or its value is undefined."""


def settled(expr: Expr) -> Expr:
    """The constant that an integer or bool expression of constants is equal to; any other expression unchanged."""
    if isinstance(expr, Const) or expr.dtype.kind not in "iub":
        return expr
    try:
        return Const(_value(expr), expr.dtype)
    except _NotKnown:
        return expr


def _value(expr: Expr) -> Scalar:
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
