"""Image operators: resizing, affine grids and sampling at grid points.

Resizing is one linear map per spatial axis, so its meaning is a product with one weight matrix per axis. TVM computes
coordinates in float32; shapes whose exact coordinates come near a rounding boundary are therefore not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm.relax.op import image

from generators.dtypes import Array, Scalar
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.operators.spatial import MARGIN, SPATIAL, draw_data, extents, moved
from generators.ranges import UNIT, Range
from generators.relax.scope import Drawn, Scope
from generators.source import Source
from generators.tvm_api import Expr

# float64 is left out: coordinates and pixels pass through float32 whatever the operands are (topi/image/resize.py).
_DTYPES = ("float32", "float16")
_LAYOUTS = {2: ("NCHW", "NCHW", "NHWC"), 3: ("NCDHW", "NCDHW", "NDHWC")}
_MODES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")
_ROUNDINGS = ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
_CLOSEST: dict[str, Callable[[float], float]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
}


def _coordinates(mode: str, n: int, m: int, start: float, end: float) -> Array:
    """Where each of `m` output pixels lies in an axis of `n` input pixels (ONNX Resize gives the formulas)."""
    i = np.arange(m)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and m > 1):
        return (i + 0.5) * n / m - 0.5
    if mode == "pytorch_half_pixel":
        return np.zeros(m)
    if mode == "align_corners":
        return i * (n - 1) / max(m - 1, 1)
    if mode == "asymmetric":
        return i * n / m
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) * n / m
    if m == 1:
        return np.array([0.5 * (start + end) * (n - 1)])
    return start * (n - 1) + i * (end - start) * (n - 1) / (m - 1)


def _rounding(rounding_method: str, mode: str) -> str:
    return rounding_method or ("round" if mode == "align_corners" else "floor")


def _near_whole(x: Array) -> bool:
    """Whether a coordinate is near a whole number."""
    return bool((np.abs(x - np.round(x)) < MARGIN).any())


def _decided(coordinates: Array, rounding: str) -> bool:
    """Whether float32 coordinates round as exact ones do: floor and ceil snap to whole numbers, the rest may tie."""
    if rounding in ("floor", "ceil"):
        off = np.abs(coordinates - np.round(coordinates))
        return not ((off > 1e-9) & (off < MARGIN)).any()
    return not _near_whole(coordinates + 0.5)


def _cubic_weights(t: Array | Scalar, alpha: float) -> list[Any]:
    """Keys' cubic convolution at distances 1+t, t, 1-t, 2-t."""

    def near(d: Array | Scalar) -> Array | Scalar:
        return (alpha + 2) * d**3 - (alpha + 3) * d**2 + 1

    def far(d: Array | Scalar) -> Array | Scalar:
        return alpha * (d**3 - 5 * d**2 + 8 * d - 4)

    return [far(1 + t), near(t), near(1 - t), far(2 - t)]


def _row_weights(x: float, n: int, method: str, rounding: str, alpha: float, exclude: bool) -> list[tuple[int, float]]:
    """Pixels, not yet clamped to the axis, and their weights for one output pixel at coordinate `x`."""
    if method == "nearest_neighbor":
        snapped = round(x) if abs(x - round(x)) < 1e-6 else x
        return [(int(_CLOSEST[rounding](snapped)), 1.0)]
    base = math.floor(x)
    t = x - base
    if method == "linear":
        return [(base, 1 - t), (base + 1, t)]
    pairs = list(zip(range(base - 1, base + 3), _cubic_weights(t, alpha), strict=True))
    if exclude:
        inside = [(p, w) for p, w in pairs if 0 <= p < n]
        total = sum(w for _, w in inside)
        return [(p, w / total) for p, w in inside]
    return pairs


