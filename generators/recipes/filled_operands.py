"""Recipes of operators with an operand of one number in each element, which may decide the shape of the result: then
the result is not the other operand, whatever the number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tvm import relax

from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import Scope
from generators.relax.values import Dim, Value
from generators.source import favour
from generators.tvm_api import Expr

_Dims: TypeAlias = tuple[Dim, ...]
_OPERATORS: tuple[tuple[b.BinaryCall, int, bool], ...] = (
    ((relax.op.add, Range.__add__), 0, True),
    ((relax.op.multiply, Range.__mul__), 1, True),
    ((relax.op.subtract, Range.__sub__), 0, False),
    ((relax.op.divide, lambda a, c: a.real()), 1, False),
)
"""Operators, each with the number that leaves the other operand as it is, and whether also on the left."""
_OTHERS: tuple[tuple[b.BinaryCall, tuple[int, ...]], ...] = (
    ((relax.op.add, Range.__add__), (1, -1)),
    ((relax.op.multiply, Range.__mul__), (0, -1, 2)),
    ((relax.op.subtract, Range.__sub__), (1, 2)),
    ((relax.op.maximum, Range.maximum), (0, 1)),
)
"""Operators with numbers that do not."""


def filled_operands(s: Scope) -> None:
    """An operator on a value and an operand full of one number, which is larger than the value, as large, or smaller
    along an axis; or each is larger than the other one along an axis."""
    dtype = favour(s.source, "float32", "float16", "float64")
    x_dims, filled_dims = favour(s.source, _decided, _both, _whole, _smaller)(s)
    out = _joined(s, b.variable(s, x_dims, dtype), filled_dims)
    if s.source.flip(KNOBS.elementwise.filled_again) and out.dims is not None:
        out = _joined(s, out, (s.draw_extent(1), *(1 for _ in out.dims)) if out.ndim < 3 else out.dims)
    b.finish(s, out)


def _joined(s: Scope, x: Value, dims: _Dims) -> Value:
    if s.source.flip(KNOBS.elementwise.filled_neutral):
        (build, values), number, either = s.source.pick(_OPERATORS)
    else:
        ((build, values), numbers), either = s.source.pick(_OTHERS), True
        number = s.source.pick(numbers)
    filled = _filled(s, dims, x.dtype, number)
    pair = (filled, x) if either and s.source.flip() else (x, filled)
    return b.call(s, build(*(value.expr for value in pair)), values(*(value.range for value in pair)))


def _filled(s: Scope, dims: _Dims, dtype: str, number: int) -> Value:
    """A tensor of one number: created, created like another one, broadcast, or a constant."""
    values, literal, shape = Range(number, number, True), b.literal(number, dtype), s.shape_expr(dims)
    create, create_like = relax.op.full, relax.op.full_like
    given: tuple[Expr, ...] = (literal,)
    if number in _OF_NUMBER and s.source.flip():
        (create, create_like), given = _OF_NUMBER[number], ()
    kind = favour(s.source, "created", "like", "broadcast", "constant")
    if kind == "constant" and all(isinstance(n, int) for n in dims):
        return s.constant(dims, dtype, values)
    if kind == "like":
        return b.call(s, create_like(b.operand(s, dims, dtype).expr, *given), values)
    if kind == "broadcast":
        return b.call(s, relax.op.broadcast_to(literal, shape), values)
    return b.call(s, create(shape, *given, dtype), values)


_OF_NUMBER: dict[int, tuple[Callable[..., Expr], Callable[..., Expr]]] = {
    0: (relax.op.zeros, relax.op.zeros_like),
    1: (relax.op.ones, relax.op.ones_like),
}
"""What creates a tensor of a number that it is not given, and what creates one like another."""


# --- the dims of both operands ---------------------------------------------------------------------------


def _of_result(s: Scope) -> _Dims:
    return s.draw_dims((1, 3), nonempty=True)


def _narrowed(s: Scope, dims: _Dims) -> _Dims:
    """Dims that broadcast to these, with one element along some axes or without some."""
    narrow = tuple(1 if s.source.flip(KNOBS.elementwise.filled_dim_of_one) else dim for dim in dims)
    if narrow == dims or s.source.flip():
        narrow = narrow[s.source.integer(1, len(narrow)) :]
    return narrow


def _decided(s: Scope) -> tuple[_Dims, _Dims]:
    """The filled operand has the dims of the result, and the value has not."""
    dims = _of_result(s)
    return _narrowed(s, dims), dims


def _both(s: Scope) -> tuple[_Dims, _Dims]:
    """Each has one element along an axis of the other."""
    pairs = [s.source.pick(((dim, 1), (1, dim), (dim, dim))) for dim in _of_result(s)]
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


def _whole(s: Scope) -> tuple[_Dims, _Dims]:
    dims = _of_result(s)
    return dims, dims


def _smaller(s: Scope) -> tuple[_Dims, _Dims]:
    """The value has the dims of the result."""
    dims = _of_result(s)
    return dims, _narrowed(s, dims)


RECIPES = (Recipe("filled_operands", filled_operands),)
