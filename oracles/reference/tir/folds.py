"""Sequential reductions over a grid of terms, as called by generated code: the same operations in the same
order as the loop.

`current` is the value before the first iteration, `term` a grid whose leading axes (of sizes `loops`) are the
loops in order and whose last `rank` axes are those of `current`; axes that a grid does not vary along may be
missing or of size one.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from oracles.reference.tir.arithmetic import largest, trap_where

Array = Any
# Above this many accumulators a Python loop over the terms is faster than ufunc.accumulate.
WIDE = 256


def _terms(current: Any, term: Any, loops: tuple[int, ...], rank: int, dtype: Any) -> tuple[Array, Array]:
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
    return function.accumulate(steps, axis=0)[1:]


def _float_fold(function: np.ufunc, current: Any, term: Any, loops: tuple[int, ...], rank: int) -> Any:
    start, every = _terms(current, term, loops, rank, current.dtype)
    if start.size < WIDE:
        return _accumulated(function, start, every)[-1]
    for step in every:
        start = function(start, step)
    return start


def fold_float_add(current: Any, term: Any, loops: tuple[int, ...], rank: int) -> Any:
    """Sum, rounded after every addition."""
    return _float_fold(np.add, current, term, loops, rank)


def fold_float_mul(current: Any, term: Any, loops: tuple[int, ...], rank: int) -> Any:
    """Product, rounded after every multiplication."""
    return _float_fold(np.multiply, current, term, loops, rank)


def _extremum(current: Any, term: Any, loops: tuple[int, ...], rank: int, greatest: bool, swapped: bool) -> Any:
    """TVM's Min and Max chain: select(a > b, a, b) with `a` the accumulator (or the term if swapped)."""
    start, every = _terms(current, term, loops, rank, current.dtype)
    if start.size < WIDE and not (np.isnan(every).any() or np.isnan(start).any()):
        function = np.maximum if greatest else np.minimum
        found = function(start, every.max(axis=0) if greatest else every.min(axis=0))
        # Only the sign of a zero depends on the order, and only if zeros of both signs occur.
        zeros = np.signbit(np.concatenate([start[start == 0], every[every == 0]]))
        if zeros.all() or not zeros.any():
            return found
    for step in every:
        a, b = (step, start) if swapped else (start, step)
        start = np.where(a > b if greatest else a < b, a, b)
    return start


def fold_float_max(current: Any, term: Any, loops: tuple[int, ...], rank: int) -> Any:
    """max(accumulator, term)."""
    return _extremum(current, term, loops, rank, True, False)


def fold_float_max_swapped(current: Any, term: Any, loops: tuple[int, ...], rank: int) -> Any:
    """max(term, accumulator)."""
    return _extremum(current, term, loops, rank, True, True)


def fold_float_min(current: Any, term: Any, loops: tuple[int, ...], rank: int) -> Any:
    """min(accumulator, term)."""
    return _extremum(current, term, loops, rank, False, False)


def fold_float_min_swapped(current: Any, term: Any, loops: tuple[int, ...], rank: int) -> Any:
    """min(term, accumulator)."""
    return _extremum(current, term, loops, rank, False, True)


def _value(result: Array, rank: int) -> Any:
    return result if rank else int(result)


def fold_int_add(current: Any, term: Any, loops: tuple[int, ...], rank: int, low: int, high: int, site: str) -> Any:
    """Exact sum; every partial sum must be in range, or wraps for the small unsigned types."""
    start, every = _terms(current, term, loops, rank, np.int64)
    bound = largest(start) + largest(every) * len(every)
    if bound <= high and (low == 0 or -bound >= low):
        return _value(start + every.sum(axis=0), rank)
    exact = np.int64 if bound < 1 << 63 else object
    partial = _accumulated(np.add, start.astype(exact), every.astype(exact))
    return _checked(partial, low, high, rank, site)


def fold_int_mul(current: Any, term: Any, loops: tuple[int, ...], rank: int, low: int, high: int, site: str) -> Any:
    """Exact product; every partial product must be in range, or wraps for the small unsigned types."""
    start, every = _terms(current, term, loops, rank, np.int64)
    bits = largest(start).bit_length() + largest(every).bit_length() * len(every)
    exact = np.int64 if bits < 63 else object
    partial = _accumulated(np.multiply, start.astype(exact), every.astype(exact))
    return _checked(partial, low, high, rank, site)


def _checked(partial: Array, low: int, high: int, rank: int, site: str) -> Any:
    if low == 0:
        return _value(np.asarray(partial[-1] % (high + 1)).astype(np.int64), rank)
    wrong = (partial < low) | (partial > high)
    trap_where(np.asarray(wrong, dtype=bool), None, "integer-overflow", site)
    return _value(np.asarray(partial[-1]).astype(np.int64), rank)


def fold_int_max(current: Any, term: Any, loops: tuple[int, ...], rank: int, *_: Any) -> Any:
    """Greatest of all."""
    start, every = _terms(current, term, loops, rank, np.int64)
    return _value(np.maximum(start, every.max(axis=0)), rank)


def fold_int_min(current: Any, term: Any, loops: tuple[int, ...], rank: int, *_: Any) -> Any:
    """Least of all."""
    start, every = _terms(current, term, loops, rank, np.int64)
    return _value(np.minimum(start, every.min(axis=0)), rank)


NAMES: dict[str, Any] = {
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