def _resize(
    data: Array, size: tuple[int, ...], *, roi: tuple[float, ...], layout: str, method: str,
    coordinate_transformation_mode: str, rounding_method: str, cubic_alpha: float, cubic_exclude: int,
    extrapolation_value: float, out_dtype: str | None,
) -> Array:  # fmt: skip
    del out_dtype  # the interpreter rounds to it
    k = len(size)
    canonical, mode = "NC" + SPATIAL[k], coordinate_transformation_mode
    out, outside = moved(data, layout, canonical), np.zeros((), np.bool_)
    for i, m in enumerate(size):
        n = data.shape[layout.index(SPATIAL[k][i])]
        at = _coordinates(mode, n, m, roi[i], roi[k + i])
        weights = np.zeros((m, n))
        for row, x in enumerate(at):
            rounding = _rounding(rounding_method, mode)
            for pixel, weight in _row_weights(float(x), n, method, rounding, cubic_alpha, bool(cubic_exclude)):
                weights[row, min(max(pixel, 0), n - 1)] += weight
        out = np.moveaxis(np.moveaxis(out, 2 + i, -1) @ weights.T, -1, 2 + i)
        if mode == "tf_crop_and_resize":
            beyond = (at < 0) | (at > n - 1)
            outside = outside | beyond.reshape([-1] + [1] * (k - 1 - i))
    return moved(np.where(outside, extrapolation_value, out), canonical, layout)


def _draw_crop(source: Source, sizes: list[int], targets: list[int]) -> tuple[float, ...] | None:
    """A region of interest whose coordinates keep clear of the image's ends, where extrapolation sets in."""
    starts = [source.pick((0.0, 0.125, -0.25)) for _ in sizes]
    ends = [source.pick((0.75, 0.875, 1.25)) for _ in sizes]
    for n, m, start, end in zip(sizes, targets, starts, ends, strict=True):
        at = _coordinates("tf_crop_and_resize", n, m, start, end)
        unclear = (np.abs(at - (n - 1)) < MARGIN) | ((np.abs(at) < MARGIN) & (at != 0))
        if unclear.any():
            return None
    return (*starts, *ends)


def _draw_method(source: Source, mode: str, sizes: list[int], targets: list[int]) -> tuple[str, str]:
    """A method and a rounding rule that no coordinate of this resize leaves undecided."""
    method = source.pick(("linear", "nearest_neighbor", "cubic"))
    if method != "nearest_neighbor":
        return method, source.pick(("round", ""))
    rounding = source.pick((*_ROUNDINGS, ""))
    decided = all(
        _decided(_coordinates(mode, n, m, 0, 1), _rounding(rounding, mode)) for n, m in zip(sizes, targets, strict=True)
    )
    return (method, rounding) if decided else ("linear", rounding)


def _draw_resize(spatial: int, build: Callable[..., Expr]) -> Callable[[Scope], Drawn]:
    def draw(s: Scope) -> Drawn:
        source = s.source
        layout = source.pick(_LAYOUTS[spatial])
        x = draw_data(s, _DTYPES, layout)
        sizes = extents(x, layout, SPATIAL[spatial])
        targets = [source.integer(1, min(2 * n + 1, 8)) for n in sizes]
        mode, roi = source.pick(_MODES), None
        # A crop to one pixel and three-dimensional cubic resizing that excludes samples outside are rare.
        if spatial == 2 and source.flip(KNOBS.vision.crop) and (1 not in targets or source.flip(KNOBS.shared.rare)):
            roi = _draw_crop(source, sizes, targets)
            mode = mode if roi is None else "tf_crop_and_resize"
        if mode == "align_corners" and 1 in targets:
            mode = "half_pixel"
        method, rounding = _draw_method(source, mode, sizes, targets) if roi is None else ("linear", "")
        alpha, exclude = (
            source.pick((-0.75, -0.5)),
            int(source.flip(KNOBS.vision.outside_excluded if spatial == 2 else KNOBS.shared.rare)),
        )
        beyond = source.pick((0.0, 1.0))
        out_dtype = "float32" if x.dtype == "float16" and source.flip(KNOBS.shared.rare) else None
        call = build(x.expr, tuple(targets), roi, layout, method, mode, rounding, alpha, exclude, beyond, out_dtype)
        overshoot = x.range.magnitude * 2.0**spatial
        reach = Range(-overshoot, overshoot) if method == "cubic" else x.range.real()
        return Drawn(call, reach.including(beyond))

    return draw


def _draw_affine_grid(s: Scope) -> Drawn:
    spatial = 2 if s.source.flip(KNOBS.vision.flat_grid) else 3
    corners = s.source.flip()
    batch = s.draw_extent(1)
    theta = s.tensor(_DTYPES, dims=(batch, spatial, spatial + 1))
    size = [s.source.integer(2 if corners else 1, 4) for _ in range(spatial)]
    call = image.affine_grid(theta.expr, tuple(size), corners)
    return Drawn(call, (UNIT * theta.range).summed(spatial + 1).hull(theta.range).real())


