"""Slices with begin, end and stride per axis: strided_slice, and dynamic_strided_slice with tensors for them.

Both follow Python's slices: negative positions count from the end and positions outside are clipped
(topi's CanonicalizeIndex). A slice whose end lies before its begin is not drawn: its extent would be negative.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm.relax import op

from generators.dtypes import Array
from generators.operators.indexing import index_constant
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.relax.scope import EVERY, Drawn, Scope
from generators.relax.values import SymbolicDim, Value
from generators.source import favour
from generators.tvm_api import Expr, Var

FAR = 2**63 - 1
"""The end that exporters write for "to the end"."""


def _draw_span(s: Scope, length: int, stride: int) -> tuple[int, int]:
    """Clipped (begin, end) of a slice that is not turned round: in [0, length], or [-1, length - 1] going back."""
    if length and s.source.flip(KNOBS.slicing.nonempty):
        first = s.source.integer(0, length - 1) if s.source.flip() else 0
        count = max(s.source.integer(1, length - first), s.source.integer(1, length - first))
        return (first, first + count) if stride > 0 else (first + count - 1, first - 1)
    if stride > 0:
        begin = s.source.integer(0, length)
        return begin, s.source.integer(begin, length)
    begin = s.source.integer(-1, length - 1) if s.source.flip() else length - 1
    return begin, s.source.integer(-1, begin)


def _written(s: Scope, position: int, length: int, stride: int) -> int:
    """A number that is clipped to `position`: itself, counted from the end, or far outside."""
    first, last = (0, length) if stride > 0 else (-1, length - 1)
    if position == last and s.source.flip(KNOBS.slicing.end_beyond):
        return FAR if s.source.flip() else last + s.source.integer(1, 3)
    if position < 0 or (position == first and s.source.flip(KNOBS.slicing.begin_beyond)):
        return -length - 1 - s.source.integer(0, 2)
    return position - length if position < length and s.source.flip(KNOBS.slicing.from_the_end) else position


def _long(s: Scope) -> tuple[int, ...] | None:
    """In some cases many elements along the last axis: with a stride too, a slice then leaves several, of which another
    slice takes some."""
    return (s.source.pick((6, 8, 12)),) if s.source.flip(KNOBS.slicing.long) else None


def _draw_strided_slice(s: Scope) -> Drawn:
    """Strides may be left out; `assume_inbound` goes with bounds in range and positive strides.

    With a negative one TVM infers the extent by a ceiling division that holds for positive divisors only.
    """
    x = s.tensor(EVERY, (1, 5), minimum=_long(s))
    assert x.dims is not None
    inbound = s.source.flip(KNOBS.slicing.inbound)
    stepped = s.source.flip(KNOBS.slicing.stepped)
    chosen = [a for a in range(x.ndim) if s.source.flip()] or [s.source.integer(0, x.ndim - 1)]
    begins, ends, strides = [], [], []
    for axis in chosen:
        stride = s.source.pick((1, 2, 3, 1, 2) if inbound else (1, 2, 3, -1, -2)) if stepped else 1
        dim = x.dims[axis]
        begin, end = (
            _draw_symbolic_bounds(s, dim, stride, inbound)
            if isinstance(dim, SymbolicDim)
            else _draw_bounds(s, dim, stride, inbound)
        )
        begins.append(begin)
        ends.append(end)
        strides.append(stride)
    negative = KNOBS.slicing.negative_axis if x.static else KNOBS.slicing.negative_axis_beside_symbol
    axes = [a - x.ndim if s.source.flip(negative) else a for a in chosen]
    call = op.strided_slice(x.expr, axes, begins, ends, strides if stepped else None, inbound)
    return Drawn(call, x.range)


def _draw_bounds(s: Scope, length: int, stride: int, inbound: bool) -> tuple[int, int]:
    begin, end = _draw_span(s, length, stride)
    return (begin, end) if inbound else (_written(s, begin, length, stride), _written(s, end, length, stride))


def _draw_symbolic_bounds(s: Scope, dim: SymbolicDim, stride: int, inbound: bool) -> tuple[int, Expr | int]:
    """Bounds that keep their order whatever extent of at least 1 a symbol has.

    An expression of symbols may be 0: then only bounds that are clipped, or begin at 0, keep it.

    Going back, 32-bit numbers stand for "far": TVM adds 1 to them when it simplifies the extent.
    """
    if inbound:
        return s.source.integer(0, 1) if isinstance(dim.expr, Var) else 0, dim.expr
    if stride < 0:
        return s.source.pick((-1, 2**31 - 1)), s.source.pick((-(2**31), -1))
    begin = s.source.integer(-2, 2)
    if begin < 0:
        return begin, s.source.pick((FAR, -1, dim.expr))
    return begin, s.source.pick((FAR, dim.expr, begin + 1))


def _strided_slice(
    x: Array,
    axes: Sequence[int],
    begin: Sequence[int] | Array,
    end: Sequence[int] | Array,
    strides: Sequence[int] | None = None,
    assume_inbound: bool = False,
) -> Array:
    where = [slice(None)] * x.ndim
    for axis, first, last, stride in zip(axes, begin, end, strides or (1,) * len(axes), strict=True):
        where[axis] = slice(*_canonical(first, last, stride, x.shape[axis]))
    return x[tuple(where)]


def _canonical(begin: int, end: int, stride: int, length: int) -> tuple[int, int | None, int]:
    """Bounds for a Python slice, where -1 as a clipped end would mean the last element."""
    first, last, step = slice(int(begin), int(end), int(stride)).indices(length)
    return (first, last if last >= 0 else None, step) if first >= 0 else (0, 0, 1)


def _draw_dynamic_strided_slice(s: Scope) -> Drawn:
    """The bounds are constants, or tensors that hold one known number, so that the result's shape is known."""
    x = s.tensor(EVERY, (1, 5), static=True, minimum=_long(s))
    assert x.shape is not None
    rows = []
    for length in x.shape:
        stride = favour(s.source, 1, 2, 3, -1, -2) if length else 1
        begin, end = _draw_span(s, length, stride)
        rows.append((_written(s, begin, length, stride), _written(s, end, length, stride), stride))
    begins, ends, strides = (list(column) for column in zip(*rows, strict=True))
    operands = [_bounds(s, numbers) for numbers in (begins, ends, strides)]
    shape = tuple(
        len(range(n)[slice(*_canonical(b, e, t, n))]) for b, e, t, n in zip(begins, ends, strides, x.shape, strict=True)
    )
    return Drawn(op.dynamic_strided_slice(x.expr, *(o.expr for o in operands)), x.range, shape)


def _bounds(s: Scope, numbers: list[int]) -> Value:
    if len(set(numbers)) == 1 and abs(numbers[0]) < 64 and s.source.flip():
        return s.tensor(("int64",), dims=(len(numbers),), low=numbers[0], high=numbers[0])
    return index_constant(s, numbers)


def _dynamic_strided_slice(x: Array, begin: Array, end: Array, strides: Array) -> Array:
    return _strided_slice(x, range(x.ndim), begin, end, tuple(np.asarray(strides)))


OPERATORS = (
    Operator("relax.strided_slice", _draw_strided_slice, _strided_slice, Rounding.MOVE, ("assume_inbound",), weight=7),
    Operator("relax.dynamic_strided_slice", _draw_dynamic_strided_slice, _dynamic_strided_slice, Rounding.MOVE,
             weight=2, sized_by_values=True),
)  # fmt: skip
