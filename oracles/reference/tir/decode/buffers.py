"""Definitions of buffers that are no parameters: allocated, declared at a pointer, or matched to a region."""

from __future__ import annotations

import math

from generators import tvm_api
from oracles.ir.walk import items
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.decode.dispatch import buffer_of, constant, expression, pointer
from oracles.reference.tir.decode.pointer_kinds import BufferAddress, Pointer, Stack
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Rules, hold
from oracles.reference.tir.decode.tvm_objects import dtype_of, lanes_of, scalar_of
from oracles.reference.tir.decode.views import dense, new_owner, room_for, view_at
from oracles.reference.tir.nodes import Alloc, Buffer, Const, DType, Expr, Stmt


def new_buffer(state: DecodeState, tvm_buffer: tvm_api.Buffer) -> Buffer:
    """A buffer that the function allocates."""
    dtype, shape = _described(state, tvm_buffer)
    if any(extent < 0 for extent in shape):
        raise Trap("type", f"{state.name}: {tvm_buffer.name} has a negative extent")
    shape += _lane_dimension(state, tvm_buffer)
    decoded = new_owner(state, str(tvm_buffer.name), dtype, shape, str(tvm_buffer.scope()))
    strides = items(tvm_buffer.ty.strides or [])
    if strides:
        state.buffers.strides[decoded.slot] = tuple([constant(state, stride, "strides") for stride in strides])
    hold(state, tvm_buffer, decoded)
    return decoded


def match_buffer(state: DecodeState, match: tvm_api.Node) -> None:
    """A MatchBufferRegion: the buffer is its source at an offset. Accesses are shifted; there is no new memory."""
    source, outer = buffer_of(state, match.source.source)
    if match.source.source.__chandle__() in state.buffers.placed:
        raise Unsupported("s_tir.MatchBufferRegion[a buffer at an element]")
    ranges = items(match.source.region)
    rank = len(match.buffer.ty.shape)
    offsets = tuple(expression(state, r.min) for r in ranges)
    if rank > len(offsets):
        raise Unsupported("s_tir.MatchBufferRegion[rank]")
    if outer is not None:
        lead = len(outer) - len(offsets)
        inner = zip(outer[lead:], offsets, strict=True)
        offsets = (*outer[:lead], *(fold("add", o, i, o.dtype) for o, i in inner))
    state.buffers.known[match.buffer.__chandle__()] = (source, offsets)
    _name_layout(state, match.buffer.ty, source, offsets)


def _name_layout(state: DecodeState, ty: tvm_api.Type, source: Buffer, offsets: tuple[Expr, ...]) -> None:
    """Gives the variables of a matched buffer's offset and strides their values."""
    strides = strides_of(state, source)
    for stride, value in zip(reversed(items(ty.strides or [])), reversed(strides), strict=False):
        if type(stride).__name__ == "Var":
            state.variables.scalars[stride.__chandle__()] = Const(value, dtype_of(stride.ty))
    if type(ty.elem_offset).__name__ == "Var":
        dtype = dtype_of(ty.elem_offset.ty)
        total: Expr = Const(0, dtype)
        for offset, stride in zip(offsets, strides, strict=True):
            total = fold("add", total, fold("mul", offset, Const(stride, dtype), dtype), dtype)
        state.variables.scalars[ty.elem_offset.__chandle__()] = total


def strides_of(state: DecodeState, buffer: Buffer) -> tuple[int, ...]:
    """Elements from one index to the next in each dimension."""
    known = state.buffers.strides.get(buffer.slot)
    if known is not None and len(known) == len(buffer.shape):
        return known
    return dense(buffer.shape)


def _allocation(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    return Alloc(new_buffer(state, node.buffer))


def _declaration(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """A DeclBuffer: the memory at a pointer, with the type and shape of the buffer."""
    ty = node.buffer.ty
    where = pointer(state, node.data)
    if isinstance(where, Stack):
        state.buffers.stacks[node.buffer.__chandle__()] = where
        return EMPTY
    dtype, shape = _described(state, node.buffer)
    offset = constant(state, ty.elem_offset, "tirx.DeclBuffer[elem_offset]") if ty.elem_offset is not None else 0
    lanes = _lane_dimension(state, node.buffer)
    strides = tuple([constant(state, stride, "strides") for stride in items(ty.strides or [])]) or dense(shape)
    rows = _with_gaps(strides, shape)
    if rows == shape or (rows is not None and not lanes and _fits(where, dtype, rows, offset)):
        return view_at(state, node.buffer, where, dtype, rows + lanes, offset * math.prod(lanes))
    if lanes:
        raise Unsupported("tirx.DeclBuffer[strides]")
    return view_at(state, node.buffer, where, dtype, shape, offset, strides)


def _described(state: DecodeState, tvm_buffer: tvm_api.Buffer) -> tuple[DType, tuple[int, ...]]:
    """The scalar type and the constant shape of a buffer."""
    ty, what = tvm_buffer.ty, "an allocation whose extents are computed"
    return scalar_of(ty), tuple([constant(state, extent, what) for extent in items(ty.shape)])


def _lane_dimension(state: DecodeState, tvm_buffer: tvm_api.Buffer) -> tuple[int, ...]:
    """The dimension that the lanes of vector elements add to a buffer's shape; none for scalars."""
    lanes = lanes_of(tvm_buffer.ty)
    if lanes == 1:
        return ()
    state.buffers.lanes[tvm_buffer.__chandle__()] = lanes
    return (lanes,)


def _with_gaps(strides: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of the compact buffer that has the gaps which strides leave after each row; None where they are no
    gaps after rows.

    An index that reaches into a gap is not noticed.
    """
    rows, size = list(shape), 1
    for place, step in reversed(list(enumerate(strides))):
        if step != size and place + 1 < len(shape):
            size //= max(rows[place + 1], 1)
            rows[place + 1] = step // max(size, 1)
            size *= rows[place + 1]
        if step != size or any(row < extent for row, extent in zip(rows, shape, strict=True)):
            return None
        size *= shape[place]
    return tuple(rows)


def _fits(where: Pointer, dtype: DType, shape: tuple[int, ...], offset: int) -> bool:
    """Whether the memory at a pointer is known to hold a buffer of this shape, `offset` elements in."""
    if not isinstance(where, BufferAddress):
        return False
    return offset + math.prod(shape) <= room_for(dtype, where.buffer)


RULES = Rules(statements={"AllocBuffer": _allocation, "DeclBuffer": _declaration})
