"""Operators that change a tensor's shape or the order of its axes: reshape, permute, squeeze, broadcast, layouts.

Joining and splitting tensors is in `joining.py`; picking elements in `indexing.py` and `slicing.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from tvm import tirx
from tvm.relax import op

from generators.dtypes import Array, Scalar
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding, moving
from generators.prim_expr import evaluate
from generators.relax.scope import EVERY, NUMERIC, Drawn, Scope
from generators.relax.values import Dim, ShapeValue, SymbolicDim, Value, dim_expr, extent
from generators.source import favour
from generators.tvm_api import Expr, Node
from generators.unavailable import Unavailable


def some_dim(s: Scope) -> Dim:
    """A dim for a new axis: a number, or in 20 % of the cases a dim that a value in scope has."""
    known = (
        [v for v in s.values if isinstance(v, Value) and v.dims] if s.source.flip(KNOBS.reshaping.dim_in_scope) else []
    )
    if not known:
        return s.draw_extent()
    return s.source.pick(s.source.pick(known).dims or (1,))


def _shape_value(s: Scope, fits: Callable[[tuple[Dim, ...]], bool]) -> ShapeValue | None:
    """A shape value in scope that `fits`; rarely, since lowering follows only those bound to a written shape."""
    if not s.source.flip(KNOBS.reshaping.shape_value_bound):
        return None
    near = [v for v in s.values if isinstance(v, ShapeValue) and v.dims is not None and fits(v.dims)]
    return s.source.pick(near) if near else None


# --- reshape ----------------------------------------------------------------------------------------------


def _draw_reshape(s: Scope) -> Drawn:
    x = s.tensor(EVERY)
    assert x.dims is not None
    own = x.dims
    shape = _shape_value(s, lambda dims: _same_size(own, dims))
    if shape is not None:
        return Drawn(op.reshape(x.expr, shape.expr), x.range, shape.shape)
    target = _factors(s, x.size) if x.static else _regrouped(s, own)
    if x.size == 0:  # a written 0 would mean "copy this dim", so the rest is inferred
        target = [s.source.integer(1, 3) for _ in range(s.source.integer(0, 2))]
        target.insert(s.source.integer(0, len(target)), -1)
    elif target and s.source.flip(KNOBS.reshaping.inferred_dim):
        target[s.source.integer(0, len(target) - 1)] = -1
    elif s.source.flip(KNOBS.reshaping.copied_dim):
        target = [0 if i < len(own) and own[i] == d and s.source.flip() else d for i, d in enumerate(target)]
    return Drawn(op.reshape(x.expr, [dim_expr(d) for d in target]), x.range)


def _same_size(a: Sequence[Dim], b: Sequence[Dim]) -> bool:
    """Whether two shapes have as many elements whatever the symbols' values are; False when in doubt."""
    symbols_a = sorted(d.text for d in a if isinstance(d, SymbolicDim))
    symbols_b = sorted(d.text for d in b if isinstance(d, SymbolicDim))
    return symbols_a == symbols_b and math.prod(map(extent, a)) == math.prod(map(extent, b))


def _factors(s: Scope, size: int) -> list[Dim]:
    """Numbers with the product `size`, 1 possibly among them; also the empty list for 1."""
    if size == 1 and s.source.flip(KNOBS.reshaping.empty_shape):
        return []
    dims: list[Dim] = []
    for _ in range(s.source.integer(0, 3)):
        divisor = s.source.pick([d for d in (1, 2, 3, 4, 5, 6, 7, 8) if size % d == 0])
        dims.append(divisor)
        size //= divisor
    dims.insert(s.source.integer(0, len(dims)), size)
    return dims


