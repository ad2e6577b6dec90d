"""Gradients that the pass Gradient writes as one operator: of two-dimensional pools, the likelihood loss and take.

Each gives the derivative of a scalar by the first operand of the operator it is named after, from that by its result.
python/tvm/relax/op/grad/grad.py gives them the parameters of that operator. src/relax/op/tensor/grad.cc keeps
attributes as they are written, so numbers per axis are written in full.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from tvm.relax.op import grad

from generators.dtypes import Array, Scalar
from generators.operators.indexing import index_dims, static_extent
from generators.operators.knobs import KNOBS
from generators.operators.losses import counted_classes, draw_loss_operands
from generators.operators.pooling import ATTRIBUTES, counted, draw_windows, out_extent, windows_of
from generators.operators.row import Operator, Rounding
from generators.operators.spatial import SPATIAL, draw_data, draw_data_layout, draw_out_layout, extents, moved
from generators.operators.specials import COMPUTED
from generators.relax.scope import FLOAT, INDEX, Drawn, Scope
from generators.unavailable import Unavailable

_AXES = SPATIAL[2]
_CANONICAL = "NC" + _AXES


def _of_shape(output_grad: Array, shape: tuple[int, ...]) -> Array:
    """The gradient by a result. ValueError where its shape is not that of the result: TVM's type rules take any."""
    if output_grad.shape != shape:
        raise ValueError(f"a gradient of shape {output_grad.shape} by a result of shape {shape}")
    return output_grad


# --- pools --------------------------------------------------------------------------------------------------------


def _draw_pool(build: Callable[..., object], s: Scope) -> Drawn:
    """The adjoint of a pool. What TVM lowers wrongly is rare: layouts that differ, dilation, padding that
    counts in ceil mode, and for a maximum no window at a multiple of the stride in the data."""
    source = s.source
    layout = draw_data_layout(source, 2)
    x = draw_data(s, FLOAT, layout)
    ceil = source.flip(KNOBS.windows.ceil_mode)
    sizes = extents(x, layout, _AXES)
    dilations = (1, 2) if source.flip(KNOBS.shared.unlowerable) else (1,)
    columns = draw_windows(source, sizes, ceil, dilations)
    of_maximum = build is grad.max_pool2d_backward
    if of_maximum and not source.flip(KNOBS.shared.rare):
        columns = [_to_the_end(n, *column, ceil) for n, column in zip(sizes, columns, strict=True)]
    windows = [out_extent(n, *column, ceil) for n, column in zip(sizes, columns, strict=True)]
    kernels, strides, dilation, heads, tails = zip(*columns, strict=True)
    given = draw_out_layout(source, 2, layout)
    assert x.dims is not None
    named = dict(zip(layout, x.dims, strict=True)) | dict(zip(_AXES, windows, strict=True))
    g = s.tensor((x.dtype,), dims=[named[axis] for axis in given or layout])
    with_padding = source.flip(KNOBS.shared.rare) if ceil else source.flip()
    call = build(
        g.expr, x.expr, kernels, strides, (*heads, *tails), dilation, ceil, with_padding, layout, given
    )  # fmt: skip
    most = int(np.prod(kernels))
    values = g.range.including(0).summed(most)
    return Drawn(call, values if of_maximum else values.real())


def _to_the_end(
    n: int, kernel: int, stride: int, dilation: int, head: int, tail: int, ceil: bool
) -> tuple[int, int, int, int, int]:
    """The same with a window at each multiple of the stride that lies in the data, where it is not dilated."""
    complete = (n - 1 + head) // stride < out_extent(n, kernel, stride, dilation, head, tail, ceil)
    return kernel, stride, dilation, head, tail if complete or dilation > 1 else kernel - 1


def _avg_pool(
    output_grad: Array, data: Array, *, pool_size: tuple[int, ...], strides: tuple[int, ...],
    padding: tuple[int, ...], dilation: tuple[int, ...], ceil_mode: bool, count_include_pad: bool, layout: str,
    out_layout: str,
) -> Array:  # fmt: skip
    """Each gradient is shared out in equal parts over what its window counts; what falls on padding is lost."""
    shape = moved(data, layout, _CANONICAL).shape
    sizes = shape[2:]
    last = (
        out_extent(n, pool_size[i], strides[i], dilation[i], padding[i], padding[2 + i], ceil_mode)
        for i, n in enumerate(sizes)
    )
    out = _of_shape(moved(output_grad, out_layout, _CANONICAL), (*shape[:2], *last))
    for i, n in enumerate(sizes):
        windows, head, tail = out.shape[2 + i], padding[i], padding[2 + i]
        taps = np.arange(windows)[:, None] * strides[i] - head + np.arange(pool_size[i]) * dilation[i]
        covers = (taps[:, :, None] == np.arange(n)).sum(axis=1)
        counts = counted(n, windows, pool_size[i], strides[i], dilation[i], head, tail, count_include_pad)
        shares = covers / np.reshape(counts, (-1, 1))
        out = np.moveaxis(np.moveaxis(out, 2 + i, -1) @ shares, -1, 2 + i)
    return moved(out, _CANONICAL, layout)


