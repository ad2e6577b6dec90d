"""Operators that look at the order of elements: argmax, bucketize, sort, topk, scans, unique, nonzero, sampling.

Meaning: of equal elements the first is found (topi's `select_last_index=False`), and sorting is stable in both
directions (`std::stable_sort` in TVM's sort library). Cumulative operators follow `relax.op.statistical`: over the
flattened tensor without an axis, exclusive ones start with the identity.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm.relax import op

from generators import tvm_api
from generators.dtypes import Array, Scalar, is_float
from generators.operators.domain import DISTRIBUTION, INCREASING, UNIT
from generators.operators.knobs import KNOBS
from generators.operators.reduction import SORTABLE, reduced_count
from generators.operators.row import NumpyMeaning, Operator, Rounding
from generators.ranges import Range
from generators.relax.scope import INDEX, NUMERIC, Drawn, Scope

RANKABLE = (*SORTABLE, "int8", "uint8")
"""The dtypes that its topk takes."""
_COUNT = Range(1, 2**20, True)


def _positions(count: int) -> Range:
    return Range(0, max(count - 1, 0), True)


# --- argmax, argmin --------------------------------------------------------------------------------------


def _extremum(name: str, meaning: NumpyMeaning) -> Operator:
    build = getattr(op, name)

    def draw(s: Scope) -> Drawn:
        # topi refuses rank 0 ("Cannot reduce a 0 dim Tensor"), which the type rule allows: drawn in 5 % of the cases.
        x = s.tensor(NUMERIC, (0 if s.source.flip(KNOBS.search.rank_0) else 1, 5), nonempty=True)
        axis = None if x.ndim == 0 or s.source.flip(KNOBS.shared.axis_absent) else s.axis(x)
        return Drawn(build(x.expr, axis, s.source.flip(KNOBS.shared.keepdims)), _positions(reduced_count(x, axis)))

    def find(x: Array, axis: int | None, keepdims: bool) -> Array:
        return np.asarray(meaning(x, axis=axis, keepdims=keepdims), np.int64)

    return Operator(f"relax.{name}", draw, find, Rounding.ORDER, ("axis", "keepdims"))


# --- bucketize -------------------------------------------------------------------------------------------


def _draw_bucketize(s: Scope) -> Drawn:
    x = s.tensor(("float32", "int32", "int64", "float64", "float16", "int8"))
    count = s.draw_extent()
    # Boundaries must strictly increase, so they are a constant of distinct whole numbers around zero.
    steps = np.random.default_rng(s.source.array_seed()).integers(1, 3, count)
    boundaries = tvm_api.constant(np.cumsum(steps) - count, x.dtype)
    call = op.bucketize(x.expr, boundaries, s.source.flip(), s.source.flip())
    return Drawn(call, Range(0, count, True))


def _bucketize(x: Array, boundaries: Array, out_int32: bool, right: bool) -> Array:
    bucket = np.searchsorted(boundaries, x, side="right" if right else "left")
    return np.asarray(bucket, np.int32 if out_int32 else np.int64)


# --- sort, argsort, topk ---------------------------------------------------------------------------------


def stable_order(x: Array, axis: int, descending: bool) -> Array | Scalar:
    """Indices that sort `x` along `axis`, equal elements in their original order."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def _draw_sort(s: Scope) -> Drawn:
    x = s.tensor(SORTABLE, (1, 5))
    return Drawn(op.sort(x.expr, s.axis(x), s.source.flip()), x.range)


def _sort(x: Array, axis: int, descending: bool) -> Array:
    return np.take_along_axis(x, stable_order(x, axis, descending), axis)


def _draw_argsort(s: Scope) -> Drawn:
    x = s.tensor(SORTABLE, (1, 5))
    axis = s.axis(x)
    call = op.argsort(x.expr, axis, s.source.flip(), s.source.pick(("int32", "int64")))
    return Drawn(call, _positions(reduced_count(x, axis)))


def _argsort(x: Array, axis: int, descending: bool, dtype: str) -> Array:
    return stable_order(x, axis, descending).astype(dtype)


def _draw_topk(s: Scope) -> Drawn:
    x = s.tensor(RANKABLE, (1, 5), static=True)
    axis = s.axis(x)
    extent = reduced_count(x, axis)
    k = (
        s.source.integer(1, extent)
        if extent and s.source.flip(KNOBS.search.valid_k)
        else s.source.pick((0, extent, -1, extent + 1))
    )
    kind = s.source.pick(("both", "values", "indices"))
    call = op.topk(x.expr, k, axis, kind, s.source.flip(), s.source.pick(("int32", "int64")))
    index = _positions(extent)
    if kind == "both":
        return Drawn(call, (x.range, index))
    return Drawn(call, x.range if kind == "values" else index)


def _topk(x: Array, k: int, axis: int, ret_type: str, largest: bool, dtype: str) -> Array | tuple[Array, Array]:
    order = stable_order(x, axis, largest)
    if k >= 1:
        order = np.take(order, np.arange(min(k, x.shape[axis])), axis)
    values, indices = np.take_along_axis(x, order, axis), order.astype(dtype)
    if ret_type == "both":
        return values, indices
    return values if ret_type == "values" else indices


# --- scans -----------------------------------------------------------------------------------------------


