"""Losses: cross entropy with logits and negative log likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tvm.relax.op import nn

from generators import tvm_api
from generators.dtypes import Array, Scalar
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.ranges import Range
from generators.relax.scope import FLOAT, Drawn, Scope
from generators.relax.values import Dim, Value
from generators.source import favour

_TARGETS = ("int64", "int32")


def _draw_cross_entropy(s: Scope) -> Drawn:
    x = s.tensor(FLOAT, (1, 5), nonempty=True)
    y = s.like(x)
    return Drawn(nn.cross_entropy_with_logits(x.expr, y.expr), -(x.range * y.range).summed(x.size).hull(Range(0, 0)))


def _cross_entropy(x: Array, y: Array) -> Array | Scalar:
    """The negated sum of products, over the batch size from rank two on."""
    return -np.sum(x * y) / (x.shape[0] if x.ndim > 1 else 1)


def _draw_targets(s: Scope, dims: tuple[Dim, ...], classes: int, mean: bool, absent: bool) -> tuple[Value, int]:
    """Targets and the class to ignore: usually none of them; -1 means "no class" as in other frameworks, and is
    drawn where `absent` says so.

    A mean over nothing but ignored targets is 0/0, so there the targets are constants of which some count.
    """
    if not mean:
        ignored = favour(s.source, -100, 0, *((-1,) if absent else ()))
        return s.indices(dims, classes, -1 if ignored == -1 else 0, _TARGETS), ignored
    if s.source.flip() and all(isinstance(d, int) for d in dims):
        targets = s.constant(dims, s.source.pick(_TARGETS), Range(0, classes - 1, True))
        contents = tvm_api.constant_array(targets.expr)
        first = int(contents.reshape(-1)[0])
        if (contents != first).any():
            return targets, first
    return s.indices(dims, classes, 0, _TARGETS), s.source.pick((-100, classes))


@dataclass(frozen=True, slots=True)
class LossOperands:
    """What a likelihood loss, or its gradient, is given. dims: of the targets."""

    predictions: Value
    targets: Value
    weights: Value | None
    dims: tuple[Dim, ...]
    reduction: str
    ignored: int

    @property
    def weight_range(self) -> Range:
        """The range of the weights; of ones where there are none."""
        return self.weights.range if self.weights else Range(1, 1, True)


def draw_loss_operands(s: Scope, absent: Callable[[], bool] = lambda: True) -> LossOperands:
    """The operands. absent: whether a target may be -1, "no class"."""
    predictions = s.tensor(FLOAT, (1, 5), nonempty=True, static=not s.source.flip(KNOBS.shared.symbolic))
    assert predictions.dims is not None
    batched = predictions.ndim > 1
    class_dim = predictions.dims[1 if batched else 0]
    classes = class_dim if isinstance(class_dim, int) else class_dim.extent
    reduction = s.source.pick(("mean", "sum", "none"))
    dims = (predictions.dims[0], *predictions.dims[2:]) if batched else ()
    targets, ignored = _draw_targets(s, dims, classes, reduction == "mean", absent())
    weights = None
    if s.source.flip(KNOBS.norms.class_weights):
        weights = s.tensor((predictions.dtype,), dims=(class_dim,), low=1, high=4)
    return LossOperands(predictions, targets, weights, dims, reduction, ignored)


def _draw_nll_loss(s: Scope) -> Drawn:
    given = draw_loss_operands(s)
    weights = given.weights.expr if given.weights else None
    call = nn.nll_loss(given.predictions.expr, given.targets.expr, weights, given.reduction, given.ignored)
    one = -given.predictions.range * given.weight_range
    count = math.prod(given.targets.shape or ()) if given.reduction == "sum" else 1
    return Drawn(call, one.including(0).summed(count).real())


def counted_classes(targets: Array, ignored: int, classes: int) -> tuple[Array, Array]:
    """Which targets count, and their classes, 0 for the others. IndexError where one that counts is no class: neither
    TVM nor ONNX says what the loss is then."""
    counts = targets != ignored
    found = np.where(counts, targets, 0)
    if ((found < 0) | (found >= classes)).any():
        raise IndexError("a target is no class")
    return counts, found


def _nll_loss(
    predictions: Array, targets: Array, weights: Array | None = None, *, reduction: str, ignore_index: int
) -> Array | Scalar:
    batched = predictions.ndim > 1
    scores = np.moveaxis(predictions, 1, -1) if batched else predictions
    counts, classes = counted_classes(targets, ignore_index, scores.shape[-1])
    weight = np.where(counts, 1.0 if weights is None else weights[classes], 0.0)
    losses = -np.take_along_axis(scores, classes[..., None], axis=-1)[..., 0] * weight
    if reduction == "none":
        return losses
    return losses.sum() / weight.sum() if reduction == "mean" else losses.sum()


OPERATORS = (
    Operator("relax.nn.cross_entropy_with_logits", _draw_cross_entropy, _cross_entropy, Rounding.SMOOTH, weight=3),
    Operator(
        "relax.nn.nll_loss",
        _draw_nll_loss,
        _nll_loss,
        Rounding.SMOOTH,
        ("reduction", "ignore_index"),
        weight=3,
        without_gradient=(2,),
    ),
)