def _max_pool(
    output_grad: Array, data: Array, *, pool_size: tuple[int, ...], strides: tuple[int, ...],
    padding: tuple[int, ...], dilation: tuple[int, ...], ceil_mode: bool, count_include_pad: bool, layout: str,
    out_layout: str,
) -> Array:  # fmt: skip
    """Each gradient goes to the largest element of its window, to the first of equal ones in the order of rows (topi's
    argmax takes the least position). That of a window in padding alone is lost."""
    del count_include_pad
    x = moved(data, layout, _CANONICAL)
    windows = windows_of(x, -np.inf, pool_size, strides, padding, dilation, ceil_mode)
    out = _of_shape(moved(output_grad, out_layout, _CANONICAL), windows.shape[:4])
    first = windows.reshape(*windows.shape[:4], -1).argmax(axis=-1)
    image, channel, row, column = np.ogrid[tuple(slice(n) for n in first.shape)]
    down, right = np.divmod(first, pool_size[1])
    rows = row * strides[0] + down * dilation[0] - padding[0]
    columns = column * strides[1] + right * dilation[1] - padding[1]
    height, width = x.shape[2:]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    result = np.zeros(x.shape)
    places = (image, channel, np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1))
    np.add.at(result, places, np.where(inside, out, 0.0))
    return moved(result, _CANONICAL, layout)


def _pool_terms(output_grad: Array, data: Array, *, pool_size: tuple[int, ...], **_: object) -> int:
    return int(np.prod(pool_size))


# --- the likelihood loss --------------------------------------------------------------------------------------------


def _draw_nll_loss(s: Scope) -> Drawn:
    # A target that is no class is rare: the lowering reads its weight.
    given = draw_loss_operands(s, absent=lambda: s.source.flip(KNOBS.shared.rare))
    g = s.tensor((given.predictions.dtype,), dims=given.dims if given.reduction == "none" else ())
    weights = given.weights.expr if given.weights else None
    call = grad.nll_loss_backward(
        g.expr, given.predictions.expr, given.targets.expr, weights, given.reduction, given.ignored
    )
    if given.reduction == "mean":  # each weight is a part of their sum
        return Drawn(call, (-g.range).including(0).real())
    return Drawn(call, -(g.range * given.weight_range).including(0))


def _nll_loss(
    output_grad: Array, predictions: Array, targets: Array, weights: Array | None = None, *, reduction: str,
    ignore_index: int,
) -> Array:  # fmt: skip
    """At the class of each target that counts, the gradient times the class's weight, negated; 0 elsewhere. Under
    "mean" the weights are divided by the sum of those that count."""
    axis = 1 if predictions.ndim > 1 else 0
    counts, classes = counted_classes(targets, ignore_index, predictions.shape[axis])
    weight: Array | Scalar = np.where(counts, 1.0 if weights is None else weights[classes], 0.0)
    if reduction == "mean":
        weight = weight / weight.sum()
    output_grad = _of_shape(output_grad, targets.shape if reduction == "none" else ())
    here = np.expand_dims(-output_grad * weight, axis)
    result = np.zeros(predictions.shape)
    np.put_along_axis(result, np.expand_dims(classes, axis), here, axis)
    return result


def _nll_terms(
    output_grad: Array, predictions: Array, targets: Array, weights: Array | None = None, *, reduction: str, **_: object
) -> int:
    return targets.size if reduction == "mean" else 1


# --- take -----------------------------------------------------------------------------------------------------------


def _draw_take(s: Scope) -> Drawn:
    """Without an axis, or with one; an axis from the end and indices of another rank than 1 are rare, as the lowering
    takes neither."""
    flat = s.source.flip(KNOBS.indexing.flattened)
    x = s.tensor(FLOAT, (1, 1) if flat else (1, 5), nonempty=True)
    assert x.dims is not None
    place = s.source.integer(0, x.ndim - 1)
    length = static_extent(x, place)
    counted_back = s.source.flip(KNOBS.shared.rare)
    axis = None if flat and s.source.flip() else place - x.ndim if counted_back else place
    other_rank = s.source.flip(KNOBS.shared.unlowerable)
    index = index_dims(s, (0, min(2, 6 - x.ndim)) if other_rank else (1, 1))
    if 0 in index:
        raise Unavailable("no index")
    indices = s.indices(index, length, dtypes=INDEX)
    g = s.tensor((x.dtype,), dims=(*x.dims[:place], *index, *x.dims[place + 1 :]))
    call = grad.take_backward(g.expr, x.expr, indices.expr, axis)
    return Drawn(call, g.range.including(0).summed(int(np.prod(index))))


def _take(output_grad: Array, x: Array, indices: Array, axis: int | None) -> Array:
    """Each element of `x` gets the sum of what its copies got."""
    place = 0 if axis is None else axis % x.ndim
    where = indices.astype(np.int64)
    if ((where < 0) | (where >= x.shape[place])).any():
        raise IndexError("an index out of range")  # as of take in mode "fast": the operator has no other mode
    output_grad = _of_shape(output_grad, (*x.shape[:place], *where.shape, *x.shape[place + 1 :]))
    result = np.zeros(x.shape)
    front = np.moveaxis(output_grad, range(place, place + where.ndim), range(where.ndim))
    np.add.at(np.moveaxis(result, place, 0), where, front)
    return result


def _take_terms(output_grad: Array, x: Array, indices: Array, axis: int | None) -> int:
    return indices.size + 1


OPERATORS = (
    Operator("relax.grad.avg_pool2d_backward", partial(_draw_pool, grad.avg_pool2d_backward), _avg_pool,
             Rounding.SMOOTH, ATTRIBUTES, terms=_pool_terms, weight=1),
    Operator("relax.grad.max_pool2d_backward", partial(_draw_pool, grad.max_pool2d_backward), _max_pool,
             Rounding.CHOSEN, ATTRIBUTES, terms=_pool_terms, weight=1),
    Operator("relax.grad.nll_loss_backward", _draw_nll_loss, _nll_loss, Rounding.SMOOTH,
             ("reduction", "ignore_index"), terms=_nll_terms, weight=1),
    Operator("relax.grad.take_backward", _draw_take, _take, Rounding.RING, ("axis",), terms=_take_terms, weight=1,
             own_specials=COMPUTED),
)  # fmt: skip