def _regrouped(s: Scope, dims: Sequence[Dim]) -> list[Dim]:
    """Dims with the same product: reordered, two neighbours multiplied, ones put between."""
    order = [dims[a] for a in s.permutation(len(dims))]
    if len(order) > 1 and s.source.flip():
        at = s.source.integer(0, len(order) - 2)
        a, b = order[at], order[at + 1]
        product = dim_expr(a) * dim_expr(b)
        if not isinstance(product, int):
            product = SymbolicDim(product, extent(a) * extent(b), str(product))
        order[at : at + 2] = [product]
    if s.source.flip(KNOBS.reshaping.one_inserted):
        order.insert(s.source.integer(0, len(order)), 1)
    return order


def _draw_flatten(s: Scope) -> Drawn:
    x = s.any_tensor()
    return Drawn(op.flatten(x.expr), x.range, None if x.shape is None else (x.size,))


def _draw_batch_flatten(s: Scope) -> Drawn:
    x = s.tensor(EVERY, (2, 5))
    return Drawn(op.nn.batch_flatten(x.expr), x.range)


def _batch_flatten(x: Array) -> Array:
    return x.reshape(x.shape[0], math.prod(x.shape[1:]))


# --- axes ---------------------------------------------------------------------------------------------------


def _draw_permute_dims(s: Scope) -> Drawn:
    x = s.any_tensor()
    if not x.known or s.source.flip(KNOBS.reshaping.axes_absent):
        return Drawn(op.permute_dims(x.expr), x.range, None if x.shape is None else x.shape[::-1])
    return Drawn(op.permute_dims(x.expr, s.permutation(x.ndim)), x.range)


def _draw_expand_dims(s: Scope) -> Drawn:
    x = s.tensor(EVERY)
    if s.source.flip(KNOBS.reshaping.one_new_axis):
        rank = x.ndim + 1
        return Drawn(op.expand_dims(x.expr, s.source.integer(-rank, rank - 1)), x.range)
    count = s.source.integer(0, 2)
    rank = x.ndim + count
    axes = [a % rank for a in s.permutation(rank)][:count]
    return Drawn(
        op.expand_dims(x.expr, [a - rank if s.source.flip(KNOBS.shared.negative_axis) else a for a in axes]), x.range
    )


def _draw_squeeze(s: Scope) -> Drawn:
    """Axes of extent 1, named or not; a named axis of another extent stays (as in PyTorch)."""
    x = s.tensor(EVERY)
    assert x.dims is not None
    if 1 not in x.dims and s.source.flip(KNOBS.reshaping.ones_added):
        dims = list(x.dims)
        for _ in range(s.source.integer(1, 2)):
            dims.insert(s.source.integer(0, len(dims)), 1)
        x = s.tensor(EVERY, dims=dims)
    assert x.dims is not None
    if x.static and s.source.flip(
        KNOBS.reshaping.squeeze_all
    ):  # without axes a symbolic extent leaves even the rank unknown
        return Drawn(op.squeeze(x.expr), x.range)
    named = [
        i
        for i, d in enumerate(x.dims)
        if (d == 1 and s.source.flip(KNOBS.reshaping.squeezed))
        or (d != 1 and s.source.flip(KNOBS.reshaping.squeezed_longer))
    ]
    axes = [i - x.ndim if s.source.flip(KNOBS.shared.negative_axes) else i for i in named if isinstance(x.dims[i], int)]
    return Drawn(op.squeeze(x.expr, axes[0] if len(axes) == 1 and s.source.flip() else axes), x.range)


def _squeeze(x: Array, axis: tuple[int, ...] | None) -> Array:
    named = range(x.ndim) if axis is None else axis
    return np.squeeze(x, tuple(a for a in named if x.shape[a] == 1))


# --- broadcasting and its adjoint --------------------------------------------------------------------------------


def _longer(s: Scope) -> Dim:
    """A dim that one of 1 becomes: another one, but for some cases in which it stays."""
    dim = some_dim(s)
    return s.draw_extent(2) if dim == 1 and not s.source.flip(KNOBS.shared.rare) else dim


