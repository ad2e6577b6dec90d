"""The buffer and the indices that an access of a TVM buffer means."""

from __future__ import annotations

from typing import TypeAlias

from generators import tvm_api
from oracles.ir.walk import items
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.decode.dispatch import at_lane, buffer_of, current_lane, expression
from oracles.reference.tir.decode.state import DecodeState, Placed
from oracles.reference.tir.decode.views import position_at
from oracles.reference.tir.nodes import DTYPES, Buffer, Cast, Const, Expr

INT32 = DTYPES["int32"]
PREDICATES = tvm_api.has_field(tvm_api.TensorLoad, "predicate")
"""Whether loads and stores can have a mask of lanes; if not, they are masked by calls."""


Element: TypeAlias = tuple[Buffer, tuple[Expr, ...]]
"""A buffer and the indices of one of its elements."""


def refuse_predicate(node: tvm_api.Node) -> None:
    """Raises Unsupported for a load or store of some lanes only, a field that TVM 0.26 has and 0.27 has not."""
    if PREDICATES and node.predicate is not None:
        raise Unsupported(f"tirx.{type(node).__name__}[predicate]")


def access(state: DecodeState, tvm_buffer: tvm_api.Buffer, tvm_indices: tvm_api.Node) -> Element:
    """The buffer and the indices of one element. Trap("type") for a wrong number of indices."""
    if state.buffers.lanes:
        width = state.buffers.lanes.get(tvm_buffer.__chandle__())
        if width is not None:
            return _vector_access(state, tvm_buffer, tvm_indices, width)
    buffer, offsets = buffer_of(state, tvm_buffer)
    indices = tuple([expression(state, index) for index in items(tvm_indices)])
    if state.buffers.placed and (place := state.buffers.placed.get(tvm_buffer.__chandle__())) is not None:
        return buffer, (_in_place(state, str(tvm_buffer.name), place, indices),)
    if offsets is not None:
        lead = len(offsets) - len(indices)
        shifted = (fold("add", o, i, o.dtype) for o, i in zip(offsets[lead:], indices, strict=True))
        indices = offsets[:lead] + tuple(shifted)
    if len(indices) != len(buffer.shape):
        raise Trap("type", f"{state.name}: {buffer.name} has rank {len(buffer.shape)}, indexed by {len(indices)}")
    return buffer, indices


def _in_place(state: DecodeState, name: str, place: Placed, indices: tuple[Expr, ...]) -> Expr:
    """The position of an element of a buffer that lies in another one."""
    if len(indices) != len(place.strides):
        raise Trap("type", f"{state.name}: {name} has rank {len(place.strides)}, indexed by {len(indices)}")
    if not indices:
        return place.first
    position, first = position_at(place.strides, indices), place.first
    if isinstance(first, Const):
        first = Const(first.value, position.dtype)
    if position.dtype is not first.dtype:
        position = Cast(position, first.dtype)
    return fold("add", first, position, first.dtype)


def _vector_access(state: DecodeState, tvm_buffer: tvm_api.Buffer, tvm_indices: tvm_api.Node, width: int) -> Element:
    """An access of a buffer with vector elements: the last dimension counts the `width` lanes of one."""
    lane, size = current_lane(state, "vector element"), Const(width, INT32)
    buffer, offsets = buffer_of(state, tvm_buffer)
    if offsets is not None:
        raise Unsupported("s_tir.MatchBufferRegion[vector elements]")
    with at_lane(state, fold("floordiv", lane, size, INT32)):
        indices = tuple(expression(state, index) for index in tvm_indices)
    if len(indices) + 1 != len(buffer.shape):
        raise Trap("type", f"{state.name}: {buffer.name} has rank {len(buffer.shape) - 1}, not {len(indices)}")
    return buffer, (*indices, fold("floormod", lane, size, INT32))
