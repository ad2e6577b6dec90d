"""Recipes of several products with one common operand, which passes make one of: of unequal widths, each followed by
something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import relax

from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import Scope
from generators.relax.values import Dim, Value
from generators.source import Source, favour


@dataclass(frozen=True, slots=True)
class _Family:
    """Products with a common operand. other_dims: those of the other one for a width; axis: that of the widths in a
    result; bias_dims: those of a bias for a width."""

    other_dims: Callable[[int], list[Dim]]
    product: Callable[[Value], Value]
    axis: int
    bias_dims: Callable[[int], list[Dim]]


def _of_one_lhs(s: Scope, dtype: str) -> _Family:
    m, k = b.side(s), b.side(s)
    x = b.variable(s, [*b.batch(s), m, k], dtype)
    return _Family(lambda n: [k, n], lambda w: b.matmul(s, x, w), -1, lambda n: [n])


def _of_one_rhs(s: Scope, dtype: str) -> _Family:
    k, n = b.side(s), b.side(s)
    w = b.variable(s, [k, n], dtype)
    return _Family(lambda m: [m, k], lambda x: b.matmul(s, x, w), -2, lambda m: [m, 1])


def _of_one_image(s: Scope, dtype: str) -> _Family:
    channels, reach = b.small(s, 3), s.source.pick((1, 3))
    x = b.variable(s, [1, channels, b.small(s) + reach - 1, b.small(s) + reach - 1], dtype)

    def product(w: Value) -> Value:
        call = relax.op.nn.conv2d(x.expr, w.expr)
        return b.call(s, call, (x.range * w.range).summed(channels * reach * reach))

    return _Family(lambda n: [n, channels, reach, reach], product, 1, lambda n: [n, 1, 1])


def _widths(source: Source) -> list[int]:
    """Those of three to five siblings, of which at least two are unequal."""
    widths = [source.integer(1, 4) for _ in range(source.integer(3, 5))]
    if len(set(widths)) == 1:
        widths[source.integer(0, len(widths) - 1)] += 1
    return widths


_ACTIVATIONS: tuple[b.UnaryCall, ...] = (b.SIMPLE_UNARY[0], (relax.op.nn.silu, lambda r: Range(-1, max(r.high, 0))))


def siblings(s: Scope) -> None:
    """Three to five products with a common operand: each has a width of its own, and a bias, an activation, both or
    neither. One may depend on another."""
    dtype = b.float_dtype(s)
    family = favour(s.source, _of_one_lhs, _of_one_rhs, _of_one_image)(s, dtype)
    at_once = s.source.flip(KNOBS.parallel_matmul.ends_at_once)
    made: list[tuple[int, Value]] = []
    for width in _widths(s.source):
        other = b.variable(s, family.other_dims(width), dtype)
        if made and s.source.flip(KNOBS.parallel_matmul.depends):
            other = _depending_on(s, other, made[-1][1])
        product = family.product(other)
        made.append((width, _end(s, family, width, product) if at_once else product))
    ends = [value if at_once else _end(s, family, width, value) for width, value in made]
    if s.source.flip(KNOBS.parallel_matmul.joined):
        return b.finish(s, b.concat(s, ends, family.axis))
    for end in ends:
        b.keep(s, end)
    return None


def _depending_on(s: Scope, other: Value, result: Value) -> Value:
    """The operand, no element larger than a number that is computed from the result."""
    largest = b.call(s, relax.op.max(result.expr), result.range)
    return b.call(s, relax.op.minimum(other.expr, largest.expr), other.range.minimum(largest.range))


def _end(s: Scope, family: _Family, width: int, value: Value) -> Value:
    if s.source.flip():
        value = b.add(s, value, b.variable(s, family.bias_dims(width), value.dtype))
    return b.unary(s, value, _ACTIVATIONS) if s.source.flip() else value


RECIPES = (Recipe("siblings", siblings, for_any=True),)
