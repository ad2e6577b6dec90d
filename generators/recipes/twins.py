"""Private functions that are equal but for one thing: what takes them for one makes a mistake that no type shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from tvm import relax

from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.functions import called, finish_result, private
from generators.recipes.recipe import Recipe
from generators.relax.scope import Scope
from generators.relax.values import Dim, Value, extent
from generators.source import Choice, Echo, favour


def private_twins(s: Scope) -> None:
    """Two private functions of one type, both called, that are equal but for one thing: an operator, the order of its
    operands, an axis, the numbers of a constant; or in all."""
    dims = [b.small(s)] * s.source.integer(2, 3)
    given: list[Choice] = []
    for body in s.source.pick(_DIFFERENCES)(s, dims):

        def build(inner: Scope, body: _Body = body) -> None:
            b.finish(inner, body(inner, b.parameter(inner, dims), b.parameter(inner, dims)))

        source = s.source
        s.source = echo = Echo(source, given)
        try:
            callee = private(s, build, count=0)
        finally:
            s.source, given = source, echo.given
        finish_result(s, called(s, callee))


_Body: TypeAlias = Callable[[Scope, Value, Value], Value]
"""The result of a twin, made of its two parameters without a choice."""


def _by_operator(s: Scope, dims: Sequence[Dim]) -> Sequence[_Body]:
    first = s.source.integer(0, len(_OPERATORS) - 1)
    second = (first + s.source.integer(1, len(_OPERATORS) - 1)) % len(_OPERATORS)
    return [partial(b.binary, table=(_OPERATORS[place],)) for place in (first, second)]


def _by_order(s: Scope, dims: Sequence[Dim]) -> Sequence[_Body]:
    difference = partial(b.binary, table=(_SUBTRACT,))
    return [difference, lambda inner, x, y: difference(inner, y, x)]


def _by_axis(s: Scope, dims: Sequence[Dim]) -> Sequence[_Body]:
    def along(axis: int) -> _Body:
        def body(inner: Scope, x: Value, y: Value) -> Value:
            call = relax.op.cumsum(x.expr, axis)
            return b.add(inner, b.call(inner, call, x.range.summed(extent(dims[axis])).hull(x.range)), y)

        return body

    return [along(0), along(-1)]


def _by_number(s: Scope, dims: Sequence[Dim]) -> Sequence[_Body]:
    def beside(constant: Value) -> _Body:
        return lambda inner, x, y: b.add(inner, b.add(inner, x, constant), y)

    shape = favour(s.source, dims, [1], [])
    return [beside(b.constant(s, shape)) for _ in range(2)]


def _in_nothing(s: Scope, dims: Sequence[Dim]) -> Sequence[_Body]:
    return [b.add, b.add]


_SUBTRACT: b.BinaryCall = (relax.op.subtract, Range.__sub__)
_OPERATORS: tuple[b.BinaryCall, ...] = (
    (relax.op.add, Range.__add__),
    _SUBTRACT,
    (relax.op.maximum, Range.maximum),
    (relax.op.minimum, Range.minimum),
)
_DIFFERENCES = (_by_operator, _by_order, _by_axis, _by_number, _in_nothing)
"""The bodies of twins, by what tells them apart."""

RECIPES = (Recipe("private_twins", private_twins),)
