"""Sequential reductions over a grid of terms, as called by generated code: the same operations in the same
order as the loop.

`current` is the value before the first iteration, `term` a grid whose leading axes (of sizes `loops`) are the
loops in order and whose last `rank` axes are those of `current`; axes that a grid does not vary along may be
missing or of size one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
import numpy.typing as npt

from generators.dtypes import Array, Scalar
from oracles.reference.tir.arithmetic import largest, trap_where

# Above this many accumulators a Python loop over the terms is faster than ufunc.accumulate.
WIDE = 256


def _terms(
    current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int, dtype: npt.DTypeLike
) -> tuple[Array, Array]:
    """The accumulator before the first term, and the terms along one leading axis."""
    term = np.asarray(term, dtype=dtype)
    start = np.asarray(current, dtype=dtype)
    inner = term.shape[max(term.ndim - rank, 0) :] if rank else ()
    shape = np.broadcast_shapes(start.shape, inner)
    every = np.broadcast_to(term, loops + shape).reshape((prod(loops), *shape))
    return np.broadcast_to(start, shape), every


def _accumulated(function: np.ufunc, start: Array, every: Array) -> Array:
    """All partial results, one after the other."""
    steps = np.concatenate([start[None], every])
    sums: Array = function.accumulate(steps, axis=0)
    return sums[1:]


def _float_fold(
    function: np.ufunc, current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int
) -> Array:
    start, every = _terms(current, term, loops, rank, current.dtype)
    if start.size < WIDE:
        last: Array = _accumulated(function, start, every)[-1]
        return last
    for step in every:
        start = function(start, step)
    return start


def fold_float_add(current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int) -> Array:
    """Sum, rounded after every addition."""
    return _float_fold(np.add, current, term, loops, rank)


def fold_float_mul(current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int) -> Array:
    """Product, rounded after every multiplication."""
    return _float_fold(np.multiply, current, term, loops, rank)


def _extremum(
    current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int, greatest: bool, swapped: bool
) -> Array:
    """TVM's Min and Max chain: select(a > b, a, b) with `a` the accumulator (or the term if swapped)."""
    start, every = _terms(current, term, loops, rank, current.dtype)
    if start.size < WIDE and not (np.isnan(every).any() or np.isnan(start).any()):
        function = np.maximum if greatest else np.minimum
        found: Array = function(start, every.max(axis=0) if greatest else every.min(axis=0))
        # Only the sign of a zero depends on the order, and only if zeros of both signs occur.
        zeros = np.signbit(np.concatenate([start[start == 0], every[every == 0]]))
        if zeros.all() or not zeros.any():
            return found
    for step in every:
        a, b = (step, start) if swapped else (start, step)
        start = np.where(a > b if greatest else a < b, a, b)
    return start


def fold_float_max(current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int) -> Array:
    """max(accumulator, term)."""
    return _extremum(current, term, loops, rank, True, False)


def fold_float_max_swapped(current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int) -> Array:
    """max(term, accumulator)."""
    return _extremum(current, term, loops, rank, True, True)


def fold_float_min(current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int) -> Array:
    """min(accumulator, term)."""
    return _extremum(current, term, loops, rank, False, False)


def fold_float_min_swapped(current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int) -> Array:
    """min(term, accumulator)."""
    return _extremum(current, term, loops, rank, False, True)


def _value(result: Array, rank: int) -> Array | int:
    return result if rank else int(result)


def fold_int_add(
    current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int, low: int, high: int, site: str
) -> Array | int:
    """Exact sum; every partial sum must be in range, or wraps for the small unsigned types."""
    start, every = _terms(current, term, loops, rank, np.int64)
    bound = largest(start) + largest(every) * len(every)
    if bound <= high and (low == 0 or -bound >= low):
        return _value(start + every.sum(axis=0), rank)
    exact = np.int64 if bound < 1 << 63 else object
    partial = _accumulated(np.add, start.astype(exact), every.astype(exact))
    return _checked(partial, low, high, rank, site)


def fold_int_mul(
    current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int, low: int, high: int, site: str
) -> Array | int:
    """Exact product; every partial product must be in range, or wraps for the small unsigned types."""
    start, every = _terms(current, term, loops, rank, np.int64)
    bits = largest(start).bit_length() + largest(every).bit_length() * len(every)
    exact = np.int64 if bits < 63 else object
    partial = _accumulated(np.multiply, start.astype(exact), every.astype(exact))
    return _checked(partial, low, high, rank, site)


def _checked(partial: Array, low: int, high: int, rank: int, site: str) -> Array | int:
    if low == 0:
        return _value(np.asarray(partial[-1] % (high + 1)).astype(np.int64), rank)
    wrong = (partial < low) | (partial > high)
    trap_where(np.asarray(wrong, dtype=bool), None, "integer-overflow", site)
    return _value(np.asarray(partial[-1]).astype(np.int64), rank)


def fold_int_max(
    current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int, *_: object
) -> Array | int:
    """Greatest of all."""
    start, every = _terms(current, term, loops, rank, np.int64)
    return _value(np.maximum(start, every.max(axis=0)), rank)


def fold_int_min(
    current: Array | Scalar, term: Array | Scalar, loops: tuple[int, ...], rank: int, *_: object
) -> Array | int:
    """Least of all."""
    start, every = _terms(current, term, loops, rank, np.int64)
    return _value(np.minimum(start, every.min(axis=0)), rank)


NAMES: dict[str, Callable[..., Array | int]] = {
    f.__name__: f
    for f in (
        fold_float_add,
        fold_float_mul,
        fold_float_max,
        fold_float_max_swapped,
        fold_float_min,
        fold_float_min_swapped,
        fold_int_add,
        fold_int_mul,
        fold_int_max,
        fold_int_min,
    )
}
NAMES |= {
    "fold_float_add_swapped": fold_float_add,
    "fold_float_mul_swapped": fold_float_mul,
    "fold_int_add_swapped": fold_int_add,
    "fold_int_mul_swapped": fold_int_mul,
    "fold_int_max_swapped": fold_int_max,
    "fold_int_min_swapped": fold_int_min,
}