def _draw_broadcast_to(s: Scope) -> Drawn:
    led = bool(s.leading)
    x = s.tensor(EVERY)
    assert x.dims is not None
    if x.dims and 1 not in x.dims and not led and s.source.flip(KNOBS.reshaping.ones_broadcast):
        place = s.source.integer(0, len(x.dims) - 1)
        x = s.tensor((x.dtype,), dims=[*x.dims[:place], 1, *x.dims[place + 1 :]])
    assert x.dims is not None
    own = x.dims
    shape = _shape_value(s, lambda dims: _broadcasts(own, dims))
    if shape is not None:
        return Drawn(op.broadcast_to(x.expr, shape.expr), x.range, shape.shape)
    dims = [_longer(s) if d == 1 and s.source.flip(KNOBS.reshaping.one_broadcast) else d for d in own]
    dims[:0] = [some_dim(s) for _ in range(favour(s.source, 0, 1, 2))]
    return Drawn(op.broadcast_to(x.expr, s.shape_expr(dims)), x.range)


def _broadcasts(dims: Sequence[Dim], target: Sequence[Dim]) -> bool:
    tail = target[len(target) - len(dims) :]
    return len(dims) <= len(target) and all(d in (1, t) for d, t in zip(dims, tail, strict=True))


def _collapsed(s: Scope, x: Value) -> list[Dim]:
    assert x.dims is not None
    dims: list[Dim] = [1 if s.source.flip(KNOBS.reshaping.collapsed_dim) else d for d in x.dims]
    return dims[s.source.integer(0, len(dims)) :] if s.source.flip(KNOBS.reshaping.fewer_dims) else dims


def _summand(s: Scope) -> Value:
    """Sums over no elements are rare: their lowering leaves the result unwritten."""
    return s.tensor(NUMERIC, nonempty=s.source.flip(KNOBS.shared.nonempty))


def _draw_collapse_sum_to(s: Scope) -> Drawn:
    x = _summand(s)
    target = _collapsed(s, x)
    call = op.collapse_sum_to(x.expr, s.shape_expr(target))
    return Drawn(call, x.range.summed(_share(x, target)))


def _draw_collapse_sum_like(s: Scope) -> Drawn:
    x = _summand(s)
    target = _collapsed(s, x)
    like = s.tensor((x.dtype,) if s.source.flip(KNOBS.reshaping.collapsed_same_dtype) else NUMERIC, dims=target)
    return Drawn(op.collapse_sum_like(x.expr, like.expr), x.range.summed(_share(x, target)))


def _share(x: Value, target: Sequence[Dim]) -> int:
    """How many elements of `x` one element of the collapsed result sums."""
    return x.size // max(math.prod(map(extent, target)), 1)


def _collapse_sum_to(x: Array, shape: tuple[int, ...]) -> Array | Scalar:
    lead = x.ndim - len(shape)
    wide = tuple(i for i in range(x.ndim) if i < lead or (shape[i - lead] == 1 and x.shape[i] != 1))
    return x.sum(axis=wide, dtype=x.dtype).reshape(shape)


# --- layouts ------------------------------------------------------------------------------------------------------


def _draw_pixel_shuffle(s: Scope) -> Drawn:
    factor = s.source.pick((2, 1, 3))
    head = s.draw_dims((0, 2), static=True)
    channels = factor * factor * s.source.integer(1, 2)
    x = s.tensor(EVERY, dims=(*head, channels, s.source.integer(1, 3), s.source.integer(1, 3)))
    return Drawn(op.nn.pixel_shuffle(x.expr, factor), x.range)


