"""Functions that are equal but for one thing: what takes them for one makes a mistake, which no type shows where they
have the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TypeAlias

from tvm import relax, te, tirx

from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.functions import called, finish_result, private
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import Scope
from generators.relax.tir_calls import TeFunction, call_of, kernel_of
from generators.relax.values import AnyValue, Dim, Value, extent
from generators.source import Choice, Echo, favour


def private_twins(s: Scope) -> None:
    """Two private functions of one type, both called, that are equal but for one thing: an operator, the order of its
    operands, an axis, the numbers of a constant; or in all."""
    dims = [b.small(s)] * s.source.integer(2, 3)
    _call_each(s, [(dims, body) for body in s.source.pick(_DIFFERENCES)(s, dims)])


def private_copies(s: Scope) -> None:
    """Two to four private functions of one body, all called: each has a static shape of its own, or that of another."""
    rank, make = s.source.integer(1, 2), s.source.pick(_OF_ANY_SHAPE)
    shapes: list[Sequence[Dim]] = []
    for _ in range(s.source.integer(2, 4)):
        again = shapes and s.source.flip(KNOBS.functions.copy_of_same_shape)
        shapes.append(s.source.pick(shapes) if again else [b.small(s) for _ in range(rank)])
    _call_each(s, [(dims, make(s, dims)) for dims in shapes])


_Body: TypeAlias = Callable[[Scope, Value, Value], Value]
"""The result of a twin, made of its two parameters without a choice."""


def _call_each(s: Scope, twins: Sequence[tuple[Sequence[Dim], _Body]]) -> None:
    """Calls a private function for each of these dims of both parameters, and bodies, with the same choices in each."""
    given: list[Choice] = []
    for dims, body in twins:

        def build(inner: Scope, dims: Sequence[Dim] = dims, body: _Body = body) -> None:
            b.finish(inner, body(inner, b.parameter(inner, dims), b.parameter(inner, dims)))

        source = s.source
        s.source = echo = Echo(source, given)
        try:
            callee = private(s, build, count=0)
        finally:
            s.source, given = source, echo.given
        finish_result(s, called(s, callee))


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


# --- bodies for any shape --------------------------------------------------------------------------------


def _summed(s: Scope, dims: Sequence[Dim]) -> _Body:
    def body(inner: Scope, x: Value, y: Value) -> Value:
        total = b.call(inner, relax.op.sum(x.expr, [0], True), x.range.summed(extent(dims[0])).hull(x.range))
        return b.add(inner, total, y)

    return body


def _flat(s: Scope, dims: Sequence[Dim]) -> _Body:
    count = prod(extent(dim) for dim in dims)
    return lambda inner, x, y: b.reshaped(inner, b.add(inner, x, y), [count])


def _beside_filled(s: Scope, dims: Sequence[Dim]) -> _Body:
    def body(inner: Scope, x: Value, y: Value) -> Value:
        filled = b.call(inner, relax.op.ones(inner.shape_expr(dims), x.dtype), Range(1, 1, True))
        return b.add(inner, b.binary(inner, x, filled, (_SUBTRACT,)), y)

    return body


def _beside_constant(s: Scope, dims: Sequence[Dim]) -> _Body:
    constant = b.constant(s, dims)
    return lambda inner, x, y: b.add(inner, b.add(inner, x, constant), y)


def _plain(s: Scope, dims: Sequence[Dim]) -> _Body:
    return b.add


_OF_ANY_SHAPE = (_summed, _flat, _beside_filled, _beside_constant, _plain)


# --- kernels ---------------------------------------------------------------------------------------------


def kernel_twins(s: Scope) -> None:
    """Calls of two or three PrimFuncs that are equal but for a number, the order of operands, or their shape; or in
    all."""
    rank, number = s.source.integer(1, 2), s.source.integer(1, 3)
    first = _Scaled(tuple(b.small(s) for _ in range(rank)), number, swapped=False)
    change = s.source.pick(("number", "order", "shape", "nothing"))
    for index in range(s.source.integer(2, 3)):
        kernel = first
        if index and change == "number":
            kernel = replace(first, number=number + index)
        elif index and change == "order":
            kernel = replace(first, swapped=index % 2 == 1)
        elif index and change == "shape":
            kernel = replace(first, shape=tuple(b.small(s) for _ in range(rank)))
        x, y = (s.tensor(("float32",), dims=kernel.shape) for _ in range(2))
        finish_result(s, b.as_tensor(_called_kernel(s, kernel, x, y)))


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A PrimFunc that gives A * number - B, or with the operands in the other order."""

    shape: tuple[int, ...]
    number: int
    swapped: bool


def _called_kernel(s: Scope, kernel: _Scaled, x: Value, y: Value) -> AnyValue | None:
    a, c = (te.placeholder(kernel.shape, "float32", name=name) for name in "AB")
    one, two = (c, a) if kernel.swapped else (a, c)
    factor = tirx.const(kernel.number, "float32")
    out = te.compute(kernel.shape, lambda *i: one(*i) * factor - two(*i), name="scaled")
    left, right = (y, x) if kernel.swapped else (x, y)
    values = left.range.scaled(kernel.number) - right.range
    body = TeFunction([a, c, out], [(kernel.shape, "float32")], (values,))
    return call_of(s, kernel_of(s, body), [x, y], body)


RECIPES = (
    Recipe("private_twins", private_twins, for_any=True),
    Recipe("private_copies", private_copies),
    Recipe("kernel_twins", kernel_twins),
)
