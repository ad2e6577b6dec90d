"""The ranges of operators hold every value that the operator can give, checked number by number."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from generators.ranges import Range
from generators.tir.terms import INTEGER_BINARY, Binary, Term, apply, bounded, capacity, cast, clipped, constant, fits


def truncated(a: int, b: int) -> int:
    """Division towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


MEANING: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "floormod": lambda a, b: a % b,
    "truncdiv": truncated,
    "truncmod": lambda a, b: a - b * truncated(a, b),
    "min": min,
    "max": max,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: a << b,
    "shift_right": lambda a, b: a >> b,
}
LEFT = [(-7, 5), (-3, -1), (0, 6), (4, 4), (0, 0), (-8, 0)]
RIGHT = {
    "any": LEFT,
    "nonzero": [(1, 4), (-5, -1), (3, 3), (-1, -1), (2, 7)],
    "amount": [(0, 3), (2, 2), (0, 0)],
}


@pytest.mark.parametrize("row", INTEGER_BINARY, ids=lambda row: row.name)
def test_a_range_holds_every_result(row: Binary) -> None:
    for left, right in product(LEFT, RIGHT[row.right]):
        declared = row.rule(Range(*left, True), Range(*right, True))
        results = [
            MEANING[row.name](a, b) for a, b in product(range(left[0], left[1] + 1), range(right[0], right[1] + 1))
        ]
        assert declared.low <= min(results) and max(results) <= declared.high, (left, right, declared)


def test_what_may_overflow_is_refused() -> None:
    large = Term(constant(60, "int8").expr, "int8", Range(0, 60, True))
    add = next(row for row in INTEGER_BINARY if row.name == "add")
    assert apply(add, large, large) is None
    assert apply(add, clipped(large, 20), clipped(large, 20)) is not None


@pytest.mark.parametrize(("low", "high", "whole"), [(-0.5, 2.75, (0, 2)), (-3.5, -0.25, (-3, 0)), (0.5, 0.75, (0, 0))])
def test_a_cast_to_an_integer_is_what_is_before_the_point(low: float, high: float, whole: tuple[int, int]) -> None:
    term = Term(constant(low, "float32").expr, "float32", Range(low, high), 2)
    drawn = cast(term, "int32")
    assert (drawn.range, drawn.fraction) == (Range(*whole, True), 0)
    assert cast(term, "float64").range == term.range and cast(term, "float64").fraction == 2


@pytest.mark.parametrize(
    ("dtype", "value", "inside"),
    [("int8", 63, True), ("int8", 64, False), ("bfloat16", 256, True), ("bfloat16", 257, False), ("uint8", -1, False)],
)
def test_capacity(dtype: str, value: int, inside: bool) -> None:
    assert fits(Range(value, value, True), dtype) is inside
    assert (abs(value) <= capacity(dtype)) or not inside


def test_a_bounded_term_is_within() -> None:
    term = Term(constant(9, "int32").expr, "int32", Range(-9, 9, True))
    assert bounded(term, Range(-2, 3, True)).range == Range(-2, 3, True)
    assert bounded(term, Range(-10, 10, True)) is term
