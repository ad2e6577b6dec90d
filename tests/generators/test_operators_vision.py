"""Rows of detection and of regions: what the drawn inputs promise, and small cases by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from generators.operators import vision
from generators.operators.table import OPERATORS
from tests import operator_harness as harness

# --- what the drawn inputs promise -------------------------------------------------------------------------


def test_no_overlap_of_drawn_boxes_comes_near_a_threshold() -> None:
    """All quotients of whole areas that boxes with corners from 0 to 6 can have."""
    side = range(7)
    quotients = {
        shared / (a * b + c * d - shared)
        for a, b, c, d in itertools.product(side, repeat=4)
        for shared in {w * h for w in range(min(a, c) + 1) for h in range(min(b, d) + 1)}
        if a * b + c * d > shared
    }
    assert min(abs(q - threshold) for q in quotients for threshold in vision._OVERLAPS) > 1e-4


def test_drawn_scores_of_one_row_are_apart() -> None:
    for seed in range(40):
        sample = harness.draw_row(OPERATORS["relax.vision.all_class_non_max_suppression"], seed)
        gaps = np.diff(np.sort(sample.arguments[1], axis=-1), axis=-1)
        assert (gaps >= 1 / 64).all()


# --- small cases by hand -----------------------------------------------------------------------------------

BOXES = np.array([[0.0, 0, 4, 4], [0, 0, 4, 3], [5, 5, 6, 6]])
"""The second covers three quarters of the first; the third is apart."""


def _meaning(name: str, *operands: Any, **attributes: Any) -> Any:
    return OPERATORS[f"relax.vision.{name}"].meaning(*operands, **attributes)


def _suppress(data: Any, count: int, **changed: Any) -> Any:
    attributes: dict[str, Any] = {
        "max_output_size": -1, "iou_threshold": 0.5, "force_suppress": False, "top_k": -1, "coord_start": 2,
        "score_index": 1, "id_index": 0, "return_indices": True, "invalid_to_bottom": False, "soft_nms_sigma": 0.0,
        "score_threshold": 0.0,
    }  # fmt: skip
    places = np.array([[10, 11, 12]], np.int32)
    return _meaning("non_max_suppression", data[None], np.array([count], np.int32), places, **(attributes | changed))


def _detections(classes: list[int], scores: list[float]) -> Any:
    return np.column_stack([classes, scores, BOXES])


def test_valid_boxes_move_to_the_top() -> None:
    data = np.array([[[0.0, 0.25], [1, 0.75], [-1, 0.875], [2, 0.5]]])
    counts, boxes, places = _meaning("get_valid_counts", data, score_threshold=0.25, id_index=0, score_index=1)
    assert counts.tolist() == [2]
    assert boxes.tolist() == [[[1, 0.75], [2, 0.5], [-1, -1], [-1, -1]]]
    assert places.tolist() == [[1, 3, -1, -1]]


@pytest.mark.parametrize(
    ("classes", "changed", "kept"),
    [
        ([0, 0, 0], {}, [11, 12, -1]),
        ([0, 1, 0], {}, [11, 10, 12]),
        ([0, 1, 0], {"force_suppress": True}, [11, 12, -1]),
        ([0, 1, 0], {"id_index": -1}, [11, 12, -1]),
        ([0, 0, 0], {"iou_threshold": 0.875}, [11, 10, 12]),
        ([0, 0, 0], {"iou_threshold": 0.75}, [11, 12, -1]),
        ([0, 1, 0], {"max_output_size": 2}, [11, 10, -1]),
        ([0, 0, 0], {"top_k": 2}, [11, -1, -1]),
    ],
)
def test_the_best_box_removes_those_it_overlaps(classes: list[int], changed: dict[str, Any], kept: list[int]) -> None:
    places, counts = _suppress(_detections(classes, [0.5, 0.75, 0.25]), 3, **changed)
    assert places.tolist() == [kept]
    assert counts.tolist() == [[sum(k >= 0 for k in kept)]]


def test_only_valid_boxes_count_and_their_places_stay() -> None:
    data = _detections([0, 0, 0], [0.25, 0.5, 0.75])
    assert _suppress(data, 2)[0].tolist() == [[11, -1, -1]]
    (rows,) = _suppress(data, 3, return_indices=False)
    np.testing.assert_array_equal(rows, [data[2], data[1], [-1] * 6])
    (rows,) = _suppress(data[[1, 0, 2]], 3, return_indices=False, iou_threshold=0.75)
    np.testing.assert_array_equal(rows, [data[2], data[1], [-1] * 6])


def test_data_is_compacted_only_where_asked() -> None:
    data = _detections([0, 0, 0], [0.75, 0.5, 0.25])
    (apart,) = _suppress(data, 3, return_indices=False)
    np.testing.assert_array_equal(apart, [data[0], [-1] * 6, data[2]])
    (together,) = _suppress(data, 3, return_indices=False, invalid_to_bottom=True)
    np.testing.assert_array_equal(together, [data[0], data[2], [-1] * 6])


def test_the_soft_form_weakens_what_overlaps_less() -> None:
    data = _detections([0, 0, 0], [0.75, 0.5, 0.25])
    rows, places, counts = _suppress(data, 3, soft_nms_sigma=0.5, iou_threshold=0.875)
    assert counts.tolist() == [[3]]
    weakened = 0.5 * np.exp(-(0.75**2))
    assert places.tolist() == [[10, 11, 12]]
    np.testing.assert_allclose(rows[0, :, 1], [0.75, weakened, 0.25])
    _, places, counts = _suppress(data, 3, soft_nms_sigma=0.5, iou_threshold=0.875, score_threshold=0.3)
    assert (places.tolist(), counts.tolist()) == ([[10, -1, -1]], [[1]])


def test_all_classes_are_judged_apart_and_listed_in_order() -> None:
    scores = np.array([[[0.5, 0.75, 0.25], [0.875, 0.125, 0.0]]])
    operands = (BOXES[None], scores, np.array(2), np.array(0.5), np.array(0.0625))
    places, best, counts = _meaning("all_class_non_max_suppression", *operands, output_format="tensorflow")
    assert places.tolist() == [[[0, 1], [0, 2], [1, 0], [0, 0], [0, 0], [0, 0]]]
    assert best.tolist() == [[0.75, 0.25, 0.875, 0, 0, 0]]
    assert counts.tolist() == [3]
    rows, count = _meaning("all_class_non_max_suppression", *operands, output_format="onnx")
    assert rows[:3].tolist() == [[0, 0, 1], [0, 0, 2], [0, 1, 0]]
    assert (rows.shape, count.tolist()) == ((6, 3), [3])


def test_boxes_are_decoded_around_their_anchors() -> None:
    scores = np.array([[[0.25], [0.75]]])
    offsets, anchors = np.array([[1.0, -1.0, 0.0, 2.0]]), np.array([[[0.0, 0, 2, 4]]])
    shared: dict[str, Any] = {"clip": False, "threshold": 0.5, "apply_softmax": False}
    boxes, kept = _meaning(
        "multibox_transform_loc", scores, offsets, anchors, variances=(0.5, 0.25, 1.0, 0.5), keep_background=True,
        **shared,
    )  # fmt: skip
    # The centre (1, 2) moves to (2, 1); the width stays 2 and the height 4 grows by e.
    np.testing.assert_allclose(boxes, [[[1 - 2 * np.e, 1, 1 + 2 * np.e, 3]]])
    assert kept.tolist() == [[[0.0], [0.75]]]


IMAGE = np.arange(16.0).reshape(1, 1, 4, 4)


def test_a_region_of_one_pixel_per_bin_is_the_image() -> None:
    whole = np.array([[0.0, 0.0, 0.0, 6.0, 6.0]])
    pooled = _meaning("roi_pool", IMAGE, whole, pooled_size=(4, 4), spatial_scale=0.5, layout="NCHW")
    np.testing.assert_array_equal(pooled, IMAGE)
    halves = _meaning("roi_pool", IMAGE, whole, pooled_size=(2, 2), spatial_scale=0.5, layout="NCHW")
    assert halves[0, 0].tolist() == [[5, 7], [13, 15]]
    outside = _meaning("roi_pool", IMAGE, whole + [0, 8, 8, 8, 8], pooled_size=(1, 1), spatial_scale=1.0, layout="NCHW")
    assert outside.tolist() == [[[[0.0]]]]


@pytest.mark.parametrize(("mode", "expected"), [("avg", [[2.5, 4.5], [10.5, 12.5]]), ("max", [[5, 7], [13, 15]])])
def test_aligned_regions_sample_between_pixels(mode: str, expected: list[list[float]]) -> None:
    """Regions whose samples are the pixels themselves: shifted by half a sample's distance, two per bin."""
    region = np.array([[0.0, -0.5, -0.5, 3.5, 3.5]])
    out = _meaning(
        "roi_align", IMAGE, region, pooled_size=(2, 2), spatial_scale=1.0, sample_ratio=2, aligned=True, layout="NCHW",
        mode=mode,
    )  # fmt: skip
    assert out[0, 0].tolist() == expected
