"""Value ranges: the little interval arithmetic that keeps generated programs inside their operators' domains."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from generators.dtypes import float_facts, integer_limits, is_float

_FLOAT64_EXPONENTS = 1024


@dataclass(frozen=True, slots=True)
class Range:
    """All elements lie in [low, high] and are finite; `integral` says that all are whole numbers.

    Arithmetic gives the range of the result and assumes nothing about how operands are related.
    """

    low: float
    high: float
    integral: bool = False

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def within(self, low: float, high: float) -> bool:
        """Whether every element is in [low, high]."""
        return low <= self.low and self.high <= high

    def hull(self, other: Range) -> Range:
        """The smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high), self.integral and other.integral)

    def including(self, value: float) -> Range:
        """The smallest range that holds this one and `value`."""
        return self.hull(Range(value, value, float(value).is_integer()))

    def clipped(self, low: float, high: float) -> Range:
        """The range after clipping every element to [low, high]."""
        whole = self.integral and float(low).is_integer() and float(high).is_integer()
        return Range(min(max(self.low, low), high), max(min(self.high, high), low), whole)

    def scaled(self, factor: float) -> Range:
        """The range after multiplication with a known factor."""
        ends = (self.low * factor, self.high * factor)
        return Range(min(ends), max(ends), self.integral and float(factor).is_integer())

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high, self.integral and other.integral)

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, self.integral)

    def __sub__(self, other: Range) -> Range:
        return self + -other

    def __mul__(self, other: Range) -> Range:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(ends), max(ends), self.integral and other.integral)

    def absolute(self) -> Range:
        """The range of the absolute values."""
        low = 0.0 if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))
        return Range(low, self.magnitude, self.integral)

    def maximum(self, other: Range) -> Range:
        """The range of the elementwise maximum."""
        return Range(max(self.low, other.low), max(self.high, other.high), self.integral and other.integral)

    def minimum(self, other: Range) -> Range:
        """The range of the elementwise minimum."""
        return -(-self).maximum(-other)

    def summed(self, count: int) -> Range:
        """The range of a sum of `count` elements (0 gives [0, 0])."""
        return Range(self.low * count, self.high * count, self.integral)

    def powered(self, count: int) -> Range:
        """The range of a product of `count` elements; unbounded where that is beyond float64."""
        finite = count * math.log2(max(self.magnitude, 1.0)) < _FLOAT64_EXPONENTS
        top = self.magnitude**count if finite else math.inf
        return Range(0.0 if self.low >= 0 else -top, max(top, 1.0), self.integral)

    def real(self) -> Range:
        """The same ends, no longer known to be whole."""
        return Range(self.low, self.high)


Ranges: TypeAlias = Range | tuple["Ranges", ...]
"""The range of a tensor, or those of the fields of a tuple."""
TRUTH = Range(0, 1, True)
UNIT = Range(-1.0, 1.0)


def of_values(*values: float) -> Range:
    """The smallest range that holds the given finite values."""
    return Range(min(values), max(values), all(float(v).is_integer() for v in values))


def comfortable(dtype: str) -> Range:
    """The span of results of this dtype: far from overflow, so that rounding cannot reach it."""
    if dtype == "bool":
        return TRUTH
    if is_float(dtype):
        top = {"float16": 2.0**12, "bfloat16": 2.0**20}.get(dtype, 2.0**30)
        return Range(-top, min(top, float_facts(dtype).largest))
    low, high = integer_limits(dtype)
    return Range(low / 2 if low else 0, math.floor(high / 2), True)


NARROW = ("int8", "uint8", "int16", "int32")
"""Integers whose ends are drawn: float64 holds each of them."""
_NEAR = 3
"""How far from an end contents near it are at most."""


def ends_of(dtype: str) -> tuple[Range, Range, Range]:
    """Ranges of an integer dtype up to its ends: all of it, the largest numbers, the smallest ones."""
    low, high = integer_limits(dtype)
    return Range(low, high, True), Range(high - _NEAR, high, True), Range(low, low + _NEAR, True)


def hull_of(ranges: Iterable[Range]) -> Range:
    """The smallest range that holds all of these, of which there is at least one."""
    return reduce(Range.hull, ranges)
