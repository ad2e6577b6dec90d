"""What TVM's documentation says the values of an operator's operand are: of others, what it gives is undefined.

A row of the operator table names the domain of an operand. Inputs that reach the operand are drawn in it, and the
reference stops where other values do. No TVM here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from generators.dtypes import Array

_SUM = 0.02
"""By how much the probabilities of a distribution may miss 1: rounding in float16, over long vocabularies."""


@dataclass(frozen=True, slots=True)
class Domain:
    """words: completes "an operand is not ...". holds: whether the values of an array are inside; None where other
    values are defined, too, but are not what the operand is for. draw: values inside, from a generator of random
    numbers and a shape, in float64. of_floats: operands of whole numbers have no such domain."""

    words: str
    draw: Callable[[np.random.Generator, tuple[int, ...]], Array]
    holds: Callable[[Array], bool] | None = None
    of_floats: bool = False


def _eighths(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Multiples of 1/8 that sum to 1 along the last axis."""
    return np.asarray(random.multinomial(8, np.full(shape[-1], 1 / max(shape[-1], 1)), shape[:-1]) / 8)


def _sums_to_one(values: Array) -> bool:
    inside = bool(((values >= 0) & (values <= 1)).all())
    return inside and bool((np.abs(values.astype(np.float64).sum(-1) - 1) <= _SUM).all())


def _odd_sixteenths(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Odd multiples of 1/16, so that no comparison with a sum of eighths is a matter of rounding."""
    return np.asarray((2 * random.integers(0, 8, shape) + 1) / 16)


def _increasing(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Whole numbers around zero that increase along the last axis."""
    return np.cumsum(random.integers(1, 3, shape), -1) - float(shape[-1])


def _first_image(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Rows (image, left, top, right, bottom): of image 0, corners at whole numbers, not empty."""
    rows = np.zeros(shape)
    rows[..., 1:3] = random.integers(0, 3, (*shape[:-1], 2))
    rows[..., 3:] = rows[..., 1:3] + random.integers(1, 4, (*shape[:-1], 2))
    return rows


def _is_region(values: Array) -> bool:
    images = values[..., 0]
    return bool(((images >= 0) & (images == np.floor(images))).all())


_WIDTH = math.sqrt(3.0)
"""Half the width of a uniform distribution of variance 1."""


def between(low: float, high: float) -> Domain:
    """Floats from `low` to `high`, ends included, which may be infinite: drawn as sixteenths, around zero by about one,
    or from the end that is nearer to zero."""
    start, end = max(low, -_WIDTH), min(high, _WIDTH)
    if start >= end:
        start, end = (low, min(low + 2 * _WIDTH, high)) if low > 0 else (max(high - 2 * _WIDTH, low), high)
    first, last = math.ceil(start * 16), math.floor(end * 16)
    assert first <= last, "no sixteenth in the domain"
    return Domain(
        f"from {low:g} to {high:g}",
        lambda random, shape: np.asarray(random.integers(first, last + 1, shape) / 16),
        of_floats=True,
    )


DISTRIBUTION = Domain("a distribution: in [0, 1], with sum 1 along the last axis", _eighths, _sums_to_one)
UNIT = Domain("in [0, 1]", _odd_sixteenths, lambda values: bool(((values >= 0) & (values <= 1)).all()))
INCREASING = Domain("strictly increasing", _increasing, lambda values: bool((np.diff(values) > 0).all()))
REGIONS = Domain("regions of images that there are", _first_image, _is_region)
POSITIVE = Domain("above zero", lambda random, shape: np.asarray(random.integers(1, 5, shape) / 2))
"""Variances and scales. An operator computes with others, too: to NaN, or to infinity."""
