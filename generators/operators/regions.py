"""Pooling over regions of interest: roi_align and roi_pool.

Regions are constants whose corners, scaled, are multiples of a quarter, so that float32 computes the scaled corners
exactly. Where a bin or a sample could fall on either side of a rounding, another region is drawn: whole bins in
roi_pool, samples clear of the line beyond which roi_align reads zero.

Meaning: topi/vision/roi_align.py and roi_pool.py. `aligned` leaves out the least extent of one pixel and does not move
regions by half a pixel, as the operator's documentation has it and other frameworks do not.
"""

from __future__ import annotations

import math

import numpy as np
from tvm.relax.op import vision

from generators import tvm_api
from generators.dtypes import Array, Scalar
from generators.operators.domain import REGIONS
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.operators.spatial import MARGIN, extents, moved, spelled
from generators.relax.scope import Drawn, Scope
from generators.source import Source, favour
from generators.tvm_api import Expr

_DTYPES = ("float32", "float64")
_SCALES = (1.0, 0.5, 0.25, 2.0)
_SNAP = 1e-5


def _constant(s: Scope, rows: list[list[float]], dtype: str) -> Expr:
    return tvm_api.constant(np.array(rows, np.float64).reshape(-1, 5), dtype)


# --- roi_align -----------------------------------------------------------------------------------------------


def _samples(start: float, end: float, bins: int, ratio: int, aligned: bool) -> Array:
    """The sample points along one axis, shape (bins, samples per bin); scaled ends, `ratio` <= 0 for adaptive."""
    length = end - start if aligned else max(end - start, 1.0)
    size = length / bins
    count = ratio if ratio > 0 else math.ceil(size - _SNAP)
    return start + size * np.arange(bins)[:, None] + (np.arange(count) + 0.5) * size / max(count, 1)


def _clear(points: Array, n: int) -> bool:
    """Whether every sample point keeps its distance from -1 and n, beyond which zero is read."""
    return points.size > 0 and not ((np.abs(points + 1) < MARGIN) | (np.abs(points - n) < MARGIN)).any()


def _draw_ends(source: Source, n: int, bins: int, ratio: int, aligned: bool) -> tuple[float, float]:
    """Scaled ends of a region along an axis of `n` pixels; it may reach a little beyond the image."""
    start = source.integer(-3, 2 * n) / 2
    end = start + source.integer(1, 2 * n + 1) / 2
    return (start, end) if _clear(_samples(start, end, bins, ratio, aligned), n) else (0.0, 1.0)


def _draw_roi_align(s: Scope) -> Drawn:
    source = s.source
    layout = favour(source, "NCHW", "NHWC")
    # In 16 bits LegalizeOps gives the result another dtype than the operator's type says.
    x = s.tensor(("float16",) if source.flip(KNOBS.shared.rare) else _DTYPES, (4, 4), static=True, nonempty=True)
    batch, height, width = extents(x, layout, "NHW")
    pooled = [source.integer(1, 3), source.integer(1, 3)]
    ratio, aligned, scale = source.pick((-1, 2, 1, 3, 0)), source.flip(KNOBS.vision.aligned), source.pick(_SCALES)
    rows = []
    for _ in range(source.integer(1, 3)):
        top, bottom = _draw_ends(source, height, pooled[0], ratio, aligned)
        left, right = _draw_ends(source, width, pooled[1], ratio, aligned)
        corners = [c / scale for c in (left, top, right, bottom)]
        rows.append([float(source.integer(0, batch - 1)), *corners])
    mode = favour(source, "avg", "max")
    call = vision.roi_align(
        x.expr, _constant(s, rows, x.dtype), spelled_pair(source, pooled), scale, ratio, aligned, layout, mode
    )
    return Drawn(call, x.range.including(0).real())


def spelled_pair(source: Source, numbers: list[int]) -> int | tuple[int, ...]:
    """Two numbers as the operators take them: one for both where they are equal, or a pair."""
    return spelled(source, numbers) if numbers[0] != numbers[1] or source.flip() else numbers[0]


def _interpolated(image: Array, y: Array, x: Array) -> Array | Scalar:
    """image[:, y, x] for every pair of coordinates, bilinear; zero where a point lies more than a pixel outside."""
    height, width = image.shape[1:]
    inside = ((y >= -1) & (y <= height))[:, None] & ((x >= -1) & (x <= width))
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    rows, columns = _weights(y, height), _weights(x, width)
    return np.einsum("ih,chw,jw->cij", rows, image, columns) * inside


def _weights(at: Array, n: int) -> Array:
    """The matrix that interpolates linearly at points inside [0, n - 1]."""
    return np.maximum(0.0, 1.0 - np.abs(at[:, None] - np.arange(n)))


