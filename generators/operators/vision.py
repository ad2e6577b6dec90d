"""Detection operators: valid counts, decoding of boxes, non-maximum suppression of one class and of all classes.

Boxes have whole corners and the thresholds for their overlap are odd multiples of 1/128, which no quotient of such
small areas equals or comes near; scores within a batch or class differ by 1/64 at least. So which box survives does
not turn on rounding. Meaning: topi/vision/nms.py and multibox_transform_loc.py. What follows the valid entries
is defined there as well: -1, and zero in all_class_non_max_suppression. Regions are pooled in `regions.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from tvm.relax import op
from tvm.relax.op import vision

from generators import tvm_api
from generators.dtypes import Array
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.operators.search import stable_order
from generators.ranges import Range, of_values
from generators.relax.scope import Drawn, Scope
from generators.relax.values import Value
from generators.source import favour
from generators.tvm_api import Expr

_CORNERS = Range(0, 6, True)
_OVERLAPS = tuple(n / 128 for n in (65, 33, 17, 85, 127))
"""Thresholds: a quotient of areas of at most 36 and unions of at most 72 pixels is none of them."""
_INDEX = Range(-1, 64, True)


def _constant(numbers: npt.ArrayLike, dtype: str) -> Expr:
    return tvm_api.constant(np.array(numbers), dtype)


def _scores(s: Scope, rows: tuple[int, ...], count: int, lowest: int) -> Array:
    """Numbers of shape (*rows, count): multiples of 1/64 below 1, from lowest/64, distinct within a row."""
    random = np.random.default_rng(s.source.array_seed())
    numbers = np.argsort(random.random((*rows, 64 - lowest)), axis=-1)[..., :count] + lowest
    return numbers / 64


# --- get_valid_counts ----------------------------------------------------------------------------------------


def _draw_valid_counts(s: Scope) -> Drawn:
    x = s.tensor(
        ("float32", "float16", "float64"), (3, 3), nonempty=True, static=not s.source.flip(KNOBS.shared.symbolic_rarely)
    )
    assert x.shape is not None
    width = x.shape[2]
    score = s.source.integer(0, width - 1)
    identity = s.source.integer(-1, width - 1)
    call = vision.get_valid_counts(x.expr, s.source.pick((0.0, 0.5, -1.0, 1.0)), identity, score)
    index = Range(-1, x.shape[1] - 1, True)
    return Drawn(call, (Range(0, x.shape[1], True), x.range.including(-1), index))


def _valid_counts(
    data: Array, *, score_threshold: float, id_index: int, score_index: int
) -> tuple[Array, Array, Array]:
    """How many boxes have a score above the threshold and no negative class; those, and where they were."""
    batch, count = data.shape[:2]
    counts, boxes = np.zeros(batch, np.int32), np.full_like(data, -1.0)
    indices = np.full((batch, count), -1, np.int32)
    for i, rows in enumerate(data):
        valid = rows[:, score_index] > score_threshold
        valid = valid & (rows[:, id_index] >= 0) if id_index >= 0 else valid
        kept = np.flatnonzero(valid)
        counts[i] = len(kept)
        boxes[i, : len(kept)] = rows[kept]
        indices[i, : len(kept)] = kept
    return counts, boxes, indices


# --- multibox_transform_loc ------------------------------------------------------------------------------------


def _draw_multibox(s: Scope) -> Drawn:
    """A threshold goes with scores that are taken as they are: no softmax meets one by chance."""
    source = s.source
    scores = s.tensor(("float32", "float32", "float64", "float16"), (3, 3), -16, 16, static=True, nonempty=True)
    assert scores.shape is not None
    batch, _, count = scores.shape
    softmax = source.flip(KNOBS.vision.softmax)
    threshold = favour(source, 0.0, -1.0, 2.0) if softmax else source.pick((0.0, 0.5, 1.0, -2.0))
    offsets = s.tensor((scores.dtype,), dims=(batch, 4 * count), low=-2, high=2)
    anchors = s.tensor((scores.dtype,), dims=(1, count, 4), low=-8, high=8)
    clip, variances = (
        source.flip(KNOBS.vision.boxes_clipped),
        tuple(source.pick((1.0, 0.125, 0.25, 0.5)) for _ in range(4)),
    )
    call = vision.multibox_transform_loc(
        scores.expr,
        offsets.expr,
        anchors.expr,
        clip,
        threshold,
        variances,
        source.flip(KNOBS.vision.background_kept),
        softmax,
    )
    boxes = Range(0, 1) if clip else Range(-256, 256)
    return Drawn(call, (boxes, Range(0, 1) if softmax else scores.range.including(0)))


def _multibox(
    scores: Array, offsets: Array, anchors: Array, *, clip: bool, threshold: float, variances: tuple[float, ...],
    keep_background: bool, apply_softmax: bool,
) -> tuple[Array, Array]:  # fmt: skip
    """Boxes (ymin, xmin, ymax, xmax) around moved and stretched anchors (left, top, right, bottom); masked scores."""
    x, y, w, h = np.moveaxis(offsets.reshape(len(offsets), -1, 4) * variances, -1, 0)
    left, top, right, bottom = np.moveaxis(anchors[0], -1, 0)
    middle_x, middle_y = x * (right - left) + (left + right) / 2, y * (bottom - top) + (top + bottom) / 2
    half_w, half_h = np.exp(w) * (right - left) / 2, np.exp(h) * (bottom - top) / 2
    boxes = np.stack([middle_y - half_h, middle_x - half_w, middle_y + half_h, middle_x + half_w], -1)
    if apply_softmax:
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores = weights / weights.sum(axis=1, keepdims=True)
    scores = np.where(scores >= threshold, scores, 0.0)
    if not keep_background:
        scores[:, 0] = 0.0
    return np.clip(boxes, 0.0, 1.0) if clip else boxes, scores


# --- non_max_suppression ---------------------------------------------------------------------------------------


def _draw_detections(s: Scope, batch: int, count: int) -> tuple[Value, dict[str, int]]:
    """Boxes with scores and maybe classes, (batch, count, 5 or 6), and where in a row these are."""
    order = s.source.pick((("id", "score", "box"), ("score", "box"), ("box", "id", "score"), ("score", "box", "id")))
    parts, places, at = [], {"id": -1}, 0
    values = of_values(-1)
    for name in order:
        places[name] = at
        at += 4 if name == "box" else 1
        if name == "score":
            scores = _scores(s, (batch,), count, -4 if s.source.flip(KNOBS.vision.none_above) else 1)
            parts.append(_constant(scores[..., None], "float32"))
            values = values.hull(Range(-0.0625, 1))
            continue
        part = s.fresh(
            (batch, count, 4 if name == "box" else 1), "float32", _CORNERS if name == "box" else Range(0, 1, True)
        )
        parts.append(part.expr)
        values = values.hull(part.range)
    return s.emit_tensor(Drawn(op.concat(parts, -1), values)), places


def _draw_nms(s: Scope) -> Drawn:
    source = s.source
    batch, count = source.integer(1, 3), source.integer(1, 6)
    data, places = _draw_detections(s, batch, count)
    valid = s.tensor(("int32",), dims=(batch,), low=0, high=count)
    indices = s.tensor(("int32",), dims=(batch, count), low=-1, high=_INDEX.high)
    soft, given = (
        (source.pick((0.5, 0.25, 1.0)) if source.flip(KNOBS.vision.soft_suppression) else 0.0),
        source.flip(KNOBS.vision.indices_returned),
    )
    call = vision.non_max_suppression(
        data.expr, valid.expr, indices.expr, favour(source, -1, 1, 2, 3, 0), source.pick(_OVERLAPS),
        source.flip(KNOBS.vision.forced), favour(source, -1, 1, 2, 4, 0),
        places["box"], places["score"], places["id"], given,
        source.flip(KNOBS.vision.invalid_last), soft, source.pick((0.0, 0.125, 0.25)),
    )  # fmt: skip
    if not given:
        return Drawn(call, data.range)
    found = (indices.range.including(-1), Range(0, count, True))
    return Drawn(call, (data.range, *found) if soft else found)


def _corners(boxes: Array) -> tuple[Array, Array, Array, Array]:
    """The least and largest coordinates of boxes (.., 4) given by any two opposite corners."""
    one, other = boxes[..., :2], boxes[..., 2:4]
    low, high = np.minimum(one, other), np.maximum(one, other)
    return low[..., 0], low[..., 1], high[..., 0], high[..., 1]


def _overlap(box: Array, boxes: Array) -> Array:
    """The area shared with each of `boxes` over the area covered together; 0 where that is none."""
    a, b, c, d = _corners(box)
    e, f, g, h = _corners(boxes)
    shared = np.maximum(0, np.minimum(c, g) - np.maximum(a, e)) * np.maximum(0, np.minimum(d, h) - np.maximum(b, f))
    union = (c - a) * (d - b) + (g - e) * (h - f) - shared
    return np.where(union <= 0, 0.0, shared / np.where(union <= 0, 1.0, union))


def _survivors(
    rows: Array, places: tuple[int, int, int], most: int, threshold: float, across: bool, sigma: float, least: float
) -> tuple[list[int], Array]:
    """Positions of the boxes that are kept, best first, and the scores they end with (for one image).

    A kept box removes the later ones whose overlap reaches the threshold, of its class unless `across`; in the soft
    form (sigma above 0) it weakens those that overlap less.
    """
    coordinate, score_at, class_at = places
    scores, alive = rows[:, score_at].copy(), np.ones(len(rows), np.bool_)
    classes = np.rint(rows[:, class_at]) if class_at >= 0 and not across else np.zeros(len(rows))
    kept: list[int] = []
    while most <= 0 or len(kept) < most:
        open_to = alive & (scores > least)
        if not open_to.any():
            break
        best = int(np.argmax(np.where(open_to, scores, -np.inf)))
        kept.append(best)
        alive[best] = False
        overlap = _overlap(rows[best, coordinate : coordinate + 4], rows[:, coordinate : coordinate + 4])
        rivals = alive & (scores > least) & (classes == classes[best])
        alive &= ~(rivals & (overlap >= threshold))
        if sigma > 0:
            scores = np.where(rivals & alive, scores * np.exp(-0.5 / sigma * overlap**2), scores)
    return kept, scores


def _nms(
    data: Array, valid_count: Array, indices: Array, *, max_output_size: int, iou_threshold: float,
    force_suppress: bool, top_k: int, coord_start: int, score_index: int, id_index: int, return_indices: bool,
    invalid_to_bottom: bool, soft_nms_sigma: float, score_threshold: float,
) -> Array | tuple[Array, ...]:  # fmt: skip
    """What survives is at the top and the rest is -1; data of the hard form keeps its places in order of score."""
    soft = soft_nms_sigma > 0
    out, numbers = np.full_like(data, -1.0), np.full(data.shape[:2], -1, np.int32)
    counts = np.zeros((len(data), 1), np.int32)
    in_place = not (soft or return_indices or invalid_to_bottom)
    for i, rows in enumerate(data):
        order = stable_order(rows[: valid_count[i], score_index], 0, True)
        order = order[:top_k] if top_k > 0 else order
        kept, scores = _survivors(
            rows[order], (coord_start, score_index, id_index), max_output_size, iou_threshold, force_suppress,
            soft_nms_sigma, score_threshold if soft else 0.0,
        )  # fmt: skip
        to = kept if in_place else list(range(len(kept)))
        out[i, to] = rows[order[kept]]
        out[i, to, score_index] = scores[kept]
        numbers[i, : len(kept)] = indices[i, order[kept]]
        counts[i] = len(kept)
    if not return_indices:
        return out
    return (out, numbers, counts) if soft else (numbers, counts)


# --- all_class_non_max_suppression -------------------------------------------------------------------------------


def _draw_all_class(s: Scope) -> Drawn:
    """The form of ONNX keeps every box but rarely: its annotated shape has room for all, its lowering for the kept."""
    source = s.source
    batch, classes, count = source.integer(1, 2), source.integer(1, 3), source.integer(1, 5)
    boxes = s.fresh((batch, count, 4), "float32", _CORNERS)
    onnx = source.flip(KNOBS.vision.onnx)
    everything = onnx and not source.flip(KNOBS.shared.rare)
    most = count if everything else source.pick((1, 2, 3, count, 0))
    overlap = 257 / 128 if everything else source.pick(_OVERLAPS)
    least = 1 / 128 if everything else source.pick((1, 17, 33, 65)) / 128
    limit = _constant(most, "int64")
    if source.flip(KNOBS.shared.rare) and not everything:  # the lowering looks at a constant only
        limit = s.fresh((), "int64", of_values(most)).expr
    call = vision.all_class_non_max_suppression(
        boxes.expr, _constant(_scores(s, (batch, classes), count, 1), "float32"), limit,
        _constant(overlap, "float32"), _constant(least, "float32"), "onnx" if onnx else "tensorflow",
    )  # fmt: skip
    total = Range(0, batch * classes * count, True)
    place = Range(0, max(batch, classes, count), True)
    return Drawn(call, (place, total) if onnx else (place, Range(0, 1), total))


def _all_class(
    boxes: Array, scores: Array, most: Array, overlap: Array, least: Array, *, output_format: str
) -> tuple[Array, ...]:
    """Per class the kept boxes, best first, then zeros: (batch, class, box) of all images or (class, box) of each."""
    batch, classes, count = scores.shape
    rows: list[list[tuple[int, int, int]]] = [[] for _ in range(batch)]
    limit = int(most.reshape(-1)[0])
    for i, c in np.ndindex(batch, classes):
        table = np.concatenate([boxes[i], scores[i, c][:, None]], axis=1)
        kept, _ = (
            _survivors(table, (0, 4, -1), limit, float(overlap), True, 0.0, float(least)) if limit > 0 else ([], None)
        )
        rows[i] += [(i, c, k) for k in kept]
    if output_format == "onnx":
        found = np.zeros((batch * classes * count, 3), np.int64)
        together = [row for image in rows for row in image]
        found[: len(together)] = np.array(together, np.int64).reshape(-1, 3)
        return found, np.array([len(together)], np.int64)
    places, best = np.zeros((batch, classes * count, 2), np.int64), np.zeros((batch, classes * count))
    for i, image in enumerate(rows):
        for at, (_, c, k) in enumerate(image):
            places[i, at] = c, k
            best[i, at] = scores[i, c, k]
    return places, best, np.array([len(image) for image in rows], np.int64)


_MULTIBOX = ("clip", "threshold", "variances", "keep_background", "apply_softmax")
_NMS = ("max_output_size", "iou_threshold", "force_suppress", "top_k", "coord_start", "score_index", "id_index",
        "return_indices", "invalid_to_bottom", "soft_nms_sigma", "score_threshold")  # fmt: skip
OPERATORS = (
    Operator("relax.vision.get_valid_counts", _draw_valid_counts, _valid_counts, Rounding.STEP,
             ("score_threshold", "id_index", "score_index"), ulps=0, weight=1),
    Operator("relax.vision.multibox_transform_loc", _draw_multibox, _multibox, Rounding.SMOOTH, _MULTIBOX, ulps=256,
             weight=1),
    Operator("relax.vision.non_max_suppression", _draw_nms, _nms, Rounding.SMOOTH, _NMS, ulps=64, weight=1),
    Operator("relax.vision.all_class_non_max_suppression", _draw_all_class, _all_class, Rounding.SMOOTH,
             ("output_format",), ulps=64, weight=1),
)  # fmt: skip
