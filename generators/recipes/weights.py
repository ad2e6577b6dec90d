"""Recipes about weights, the parameters after the inputs: values computed from weights alone, and the loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tvm import relax

from generators.program_facts import Feature
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.bindings import condition, either
from generators.recipes.functions import closure
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.differentiable import draw_differentiable, draw_loss
from generators.relax.frames import FunctionFrame
from generators.relax.functions import draw_function
from generators.relax.scope import Drawn, Scope
from generators.relax.statements import SIMPLE
from generators.relax.values import Dim, Value

WeightPlan: TypeAlias = Callable[[Scope], Value]
"""Adds weights to a function and computes a value from them alone, the same way each time."""

_VALUES = Range(-3, 3, True)


def _permuted(dims: tuple[int, int]) -> WeightPlan:
    return lambda s: b.permuted(s, _weight(s, dims), None)


def _summed(dims: tuple[int, int]) -> WeightPlan:
    return lambda s: b.add(s, _weight(s, (dims[1], dims[0])), _weight(s, (dims[1], dims[0])))


def _reshaped(dims: tuple[int, int]) -> WeightPlan:
    return lambda s: b.reshaped(s, _weight(s, (dims[0] * dims[1],)), (dims[1], dims[0]))


def _cast(dims: tuple[int, int]) -> WeightPlan:
    def plan(s: Scope) -> Value:
        w = b.parameter(s, (dims[1], dims[0]), "int8", _VALUES)
        s.frame.weights.add(w.expr)
        return b.call(s, relax.op.astype(w.expr, "float32"), w.range)

    return plan


def _concatenated(dims: tuple[int, int]) -> WeightPlan:
    def plan(s: Scope) -> Value:
        parts = [_weight(s, (dims[1], dims[0])) for _ in range(2)]
        return b.call(s, relax.op.concat([p.expr for p in parts], 1), _VALUES)

    return plan


def _chain(dims: tuple[int, int]) -> WeightPlan:
    return lambda s: b.multiply(s, b.relu(s, _permuted(dims)(s)), _weight(s, (dims[1], dims[0])))


_PLANS = (_permuted, _summed, _reshaped, _cast, _concatenated, _chain)


def _weight(s: Scope, dims: Sequence[Dim]) -> Value:
    value = b.parameter(s, dims, "float32", _VALUES)
    s.frame.weights.add(value.expr)
    return value


def _draw_plan(s: Scope) -> WeightPlan:
    return s.source.pick(_PLANS)((b.small(s), b.small(s)))


def _used(s: Scope, w: Value) -> Value:
    """A use of the transformed weight with an input: a product, a sum, or one under a name of its own."""
    if s.source.flip(KNOBS.weights.alias):
        w = b.as_tensor(b.alias(s, w))
    assert w.dims is not None
    if s.source.flip(KNOBS.weights.multiplied):
        return b.matmul(s, b.parameter(s, (b.small(s), w.dims[0])), w)
    return b.add(s, b.parameter(s, w.dims), w)


def weight_transform(s: Scope) -> None:
    """Values computed from weights alone that meet an input afterwards; a weight that is also used as it is."""
    w = _draw_plan(s)(s)
    out = _used(s, w)
    if s.source.flip(KNOBS.weights.used_twice):
        out = b.add(s, _used(s, w), b.operand(s, (1,)))
    if s.source.flip(KNOBS.weights.late) and out.dims is not None:
        out = b.add(s, out, _weight(s, out.dims[-1:]))
    if s.source.flip(KNOBS.weights.transform_second):
        w = _draw_plan(s)(s)
        b.keep(s, _used(s, w))
    b.finish(s, out)


def weight_transform_returned(s: Scope) -> None:
    """The same, with the transformed weight, or the weight itself, among the results."""
    w = _draw_plan(s)(s)
    if s.source.flip(KNOBS.weights.transform_used):
        b.keep(s, _used(s, w))
    b.keep(s, b.unary(s, w, exported=True) if s.source.flip(KNOBS.weights.transform_changed) else w)
    if s.source.flip(KNOBS.weights.returned):
        b.keep(s, _weight(s, (2,)))


def weight_transform_shared(s: Scope) -> None:
    """Two public functions that compute the same value, or two different ones, from weights of the same types."""
    plan = _draw_plan(s)
    other = plan if s.source.flip(KNOBS.weights.transform_same) else _draw_plan(s)
    b.finish(s, _used(s, plan(s)))
    frame = FunctionFrame(s.frame.module, symbolic=False, level=1, prefix="x")

    def build(inner: Scope) -> None:
        b.finish(inner, _used(inner, other(inner)))

    function, _ = draw_function(s.source, frame, SIMPLE, s.source.integer(0, 1), [build])
    name = s.frame.module.new_name("second")
    function = function.with_attr("global_symbol", name).with_attr("num_input", frame.num_input)
    s.frame.module.add(name, function)
    s.frame.module.public[name] = frame


def weights_in_branches(s: Scope) -> None:
    """Weights that an If reads in its branches, and a local function of its surroundings."""
    w, v = _weight(s, (2, 3)), _weight(s, (2, 3))
    x = b.parameter(s, (2, 3))

    def one(inner: Scope) -> Value:
        return b.add(inner, x, w)

    def two(inner: Scope) -> Value:
        return b.multiply(inner, x, s.source.pick((w, v)))

    out = either(s, condition(s, x), one, two if s.source.flip() else one)
    if s.source.flip(KNOBS.weights.captured):
        local = closure(s, lambda inner, own: b.add(inner, own, v), (2, 3))
        out = b.as_tensor(s.emit(Drawn(relax.Call(local.gvar, [x.expr]), x.range + v.range)))
    b.finish(s, out)


def scalar_loss(s: Scope) -> None:
    """A small network in one dataflow block: products, activations, a value used twice, one scalar at the end."""
    x = b.parameter(s, (b.small(s), b.small(s)))
    for _ in range(s.source.integer(1, 2)):
        assert x.dims is not None
        x = b.matmul(s, x, b.parameter(s, (x.dims[1], b.small(s))))
        if s.source.flip():
            x = b.add(s, x, b.parameter(s, (x.dims or (1,))[-1:]))
        x = b.unary(s, x, b.SIMPLE_UNARY[:3] + b.SMOOTH_UNARY[:2])
    if s.source.flip():
        x = b.multiply(s, x, x)
    if s.source.flip(KNOBS.weights.loss_through_tuple):
        pair = b.tuple_of(s, x, x)
        x = b.tensor_item(s, pair, s.source.integer(0, 1))
    if s.source.flip(KNOBS.weights.loss_deeper):
        draw_differentiable(s)
    draw_loss(s)


RECIPES = (
    Recipe("weight_transform", weight_transform, wants=Feature.NUM_INPUT),
    Recipe("weight_transform_returned", weight_transform_returned, wants=Feature.NUM_INPUT),
    Recipe("weight_transform_shared", weight_transform_shared, wants=Feature.NUM_INPUT),
    Recipe("weights_in_branches", weights_in_branches, plain=True, wants=Feature.NUM_INPUT),
    Recipe("scalar_loss", scalar_loss, wants=Feature.SCALAR_LOSS),
)