def _affine_grid(theta: Array, size: tuple[int, ...], *, align_corners: bool) -> Array:
    """theta @ (x, y, .., 1) at every point of a grid over [-1, 1], at corner pixels or at pixel centres."""
    spatial = len(size)
    lines = [np.linspace(-1, 1, m) if align_corners else (2 * np.arange(m) + 1) / m - 1 for m in size]
    points = np.meshgrid(*lines, indexing="ij")[::-1]
    homogeneous = np.stack([*points, np.ones(size)]).reshape(spatial + 1, -1)
    return (theta @ homogeneous).reshape(theta.shape[0], spatial, *size)


def _draw_grid_sample(s: Scope) -> Drawn:
    source = s.source
    x = draw_data(s, _DTYPES if source.flip(KNOBS.shared.rare) else _DTYPES[:1], "NCHW")
    assert x.dims is not None
    grid = s.tensor((x.dtype,), dims=(x.dims[0], 2, source.integer(1, 4), source.integer(1, 4)), low=-1.5, high=1.5)
    method, mode = source.pick(("bilinear", "bicubic")), source.pick(("zeros", "border"))
    call = image.grid_sample(x.expr, grid.expr, method, "NCHW", mode, source.flip())
    top = x.range.magnitude * (4 if method == "bicubic" else 1)
    return Drawn(call, Range(-top, top))


def _at_pixels(x: Array, rows: Array, columns: Array, border: bool) -> Array:
    """x[n, :, rows[n], columns[n]]: beyond the image its edge, or zero. Shape (N, C, *rows.shape[1:])."""
    height, width = x.shape[2:]
    batch = np.arange(x.shape[0]).reshape(-1, 1, 1)
    pixels = x[batch, :, np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    return np.moveaxis(pixels if border else pixels * inside[..., None], -1, 1)


def _grid_sample(x: Array, grid: Array, *, method: str, layout: str, padding_mode: str, align_corners: bool) -> Array:
    """Samples at grid[:, 0] (x) and grid[:, 1] (y), where -1 and 1 are the image's ends.

    The grid is (N, 2, H, W) as in type inference; the documentation's (N, H, W, 2) is refused by it.
    """
    del layout  # NCHW alone is drawn
    border, points = padding_mode == "border", []
    for axis, n in ((1, x.shape[2]), (0, x.shape[3])):
        g = grid[:, axis]
        at = (g + 1) * (n - 1) / 2 if align_corners else ((g + 1) * n - 1) / 2
        points.append(np.clip(at, 0, n - 1) if border and method == "bilinear" else at)
    bases = [np.floor(p).astype(np.int64) for p in points]
    weights: list[list[Any]] = []
    for point, base in zip(points, bases, strict=True):
        t = point - base
        weights.append([1 - t, t] if method == "bilinear" else _cubic_weights(t, -0.75))
    first = 0 if method == "bilinear" else -1
    out = np.zeros((*x.shape[:2], *grid.shape[2:]))
    for i, row in enumerate(weights[0], first):
        for j, column in enumerate(weights[1], first):
            out += _at_pixels(x, bases[0] + i, bases[1] + j, border) * (row * column)[:, None]
    return out


_RESIZE = ("roi", "layout", "method", "coordinate_transformation_mode", "rounding_method", "cubic_alpha",
           "cubic_exclude", "extrapolation_value", "out_dtype")  # fmt: skip
OPERATORS = (
    Operator("relax.image.resize2d", _draw_resize(2, image.resize2d), _resize, Rounding.SMOOTH, _RESIZE, ulps=256,
             rank=4),
    Operator("relax.image.resize3d", _draw_resize(3, image.resize3d), _resize, Rounding.SMOOTH, _RESIZE, ulps=256,
             weight=2, rank=5),
    Operator("relax.image.affine_grid", _draw_affine_grid, _affine_grid, Rounding.SMOOTH, ("align_corners",), ulps=16,
             weight=2, rank=3),
    Operator("relax.image.grid_sample", _draw_grid_sample, _grid_sample, Rounding.SMOOTH,
             ("method", "layout", "padding_mode", "align_corners"), ulps=256, weight=3, rank=4),
)  # fmt: skip
