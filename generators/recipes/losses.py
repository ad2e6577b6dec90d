"""Recipes of losses to differentiate: operators whose gradients are kernels of their own, and stages that are computed
again for the gradient.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import relax

from generators import tvm_api
from generators.program_facts import Feature
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.differentiable import draw_differentiable, draw_loss
from generators.relax.scope import Scope
from generators.relax.values import Value
from generators.source import favour


def _indices(s: Scope, count: int, below: int) -> tvm_api.Expr:
    """Whole numbers from zero on; a constant, since every parameter is to have a gradient."""
    picked = [s.source.integer(0, below - 1) for _ in range(count)]
    return tvm_api.constant(np.array(picked), s.source.pick(("int64", "int32")))


def _pooled(s: Scope, x: Value) -> Value:
    """max_pool2d or avg_pool2d of x as a batch of images."""
    assert x.shape is not None
    image = x if x.ndim == 4 else b.reshaped(s, x, [1] * (4 - x.ndim) + list(x.shape))
    _, _, height, width = image.shape or (1, 1, 1, 1)
    size = (min(s.source.integer(1, 3), height), min(s.source.integer(1, 3), width))
    build = s.source.pick((relax.op.nn.max_pool2d, relax.op.nn.avg_pool2d))
    padding = s.source.integer(0, min(size) - 1) if s.source.flip(KNOBS.losses.padded) else 0
    call = build(image.expr, size, s.source.pick((1, 2)), padding, ceil_mode=s.source.flip(KNOBS.losses.ceil_mode))
    return b.call(s, call, x.range.including(0).real())


def _taken(s: Scope, x: Value) -> Value:
    """Some elements along an axis, some of them twice."""
    assert x.shape is not None
    axis = s.source.integer(0, x.ndim - 1)
    index = _indices(s, s.source.integer(1, 4), x.shape[axis])
    return b.call(s, relax.op.take(x.expr, index, axis), x.range)


def _negative_log_likelihood(s: Scope, x: Value) -> Value:
    """nll_loss of rows of scores: a number, or a number for each row."""
    assert x.shape is not None
    scores = x if x.ndim == 2 else b.reshaped(s, x, [x.shape[0], x.size // x.shape[0]])
    rows, classes = scores.shape or (1, 1)
    if s.source.flip():
        scores = b.call(s, relax.op.nn.log_softmax(scores.expr, -1), Range(-40, 0))
    targets = _indices(s, rows, classes)
    weights = b.parameter(s, (classes,), x.dtype, Range(1, 3)) if s.source.flip(KNOBS.losses.class_weights) else None
    reduction = s.source.pick(("mean", "sum", "none"))
    ignored = s.source.pick((-100, 0)) if reduction != "mean" else -100
    call = relax.op.nn.nll_loss(scores.expr, targets, weights.expr if weights else None, reduction, ignored)
    bound = scores.range.magnitude * 3 * rows
    return b.call(s, call, Range(-bound, bound))


_KERNELS: tuple[Callable[[Scope, Value], Value], ...] = (_pooled, _taken, _negative_log_likelihood)


def _start(s: Scope) -> Value:
    dims = tuple(s.source.integer(2, 4) for _ in range(favour(s.source, 2, 3, 4)))
    x = b.parameter(s, dims, "float32" if s.source.flip(KNOBS.shared.float32) else "float64")
    return b.unary(s, x, b.SIMPLE_UNARY[:3] + b.SMOOTH_UNARY[:2])


def loss_of_kernels(s: Scope) -> None:
    """A loss of pooled, taken or classified values, which another path to the loss may use, too."""
    x = _start(s)
    y = s.source.pick(_KERNELS)(s, x)
    if s.source.flip() and y.ndim > 1:
        y = s.source.pick(_KERNELS[:2])(s, y)
    if s.source.flip(KNOBS.losses.fields_added):
        pair = b.tuple_of(s, y, b.tuple_of(s, y, x))
        inner = b.item(s, pair, 1)
        y = b.add(s, b.tensor_item(s, pair, 0), b.tensor_item(s, inner, 0))
    if s.source.flip(KNOBS.losses.deeper):
        draw_differentiable(s)
    draw_loss(s)


def loss_of_stages(s: Scope) -> None:
    """A loss of one or two checkpointed stages: Gradient computes again what is in them."""
    x = _start(s)
    for _ in range(s.source.integer(1, 2)):
        begins = [x, b.unary(s, x)] if s.source.flip() else [x]
        marked = [b.call(s, relax.op.grad.start_checkpoint(value.expr), value.range) for value in begins]
        y = marked[0]
        for _ in range(s.source.integer(1, 3)):
            y = b.unary(s, y, b.SIMPLE_UNARY[:3] + b.SMOOTH_UNARY[:2])
        y = b.add(s, y, s.source.pick(marked)) if y.range.magnitude < 2**9 else y
        x = b.call(s, relax.op.grad.end_checkpoint(y.expr), y.range)
        if s.source.flip(KNOBS.losses.between_stages):
            x = b.unary(s, x, b.SMOOTH_UNARY[:2])
    draw_loss(s)


RECIPES = (
    Recipe("loss_of_kernels", loss_of_kernels, wants=Feature.SCALAR_LOSS),
    Recipe("loss_of_stages", loss_of_stages, wants=Feature.SCALAR_LOSS),
)
