"""What stands beside the operand of a call in a chain: a constant, or what stood there in the call before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from tvm import relax

from generators import tvm_api
from generators.dtypes import INTEGERS, integer_limits, is_float
from generators.operators.row import Operator, Rounding
from generators.ranges import Range
from generators.relax.knobs import SPECIAL
from generators.relax.scope import INTEGER, Drawn, Scope
from generators.relax.values import Dim, Value
from generators.source import favour
from generators.unavailable import Unavailable


def takes_literal(values: Sequence[Value]) -> bool:
    """Whether a constant can stand beside these operands."""
    return len(values) == 1 and values[0].dtype != "bool" and values[0].dims is not None


def with_literal(s: Scope, values: Sequence[Value], last: Operator | None) -> list[Value]:
    """The operands of a link: the value, which the last operator gave, and a constant."""
    dtype, dims = values[0].dtype, values[0].dims
    assert dims is not None
    known = all(isinstance(dim, int) and dim for dim in dims)
    channels = last is not None and last.rank is not None
    share = s.knobs.beside.along_channels if channels else s.knobs.beside.along_axis
    if known and len(dims) > 1 and s.source.flip(share):
        literal = _along_an_axis(s, dims, dtype, channels)
    else:
        cast = last is not None and last.rounding is Rounding.CAST
        one = s.source.pick([n for n in _literals(s, dtype, cast) if n >= 0 or not dtype.startswith("u")])
        literal = s.constant(dims if known and s.source.flip() else (), dtype, Range(one, one, True))
    return [literal, *values] if s.source.flip() else [*values, literal]


def _literals(s: Scope, dtype: str, cast: bool) -> Sequence[int]:
    """Numbers that are neutral or absorbing for some operators; of wide integers also those next to the ends of
    narrower ones, most often where a cast has made them wide."""
    ends = _ends_within(dtype) if dtype in INTEGER else ()
    return ends if ends and s.source.flip(s.knobs.beside.ends_after_cast if cast else s.knobs.beside.ends) else SPECIAL


@cache
def _ends_within(dtype: str) -> tuple[int, ...]:
    """The ends of the integer dtypes that this one holds, and the numbers next to them."""
    low, high = integer_limits(dtype)
    held = [ends for ends in map(integer_limits, INTEGERS) if low <= ends[0] and ends[1] < high]
    return tuple(sorted({n + step for ends in held for n in ends if n for step in (-1, 0, 1) if n + step}))


def _along_an_axis(s: Scope, dims: Sequence[Dim], dtype: str, channels: bool) -> Value:
    """A constant with a number for each index of one of several axes, as a bias has, most often the second. channels:
    where one of the axes is that of channels, it is not the first."""
    axis = favour(s.source, 1, len(dims) - 1, *(() if channels else (0,)))
    lead = [1] * axis if s.source.flip() else []
    low = 0 if dtype.startswith("u") else -2
    return s.constant([*lead, dims[axis], *[1] * (len(dims) - 1 - axis)], dtype, Range(low, 3, True))


def another_like(s: Scope, value: Value) -> Value:
    """A new value of the same dims and dtype, which may stand where this one does; itself where none can be made."""
    low = value.range.low if is_float(value.dtype) and value.range.low > 0 else -math.inf
    try:
        return value if value.dims is None else s.fresh(value.dims, value.dtype, s.draw_range(value.dtype, low))
    except Unavailable:
        return value


def origin_of(drawn: Drawn) -> str:
    """The dtype of a call's first operand; "" where that is no tensor."""
    first = drawn.call.args[0] if isinstance(drawn.call, relax.Call) and drawn.call.args else None
    ty = None if first is None else tvm_api.type_of(first)
    return str(ty.dtype) if isinstance(ty, tvm_api.TensorType) else ""


def beside_of(s: Scope, drawn: Drawn, values: Sequence[Value]) -> list[Value]:
    """The operands of a call that are none of these values; where there are none, those after the first."""
    args = [*drawn.call.args] if isinstance(drawn.call, relax.Call) else []
    named = [v for arg in args[0 if values else 1 :] for v in s.values if isinstance(v, Value) and v.expr.same_as(arg)]
    return [v for v in named if not any(v.expr.same_as(value.expr) for value in values)]
