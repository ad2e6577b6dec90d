"""Pooling: maximum and average over windows, and adaptive average pooling, over one, two and three spatial axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from tvm.relax.op import nn

from generators.dtypes import Array, Scalar
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.operators.spatial import (
    SPATIAL,
    draw_data,
    draw_data_layout,
    draw_out_layout,
    extents,
    moved,
    spelled,
    spelled_padding,
    window_extent,
)
from generators.relax.scope import FLOAT, NUMERIC, Drawn, Scope
from generators.source import Source, favour

ATTRIBUTES = (
    "pool_size", "strides", "padding", "dilation", "ceil_mode", "count_include_pad", "layout", "out_layout",
)  # fmt: skip


def out_extent(n: int, kernel: int, stride: int, dilation: int, head: int, tail: int, ceil: bool) -> int:
    """The number of windows: in ceil mode also a partial last one, if it starts before the tail padding."""
    room = n + head + tail - window_extent(kernel, dilation)
    windows = (-(-room // stride) if ceil else room // stride) + 1
    return windows - 1 if ceil and (windows - 1) * stride >= n + head else windows


def _all_windows_see_data(n: int, kernel: int, stride: int, dilation: int, head: int, tail: int, ceil: bool) -> bool:
    """Whether there are windows, and none lies in padding alone, where a maximum has no documented value."""
    if n + head + tail < window_extent(kernel, dilation):
        return False
    windows = out_extent(n, kernel, stride, dilation, head, tail, ceil)
    starts = (i * stride - head for i in range(windows))
    return windows > 0 and all(any(0 <= start + k * dilation < n for k in range(kernel)) for start in starts)


def draw_windows(
    source: Source, sizes: Sequence[int], ceil: bool, dilations: Sequence[int] = (1, 2)
) -> list[tuple[int, int, int, int, int]]:
    """Kernel, stride, dilation, padding before and after for each axis, so that every window sees data."""
    columns: list[tuple[int, int, int, int, int]] = []
    for n in sizes:
        kernel, stride, dilation = favour(source, 2, 3, 1), favour(source, 2, 1, 3), favour(source, *dilations)
        head = source.integer(1, kernel - 1) if kernel > 1 and source.flip() else 0
        tail = head if source.flip(KNOBS.windows.symmetric_padding) else source.integer(0, kernel - 1)
        if columns and source.flip(KNOBS.windows.same_window):
            kernel, stride, dilation, head, tail = columns[0]
        column = (kernel, stride, dilation, head, tail)
        simpler = (column, (kernel, stride, 1, head, tail), (kernel, stride, 1, 0, 0), (1, stride, 1, 0, 0))
        columns.append(next((one for one in simpler if _all_windows_see_data(n, *one, ceil)), simpler[-1]))
    return columns


def _draw_pool(name: str, spatial: int, dtypes: tuple[str, ...]) -> Callable[[Scope], Drawn]:
    axes, build = SPATIAL[spatial], getattr(nn, name)

    def draw(s: Scope) -> Drawn:
        source = s.source
        layout = draw_data_layout(source, spatial)
        x = draw_data(s, dtypes, layout)
        ceil = source.flip(KNOBS.windows.ceil_mode)
        columns = draw_windows(source, extents(x, layout, axes), ceil)
        kernels, strides, dilations, heads, tails = zip(*columns, strict=True)
        call = build(
            x.expr, spelled(source, kernels), spelled(source, strides), spelled_padding(source, heads, tails),
            spelled(source, dilations), ceil, source.flip(), layout, draw_out_layout(source, spatial, layout),
        )  # fmt: skip
        return Drawn(call, x.range if name.startswith("max") else x.range.including(0).real())

    return draw


def windows_of(
    x: Array, fill: float, pool_size: tuple[int, ...], strides: tuple[int, ...], padding: tuple[int, ...],
    dilation: tuple[int, ...], ceil_mode: bool,
) -> Array:  # fmt: skip
    """Every window of the trailing axes of `x`, on axes added at the end; outside of `x` there is `fill`."""
    n = len(pool_size)
    widths = [(0, 0)] * (x.ndim - n)
    sizes = []
    for i in range(n):
        size, head, tail = x.shape[x.ndim - n + i], padding[i], padding[n + i]
        count = out_extent(size, pool_size[i], strides[i], dilation[i], head, tail, ceil_mode)
        reach = (count - 1) * strides[i] + window_extent(pool_size[i], dilation[i])
        widths.append((head, max(tail, reach - size - head)))
        sizes.append(count)
    padded = np.pad(x, widths, constant_values=fill) if any(any(w) for w in widths) else x
    spans = tuple(window_extent(k, d) for k, d in zip(pool_size, dilation, strict=True))
    windows = sliding_window_view(padded, spans, axis=tuple(range(x.ndim - n, x.ndim)))
    windows = windows[(slice(None),) * (x.ndim - n) + tuple(slice(None, None, t) for t in (*strides, *dilation))]
    return windows[(slice(None),) * (x.ndim - n) + tuple(slice(0, count) for count in sizes)]


def _max_pool(
    data: Array, *, pool_size: tuple[int, ...], strides: tuple[int, ...], padding: tuple[int, ...],
    dilation: tuple[int, ...], ceil_mode: bool, count_include_pad: bool, layout: str, out_layout: str,
) -> Array:  # fmt: skip
    del count_include_pad  # means nothing for a maximum
    canonical = "NC" + SPATIAL[len(pool_size)]
    least = -np.inf if data.dtype.kind == "f" else np.iinfo(data.dtype).min
    windows = windows_of(moved(data, layout, canonical), least, pool_size, strides, padding, dilation, ceil_mode)
    return moved(windows.max(axis=tuple(range(-len(pool_size), 0))), canonical, out_layout)


def counted(
    n: int, windows: int, kernel: int, stride: int, dilation: int, head: int, tail: int, with_padding: bool
) -> Array | Scalar:
    """How many elements of each window along one axis lie in the data, or in data and padding."""
    taps = np.arange(windows)[:, None] * stride - head + np.arange(kernel) * dilation
    low, high = (-head, n + tail) if with_padding else (0, n)
    return ((taps >= low) & (taps < high)).sum(axis=1)


def _avg_pool(
    data: Array, *, pool_size: tuple[int, ...], strides: tuple[int, ...], padding: tuple[int, ...],
    dilation: tuple[int, ...], ceil_mode: bool, count_include_pad: bool, layout: str, out_layout: str,
) -> Array:  # fmt: skip
    """The sum over a window divided by how many of its elements count: those in the data, or in data and padding.

    What ceil mode adds beyond the padding never counts.
    """
    n = len(pool_size)
    canonical = "NC" + SPATIAL[n]
    x = moved(data, layout, canonical)
    out = windows_of(x, 0.0, pool_size, strides, padding, dilation, ceil_mode).sum(axis=tuple(range(-n, 0)))
    for i in range(n):
        count = counted(
            x.shape[2 + i], out.shape[2 + i], pool_size[i], strides[i], dilation[i], padding[i], padding[n + i],
            count_include_pad,
        )  # fmt: skip
        out = out / count.reshape([-1] + [1] * (n - 1 - i))
    return moved(out, canonical, out_layout)


def _pool_terms(data: Array, *, pool_size: tuple[int, ...], **_: object) -> int:
    return math.prod(pool_size)


def _draw_adaptive(name: str, spatial: int) -> Callable[[Scope], Drawn]:
    axes, build = SPATIAL[spatial], getattr(nn, name)

    def draw(s: Scope) -> Drawn:
        source = s.source
        layout = draw_data_layout(source, spatial)
        x = draw_data(s, FLOAT, layout)
        sizes = [source.integer(1, min(n + 1, 6)) for n in extents(x, layout, axes)]
        size = (
            None
            if source.flip(KNOBS.shared.rare if spatial == 1 else KNOBS.windows.size_absent)
            else spelled(source, sizes)
        )
        size = size * spatial if isinstance(size, tuple) and len(size) == 1 else size
        call = build(x.expr, size, layout, draw_out_layout(source, spatial, layout))
        return Drawn(call, x.range.real())

    return draw


def _adaptive_avg_pool(data: Array, *, output_size: tuple[int, ...] | None, layout: str, out_layout: str) -> Array:
    """Along an axis of n, output i of m is the mean of elements floor(i*n/m) up to ceil((i+1)*n/m)."""
    canonical = "NC" + SPATIAL[len(layout) - 2]
    out = moved(data, layout, canonical)
    for axis, m in enumerate(output_size or out.shape[2:], 2):
        n = out.shape[axis]
        bounds = [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
        weights = np.array([[(low <= j < high) / (high - low) for j in range(n)] for low, high in bounds])
        out = np.moveaxis(np.moveaxis(out, axis, -1) @ weights.T, -1, axis)
    return moved(out, canonical, out_layout)


def _max_row(spatial: int, weight: int) -> Operator:
    name = f"max_pool{spatial}d"
    return Operator(f"relax.nn.{name}", _draw_pool(name, spatial, NUMERIC), _max_pool, Rounding.SMOOTH, ATTRIBUTES,
                    ulps=0, terms=_pool_terms, weight=weight, rank=spatial + 2)  # fmt: skip


def _avg_row(spatial: int, weight: int) -> Operator:
    name = f"avg_pool{spatial}d"
    return Operator(f"relax.nn.{name}", _draw_pool(name, spatial, FLOAT), _avg_pool, Rounding.SMOOTH, ATTRIBUTES,
                    terms=_pool_terms, weight=weight, rank=spatial + 2)  # fmt: skip


def _adaptive_row(spatial: int) -> Operator:
    name = f"adaptive_avg_pool{spatial}d"
    return Operator(f"relax.nn.{name}", _draw_adaptive(name, spatial), _adaptive_avg_pool, Rounding.SMOOTH,
                    ("output_size", "layout", "out_layout"), weight=2, rank=spatial + 2)  # fmt: skip


OPERATORS = (
    _max_row(1, 2), _max_row(2, 4), _max_row(3, 2), _avg_row(1, 2), _avg_row(2, 4), _avg_row(3, 2),
    _adaptive_row(1), _adaptive_row(2), _adaptive_row(3),
)  # fmt: skip
