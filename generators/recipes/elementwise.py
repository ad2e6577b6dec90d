"""Recipes of elementwise, reduction and reshape chains, and of values that have several uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvm import relax

from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import FLOAT, Scope
from generators.relax.values import Dim, Value
from generators.tvm_api import Expr


def _link(s: Scope, x: Value) -> Value:
    """One elementwise operator: with itself, another tensor, a constant, a broadcast operand, or alone."""
    kind = s.source.integer(0, 4)
    if kind <= 1 or x.range.magnitude > 2**9:
        return b.unary(s, x, b.SIMPLE_UNARY[:3] + b.SMOOTH_UNARY)
    if kind == 2:
        return b.binary(s, x, x)
    if kind == 3 and x.static:
        return b.binary(s, x, b.constant(s, s.source.pick((x.dims or (), ())), x.dtype))
    return b.binary(s, x, s.like(x))


def elementwise_chain(s: Scope) -> None:
    """Two to five elementwise operators in a row, of which some are used once more."""
    x = b.tensor(s)
    links: list[Value] = []
    for _ in range(s.source.integer(2, 5)):
        x = _link(s, x)
        links.append(x)
    b.finish(s, *([s.source.pick(links)] if s.source.flip(KNOBS.elementwise.link_used_again) else []), x)


def elementwise_on_alias(s: Scope) -> None:
    """An operator on a value that lives on through another name, a tuple, a view, or as an output."""
    x = b.unary(s, b.tensor(s, (1, 3)))
    kind = s.source.integer(0, 4)
    if kind == 0:
        other: Any = b.alias(s, x)
    elif kind == 1:
        other = b.tuple_of(s, x, b.tensor(s))
    elif kind == 2:
        other = b.reshaped(s, x, [*(x.dims or ()), 1])
    else:
        other = x
    y = b.add(s, x, x if s.source.flip(KNOBS.shared.added_to_itself) else s.like(x))
    z = b.unary(s, y)
    late = b.tensor_item(s, other, 0) if kind == 1 else b.as_tensor(other)
    if z.dims is not None and s.source.flip(KNOBS.elementwise.alias_read_late):
        # RewriteDataflowReshape makes views of those reshapes alone that are read inside of their block.
        z = b.add(s, z if kind != 2 else b.reshaped(s, z, [*z.dims, 1]), late)
        b.finish(s, z)
    else:
        b.finish(s, z, late)


_HARD = (
    (relax.op.exp, lambda r: Range(0, 2.72)),
    (relax.op.erf, lambda r: Range(-1, 1)),
    (relax.op.tanh, lambda r: Range(-1, 1)),
    (lambda x: relax.op.nn.softmax(x, -1), lambda r: Range(0, 1)),
)


def transcendental_chain(s: Scope) -> None:
    """exp, erf, tanh and softmax after each other, on values that each leaves in range for the next."""
    x = b.tensor(s, (1, 3))
    x = b.call(s, relax.op.tanh(x.expr), Range(-1, 1))
    for _ in range(s.source.integer(1, 3)):
        at_most_one = x.range.high <= 1
        x = b.unary(s, x, _HARD if at_most_one else _HARD[1:])
    b.finish(s, x)


def _reduced(s: Scope, x: Value) -> Value:
    build = s.source.pick((relax.op.sum, relax.op.max, relax.op.min, relax.op.mean))
    values = x.range.summed(x.size) if build is relax.op.sum else x.range.real()
    return b.call(s, build(x.expr, s.axes(x), s.source.flip(KNOBS.shared.keepdims)), values.including(0))


def injective_then_reduce(s: Scope) -> None:
    """Elementwise or moving operators into a reduction, and maybe an elementwise operator after it."""
    x = b.tensor(s, (1, 4))
    y = b.unary(s, x)
    if s.source.flip(KNOBS.elementwise.permuted_before):
        y = b.permuted(s, y, None if s.source.flip() else s.permutation(y.ndim))
    z = _reduced(s, y)
    if s.source.flip(KNOBS.elementwise.unary_after):
        z = b.unary(s, z)
    if s.source.flip(KNOBS.elementwise.reduced_again) and z.shape != () and z.size > 0:
        z = _reduced(s, z)
    b.finish(s, y, z) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, z)


def diamond(s: Scope) -> None:
    """Two ways from one value to another, of different lengths and kinds, joined by one operator."""
    x = b.unary(s, b.tensor(s))
    left = _link(s, x)
    right = x if s.source.flip(KNOBS.elementwise.side_short) else _link(s, x)
    for _ in range(s.source.integer(0, 2)):
        right = b.unary(s, right)
    if s.source.flip(KNOBS.elementwise.side_reduced) and right.ndim > 0:
        right = b.call(s, relax.op.max(right.expr, [-1], True), right.range)
    joined = b.add(s, left, right) if left.range.magnitude < 2**12 else b.binary(s, left, right, b.RING[3:])
    b.finish(s, *([left] if s.source.flip(KNOBS.elementwise.side_returned) else []), joined)


def several_outputs(s: Scope) -> None:
    """Three values of one block that all come out, with uses of each other, aliases and tuples among them."""
    x = b.tensor(s)
    first = b.unary(s, x, exported=True)
    second = b.binary(s, first, x) if first.range.magnitude < 2**9 else b.unary(s, first)
    third: Any = b.alias(s, second, exported=True) if s.source.flip() else b.unary(s, second)
    for value in (first, second, third):
        b.keep(s, value)
    if s.source.flip(KNOBS.elementwise.outputs_in_tuple):
        b.keep(s, b.tuple_of(s, first, second))


def _factored(s: Scope, x: Value) -> list[Dim]:
    """Other dims of the same number of elements: flat, split, with ones, or the same again."""
    assert x.dims is not None
    if not x.static:
        return [*x.dims, 1] if s.source.flip() else [1, *x.dims]
    total = x.size
    kind = s.source.integer(0, 3)
    if kind == 0:
        return [total]
    if kind == 1:
        return list(x.dims)
    divisors = [d for d in range(1, total + 1) if total % d == 0]
    one = s.source.pick(divisors)
    return [one, total // one] if kind == 2 else [1, one, total // one]


def _reshape_chain(s: Scope, x: Value) -> Value:
    steps = s.source.integer(1, 3)
    for index in range(steps):
        last = index == steps - 1
        flat = x.static and s.source.flip(KNOBS.elementwise.flattened)
        if flat:
            x = b.call(s, relax.op.flatten(x.expr), x.range)
        elif last and s.source.flip(KNOBS.elementwise.axis_added):
            x = b.call(s, relax.op.expand_dims(x.expr, 0), x.range)
        else:
            x = b.reshaped(s, x, _factored(s, x))
    return x


def reshape_chain(s: Scope) -> None:
    """reshape of reshape, to the shape it has, flat, through ones, with symbolic dims; the middle used again."""
    x = b.unary(s, b.tensor(s))
    y = b.reshaped(s, x, _factored(s, x))
    z = _reshape_chain(s, y)
    if s.source.flip(KNOBS.elementwise.unary_after):
        z = b.unary(s, z)
    b.finish(s, y, z) if s.source.flip() else b.finish(s, z)


def reshape_of_input(s: Scope) -> None:
    """reshape of a parameter or a constant, whose result is an output, an operand, or both."""
    x = b.variable(s, s.draw_dims((0, 3), nonempty=True), b.float_dtype(s))
    if s.source.flip(KNOBS.elementwise.constant_input) and x.static:
        x = b.constant(s, x.dims or ())
    y = _reshape_chain(s, x)
    b.finish(s, y, b.unary(s, y)) if s.source.flip(KNOBS.elementwise.reshaped_read) else b.finish(s, y)


_LITERALS: tuple[tuple[Callable[..., Expr], Callable[[Range, float, bool], Range]], ...] = (
    (relax.op.add, lambda r, c, left: r + Range(c, c, True)),
    (relax.op.subtract, lambda r, c, left: Range(c, c, True) - r if left else r - Range(c, c, True)),
    (relax.op.multiply, lambda r, c, left: r.scaled(c)),
    (relax.op.minimum, lambda r, c, left: r.minimum(Range(c, c, True))),
    (relax.op.maximum, lambda r, c, left: r.maximum(Range(c, c, True))),
    *(
        (getattr(relax.op, name), lambda r, c, left: Range(0, 1, True))
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    ),
)
"""Operators of two operands that take every number, and their ranges with a number on the left or right."""
_DIVISORS: tuple[Callable[..., Expr], ...] = (relax.op.divide, relax.op.floor_divide, relax.op.mod, relax.op.power)


def _divided(s: Scope, x: Value) -> Value:
    """x divided by a number, a number divided by what is at least one, or a power with such a base."""
    build = s.source.pick(_DIVISORS if x.dtype in FLOAT else _DIVISORS[1:3])
    number = s.source.pick((1, 2, 3))
    if build is relax.op.power:
        base = s.clipped(x, 1, 3) if x.dtype in FLOAT else x
        two, small = b.literal(2, x.dtype), b.literal(number, x.dtype)
        operands = (small, s.clipped(x, 0, 3).expr) if s.source.flip() else (base.expr, two)
        return b.call(s, build(*operands), Range(0, 27))
    if s.source.flip():
        limit = max(x.range.magnitude, number) + 1
        return b.call(s, build(x.expr, b.literal(number, x.dtype)), Range(-limit, limit, x.dtype not in FLOAT))
    divisor = s.clipped(x, 1, 8)
    return b.call(s, build(b.literal(number, x.dtype), divisor.expr), Range(0, 8, x.dtype not in FLOAT))


def literal_operands(s: Scope) -> None:
    """Two to four operators of two operands with a number of rank 0 on either side; of a tensor of rank 0, too."""
    x = s.tensor(("float32", "int32", "float16", "int64", "float64", "int8"), (0, 4), nonempty=True)
    x = x if isinstance(x.expr, relax.Var) else b.variable(s, x.dims or (), x.dtype)
    outs: list[Value] = []
    for _ in range(s.source.integer(2, 4)):
        if s.source.flip(KNOBS.elementwise.literal_divides):
            outs.append(_divided(s, x))
            continue
        build, ranges = s.source.pick(_LITERALS)
        number, left = s.source.pick((0, 1, -1, 2, 3)), s.source.flip()
        literal = b.literal(number, x.dtype)
        operands = (literal, x.expr) if left else (x.expr, literal)
        outs.append(b.call(s, build(*operands), ranges(x.range, number, left)))
        if outs[-1].dtype == x.dtype and s.source.flip():
            x = outs[-1]
    b.finish(s, *outs)


def comparison_results(s: Scope) -> None:
    """Comparisons whose bool results are combined, cast, selected by, and returned."""
    x = b.tensor(s)
    compare = s.source.pick((relax.op.less, relax.op.equal, relax.op.greater_equal, relax.op.not_equal))
    y = s.like(x)
    test = b.call(s, compare(x.expr, y.expr), Range(0, 1, True))
    kind = s.source.integer(0, 3)
    if kind == 0:
        out = b.call(s, relax.op.where(test.expr, x.expr, y.expr), x.range.hull(y.range))
    elif kind == 1:
        out = b.call(s, relax.op.astype(test.expr, "float32"), Range(0, 1, True))
    elif kind == 2:
        other = b.call(s, compare(y.expr, x.expr), Range(0, 1, True))
        out = b.call(s, relax.op.logical_and(test.expr, other.expr), Range(0, 1, True))
    else:
        out = b.call(s, relax.op.logical_not(test.expr), Range(0, 1, True))
    b.finish(s, test, out)


def cast_chain(s: Scope) -> None:
    """astype of astype: through a narrower type, a wider one, to the type it has, to bool and back."""
    # A lossy cast shows on fractions only, and most float contents are whole numbers.
    fractions = s.source.flip()
    x = (
        s.fresh(s.draw_dims(nonempty=True), "float32", Range(-4.5, 4.5))
        if fractions
        else s.tensor(("float32", "int32", "float16", "int64"), low=-8, high=8)
    )
    start = x.dtype
    middle = s.source.pick(("float64", "float16", "int32", "int8", "float32", "bfloat16"))
    y = b.call(s, relax.op.astype(x.expr, middle), _cast(x.range, middle))
    end = start if s.source.flip(KNOBS.elementwise.cast_back) else s.source.pick(("float32", "int64", "float16"))
    z = b.call(s, relax.op.astype(y.expr, end), _cast(y.range, end))
    if s.source.flip(KNOBS.shared.cast_added):
        z = b.add(s, z, s.like(z, low=-8, high=8))
    b.finish(s, y, z) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, z)


def _cast(values: Range, dtype: str) -> Range:
    return Range(values.low, values.high, values.integral or "int" in dtype)


def same_operand_other_attributes(s: Scope) -> None:
    """Two calls of one operator on one operand, of the same type but with different attributes."""
    n = s.source.integer(2, 4)
    x = b.operand(s, (n, n), b.float_dtype(s)) if s.source.flip(KNOBS.elementwise.matrix) else b.operand(s, (n, n, n))
    op = relax.op
    build, axes, values = s.source.pick(
        (
            (op.sum, (0, 1), x.range.summed(n)),
            (op.nn.softmax, (0, -1), Range(0, 1)),
            (op.flip, (0, 1), x.range),
            (op.max, (1, -x.ndim), x.range),
            (op.cumsum, (0, 1), x.range.summed(n).including(0)),
            (op.argmax, (0, 1), Range(0, n - 1, True)),
        )
    )
    outs = [b.call(s, build(x.expr, axis), values) for axis in axes]
    joined = b.binary(s, outs[0], outs[1], b.RING[:2]) if outs[0].dims == outs[1].dims else outs[1]
    b.finish(s, *outs, joined)


RECIPES = (
    Recipe("elementwise_chain", elementwise_chain),
    Recipe("elementwise_on_alias", elementwise_on_alias),
    Recipe("transcendental_chain", transcendental_chain),
    Recipe("injective_then_reduce", injective_then_reduce),
    Recipe("diamond", diamond),
    Recipe("several_outputs", several_outputs),
    Recipe("reshape_chain", reshape_chain, dataflow=True),
    Recipe("reshape_of_input", reshape_of_input, dataflow=True),
    Recipe("literal_operands", literal_operands),
    Recipe("comparison_results", comparison_results),
    Recipe("cast_chain", cast_chain),
    Recipe("same_operand_other_attributes", same_operand_other_attributes),
)
