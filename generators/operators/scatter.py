"""Operators that write elements at given positions of a copy: scatter_elements, scatter_nd, index_put, slice_scatter.

Positions may repeat only where the order of the writes does not matter; otherwise they are distinct constants.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm.relax import op

from generators.dtypes import Array, is_float
from generators.operators.indexing import index_constant, index_dims, static_extent
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.ranges import Range
from generators.relax.scope import EVERY, INDEX, NUMERIC, Drawn, Scope
from generators.relax.values import Dim, SymbolicDim, Value
from generators.source import favour
from generators.unavailable import Unavailable

_WRITE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def _scattered(data: Range, updates: Range, reduction: str, count: int) -> Range:
    """The range of data of which every element took from 0 to `count` updates."""
    if reduction == "add":
        low, high = min(updates.low * count, 0), max(updates.high * count, 0)
        return Range(data.low + low, data.high + high, data.integral and updates.integral)
    if reduction == "mul":
        top = data.magnitude * max(updates.magnitude, 1.0) ** count
        return Range(-top, top, data.integral and updates.integral)
    return data.hull(updates).real() if reduction == "mean" else data.hull(updates)


def _target(s: Scope) -> Value:
    """The tensor to write to; in 10 % of the cases it may be empty, whose lowering divides by its extents.

    Unavailable with two symbolic dims: TVM then simplifies the flat positions for half a minute.
    """
    x = s.tensor(EVERY, (1, 5), nonempty=s.source.flip(KNOBS.shared.nonempty))
    if sum(isinstance(d, SymbolicDim) for d in x.dims or ()) > 1:
        raise Unavailable("two symbolic dims take TVM too long to simplify")
    return x


def _random(s: Scope) -> np.random.Generator:
    return np.random.default_rng(s.source.array_seed())


def _draw_reduction(s: Scope, dtype: str) -> str:
    options = ["update", "update", "add", "add", "mul", "min", "max"]
    return "update" if dtype == "bool" else s.source.pick(options)


# --- scatter_elements -----------------------------------------------------------------------------------------


def _draw_scatter_elements(s: Scope) -> Drawn:
    x = _target(s)
    axis = s.axis(x)
    length = static_extent(x, axis)
    reduction = "mean" if is_float(x.dtype) and s.source.flip(KNOBS.indexing.mean) else _draw_reduction(s, x.dtype)
    dims = list(x.dims or ())
    if s.source.flip(
        KNOBS.indexing.smaller_updates
    ):  # smaller off the axis, as in ONNX; rare: the lowering takes equal extents for granted
        dims = [s.source.integer(1, d) if isinstance(d, int) and d > 1 else d for d in dims]
    dims[axis] = count = 1 if s.source.flip(KNOBS.indexing.one_update) else s.source.integer(1, length)
    if count > 1 and reduction in ("update", "mean"):
        indices = _distinct_along(s, dims, axis % x.ndim, length)
    else:
        indices = s.indices(dims, length, -length if s.source.flip(KNOBS.indexing.negative_index) else 0)
    updates = s.tensor((x.dtype,), dims=dims)
    call = op.scatter_elements(x.expr, indices.expr, updates.expr, axis, reduction)
    return Drawn(call, _scattered(x.range, updates.range, reduction, count))


def _distinct_along(s: Scope, dims: list[Dim], axis: int, length: int) -> Value:
    """Constant indices below `length` that differ along `axis`, some of them counted from the end."""
    shape = [d for d in dims if isinstance(d, int)]
    if len(shape) < len(dims):
        raise Unavailable("constants need numbers as dims")
    random = _random(s)
    lines = random.random([length if i == axis else n for i, n in enumerate(shape)]).argsort(axis)
    array = lines[tuple(slice(n) for n in shape)]
    if s.source.flip(KNOBS.indexing.negative_index):
        array = array - length * random.integers(0, 2, array.shape)
    return index_constant(s, array, s.source.pick(INDEX))


def _scatter_elements(data: Array, indices: Array, updates: Array, axis: int, reduction: str) -> Array:
    where = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    where[axis] = indices
    return _written(data, tuple(where), updates, reduction)


def _written(data: Array, where: tuple[Any, ...], updates: Array, reduction: str) -> Array:
    """A copy of `data` with `updates` written at `where`, one after another for the repeated positions."""
    result = data.copy()
    if reduction in _WRITE:
        _WRITE[reduction].at(result, where, updates)
    else:
        result[where] = updates if reduction == "update" else (result[where] + updates) / 2
    return result


# --- scatter_nd, index_put --------------------------------------------------------------------------------------


def _draw_scatter_nd(s: Scope) -> Drawn:
    x = _target(s)
    assert x.dims is not None
    depth = s.source.integer(1, x.ndim)
    box = [static_extent(x, a) for a in range(depth)]
    outer = index_dims(s)
    count = math.prod(outer)
    reduction = _draw_reduction(s, x.dtype)
    if count > 1 and reduction == "update":
        indices = index_constant(s, np.stack(_distinct_in(s, box, count), -1).reshape(*outer, depth))
    else:
        indices = s.indices((*outer, depth), min(box))
    updates = s.tensor((x.dtype,), dims=(*outer, *x.dims[depth:]))
    call = op.scatter_nd(x.expr, indices.expr, updates.expr, reduction)
    return Drawn(call, _scattered(x.range, updates.range, reduction, count))


def _distinct_in(s: Scope, box: list[int], count: int) -> tuple[Array, ...]:
    """`count` different positions in a box, one array per axis. Unavailable when it has fewer."""
    if count > math.prod(box):
        raise Unavailable("more writes than positions")
    return np.unravel_index(_random(s).permutation(math.prod(box))[:count], box)


def _scatter_nd(data: Array, indices: Array, updates: Array, reduction: str) -> Array:
    return _written(data, tuple(np.moveaxis(indices, -1, 0)), updates, reduction)


def _draw_index_put(s: Scope) -> Drawn:
    """One index tensor per axis, broadcast against each other; one value per position."""
    x = s.tensor(NUMERIC, (1, 5), static=True, nonempty=True)
    assert x.shape is not None
    accumulate = s.source.flip()
    common = index_dims(s, (2, 2) if s.source.flip(KNOBS.indexing.index_of_rank_two) else (1, 1))
    count = math.prod(common)
    if accumulate or count == 1:
        low = s.source.flip(KNOBS.indexing.negative_index)
        indices = []
        for axis, n in enumerate(x.shape):
            dims = [1 if axis and s.source.flip(KNOBS.indexing.index_dim_of_one) else d for d in common]
            indices.append(s.indices(dims, n, -n if low else 0, INDEX))
    else:
        distinct = _distinct_in(s, list(x.shape), count)
        indices = [index_constant(s, a.reshape(common)) for a in distinct]
    values = s.tensor((x.dtype,), dims=common)
    where = indices[0].expr if x.ndim == 1 and s.source.flip() else [i.expr for i in indices]
    result = _scattered(x.range, values.range, "add" if accumulate else "update", count)
    return Drawn(op.index_put(x.expr, where, values.expr, accumulate), result)


def _index_put(data: Array, indices: Array | tuple[Array, ...], values: Array, accumulate: bool) -> Array:
    where = indices if isinstance(indices, tuple) else (indices,)
    return _written(data, where, values, "add" if accumulate else "update")


# --- slice_scatter ----------------------------------------------------------------------------------------------


def _draw_slice_scatter(s: Scope) -> Drawn:
    x = s.tensor(EVERY, (1, 5))
    axis = s.axis(x)
    length = static_extent(x, axis)
    start = s.source.integer(0, length - 1)
    end = s.source.integer(start + 1, length)
    step = favour(s.source, 1, 2, 3)
    if s.source.flip(KNOBS.indexing.whole_slice):
        start, end, step = 0, length, 1
    dims = list(x.dims or ())
    dims[axis] = -(-(end - start) // step)
    source = s.tensor((x.dtype,), dims=dims)
    call = op.slice_scatter(x.expr, source.expr, start, end, step, axis)
    return Drawn(call, x.range.hull(source.range))


def _slice_scatter(data: Array, source: Array, start: int, end: int, step: int, axis: int) -> Array:
    result = data.copy()
    np.moveaxis(result, axis, 0)[start:end:step] = np.moveaxis(source, axis, 0)
    return result


OPERATORS = (
    # SMOOTH, as min, max and mean are no sums or products.
    Operator("relax.scatter_elements", _draw_scatter_elements, _scatter_elements, Rounding.SMOOTH,
             ("axis", "reduction"), ulps=1, weight=3),
    Operator("relax.scatter_nd", _draw_scatter_nd, _scatter_nd, Rounding.SMOOTH, ("reduction",), ulps=1, weight=3),
    Operator("relax.index_put", _draw_index_put, _index_put, Rounding.RING, ("accumulate",), weight=3),
    Operator("relax.slice_scatter", _draw_slice_scatter, _slice_scatter, Rounding.MOVE, ("axis",), weight=3),
)  # fmt: skip
