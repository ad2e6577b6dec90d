"""Binary broadcasting operators: arithmetic, comparison, logic, bits, shifts; and the ternary where."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from tvm.relax import op

from generators.dtypes import Array, Scalar, integer_limits, is_float
from generators.operators.domain import Domain, between
from generators.operators.knobs import KNOBS
from generators.operators.row import NumpyMeaning, Operator, Rounding
from generators.operators.specials import (
    COMPARED,
    COMPUTED,
    DIVIDED,
    MULTIPLIED,
    MULTIPLIED_AND_ADDED,
    ORDERED,
    SUBTRACTED,
    UNEQUAL,
    Specials,
)
from generators.ranges import TRUTH, Range
from generators.relax.scope import EVERY, FLOAT, INTEGER, NUMERIC, Drawn, Scope
from generators.relax.values import Value
from generators.unavailable import Unavailable

OperandPair = Callable[[Scope], tuple[Value, Value]]


def _operands(
    dtypes: tuple[str, ...], low: float = -math.inf, high: float = math.inf, left: tuple[float, float] | None = None
) -> OperandPair:
    """Two tensors that broadcast; [low, high] bounds the right one and `left` the left one, in either wide shape."""

    def draw(s: Scope) -> tuple[Value, Value]:
        a = s.tensor(dtypes, low=(left or (-math.inf,))[0], high=(left or (0, math.inf))[1])
        b = s.broadcastable(a, low, high)
        swap = left is None and (low, high) == (-math.inf, math.inf) and s.source.flip()
        return (b, a) if swap else (a, b)

    return draw


def _binary(
    name: str,
    meaning: NumpyMeaning,
    result: Callable[[Range, Range], Range],
    rounding: Rounding = Rounding.SMOOTH,
    operands: OperandPair | None = None,
    ulps: float = 4.0,
    weight: int = 4,
    domains: tuple[tuple[int, Domain], ...] = (),
    specials: Specials | None = None,
    of_integers: Callable[[Range, Range], Range] | None = None,
) -> Operator:
    """A row for relax.<name> on two operands that broadcast. of_integers: the range of a result of integers, where that
    is another one."""
    build = getattr(op, name)
    pair = operands or _operands(NUMERIC)

    def draw(s: Scope) -> Drawn:
        a, b = pair(s)
        values = result if of_integers is None or is_float(a.dtype) else of_integers
        return Drawn(build(a.expr, b.expr), values(a.range, b.range))

    return Operator(
        f"relax.{name}",
        draw,
        meaning,
        rounding,
        elementwise=True,
        ulps=ulps,
        domains=domains,
        weight=weight,
        own_specials=specials,
    )


def _compare(name: str, meaning: NumpyMeaning, specials: Specials = COMPARED) -> Operator:
    return _binary(name, meaning, lambda a, b: TRUTH, Rounding.STEP, ulps=0, weight=3, specials=specials)


def _quotient(a: Range, b: Range) -> Range:
    ends = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(ends), max(ends))


def _truncated_quotient(a: Range, b: Range) -> Range:
    q = _quotient(a, b)
    return Range(math.trunc(q.low), math.trunc(q.high), True)


def _floor_quotient(a: Range, b: Range) -> Range:
    q = _quotient(a, b)
    return Range(math.floor(q.low), math.floor(q.high), True)


def _remainder(a: Range, b: Range) -> Range:
    return Range(-b.magnitude, b.magnitude, a.integral and b.integral)


def _divide(a: Array, b: Array) -> Array | Scalar:
    if a.dtype.kind in "iu":  # truncating, as in C
        return np.floor_divide(a - np.fmod(a, b), b)
    return a / b


def _by_divisors(meaning: NumpyMeaning) -> NumpyMeaning:
    """The meaning of a division or of its remainder: of whole numbers by zero there is none, and built code dies."""

    def divided(a: Array, b: Array) -> Array | Scalar:
        if b.dtype.kind in "iu" and np.broadcast(a, b).size and (b == 0).any():
            raise ZeroDivisionError("a whole number is divided by zero")
        return meaning(a, b)

    return divided


def _power(s: Scope) -> tuple[Value, Value]:
    a = s.tensor(FLOAT, low=2**-3, high=8)
    return a, s.broadcastable(a, -3, 3)


def _bits(a: Range, b: Range) -> Range:
    """As many bits as the operands have: -2**n to 2**n - 1."""
    low, high = min(a.low, b.low), max(a.high, b.high)
    top = 2.0 ** math.ceil(math.log2(max(high + 1, -low, 1)))
    return Range(-top if low < 0 else 0, top - 1, True)


def _shifted_left(a: Range, b: Range) -> Range:
    return Range(0, a.high * 2**b.high, True)


def _draw_where(s: Scope) -> Drawn:
    if s.source.flip(KNOBS.elementwise.condition_first):
        condition = s.tensor(("bool",))
        a = s.broadcastable(condition, dtypes=EVERY)
        b = s.like(a)
    else:
        a = s.tensor(EVERY)
        b = s.broadcastable(a)
        condition = s.broadcastable(b if b.ndim > a.ndim else a, dtypes=("bool",))
    return Drawn(op.where(condition.expr, a.expr, b.expr), a.range.hull(b.range))


def _draw_fma(s: Scope) -> Drawn:
    a = s.tensor(FLOAT)
    b, c = s.like(a), s.like(a)
    if a.expr.same_as(c.expr) and s.source.flip(KNOBS.elementwise.equal_operands_dropped):
        raise Unavailable("three equal operands say little")
    return Drawn(op.ewise_fma(a.expr, b.expr, c.expr), a.range * b.range + c.range)


_NONZERO = (_operands(NUMERIC, low=1), _operands(tuple(d for d in NUMERIC if d != "uint8"), high=-1))


def _divisors(s: Scope) -> tuple[Value, Value]:
    a, b = _NONZERO[0 if s.source.flip(KNOBS.elementwise.positive_divisor) else 1](s)
    if s.source.flip(KNOBS.elementwise.literal_divisor):
        number = s.source.pick((2, 4, 3, 8, 16, 5, 64))
        b = s.constant((), a.dtype, Range(number, number, True))
    # Code that divides the smallest number of a dtype by -1, or asks for the remainder, ends its process.
    if not is_float(a.dtype) and b.range.high < 0 and a.range.low <= integer_limits(a.dtype)[0]:
        raise Unavailable("the smallest number divided by -1")
    return a, b


_BOOL_PAIR = _operands(("bool",))
_INT_PAIR = _operands(INTEGER)
_SHIFT = _operands(("int32", "int64", "uint8", "int16"), low=0, high=4, left=(0, 64))

_NOT_ZERO = ((1, replace(between(1.0, math.inf), of_floats=False)),)
_BASE = ((0, between(0.5, 4.0)),)
OPERATORS = (
    _binary("add", np.add, Range.__add__, Rounding.RING, weight=10, specials=COMPUTED),
    _binary("subtract", np.subtract, Range.__sub__, Rounding.RING, weight=6, specials=SUBTRACTED),
    _binary("multiply", np.multiply, Range.__mul__, Rounding.RING, weight=8, specials=MULTIPLIED),
    _binary("divide", _by_divisors(_divide), _quotient, operands=_divisors, domains=_NOT_ZERO, specials=DIVIDED,
            of_integers=_truncated_quotient),
    _binary("floor_divide", _by_divisors(np.floor_divide), _floor_quotient, Rounding.STEP, _divisors,
            domains=_NOT_ZERO),
    _binary("floor_mod", _by_divisors(np.mod), _remainder, Rounding.STEP, _divisors, domains=_NOT_ZERO),
    _binary("mod", _by_divisors(np.fmod), _remainder, Rounding.STEP, _divisors, domains=_NOT_ZERO),
    _binary("power", np.power, lambda a, b: Range(0, 8.0**3), operands=_power, ulps=16, domains=_BASE),
    _binary("atan2", np.arctan2, lambda a, b: Range(-4, 4), operands=_operands(FLOAT, low=1)),
    _binary("log_add_exp", np.logaddexp, lambda a, b: Range(min(a.low, b.low), max(a.high, b.high) + 1),
            operands=_operands(FLOAT, -8, 8, (-8, 8)), ulps=16),
    _binary("maximum", np.maximum, Range.maximum, ulps=0, specials=ORDERED),
    _binary("minimum", np.minimum, Range.minimum, ulps=0, specials=ORDERED),
    _compare("equal", np.equal),
    _compare("not_equal", np.not_equal, UNEQUAL),
    _compare("less", np.less),
    _compare("less_equal", np.less_equal),
    _compare("greater", np.greater),
    _compare("greater_equal", np.greater_equal),
    _binary("logical_and", np.logical_and, lambda a, b: TRUTH, Rounding.EXACT, _BOOL_PAIR),
    _binary("logical_or", np.logical_or, lambda a, b: TRUTH, Rounding.EXACT, _BOOL_PAIR),
    _binary("logical_xor", np.logical_xor, lambda a, b: TRUTH, Rounding.EXACT, _BOOL_PAIR),
    _binary("bitwise_and", np.bitwise_and, _bits, Rounding.EXACT, _INT_PAIR),
    _binary("bitwise_or", np.bitwise_or, _bits, Rounding.EXACT, _INT_PAIR),
    _binary("bitwise_xor", np.bitwise_xor, _bits, Rounding.EXACT, _INT_PAIR),
    _binary("left_shift", np.left_shift, _shifted_left, Rounding.EXACT, _SHIFT),
    _binary("right_shift", np.right_shift, lambda a, b: a.hull(Range(0, 0, True)), Rounding.EXACT, _SHIFT),
    Operator("relax.where", _draw_where, np.where, Rounding.MOVE, elementwise=True),
    Operator("relax.ewise_fma", _draw_fma, lambda a, b, c: a * b + c, Rounding.RING, elementwise=True,
             own_specials=MULTIPLIED_AND_ADDED),
)  # fmt: skip
