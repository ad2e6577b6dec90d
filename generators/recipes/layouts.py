"""Recipes of what follows a convolution whose layout is converted: operators that a layout passes through."""

from __future__ import annotations

from functools import cache

import tvm
from tvm import relax

from generators.operators.row import Operator
from generators.operators.table import OPERATORS
from generators.recipes import blocks as b
from generators.recipes.bindings import cast_to
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.chains import linked
from generators.relax.scope import Drawn, Scope
from generators.relax.values import AnyValue, TupleValue, Value
from generators.source import favour
from generators.unavailable import Unavailable

_INFERS = "FRelaxInferLayout"
"""The attribute of operators that ConvertLayout has code for."""
_SOURCE = "relax.nn.conv2d"
_OFTEN = frozenset(
    f"relax.{name}"
    for name in (
        *("squeeze", "expand_dims", "gather_elements", "image.resize2d", "nn.adaptive_avg_pool2d", "repeat", "split"),
        *("concat", "permute_dims", "strided_slice", "nn.max_pool2d", "nn.pad", "sum", "nn.softmax", "add", "flip"),
    )
)
"""Operators whose code looks at the layout's axes, or at their names."""


@cache
def _passing() -> tuple[Operator, ...]:
    """The operators that a layout passes through; those whose code looks at its axes three times."""
    rows = [
        row for name, row in OPERATORS.items() if name != _SOURCE and tvm.ir.Op.get(name).get_attr(_INFERS) is not None
    ]
    return tuple(row for row in rows for _ in range(3 if row.name in _OFTEN else 1))


def _image(s: Scope) -> Value:
    """A batch of images in NCHW whose channels packed layouts divide, in most cases."""
    channels = favour(s.source, 4, 8, 2) if s.source.flip(KNOBS.layouts.divisible) else b.small(s, 6)
    n = favour(s.source, 1, 2)
    return b.operand(s, (n, channels, s.source.pick((1, 3, 4, 5)), s.source.pick((2, 3, 4))))


def _conv(s: Scope, x: Value) -> Value:
    """conv2d with outputs that packed layouts divide, in most cases."""
    assert x.shape is not None
    _, channels, height, width = x.shape
    groups = channels if s.source.flip(KNOBS.layouts.depthwise) else 1
    outputs = favour(s.source, 4, 8, 2) if s.source.flip(KNOBS.layouts.divisible) else b.small(s, 6)
    outputs = channels if groups > 1 else outputs
    kernel = (min(s.source.integer(1, 2), height), min(s.source.integer(1, 3), width))
    w = b.operand(s, (outputs, channels // groups, *kernel))
    call = relax.op.nn.conv2d(x.expr, w.expr, padding=favour(s.source, 0, 1), groups=groups)
    return b.call(s, call, (x.range * w.range).including(0).summed(channels // groups * kernel[0] * kernel[1]))


def _through_tuple(s: Scope, x: Value) -> Value:
    """x as a field of a tuple, whose fields are in different layouts."""
    whole = b.tuple_of(s, x, s.like(x)) if s.source.flip() else b.tuple_of(s, b.tuple_of(s, x, x), s.like(x))
    first = b.item(s, whole, 0)
    if s.source.flip(KNOBS.layouts.tuple_returned):
        b.keep(s, whole)
    return b.as_tensor(b.item(s, first, s.source.integer(0, 1)) if isinstance(first, TupleValue) else first)


def _split_and_joined(s: Scope, x: Value) -> Value:
    """The halves of x along an axis, joined in the other order or along another axis."""
    assert x.dims is not None
    axes = [a for a, n in enumerate(x.dims) if isinstance(n, int) and n >= 2 and n % 2 == 0]
    if not axes:
        raise Unavailable("no axis to halve")
    whole = s.emit(Drawn(relax.op.split(x.expr, 2, s.source.pick(axes)), x.range))
    halves = [b.tensor_item(s, whole, k) for k in (1, 0)]
    axis = s.source.integer(-x.ndim, x.ndim - 1)
    return b.call(s, relax.op.concat([h.expr for h in halves], axis), x.range)


def _follow(s: Scope, x: Value) -> Value:
    """One step after the convolution."""
    if x.dims is None or x.size == 0:
        raise Unavailable("nothing to go on with")
    if s.source.flip(KNOBS.layouts.operator):
        result: AnyValue | None = linked(s, [x], _passing())
        if isinstance(result, TupleValue):
            result = b.item(s, result, s.source.integer(0, len(result.fields) - 1))
        return b.as_tensor(result)
    step = s.source.pick((_through_tuple, _split_and_joined, lambda s, x: cast_to(s, x, x.dims), b.relu))
    return step(s, x)


def converted_conv2d(s: Scope) -> None:
    """conv2d, one to three steps that its layout passes through or ends at, and maybe another conv2d."""
    first = value = _conv(s, _image(s))
    for _ in range(s.source.integer(1, 3)):
        value = _follow(s, value)
        images = value.static and value.ndim == 4 and value.dtype == "float32" and value.size > 0
        if images and s.source.flip(KNOBS.layouts.second_conv):
            value = _conv(s, value)
    b.finish(s, first, value) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, value)


RECIPES = (Recipe("converted_conv2d", converted_conv2d, dataflow=True),)
