"""Operators that read elements at positions held by index tensors: take, gather_elements, gather_nd, index_tensor.

Positions out of range have a meaning only in take's modes; elsewhere indices are drawn in range and not negative,
since neither the documentation of gather_* nor their lowering gives negative ones a meaning.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm import tirx
from tvm.relax import op

from generators import tvm_api
from generators.dtypes import Array, is_float
from generators.operators.knobs import KNOBS
from generators.operators.row import moving
from generators.ranges import of_values
from generators.relax.scope import EVERY, INDEX, Drawn, Scope
from generators.relax.values import Value
from generators.source import favour
from generators.tvm_api import Expr
from generators.unavailable import Unavailable

SMALL = (*INDEX, "int8", "int16", "uint8")


def static_extent(value: Value, axis: int) -> int:
    """The extent of an axis, as a positive number. Unavailable where it is symbolic or zero."""
    assert value.dims is not None
    length = value.dims[axis]
    if not isinstance(length, int) or length == 0:
        raise Unavailable("no axis to index into")
    return length


def index_constant(s: Scope, array: Array | Sequence[int], dtype: str = "int64") -> Value:
    """A constant with these contents, for indices that a range cannot describe."""
    array = np.asarray(array)
    values = of_values(int(array.min()), int(array.max())) if array.size else of_values(0)
    value = Value(tvm_api.constant(array.astype(dtype), dtype), array.shape, array.shape, dtype, values)
    s.values.append(value)
    return value


def index_dims(s: Scope, ranks: tuple[int, int] = (0, 2)) -> tuple[int, ...]:
    """Static dims of an index tensor."""
    rank = s.source.integer(*ranks)
    return tuple(s.draw_extent() if s.source.flip() else s.source.integer(1, 3) for _ in range(rank))


# --- take ---------------------------------------------------------------------------------------------------


def _draw_take(s: Scope) -> Drawn:
    """Modes "fast" and "nan" get indices in range; "wrap" and "clip" any; a scalar index may be a number."""
    flat = s.source.flip(KNOBS.indexing.flattened)
    x = s.tensor(EVERY, (1, 1) if flat else (1, 5))
    axis = None if flat and s.source.flip() else s.axis(x)
    length = static_extent(x, axis or 0)
    named = is_float(x.dtype) and (
        axis is not None or s.source.flip(KNOBS.shared.unlowerable)
    )  # rare: it does not lower without an axis
    mode = favour(s.source, "fast", "wrap", "clip", "nan" if named else "fast")
    low, high = (-2 * length, 2 * length) if mode in ("wrap", "clip") else (0, length - 1)
    index: Expr
    if s.source.flip(KNOBS.indexing.number_index):
        index = tirx.IntImm("int64", s.source.integer(low, high))
    else:
        dtypes = SMALL if s.source.flip(KNOBS.indexing.small_index_dtype) else INDEX
        index = s.tensor(dtypes, dims=index_dims(s, (0, min(3, 7 - x.ndim))), low=low, high=high).expr
    return Drawn(op.take(x.expr, index, axis, mode), x.range)


def _take(x: Array, indices: Array, axis: int | None, mode: str) -> Array:
    axis = 0 if axis is None else axis % x.ndim
    length = x.shape[axis]
    where = np.asarray(indices).astype(np.int64)
    inside = where % length if mode == "wrap" else np.clip(where, 0, length - 1)
    if mode == "fast" and (inside != where).any():
        raise IndexError("an index out of range in mode fast")  # topi.take: the user must make sure
    result = np.asarray(np.take(x, inside, axis))
    if mode == "nan":
        result[(slice(None),) * axis + (inside != where,)] = np.nan
    return result


# --- gathers -------------------------------------------------------------------------------------------------


def _draw_gather_elements(s: Scope) -> Drawn:
    """Indices of the data's rank; off the axis their extents may be smaller, as in ONNX and PyTorch."""
    x = s.tensor(EVERY, (1, 5))
    axis = s.axis(x)
    length = static_extent(x, axis)
    dims = list(x.dims or ())
    for i, d in enumerate(dims):
        if isinstance(d, int) and d > 1 and s.source.flip(KNOBS.indexing.fewer_elements):
            dims[i] = s.source.integer(1, d)
    dims[axis] = s.source.integer(1, 4) if s.source.flip(KNOBS.indexing.own_index_count) else length
    indices = s.indices(dims, length)
    return Drawn(op.gather_elements(x.expr, indices.expr, axis), x.range)


def _gather_elements(x: Array, indices: Array, axis: int) -> Array:
    where = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    where[axis] = indices
    return x[tuple(where)]


def _draw_gather_nd(s: Scope) -> Drawn:
    x = s.tensor(EVERY, (1, 5))
    batch = s.source.integer(0, min(x.ndim - 1, 2)) if s.source.flip(KNOBS.indexing.batched) else 0
    depth = s.source.integer(1, x.ndim - batch)
    bound = min(static_extent(x, a) for a in range(batch, batch + depth))
    dims = (*(x.dims or ())[:batch], *index_dims(s), depth)
    return Drawn(op.gather_nd(x.expr, s.indices(dims, bound, dtypes=("int64",)).expr, batch), x.range)


def _gather_nd(x: Array, indices: Array, batch_dims: int) -> Array:
    outer = indices.shape[:-1]
    batch = np.ogrid[tuple(slice(n) for n in outer)][:batch_dims] if batch_dims else ()
    return np.asarray(x[(*batch, *np.moveaxis(indices, -1, 0))])


def _draw_index_tensor(s: Scope) -> Drawn:
    x = s.tensor(EVERY, (1, 5))
    count = s.source.integer(1, x.ndim)
    common = index_dims(s)
    indices = []
    for axis in range(count):
        dims = [1 if s.source.flip(KNOBS.indexing.index_dim_of_one) else d for d in common]
        dims = (
            dims[s.source.integer(0, len(dims)) :] if axis and s.source.flip(KNOBS.indexing.fewer_index_dims) else dims
        )
        indices.append(s.indices(dims, static_extent(x, axis)).expr)
    return Drawn(op.index_tensor(x.expr, indices), x.range)


OPERATORS = (
    moving("take", _draw_take, _take, ("axis", "mode"), 8),
    moving("gather_elements", _draw_gather_elements, _gather_elements, ("axis",), 3),
    moving("gather_nd", _draw_gather_nd, _gather_nd, ("batch_dims",), 3),
    moving("index_tensor", _draw_index_tensor, lambda x, indices: np.asarray(x[tuple(indices)]), weight=3),
)
