"""Images and detection (resizing, grids, regions, suppression) by ONNX.

Each function has the signature of its row's meaning and raises `Beyond` for calls that the other implementation lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.generators.independent_nn import reordered
from tests.generators.onnx_reference import Beyond, onnx

_METHODS = {"nearest_neighbor": "nearest", "linear": "linear", "cubic": "cubic"}


def _resize(
    data: Any, size: tuple[int, ...], *, roi: Any, layout: str, method: str, coordinate_transformation_mode: str,
    rounding_method: str, cubic_alpha: float, cubic_exclude: int, extrapolation_value: float, out_dtype: str | None,
) -> Any:  # fmt: skip
    """Coordinates that are decided by "round" have no ties, so that either rule for ties will do."""
    mode = coordinate_transformation_mode
    if mode == "tf_half_pixel_for_nn" or (mode == "pytorch_half_pixel" and 1 in size):
        raise Beyond(
            "ONNX has given up the one, and its reference takes -0.5 for the one pixel where the standard says 0"
        )
    rounding = rounding_method or ("round" if mode == "align_corners" else "floor")
    axes = [i for i, letter in enumerate(layout) if letter not in "NC"]
    return onnx(
        "Resize", data, np.array(roi) if mode == "tf_crop_and_resize" else None, None, np.array(size, np.int64),
        axes=axes, mode=_METHODS[method], coordinate_transformation_mode=mode, cubic_coeff_a=cubic_alpha,
        exclude_outside=int(method == "cubic" and cubic_exclude),
        nearest_mode="round_prefer_floor" if rounding == "round" else rounding,
        extrapolation_value=extrapolation_value,
    )  # fmt: skip


def _affine_grid(theta: Any, size: tuple[int, ...], *, align_corners: bool) -> Any:
    whole = np.array([len(theta), 1, *size], np.int64)
    return np.moveaxis(onnx("AffineGrid", theta, whole, align_corners=int(align_corners)), -1, 1)


def _grid_sample(x: Any, grid: Any, *, method: str, layout: str, padding_mode: str, align_corners: bool) -> Any:
    mode = {"bilinear": "linear", "bicubic": "cubic"}[method]
    if mode == "cubic" and padding_mode == "border" and (np.abs(grid) > 1).any():
        raise Beyond("the reference of GridSample moves points to the border; PyTorch and TVM do so with pixels")
    points = np.moveaxis(grid, 1, -1)
    return onnx("GridSample", x, points, mode=mode, padding_mode=padding_mode, align_corners=int(align_corners))


def _roi_align(
    data: Any, rois: Any, *, pooled_size: tuple[int, ...], spatial_scale: float, sample_ratio: int, aligned: bool,
    layout: str, mode: str,
) -> Any:  # fmt: skip
    """ONNX's aligned form moves regions back by half a pixel, so they are moved forth; its maximum is another one."""
    if mode == "max" and sample_ratio != 1:
        raise Beyond("ONNX takes the maximum over weighted pixels")
    corners = rois[:, 1:] + (0.5 / spatial_scale if aligned else 0.0)
    out = onnx(
        "RoiAlign", reordered(data, layout, "NCHW"), corners, rois[:, 0].astype(np.int64), output_height=pooled_size[0],
        output_width=pooled_size[1], sampling_ratio=max(sample_ratio, 0), spatial_scale=spatial_scale,
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
    )  # fmt: skip
    return reordered(out, "NCHW", layout)


def _suppressed(boxes: Any, scores: Any, most: int, overlap: float, least: float) -> Any:
    """ONNX's selection: rows of image, class and box."""
    numbers = (np.array([most], np.int64), np.array([overlap], np.float32), np.array([least], np.float32))
    return onnx("NonMaxSuppression", boxes, scores, *numbers).reshape(-1, 3)


def _all_class(boxes: Any, scores: Any, most: Any, overlap: Any, least: Any, *, output_format: str) -> Any:
    batch, classes, count = scores.shape
    rows = _suppressed(boxes, scores, int(most.reshape(-1)[0]), float(overlap), float(least))
    if output_format == "onnx":
        found = np.zeros((batch * classes * count, 3), np.int64)
        found[: len(rows)] = rows
        return found, np.array([len(rows)])
    places, best = np.zeros((batch, classes * count, 2), np.int64), np.zeros((batch, classes * count))
    counts = np.zeros(batch, np.int64)
    for image, c, box in rows:
        places[image, counts[image]] = c, box
        best[image, counts[image]] = scores[image, c, box]
        counts[image] += 1
    return places, best, counts


def _nms(
    data: Any, valid_count: Any, indices: Any, *, max_output_size: int, iou_threshold: float, force_suppress: bool,
    top_k: int, coord_start: int, score_index: int, id_index: int, return_indices: bool, invalid_to_bottom: bool,
    soft_nms_sigma: float, score_threshold: float,
) -> Any:  # fmt: skip
    """The hard form: boxes of different classes are moved apart, so that one class does for all."""
    if soft_nms_sigma > 0 or not return_indices:
        raise Beyond("ONNX gives positions and has no soft form")
    found = np.full(indices.shape, -1, np.int32)
    counts = np.zeros((len(data), 1), np.int32)
    for i, rows in enumerate(data):
        best = np.argsort(-rows[: valid_count[i], score_index], kind="stable")
        best = best[:top_k] if top_k > 0 else best
        if not best.size:
            continue
        boxes = rows[best, coord_start : coord_start + 4]
        if id_index >= 0 and not force_suppress:
            boxes = boxes + 100 * rows[best, id_index][:, None]
        most = max_output_size if max_output_size > 0 else len(best)
        scores = rows[best, score_index]
        kept = best[_suppressed(boxes[None], scores[None, None], most, iou_threshold, 0.0)[:, 2]]
        found[i, : len(kept)] = indices[i, kept]
        counts[i] = len(kept)
    return found, counts


INDEPENDENT: dict[str, Callable[..., Any]] = {
    "relax.image.resize2d": _resize,
    "relax.image.resize3d": _resize,
    "relax.image.affine_grid": _affine_grid,
    "relax.image.grid_sample": _grid_sample,
    "relax.vision.roi_align": _roi_align,
    "relax.vision.all_class_non_max_suppression": _all_class,
    "relax.vision.non_max_suppression": _nms,
}
"""By row: what an implementation from elsewhere gives for the arguments of the row's meaning."""
