"""Products that are transposed, or whose factors are: of every dtype that a product takes, narrow integers and mixed
signs too, with batches, and with what moves, cuts or joins elements before or after."""

from __future__ import annotations

from dataclasses import dataclass

from tvm import relax

from generators.operators.linear import MIXED, WIDER
from generators.operators.table import OPERATORS
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.chains import linked
from generators.relax.scope import FLOAT, INTEGER, Scope
from generators.relax.values import Dim, Value, extent
from generators.source import favour
from generators.unavailable import Unavailable

_MOVERS = tuple(
    OPERATORS[f"relax.{name}"]
    for name in (
        *("reshape", "strided_slice", "concat", "flip", "take", "sum"),
        *("squeeze", "expand_dims", "broadcast_to", "permute_dims", "astype"),
    )
)
"""Operators that rewrites move over a product, or take parts of it for parts of a factor."""


@dataclass(frozen=True, slots=True)
class _ProductForm:
    """The factors of (.., m, k) @ (.., k, n): their dtypes, dims, and the dtype of the product where it is named."""

    dtypes: tuple[str, str]
    left: tuple[Dim, ...]
    right: tuple[Dim, ...]
    wider: str | None


def _factors(s: Scope) -> _ProductForm:
    source = s.source
    dtype = source.pick(INTEGER if source.flip(KNOBS.turned_matmul.integers) else FLOAT)
    wider = source.pick(WIDER[dtype]) if source.flip(KNOBS.turned_matmul.wider) else None
    other = source.pick(MIXED.get(dtype, (dtype,))) if wider else dtype
    lead = b.batch(s)
    m, k, n = (source.integer(2, 5) for _ in range(3))
    if source.flip(KNOBS.turned_matmul.square):
        k = n = m
    return _ProductForm((dtype, other), (*lead, m, k), (*favour(source, lead, ()), k, n), wider)


def turned_products(s: Scope) -> None:
    """A product of which a factor, both or the result are transposed; in some cases the transposed product and that of
    the transposed factors."""
    factors = _factors(s)
    if s.source.flip(KNOBS.turned_matmul.both_ways):
        left, right = _factor(s, factors, 0), _factor(s, factors, 1)
        one = _swapped(s, _product(s, factors, left, right))
        two = _product(s, factors, _swapped(s, right), _swapped(s, left))
        return b.finish(s, one, two)
    which = s.source.pick(((0,), (1,), (0, 1), ()))
    left, right = (_factor(s, factors, n, turned=n in which) for n in range(2))
    product = _product(s, factors, left, right)
    out = product if which and s.source.flip() else _swapped(s, product)
    return b.finish(s, product, _moved(s, out) if s.source.flip(KNOBS.turned_matmul.moved_after) else out)


def _factor(s: Scope, factors: _ProductForm, number: int, *, turned: bool = False) -> Value:
    """A factor; turned: as the transposition of another value, which may itself be moved from elsewhere."""
    dims, dtype = (factors.left, factors.right)[number], factors.dtypes[number]
    if not turned:
        return b.operand(s, dims, dtype)
    before = b.operand(s, (*dims[:-2], dims[-1], dims[-2]), dtype)
    if s.source.flip(KNOBS.turned_matmul.moved_before):
        before = b.call(s, relax.op.flip(before.expr, s.axis(before)), before.range)
    return _swapped(s, before)


def _swapped(s: Scope, x: Value) -> Value:
    """The last two axes in the other order, written in one of the ways."""
    rank = x.ndim
    if rank == 2 and s.source.flip(KNOBS.matmul.axes_absent):
        return b.permuted(s, x, None)
    order = [*range(rank - 2), rank - 1, rank - 2]
    return b.permuted(s, x, [a - rank for a in order] if s.source.flip(KNOBS.matmul.axes_negative) else order)


def _product(s: Scope, factors: _ProductForm, left: Value, right: Value) -> Value:
    assert left.dims is not None
    values = (left.range * right.range).summed(extent(left.dims[-1]))
    return b.call(s, relax.op.matmul(left.expr, right.expr, out_dtype=factors.wider), values)


def _moved(s: Scope, x: Value) -> Value:
    """What one of the operators that move elements makes of it."""
    result = linked(s, [x], _MOVERS)
    if not isinstance(result, Value):
        raise Unavailable("no tensor")
    return result


RECIPES = (Recipe("turned_products", turned_products),)
