"""Integers that wrap around, and what tells: comparisons of sums and differences, also with numbers; and one_hot of
indices that are no places, with what reads it.

At the level of operators an integer that leaves its dtype wraps; lowered, TVM leaves it open (apache/tvm#12383). So
comparisons that wrap are for passes under test that name them: after LegalizeOps nothing of the module is decided.
"""

from __future__ import annotations

from tvm import relax, tirx

from generators.dtypes import integer_limits
from generators.ranges import NARROW, TRUTH, Range, ends_of, of_values
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import Scope
from generators.relax.values import Value
from generators.source import favour

_COMPARISONS = (
    *(relax.op.less, relax.op.greater, relax.op.less_equal),
    *(relax.op.greater_equal, relax.op.equal, relax.op.not_equal),
)


def wrapped_comparisons(s: Scope) -> None:
    """Comparisons of sums, differences, negated and doubled numbers of a dtype up to its ends, with a number or with
    another such value; two that a pass may take for one, or a choice by one."""
    dtype = s.source.pick(NARROW)
    dims = tuple(s.draw_dims((1, 2), static=True, nonempty=True))
    x = b.parameter(s, dims, dtype, ends_of(dtype)[0])
    made = [_computed(s, x) for _ in range(s.source.integer(1, 2))]
    truths = [_compared(s, s.source.pick(made), x) for _ in range(s.source.integer(1, 3))]
    if s.source.flip(KNOBS.elementwise.chosen_by_wrapped):
        call = relax.op.where(truths[-1].expr, x.expr, made[-1].expr)
        return b.finish(s, b.call(s, call, x.range), *truths)
    return b.finish(s, *truths)


def _computed(s: Scope, x: Value) -> Value:
    """A sum, difference or product with another tensor or with a number, either first; a negated number."""
    build = s.source.pick((relax.op.subtract, relax.op.add))
    if s.source.flip(KNOBS.elementwise.wrapped_otherwise):
        build = s.source.pick((relax.op.negative, relax.op.multiply))
    if build is relax.op.negative and not x.dtype.startswith("u"):
        return b.call(s, build(x.expr), x.range)
    build = relax.op.subtract if build is relax.op.negative else build
    if s.source.flip(KNOBS.elementwise.wrapped_by_number):
        other = b.literal(_number(s, x.dtype), x.dtype)
    else:
        assert x.dims is not None
        dims = favour(s.source, x.dims, x.dims[-1:])
        other = b.parameter(s, dims, x.dtype, s.source.pick(ends_of(x.dtype))).expr
    return b.call(s, build(*favour(s.source, (x.expr, other), (other, x.expr))), x.range)


def _number(s: Scope, dtype: str) -> int:
    """A small number, or one near an end of the dtype."""
    low, high = integer_limits(dtype)
    small = s.source.integer(max(low, -2), 3)
    return favour(s.source, small, high - s.source.integer(0, 2), low + s.source.integer(0, 2))


def _compared(s: Scope, value: Value, x: Value) -> Value:
    """Most often with zero, else with a number, or with what it was computed of."""
    other = favour(s.source, b.literal(0, value.dtype), b.literal(_number(s, value.dtype), value.dtype), x.expr)
    pair = (value.expr, other) if s.source.flip(KNOBS.elementwise.wrapped_first) else (other, value.expr)
    return b.call(s, s.source.pick(_COMPARISONS)(*pair), TRUTH)


def one_hot_beyond(s: Scope) -> None:
    """one_hot of indices of which some are no places, multiplied by a table, summed along one of its axes, or weighed:
    what a rewrite makes a take of, or a number of."""
    depth, width = s.source.integer(2, 5), b.small(s)
    dtype = s.source.pick(("float32", "int64"))  # the dtypes of numbers that the row of one_hot knows
    on, off = (1, 0) if s.source.flip(KNOBS.elementwise.plain_one_hot) else (s.source.integer(-2, 3), 1)
    rank, beyond = favour(s.source, 1, 2), s.source.integer(1, 2)
    index_dtype = favour(s.source, "int64", "int32", "int8")
    dims = tuple([b.small(s) + 1 for _ in range(rank)])
    places = Range(-beyond, depth - 1 + beyond, True)
    index = s.constant(dims, index_dtype, places) if s.source.flip() else b.parameter(s, dims, index_dtype, places)
    number = float if dtype.startswith("float") else int
    values = of_values(on, off)

    def marked(axis: int) -> Value:
        numbers = (tirx.const(number(one), dtype) for one in (on, off))
        return b.call(s, relax.op.one_hot(index.expr, *numbers, depth, axis), values)

    kind = favour(s.source, "multiplied", "summed", "weighed")
    if kind == "multiplied":
        return b.finish(s, b.matmul(s, marked(-1), b.operand(s, (depth, width), dtype)))
    hot = marked(favour(s.source, -1, 0))
    if kind == "summed":
        axis = s.axis(hot)
        assert hot.dims is not None
        return b.finish(s, b.call(s, relax.op.sum(hot.expr, axis), values.summed(max(depth, *dims))))
    weights = b.operand(s, hot.dims or (), dtype)
    weighed = b.multiply(s, hot, weights)
    total = b.call(s, relax.op.max(weighed.expr, [s.axis(weighed)]), weighed.range)
    return b.finish(s, weighed, total)


RECIPES = (
    Recipe("wrapped_comparisons", wrapped_comparisons, costly=True),
    Recipe("one_hot_beyond", one_hot_beyond),
)
