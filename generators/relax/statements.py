"""Simple statements: an operator call, an alias, tuples, match_cast, shape values, creation from symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from tvm import relax

from generators import tvm_api
from generators.dtypes import Array, is_float
from generators.operators.specials import ARITHMETIC
from generators.operators.table import OPERATORS
from generators.ranges import Range
from generators.relax.body import Statement
from generators.relax.chains import draw_chain, linked
from generators.relax.knobs import DEFAULT
from generators.relax.nested_tuples import draw_nested_output, draw_tuples_of_tuples
from generators.relax.scope import EVERY, Drawn, Scope
from generators.relax.values import AnyValue, Dim, ShapeValue, TupleValue, Value, dim_expr, ranges_of
from generators.source import favour, weighted
from generators.tvm_api import Expr
from generators.unavailable import Unavailable

V = TypeVar("V", bound=AnyValue)

_ROWS = tuple((row, row.weight) for row in OPERATORS.values())
_BESIDE = tuple(OPERATORS[f"relax.{name}"] for name in ("add", "where", "equal", "concat", "reshape", "permute_dims"))
"""Operators that most values can be operands of."""
_TAKING = tuple(row for row in OPERATORS.values() if row.specials.takes >= ARITHMETIC)
"""Operators that have a meaning for NaN and infinities."""
_COMPARING = (
    tuple(row for row in _TAKING if not row.specials.keeps) + (OPERATORS["relax.where"],) * DEFAULT.special_choices
)
"""Those that give truths about them, or choose."""


def draw_operator(s: Scope) -> None:
    """A call of a random operator of the table."""
    row = weighted(s.source, _ROWS)
    s.frame.module.drawing = row.name
    drawn = row.draw(s)
    if s.frame.is_fixed(drawn.call) and not s.source.flip(s.knobs.fixed_share):
        raise Unavailable("the call depends on no parameter")
    s.emit(drawn)
    s.frame.module.operators[row.name] += 1


def _picked(s: Scope, values: Sequence[V]) -> V:
    if not values:
        raise Unavailable("nothing of this kind in scope")
    return s.source.pick(values)


def draw_alias(s: Scope) -> None:
    """A second name for a variable or a name for a constant."""
    value = _picked(s, [v for v in s.values if not isinstance(v, ShapeValue)])
    s.bind(value.expr, ranges_of(value), value.shape if isinstance(value, Value) else None)


def draw_tuple(s: Scope) -> None:
    """A tuple of one to three values, which may be tuples."""
    count = s.source.integer(1, 3)
    usable: list[AnyValue] = [v for v in s.values if isinstance(v, (Value, TupleValue))]
    parts = [_picked(s, usable) for _ in range(count)]
    expr = s.frame.module.builder.normalize(relax.Tuple([p.expr for p in parts]))
    s.bind(expr, tuple(ranges_of(p) for p in parts))


def draw_tuple_item(s: Scope) -> None:
    """One field of a tuple in scope."""
    whole = _picked(s, [v for v in s.values if isinstance(v, TupleValue) and v.fields])
    s.field(whole, s.source.integer(0, len(whole.fields) - 1))


def draw_match_cast(s: Scope) -> None:
    """A match_cast of a tensor: to its own shape, to a new symbol per dim, or to the shape that its type hides."""
    value = _picked(s, [v for v in s.values if isinstance(v, Value) and v.shape is not None])
    assert value.shape is not None
    dims: list[Dim] = []
    for axis, n in enumerate(value.shape):
        known: Dim = value.dims[axis] if value.dims is not None else n
        fresh = (
            s.frame.symbolic
            and n > 0
            and s.source.flip(s.knobs.operands.cast_known if value.known else s.knobs.operands.cast_hidden)
        )
        dims.append(s.new_late_symbol(n) if fresh else known)
    ty = tvm_api.tensor_type([dim_expr(d) for d in dims], value.dtype)
    local = s.dataflow and not s.source.flip(s.knobs.output_share)
    var = s.frame.new_var(ty, dataflow=local, stem="m")
    s.bindings.append(relax.MatchCast(var, value.expr, ty))
    cast = Value(var, tuple(dims), value.shape, value.dtype, value.range, local)
    s.values.append(cast)
    if value.known and s.source.flip(s.knobs.operands.cast_beside):
        for one in (value, cast):
            linked(s, [one], _BESIDE)


def draw_hidden(s: Scope) -> None:
    """A parameter whose type hides its shape: the rank only, or nothing but the dtype."""
    if not s.frame.open:
        raise Unavailable("no new parameter here")
    dims = s.draw_dims(static=True)
    dtype = weighted(s.source, s.knobs.dtypes)
    ndim = len(dims) if s.source.flip(s.knobs.operands.rank_known) else -1
    ty = tvm_api.tensor_type(None, dtype, ndim)
    shape = tuple(int(d) for d in dims if isinstance(d, int))
    value = s.frame.add_typed_parameter(ty, None, shape, dtype, s.draw_range(dtype))
    s.values.append(value)


def draw_special(s: Scope) -> None:
    """A parameter of floats that NaN and infinities may go into, and operators that have a meaning for them. Other
    statements cannot take the parameter."""
    if not s.frame.open:
        raise Unavailable("no new parameter here")
    dtype = favour(s.source, "float32", "float16", "float64")
    value = s.frame.add_parameter(s.draw_dims(nonempty=True), dtype, s.draw_range(dtype))
    var, spec = s.frame.parameters[-1]
    s.frame.parameters[-1] = var, replace(spec, meant=True)
    result = linked(s, [value], _COMPARING if s.source.flip() else _TAKING)
    if isinstance(result, Value) and is_float(result.dtype) and result.known and s.source.flip():
        linked(s, [result], _TAKING)


def draw_shape_value(s: Scope) -> None:
    """A bound shape: of a tensor (shape_of), or written out."""
    value = s.tensor(EVERY)
    assert value.dims is not None
    if s.source.flip():
        s.emit(Drawn(relax.op.shape_of(value.expr), Range(0, 0)))
    else:
        s.bind(s.frame.module.builder.normalize(s.shape_expr(value.dims)), Range(0, 0))


def draw_from_shape(s: Scope) -> None:
    """A tensor made from a shape value, from symbols alone, or from an expression of symbols."""
    fill = s.source.integer(0, 3)
    shapes = [v for v in s.values if isinstance(v, ShapeValue)]
    if shapes and s.source.flip():
        chosen = s.source.pick(shapes)
        shape, extents = chosen.expr, chosen.shape
    else:
        dims = _symbol_dims(s)
        shape, extents = relax.ShapeExpr(dims), None
    dtype = s.source.pick(("float32", "int64", "int32"))
    call = relax.op.full(shape, tvm_api.constant(_scalar(fill, dtype), dtype), dtype)
    s.emit(Drawn(call, Range(fill, fill, True), extents))


def _scalar(value: int, dtype: str) -> Array:
    return np.array(value, dtype)


def _symbol_dims(s: Scope) -> list[Expr]:
    """One or two dims over the function's symbols: n, n + 1, n * 2 + 1, n // 2."""
    symbols = [v for v in s.frame.symbols if v.name not in s.frame.late or v.name in s.late]
    if not symbols:
        raise Unavailable("no symbol in this function")
    dims: list[Expr] = []
    for _ in range(s.source.integer(1, 2)):
        n = s.source.pick(symbols)
        dims.append(favour(s.source, n, n + 1, n * 2 + 1, n * 2, n // 2 + 1))
    return dims


def draw_constant(s: Scope) -> None:
    """A constant with the shape and dtype of one in scope and other content, used at once."""
    twins = [v for v in s.values if isinstance(v, Value) and not isinstance(v.expr, relax.Var) and v.static]
    dims: tuple[Dim, ...] = s.source.pick(twins).dims or () if twins else s.draw_dims(static=True)
    dtype = s.source.pick([t.dtype for t in twins]) if twins else "float32"
    fresh = s.constant(dims, dtype, s.draw_range(dtype))
    other = s.like(fresh)
    if dtype == "bool":
        raise Unavailable("no arithmetic on bool")
    s.emit(Drawn(relax.op.add(other.expr, fresh.expr), other.range + fresh.range))


SIMPLE = (
    Statement("operator", 60, draw_operator),
    Statement("chain", 20, draw_chain),
    Statement("alias", 4, draw_alias),
    Statement("tuple", 4, draw_tuple),
    Statement("tuple item", 4, draw_tuple_item),
    Statement("tuples of tuples", 1, draw_tuples_of_tuples),
    Statement("nested output", 1, draw_nested_output),
    Statement("match_cast", 4, draw_match_cast),
    Statement("special floats", 4, draw_special),
    Statement("shape value", 2, draw_shape_value),
    Statement("from shape", 3, draw_from_shape),
    Statement("twin constant", 2, draw_constant),
    Statement("hidden shape", 1, draw_hidden),
)