def _pixel_shuffle(x: Array, upscale_factor: int) -> Array:
    *head, channels, height, width = x.shape
    r, n = upscale_factor, len(head)
    split = x.reshape(*head, channels // (r * r), r, r, height, width)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return split.transpose(order).reshape(*head, channels // (r * r), height * r, width * r)


def _draw_layout_transform(s: Scope) -> Drawn:
    """Axes reordered, then maybe one split by a factor and maybe two neighbours fused.

    Padding appears where the factor does not divide; then a pad value is given, as without one "any value can be used".
    """
    # Bool is rare: its lowering pads with a float even where nothing is padded.
    x = s.tensor(EVERY if s.source.flip(KNOBS.shared.unlowerable) else NUMERIC, (1, 5), static=True, nonempty=True)
    assert x.shape is not None
    names = [tirx.Var(f"i{a}", "int64") for a in range(x.ndim)]
    order = [a % x.ndim for a in s.permutation(x.ndim)]
    final: list[Expr] = [names[a] for a in order]
    extents = [x.shape[a] for a in order]
    pads = False
    if s.source.flip(KNOBS.reshaping.split_layout):
        at, factor = s.source.integer(0, x.ndim - 1), s.source.integer(2, 4)
        # A map whose inner extent is not reached would depend on how its range is simplified.
        if extents[at] >= factor:
            pads = extents[at] % factor != 0
            final[at : at + 1] = [final[at] // factor, final[at] % factor]
            extents[at : at + 1] = [-(-extents[at] // factor), factor]
    if not pads and len(final) > 1 and s.source.flip(KNOBS.reshaping.fused_layout):
        at = s.source.integer(0, len(final) - 2)
        final[at : at + 2] = [final[at] * extents[at + 1] + final[at + 1]]
    if pads and x.dtype == "bool":
        raise Unavailable("a bool pad value cannot be written")
    pad = s.source.integer(0, 3) if pads or (x.dtype != "bool" and s.source.flip(KNOBS.reshaping.pad_value)) else None
    call = op.layout_transform(x.expr, tirx.IndexMap(names, final, None), pad)
    return Drawn(call, x.range if pad is None else x.range.including(pad))


def _layout_transform(x: Array, index_map: Node, pad_value: float | None) -> Array:
    """`index_map` is the attribute itself (tirx.IndexMap), evaluated for all elements at once. Where there are none, it
    alone says the shape: ConvertLayout puts this on parts of a split, which may be empty."""
    where = dict(zip(index_map.initial_indices, np.indices(x.shape), strict=True))
    target = tuple(np.broadcast_to(evaluate(e, where), x.shape) for e in index_map.final_indices)
    reached = [int(t.max()) + 1 for t in target] if x.size else [int(n) for n in index_map.map_shape(list(x.shape))]
    result = np.full(reached, 0 if pad_value is None else pad_value, x.dtype)
    result[target] = x
    return result


OPERATORS = (
    moving("reshape", _draw_reshape, lambda x, shape: x.reshape(shape), weight=8),
    moving("flatten", _draw_flatten, lambda x: x.reshape(-1), weight=3),
    moving("nn.batch_flatten", _draw_batch_flatten, _batch_flatten, weight=2),
    moving("permute_dims", _draw_permute_dims, lambda x, axes: np.transpose(x, axes), ("axes",), 10),
    moving("expand_dims", _draw_expand_dims, lambda x, axis: np.expand_dims(x, axis), ("axis",), 5),
    moving("squeeze", _draw_squeeze, _squeeze, ("axis",), 5),
    moving("broadcast_to", _draw_broadcast_to, np.broadcast_to, weight=5),
    moving("nn.pixel_shuffle", _draw_pixel_shuffle, _pixel_shuffle, ("upscale_factor",), 2),
    moving("layout_transform", _draw_layout_transform, _layout_transform, ("index_map", "pad_value"), 2),
    Operator("relax.collapse_sum_to", _draw_collapse_sum_to, _collapse_sum_to, Rounding.RING, weight=2),
    Operator("relax.collapse_sum_like", _draw_collapse_sum_like, lambda x, like: _collapse_sum_to(x, like.shape),
             Rounding.RING, weight=2),
)  # fmt: skip
