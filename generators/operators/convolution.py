"""Convolutions and transposed convolutions over one, two and three spatial axes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from tvm.relax.op import nn

from generators.dtypes import Array, is_float
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.operators.spatial import (
    SPATIAL,
    draw_data_layout,
    draw_out_layout,
    extents,
    moved,
    spelled,
    spelled_padding,
    window_extent,
)
from generators.ranges import Range
from generators.relax.scope import Drawn, Scope
from generators.relax.values import Value
from generators.source import Source, favour, weighted
from generators.tvm_api import Expr
from generators.unavailable import Unavailable

_DTYPES = ("float32", "float16", "float64", "bfloat16", "int32", "int8", "uint8")
_WIDER = {"float16": "float32", "bfloat16": "float32", "int8": "int32", "uint8": "int32", "float32": "float64"}
_KERNEL: dict[int, tuple[tuple[str, int], ...]] = {
    1: (("OIW", 4), ("WIO", 1)),
    2: (("OIHW", 14), ("HWIO", 3), ("OHWI", 2), ("HWOI", 1)),
    3: (("OIDHW", 4), ("DHWIO", 1), ("ODHWI", 1)),
}
_ATTRIBUTES = ("strides", "padding", "dilation", "groups", "data_layout", "kernel_layout", "out_layout", "out_dtype")


def _draw_data(s: Scope, layout: str) -> Value:
    """Data in this layout: static, but the batch may be symbolic."""
    rank = len(layout)
    x = s.tensor(_DTYPES, (rank, rank), static=not s.source.flip(KNOBS.shared.symbolic), nonempty=True)
    assert x.dims is not None
    if not all(isinstance(d, int) or axis == "N" for d, axis in zip(x.dims, layout, strict=True)):
        raise Unavailable("only the batch may be symbolic")
    return x


def _draw_groups(s: Scope, channels: int) -> int:
    if s.source.flip(KNOBS.windows.one_group):
        return 1
    return s.source.pick([g for g in range(1, channels + 1) if channels % g == 0])


def _draw_out_dtype(s: Scope, dtype: str) -> str | None:
    """The result's dtype: absent, the operands', or a wider one, which most 8-bit operands need."""
    if dtype in _WIDER and s.source.flip(
        KNOBS.windows.int8_widened
        if dtype.endswith("int8")
        else KNOBS.windows.half_widened
        if dtype != "float32"
        else KNOBS.windows.float32_widened
    ):
        return _WIDER[dtype]
    return dtype if s.source.flip(KNOBS.windows.out_dtype_named) else None


def _sums(a: Range, b: Range, terms: int) -> Range:
    """The range of a sum of at most `terms` products."""
    return (a * b).including(0).summed(terms)


def _draw_window(source: Source, n: int) -> tuple[int, int, int, int, int]:
    """Kernel, stride, padding before and after, and dilation along an axis of `n`, with a result of at least one."""
    kernel, stride, dilation = source.integer(1, 3), favour(source, 1, 2, 3), favour(source, 1, 2)
    head = favour(source, 0, 1, 2)
    tail = head if source.flip(KNOBS.windows.symmetric_padding) else source.pick((0, 1, 2))
    return _fitted(n, (kernel, stride, head, tail, dilation))


def _fitted(n: int, window: tuple[int, int, int, int, int]) -> tuple[int, int, int, int, int]:
    """The window, with a kernel of one where it would be larger than the padded axis."""
    kernel, stride, head, tail, dilation = window
    return window if window_extent(kernel, dilation) <= n + head + tail else (1, stride, head, tail, dilation)


def _draw_convolution(spatial: int, build: Callable[..., Expr]) -> Callable[[Scope], Drawn]:
    axes = SPATIAL[spatial]

    def draw(s: Scope) -> Drawn:
        source = s.source
        turned = spatial == 2 and source.flip(KNOBS.windows.width_before_height)
        layout = "NCWH" if turned else draw_data_layout(source, spatial)
        x = _draw_data(s, layout)
        (channels,) = extents(x, layout, "C")
        groups = _draw_groups(s, channels)
        lengths = extents(x, layout, axes)
        windows = [_draw_window(source, n) for n in lengths]
        if source.flip(KNOBS.windows.same_window):
            windows = [_fitted(n, windows[0]) for n in lengths]
        kernels, strides, heads, tails, dilation = zip(*windows, strict=True)
        outputs = groups * source.integer(1, 3 if groups == 1 else 2)
        sizes = dict(zip("OI" + axes, (outputs, channels // groups, *kernels), strict=True))
        kernel_layout = weighted(source, _KERNEL[spatial])
        weight = s.tensor((x.dtype,), dims=[sizes[axis] for axis in kernel_layout])
        call = build(
            x.expr, weight.expr, spelled(source, strides), spelled_padding(source, heads, tails),
            spelled(source, dilation), groups, layout, kernel_layout, draw_out_layout(source, spatial, layout),
            _draw_out_dtype(s, x.dtype),
        )  # fmt: skip
        return Drawn(call, _sums(x.range, weight.range, weight.size // outputs))

    return draw


def _operand_dtypes(data: Array, weight: Array, out_dtype: str | None) -> tuple[Array, Array]:
    """Both operands in the carrier of the result, in which the products are taken (topi/nn/conv2d.py, `conv`)."""
    if data.dtype.kind == "f" or not out_dtype:
        return data, weight
    carrier = np.float64 if is_float(out_dtype) else np.dtype(out_dtype)
    return data.astype(carrier), weight.astype(carrier)


def _convolution(
    data: Array, weight: Array, *, strides: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...],
    groups: int, data_layout: str, kernel_layout: str, out_layout: str, out_dtype: str | None,
) -> Array:  # fmt: skip
    n = len(strides)
    axes = SPATIAL[n]
    data, weight = _operand_dtypes(data, weight, out_dtype)
    x, w = moved(data, data_layout, "NC" + axes), moved(weight, kernel_layout, "OI" + axes)
    if any(padding):
        x = np.pad(x, [(0, 0), (0, 0), *zip(padding[:n], padding[n:], strict=True)])
    spans = tuple(window_extent(k, d) for k, d in zip(w.shape[2:], dilation, strict=True))
    windows = sliding_window_view(x, spans, axis=tuple(range(2, n + 2)))
    windows = windows[(slice(None),) * 2 + tuple(slice(None, None, t) for t in (*strides, *dilation))]
    batch, out = x.shape[0], windows.shape[2 : 2 + n]
    kernels = w.reshape(groups, w.shape[0] // groups, -1)
    columns = windows.transpose(0, 1, *range(2 + n, 2 + 2 * n), *range(2, 2 + n))
    sums = kernels @ columns.reshape(batch, groups, kernels.shape[2], math.prod(out))
    return moved(sums.reshape(batch, w.shape[0], *out), "NC" + axes, out_layout)


def _terms(data: Array, weight: Array, *, kernel_layout: str, **_: object) -> int:
    """One output element sums one product per element of one output channel's kernel."""
    return int(weight.size // max(weight.shape[kernel_layout.index("O")], 1))


def _draw_transposed_window(source: Source, n: int) -> tuple[int, int, int, int, int, int]:
    """Kernel, stride, padding before and after, dilation and output padding along an axis of `n`."""
    kernel, stride, dilation = source.integer(1, 3), favour(source, 1, 2, 3), favour(source, 1, 2)
    extra = source.integer(0, stride - 1) if source.flip(KNOBS.windows.output_padding) else 0
    span = window_extent(kernel, dilation)
    head = source.integer(0, min(span - 1, 2))
    tail = head if source.flip(KNOBS.windows.symmetric_padding) else source.integer(0, min(span - 1, 2))
    if (n - 1) * stride + span + extra - head - tail < 1:
        head = tail = 0
    return kernel, stride, head, tail, dilation, extra


def _draw_transposed(spatial: int, build: Callable[..., Expr]) -> Callable[[Scope], Drawn]:
    axes = SPATIAL[spatial]

    def draw(s: Scope) -> Drawn:
        source = s.source
        layout, kernel_layout = "NC" + axes, "IO" + axes
        if source.flip(KNOBS.shared.rare):
            layout, kernel_layout = draw_data_layout(source, spatial), source.pick((axes + "IO", "OI" + axes))
        x = _draw_data(s, layout)
        (channels,) = extents(x, layout, "C")
        groups = _draw_groups(s, channels)
        windows = [_draw_transposed_window(source, n) for n in extents(x, layout, axes)]
        kernels, strides, heads, tails, dilation, extra = zip(*windows, strict=True)
        outputs = source.integer(1, 3 if groups == 1 else 2)
        sizes = dict(zip("IO" + axes, (channels, outputs, *kernels), strict=True))
        weight = s.tensor((x.dtype,), dims=[sizes[axis] for axis in kernel_layout])
        call = build(
            x.expr, weight.expr, spelled(source, strides), spelled_padding(source, heads, tails),
            spelled(source, extra), spelled(source, dilation), groups, layout, kernel_layout,
            draw_out_layout(source, spatial, layout), _draw_out_dtype(s, x.dtype),
        )  # fmt: skip
        return Drawn(call, _sums(x.range, weight.range, weight.size // (outputs * groups)))

    return draw


def _transposed(
    data: Array, weight: Array, *, strides: tuple[int, ...], padding: tuple[int, ...], output_padding: tuple[int, ...],
    dilation: tuple[int, ...], groups: int, data_layout: str, kernel_layout: str, out_layout: str,
    out_dtype: str | None,
) -> Array:  # fmt: skip
    """Every input element adds its multiple of the kernel; padding then cuts the ends off."""
    n = len(strides)
    axes = SPATIAL[n]
    data, weight = _operand_dtypes(data, weight, out_dtype)
    x, w = moved(data, data_layout, "NC" + axes), moved(weight, kernel_layout, "IO" + axes)
    inputs = x.reshape(x.shape[0], groups, x.shape[1] // groups, -1)
    kernels = w.reshape(groups, w.shape[0] // groups, -1).swapaxes(1, 2)
    products = (kernels @ inputs).reshape(x.shape[0], groups, *w.shape[1:], *x.shape[2:])
    lengths = [
        (size - 1) * stride + window_extent(k, d) + more
        for size, stride, k, d, more in zip(x.shape[2:], strides, w.shape[2:], dilation, output_padding, strict=True)
    ]
    full = np.zeros((x.shape[0], groups, w.shape[1], *lengths), products.dtype)
    for position in np.ndindex(*w.shape[2:]):
        spots = [
            slice(p * d, p * d + (size - 1) * stride + 1, stride)
            for p, d, size, stride in zip(position, dilation, x.shape[2:], strides, strict=True)
        ]
        full[(slice(None),) * 3 + tuple(spots)] += products[(slice(None),) * 3 + position]
    kept = [slice(head, length - tail) for head, tail, length in zip(padding[:n], padding[n:], lengths, strict=True)]
    out = full[(slice(None),) * 3 + tuple(kept)]
    return moved(out.reshape(x.shape[0], -1, *out.shape[3:]), "NC" + axes, out_layout)


def _terms_transposed(data: Array, weight: Array, *, groups: int, kernel_layout: str, **_: object) -> int:
    """At most one product per element of one output channel's kernel in one group."""
    return int(weight.size // max(weight.shape[kernel_layout.index("O")] * groups, 1))


def _row(name: str, spatial: int, weight: int) -> Operator:
    draw = _draw_convolution(spatial, getattr(nn, name))
    return Operator(f"relax.nn.{name}", draw, _convolution, Rounding.RING, _ATTRIBUTES, terms=_terms, weight=weight,
                    rank=spatial + 2)  # fmt: skip


def _transposed_row(name: str, spatial: int, weight: int) -> Operator:
    draw = _draw_transposed(spatial, getattr(nn, name))
    names = (*_ATTRIBUTES, "output_padding")
    return Operator(f"relax.nn.{name}", draw, _transposed, Rounding.RING, names, terms=_terms_transposed, weight=weight,
                    rank=spatial + 2)  # fmt: skip


OPERATORS = (
    _row("conv1d", 1, 4),
    _row("conv2d", 2, 8),
    _row("conv3d", 3, 2),
    _transposed_row("conv1d_transpose", 1, 3),
    _transposed_row("conv2d_transpose", 2, 4),
    _transposed_row("conv3d_transpose", 3, 2),
)