def _scan(name: str, scan: Callable[..., Array], identity: int, result: Callable[[Range, int], Range]) -> Operator:
    build = getattr(op, name)
    wider = {"int8": "int32", "uint8": "int32", "int16": "int64", "int32": "int64", "float16": "float32"}

    def draw(s: Scope) -> Drawn:
        x = s.tensor((*NUMERIC, "bool"), nonempty=True)
        axis = None if x.ndim == 0 or s.source.flip(KNOBS.shared.axis_absent) else s.axis(x)
        dtype = "int32" if x.dtype == "bool" else None
        if dtype is None and s.source.flip(KNOBS.search.accumulator_named):
            dtype = wider.get(x.dtype, "float32") if s.source.flip(KNOBS.search.accumulator_wider) else x.dtype
        call = build(x.expr, axis, dtype, s.source.flip(KNOBS.search.exclusive))
        return Drawn(call, result(x.range, reduced_count(x, axis)))

    def accumulate(x: Array, axis: int | None, dtype: str | None, exclusive: bool) -> Array:
        floats = x.dtype.kind == "f" if dtype is None else is_float(dtype)
        carrier = np.float64 if floats else (x.dtype if dtype is None else np.dtype(dtype))
        flat = x.reshape(-1) if axis is None else x
        along = 0 if axis is None else axis
        total = scan(flat.astype(carrier), axis=along, dtype=carrier)
        if not exclusive:
            return total
        first = np.full_like(np.take(total, [0], along), identity)
        return np.concatenate([first, np.take(total, np.arange(flat.shape[along] - 1), along)], along)

    return Operator(f"relax.{name}", draw, accumulate, Rounding.RING, ("axis", "dtype", "exclusive"))


def _partial_sums(values: Range, count: int) -> Range:
    return values.summed(count).hull(values).including(0)


# --- data-dependent shapes -------------------------------------------------------------------------------


def _draw_unique(s: Scope) -> Drawn:
    x = s.tensor(("float32", "int32", "int64", "int8", "uint8", "float64"), (0, 5), nonempty=True)
    ordered, first, inverse, counts = (s.source.flip(share) for share in KNOBS.search.unique_returns)
    axis = s.source.integer(0, x.ndim - 1) if x.ndim and s.source.flip(KNOBS.search.unique_axis) else None
    index = _positions(x.size)
    ranges = (x.range, *([index] if first else []), *([index] if inverse else []), *([_COUNT] if counts else []))
    call = op.unique(x.expr, ordered, first, inverse, counts, axis)
    return Drawn(call, ranges[0] if len(ranges) == 1 else ranges)


def _unique(
    x: Array, ordered: bool, first: bool, inverse: bool, counts: bool, axis: int | None = None
) -> Array | tuple[Array, ...]:
    values, index, back, count = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=None if x.ndim == 0 else axis
    )
    back = back.reshape(-1)
    if not ordered:  # in the order of first occurrence
        order = np.argsort(index)
        rank = np.argsort(order)
        values, index, back, count = np.take(values, order, axis or 0), index[order], rank[back], count[order]
    wanted = [values, *(o.astype(np.int64) for o, on in ((index, first), (back, inverse), (count, counts)) if on)]
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def _draw_nonzero(s: Scope) -> Drawn:
    x = s.tensor(("float32", "int32", "int64", "int8", "uint8", "bool"), (1, 5))
    return Drawn(op.nonzero(x.expr), _positions(max(x.shape or (1,))))


def _nonzero(x: Array) -> Array:
    return np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64)


# --- sampling --------------------------------------------------------------------------------------------


def _draw_multinomial(s: Scope) -> Drawn:
    batch, choices, samples = (s.draw_extent(1) for _ in range(3))
    random = np.random.default_rng(s.source.array_seed())
    weights, sample = DISTRIBUTION.draw(random, (batch, choices)), UNIT.draw(random, (samples, 1))
    dtype = "float32" if s.source.flip(KNOBS.search.sample_float32) else "float64"
    rows = s.indices((samples, 1), batch)
    call = op.multinomial_from_uniform(
        tvm_api.constant(weights, dtype),
        tvm_api.constant(sample, dtype),
        rows.expr,
        s.source.pick(INDEX),
    )
    return Drawn(call, _positions(choices))


def _multinomial(weights: Array, sample: Array, rows: Array, dtype: str) -> Array | Scalar:
    edges = np.cumsum(weights, axis=1)[rows[:, 0]]
    edges[:, -1] = np.inf  # a sample of 1, or a sum that rounding leaves below 1: the last one (topi, get_sample_index)
    return np.argmax(sample < edges, axis=1).reshape(-1, 1).astype(dtype)


OPERATORS = (
    _extremum("argmax", np.argmax),
    _extremum("argmin", np.argmin),
    Operator("relax.bucketize", _draw_bucketize, _bucketize, Rounding.STEP, ("out_int32", "right"), weight=2,
             domains=((1, INCREASING),)),
    Operator("relax.sort", _draw_sort, _sort, Rounding.ORDER, ("axis", "descending")),
    Operator("relax.argsort", _draw_argsort, _argsort, Rounding.ORDER, ("axis", "descending", "dtype")),
    Operator("relax.topk", _draw_topk, _topk, Rounding.ORDER, ("k", "axis", "ret_type", "largest", "dtype"),
             dtype_of=lambda operands, attributes: operands[0] or "float32"),
    _scan("cumsum", np.cumsum, 0, _partial_sums),
    _scan("cumprod", np.cumprod, 1, Range.powered),
    Operator("relax.unique", _draw_unique, _unique, Rounding.ORDER, weight=2, sized_by_values=True),
    Operator("relax.nonzero", _draw_nonzero, _nonzero, Rounding.STEP, weight=2, sized_by_values=True),
    Operator("relax.multinomial_from_uniform", _draw_multinomial, _multinomial, Rounding.ORDER, ("dtype",), weight=2,
             domains=((0, DISTRIBUTION), (1, UNIT))),
)  # fmt: skip