def _roi_align(
    data: Array, rois: Array, *, pooled_size: tuple[int, ...], spatial_scale: float, sample_ratio: int, aligned: bool,
    layout: str, mode: str,
) -> Array:  # fmt: skip
    image = moved(data, layout, "NCHW")
    height, width = pooled_size
    out = np.zeros((len(rois), image.shape[1], height, width))
    for i, (batch, *corners) in enumerate(rois):
        left, top, right, bottom = (c * spatial_scale for c in corners)
        y = _samples(top, bottom, height, sample_ratio, aligned)
        x = _samples(left, right, width, sample_ratio, aligned)
        values = _interpolated(image[round(float(batch))], y.reshape(-1), x.reshape(-1))
        values = values.reshape(-1, *y.shape, *x.shape)
        out[i] = values.mean(axis=(2, 4)) if mode == "avg" else values.max(axis=(2, 4))
    return moved(out, "NCHW", layout)


# --- roi_pool ------------------------------------------------------------------------------------------------


def _draw_pixels(source: Source, n: int, bins: int) -> tuple[float, float]:
    """Scaled first and last pixel of a region, possibly a quarter off, with bins that float32 bounds exactly.

    Bins are a number of pixels divided by `bins`, exact for powers of two and for multiples.
    """
    size = bins * source.integer(1, 2) if bins == 3 else source.integer(1, n + 1)
    first = source.integer(-2, n)
    off = favour(source, 0.0, 0.25, -0.25)
    return first + off, first + size - 1 + off


def _draw_roi_pool(s: Scope) -> Drawn:
    source = s.source
    x = s.tensor((*_DTYPES, "float16"), (4, 4), static=True, nonempty=True)
    batch, height, width = extents(x, "NCHW", "NHW")
    pooled, scale = [source.integer(1, 4), source.integer(1, 4)], source.pick(_SCALES)
    rows = []
    for _ in range(source.integer(1, 3)):
        top, bottom = _draw_pixels(source, height, pooled[0])
        left, right = _draw_pixels(source, width, pooled[1])
        corners = [c / scale for c in (left, top, right, bottom)]
        rows.append([float(source.integer(0, batch - 1)), *corners])
    call = vision.roi_pool(x.expr, _constant(s, rows, x.dtype), spelled_pair(source, pooled), scale)
    return Drawn(call, x.range.including(0))


def _bins(first: float, last: float, count: int, n: int) -> list[tuple[int, int]]:
    """The pixels [low, high) of each bin, clipped to the axis; ends are rounded, half upwards."""
    start, end = math.floor(first + 0.5), math.floor(last + 0.5)
    size = max(end - start + 1, 1)
    bounds = ((start + i * size // count, start - (-(i + 1) * size // count)) for i in range(count))
    return [(min(max(low, 0), n), min(max(high, 0), n)) for low, high in bounds]


def _roi_pool(data: Array, rois: Array, *, pooled_size: tuple[int, ...], spatial_scale: float, layout: str) -> Array:
    """The largest pixel of each bin, zero in a bin without pixels."""
    del layout  # NCHW alone exists
    height, width = pooled_size
    out = np.zeros((len(rois), data.shape[1], height, width))
    for i, (batch, *corners) in enumerate(rois):
        left, top, right, bottom = (c * spatial_scale for c in corners)
        for j, (low, high) in enumerate(_bins(top, bottom, height, data.shape[2])):
            for k, (near, far) in enumerate(_bins(left, right, width, data.shape[3])):
                if low < high and near < far:
                    out[i, :, j, k] = data[round(float(batch)), :, low:high, near:far].max(axis=(1, 2))
    return out


def _terms_align(data: Array, rois: Array, *, sample_ratio: int, **_: object) -> int:
    """Four pixels of each sample of a bin; adaptive bins have at most as many samples as the image has pixels."""
    return 4 * sample_ratio**2 if sample_ratio > 0 else int(math.prod(data.shape[1:]))


_ALIGN = ("pooled_size", "spatial_scale", "sample_ratio", "aligned", "layout", "mode")
OPERATORS = (
    Operator("relax.vision.roi_align", _draw_roi_align, _roi_align, Rounding.SMOOTH, _ALIGN, ulps=64,
             terms=_terms_align, weight=1, domains=((1, REGIONS),), rank=4),
    Operator("relax.vision.roi_pool", _draw_roi_pool, _roi_pool, Rounding.SMOOTH,
             ("pooled_size", "spatial_scale", "layout"), ulps=0, terms=lambda *_, **__: 1, weight=1,
             domains=((1, REGIONS),), rank=4),
)  # fmt: skip
