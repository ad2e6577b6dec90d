"""Terms: TIR expressions that carry their dtype, their range, and whether a float holds their values exactly.

The range of each operator is here, one row each; how expressions are drawn is in `expressions.py`. Nodes are
made by their constructors, which fold nothing, so that passes see the nodes as drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx

from generators.dtypes import integer_limits, is_float
from generators.ranges import TRUTH, Range
from generators.tvm_api import Expr

_EXACT_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 40, "float8_e4m3fn": 4, "float8_e5m2": 3}
"""Whole numbers up to two to this are held exactly, and so are sums and products that stay below."""


@dataclass(frozen=True, slots=True)
class Term:
    """`expr` of `dtype` lies in `range`; a float is a multiple of 2**-fraction."""

    expr: Expr
    dtype: str
    range: Range
    fraction: int = 0


def capacity(dtype: str, fraction: int = 0) -> float:
    """The largest magnitude that values of this dtype may have: half of an integer's, or the largest exact one."""
    if dtype == "bool":
        return 1.0
    if is_float(dtype):
        return float(2 ** (_EXACT_BITS[dtype] - fraction))
    return float(integer_limits(dtype)[1] // 2)


def fits(values: Range, dtype: str, fraction: int = 0) -> bool:
    """Whether values of this range can be computed in the dtype: no overflow, nothing rounded."""
    top = capacity(dtype, fraction)
    return values.within(0.0 if dtype.startswith("u") else -top, top) and (fraction == 0 or top >= 1)


def constant(value: float, dtype: str) -> Term:
    """A literal. The value must be exact in the dtype."""
    if is_float(dtype):
        fraction = 0
        while not float(value * 2**fraction).is_integer():
            fraction += 1
        return Term(tirx.FloatImm(dtype, float(value)), dtype, Range(value, value, fraction == 0), fraction)
    return Term(tirx.IntImm(dtype, int(value)), dtype, Range(int(value), int(value), True))


def truth(expr: Expr) -> Term:
    """A bool term."""
    return Term(expr, "bool", TRUTH)


def _bits(*ranges: Range) -> int:
    """The smallest k for which all values lie in [-2**k, 2**k - 1]."""
    return max(max(int(max(r.high, 0)), int(max(-r.low - 1, 0))).bit_length() for r in ranges)


def _and(a: Range, b: Range) -> Range:
    if a.low >= 0 or b.low >= 0:
        tops = [r.high for r in (a, b) if r.low >= 0]
        return Range(0, min(tops), True)
    return _or(a, b)


def _or(a: Range, b: Range) -> Range:
    top = 2 ** _bits(a, b)
    return Range(0 if a.low >= 0 and b.low >= 0 else -top, top - 1, True)


def _truncated(a: float, b: float) -> int:
    return int(abs(a) // abs(b)) * (1 if (a >= 0) == (b >= 0) else -1)


def _quotient(divide: Callable[[float, float], float]) -> Callable[[Range, Range], Range]:
    """A division by values of one sign is monotone in each operand, so that its extremes are at the corners."""

    def rule(a: Range, b: Range) -> Range:
        ends = [divide(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return Range(min(ends), max(ends), True)

    return rule


def _floormod(a: Range, b: Range) -> Range:
    """The sign of the divisor."""
    return Range(0, b.high - 1, True) if b.low > 0 else Range(b.low + 1, 0, True)


def _truncmod(a: Range, b: Range) -> Range:
    """The sign of the dividend."""
    top = min(b.magnitude - 1, a.magnitude)
    return Range(-top if a.low < 0 else 0, top if a.high > 0 else 0, True)


def _shl(a: Range, b: Range) -> Range:
    ends = [x * 2**y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(ends), max(ends), True)


def _shr(a: Range, b: Range) -> Range:
    ends = [int(x) >> int(y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(ends), max(ends), True)


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator of two operands of one dtype: its node, its range, and which right operands it takes."""

    name: str
    node: Callable[[Expr, Expr], Expr]
    rule: Callable[[Range, Range], Range]
    right: str = "any"
    """"any", "nonzero" (of one sign) or "amount" (of a shift)."""


INTEGER_BINARY = (
    Binary("add", tirx.Add, lambda a, b: a + b),
    Binary("sub", tirx.Sub, lambda a, b: a - b),
    Binary("mul", tirx.Mul, lambda a, b: a * b),
    Binary("floordiv", tirx.FloorDiv, _quotient(lambda a, b: math.floor(a / b)), "nonzero"),
    Binary("floormod", tirx.FloorMod, _floormod, "nonzero"),
    Binary("truncdiv", tirx.Div, _quotient(_truncated), "nonzero"),
    Binary("truncmod", tirx.Mod, _truncmod, "nonzero"),
    Binary("min", tirx.Min, Range.minimum),
    Binary("max", tirx.Max, Range.maximum),
    Binary("bitwise_and", tirx.BitwiseAnd, _and),
    Binary("bitwise_or", tirx.BitwiseOr, _or),
    Binary("bitwise_xor", tirx.BitwiseXor, _or),
    Binary("shift_left", tirx.LShift, _shl, "amount"),
    Binary("shift_right", tirx.RShift, _shr, "amount"),
)
FLOAT_BINARY = (
    Binary("add", tirx.Add, lambda a, b: a + b),
    Binary("sub", tirx.Sub, lambda a, b: a - b),
    Binary("mul", tirx.Mul, lambda a, b: a * b),
    Binary("min", tirx.Min, Range.minimum),
    Binary("max", tirx.Max, Range.maximum),
)
COMPARISONS = (tirx.LT, tirx.LE, tirx.GT, tirx.GE, tirx.EQ, tirx.NE)
BY_NAME = {row.name: row for row in INTEGER_BINARY}


def result_fraction(name: str, a: Term, b: Term) -> int:
    """How fine the result is."""
    return a.fraction + b.fraction if name == "mul" else max(a.fraction, b.fraction)


def clipped(term: Term, bound: float) -> Term:
    """The term within [-bound, bound] (from 0 where unsigned): by Max and Min, which are exact."""
    low = 0.0 if term.dtype.startswith("u") else -bound
    if term.range.within(low, bound):
        return term
    expr = term.expr
    if term.range.low < low:
        expr = tirx.Max(expr, constant(low, term.dtype).expr)
    if term.range.high > bound:
        expr = tirx.Min(expr, constant(bound, term.dtype).expr)
    return Term(expr, term.dtype, term.range.clipped(low, bound), term.fraction)


def bounded(term: Term, values: Range) -> Term:
    """The term within a range whose ends are exact in its dtype."""
    if term.range.within(values.low, values.high):
        return term
    low, high = constant(values.low, term.dtype), constant(values.high, term.dtype)
    expr = tirx.Min(tirx.Max(term.expr, low.expr), high.expr)
    return Term(expr, term.dtype, term.range.clipped(values.low, values.high), term.fraction)


def held(term: Term, values: Range, fraction: int) -> Term:
    """The term as a tensor can hold it whose elements are in a range and so fine: cut to a whole number if need be."""
    if term.fraction > fraction:
        low = math.floor(term.range.low)
        term = Term(tirx.floor(term.expr), term.dtype, Range(low, math.floor(term.range.high), True))
    return bounded(term, values)


def apply(row: Binary, a: Term, b: Term) -> Term | None:
    """The operator on the operands; None where the result might overflow or be rounded."""
    values, fraction = row.rule(a.range, b.range), result_fraction(row.name, a, b)
    if not fits(values, a.dtype, fraction):
        return None
    return Term(row.node(a.expr, b.expr), a.dtype, values, fraction)


def cast(term: Term, dtype: str) -> Term:
    """The value in another dtype, in which the caller sees to it that it fits: an integer is what is before the point
    of a float."""
    if term.dtype == dtype:
        return term
    if is_float(dtype):
        return Term(tirx.Cast(dtype, term.expr), dtype, term.range, term.fraction)
    whole = Range(math.trunc(term.range.low), math.trunc(term.range.high), True)
    return Term(tirx.Cast(dtype, term.expr), dtype, whole)


def chosen(condition: Expr, then: Term, other: Term, *, lazily: bool) -> Term:
    """`if_then_else` where lazily (only one side is evaluated), else Select."""
    make = tirx.if_then_else if lazily else tirx.Select
    expr = make(condition, then.expr, other.expr)
    return Term(expr, then.dtype, then.range.hull(other.range), max(then.fraction, other.fraction))
