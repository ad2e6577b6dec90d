"""Operators that join, split, repeat or reverse tensors along axes: concat, stack, split, tile, flip and others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm.relax import Tuple, op

from generators.dtypes import Array
from generators.operators.knobs import KNOBS
from generators.operators.row import moving
from generators.ranges import Range, hull_of
from generators.relax.scope import EVERY, INDEX, Drawn, Scope
from generators.relax.values import Dim, TupleValue, Value
from generators.source import favour
from generators.tvm_api import Expr, Var
from generators.unavailable import Unavailable

Fits = Callable[[list[Value]], bool]


def _tuple_in_scope(s: Scope, fits: Fits) -> tuple[Var, list[Value]] | None:
    """A tuple that a variable is bound to, whose fields are tensors of one dtype and `fits`; None half of the time."""
    if not s.source.flip():
        return None
    near = []
    for value in s.values:
        if isinstance(value, TupleValue) and value.fields:
            fields = [f for f in value.fields if isinstance(f, Value) and f.dims is not None]
            if len(fields) == len(value.fields) and len({f.dtype for f in fields}) == 1 and fits(fields):
                near.append((value.expr, fields))
    return s.source.pick(near) if near else None


def _hull(values: list[Value]) -> Range:
    return hull_of(value.range for value in values)


def _tuple_of(values: list[Value]) -> Expr:
    return Tuple([v.expr for v in values])


# --- concat, stack, meshgrid ---------------------------------------------------------------------------------


def _joinable(fields: list[Value]) -> list[int]:
    """The axes along which tensors of one rank may be joined: all other dims are the same."""
    rank = fields[0].ndim
    if any(f.ndim != rank for f in fields):
        return []
    columns = list(zip(*(f.dims or () for f in fields), strict=True))
    unlike = [axis for axis, dims in enumerate(columns) if len(set(dims)) > 1]
    return unlike if len(unlike) == 1 else [] if unlike else list(range(rank))


def _draw_concat(s: Scope) -> Drawn:
    """One to four operands, of which one may stand twice; without an axis all are one-dimensional."""
    leading = list(s.leading)
    if len(leading) > 1 and len({part.dtype for part in leading}) == 1 and (axes := _joinable(leading)):
        s.leading.clear()
        return Drawn(op.concat(_tuple_of(leading), s.source.pick(axes)), _hull(leading))
    found = _tuple_in_scope(s, lambda fields: bool(_joinable(fields)))
    if found is not None:
        axis = s.source.pick(_joinable(found[1])) - (found[1][0].ndim if s.source.flip() else 0)
        return Drawn(op.concat(found[0], axis), _hull(found[1]))
    flat = s.source.flip(KNOBS.shared.unlowerable)  # rare: its lowering takes no absent axis
    first = s.tensor(EVERY, (1, 1) if flat else (1, 5))
    assert first.dims is not None
    axis = s.axis(first)
    parts = [first]
    for _ in range(favour(s.source, 1, 2, 3, 0)):
        dims: list[Dim] = list(first.dims)
        if s.source.flip(KNOBS.joining.other_length):
            dims[axis] = s.draw_extent()
        parts.append(first if s.source.flip(KNOBS.joining.same_part) else s.tensor((first.dtype,), dims=dims))
    return Drawn(op.concat(_tuple_of(parts), None if flat else axis), _hull(parts))


def _concat(tensors: tuple[Array, ...], axis: int | None) -> Array:
    return np.concatenate(tensors, 0 if axis is None else axis)


def _draw_stack(s: Scope) -> Drawn:
    found = _tuple_in_scope(s, lambda fields: len({f.dims for f in fields}) == 1)
    if found is not None:
        operands, parts = found
    else:
        first = s.tensor(EVERY)
        parts = [first] + [
            first if s.source.flip(KNOBS.joining.same_part) else s.like(first) for _ in range(s.source.integer(0, 3))
        ]
        operands = _tuple_of(parts)
    rank = parts[0].ndim + 1
    return Drawn(op.stack(operands, s.source.integer(-rank, rank - 1)), _hull(parts))


def _draw_meshgrid(s: Scope) -> Drawn:
    """ "xy" is drawn for first operands of one length: for others TVM's inferred type keeps the order of "ij".

    A single operand is rare: its lowering gives a tensor where the type is a tuple of one.
    """
    least = 1 if s.source.flip(KNOBS.shared.unlowerable) else 2
    found = _tuple_in_scope(s, lambda fields: len(fields) >= least and all(f.ndim == 1 for f in fields))
    if found is not None:
        operands, parts = found
    else:
        first = s.tensor(EVERY, (1, 1))
        parts = [first]
        for _ in range(s.source.integer(least - 1, 2)):
            parts.append(
                s.like(first) if s.source.flip(KNOBS.joining.same_length) else s.tensor((first.dtype,), (1, 1))
            )
        operands = _tuple_of(parts)
    square = len(parts) < 2 or parts[0].dims == parts[1].dims
    return Drawn(op.meshgrid(operands, "xy" if square and s.source.flip() else "ij"), tuple(p.range for p in parts))


def _meshgrid(tensors: tuple[Array, ...], indexing: str | None) -> tuple[Array, ...]:
    return tuple(np.meshgrid(*tensors, indexing="xy" if indexing == "xy" else "ij"))


# --- split -------------------------------------------------------------------------------------------------------


def _draw_split(s: Scope) -> Drawn:
    """Into sections (the last may be short or empty) or at indices; the axis is a number."""
    x = s.tensor(EVERY, (1, 5), minimum=(1,))
    axis = s.axis(x)
    assert x.dims is not None
    length = x.dims[axis]
    if not isinstance(length, int) or length == 0:
        raise Unavailable("no axis that can be split")
    where: int | list[int]
    if s.source.flip():
        where = s.source.pick([k for k in (2, 1, 3, 4, 5) if -(-length // k) * (k - 1) <= length])
    else:
        where = sorted({s.source.integer(1, length) for _ in range(s.source.integer(1, 3))})
        if s.source.flip(KNOBS.shared.unlowerable):  # an empty first part, or a part that lies beyond the end
            where = [0, *where] if s.source.flip() else [*where, length + 1]
    return Drawn(op.split(x.expr, where, axis), x.range)


def _split(x: Array, indices_or_sections: int | tuple[int, ...], axis: int) -> Array | tuple[Array, ...]:
    """A tuple of parts; `x` itself for one section, as relax.split's type inference has it."""
    length = x.shape[axis]
    if isinstance(indices_or_sections, int):
        step = -(-length // indices_or_sections)
        indices_or_sections = tuple(step * i for i in range(1, indices_or_sections))
    if not indices_or_sections:
        return x
    return tuple(np.split(x, indices_or_sections, axis))


# --- repetition and reversal --------------------------------------------------------------------------------------


def _draw_tile(s: Scope) -> Drawn:
    x = s.tensor(EVERY)
    if s.source.flip(KNOBS.joining.tile_number):
        return Drawn(op.tile(x.expr, s.source.integer(1, 3)), x.range)
    count = s.source.integer(1, min(x.ndim + 1, 5))
    return Drawn(op.tile(x.expr, [favour(s.source, 1, 2, 3) for _ in range(count)]), x.range)


def _draw_repeat(s: Scope) -> Drawn:
    x = s.tensor(EVERY, (0, 5) if s.source.flip(KNOBS.shared.unlowerable) else (1, 5))
    axis = None if x.ndim == 0 or s.source.flip(KNOBS.shared.axis_absent) else s.axis(x)
    return Drawn(op.repeat(x.expr, s.source.integer(1, 3), axis), x.range)


def _draw_flip(s: Scope) -> Drawn:
    x = s.tensor(EVERY, (1, 5))
    return Drawn(op.flip(x.expr, s.axis(x)), x.range)


def _draw_reverse_sequence(s: Scope) -> Drawn:
    """Lengths below 1 count as 1 and lengths beyond the axis as its extent (topi.reverse_sequence)."""
    x = s.tensor(EVERY, (2, 5))
    assert x.dims is not None
    batch, sequence = (a % x.ndim for a in s.permutation(x.ndim)[:2])
    length, batches = x.dims[sequence], x.dims[batch]
    if not isinstance(length, int) or not isinstance(batches, int):
        raise Unavailable("the lengths need a static axis")
    slack = 2 if s.source.flip(KNOBS.joining.lengths_beyond) else 0
    lengths = s.tensor(INDEX, dims=(batches,), low=-slack, high=length + slack)
    negative = s.source.flip(KNOBS.shared.negative_axis)
    axes = (sequence - x.ndim, batch - x.ndim) if negative else (sequence, batch)
    return Drawn(op.reverse_sequence(x.expr, lengths.expr, *axes), x.range)


def _reverse_sequence(x: Array, lengths: Array, seq_axis: int, batch_axis: int) -> Array:
    rows = np.moveaxis(x, (batch_axis, seq_axis), (0, 1))
    result = rows.copy()
    for row, length in enumerate(np.clip(lengths, 0, rows.shape[1])):
        result[row, :length] = rows[row, :length][::-1]
    return np.moveaxis(result, (0, 1), (batch_axis, seq_axis))


OPERATORS = (
    moving("concat", _draw_concat, _concat, ("axis",), 8),
    moving("stack", _draw_stack, lambda tensors, axis: np.stack(tensors, axis or 0), ("axis",), 4),
    moving("meshgrid", _draw_meshgrid, _meshgrid, ("indexing",), 2),
    moving("split", _draw_split, _split, ("indices_or_sections", "axis"), 7),
    moving("tile", _draw_tile, lambda x, repeats: np.tile(x, repeats), ("repeats",), 3),
    moving("repeat", _draw_repeat, lambda x, repeats, axis: np.repeat(x, repeats, axis), ("repeats", "axis"), 3),
    moving("flip", _draw_flip, lambda x, axis: np.flip(x, axis), ("axis",), 3),
    moving("reverse_sequence", _draw_reverse_sequence, _reverse_sequence, ("seq_axis", "batch_axis"), 2),
)
