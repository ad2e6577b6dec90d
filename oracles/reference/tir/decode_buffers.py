"""Decoding of buffers that are no parameters: allocated, declared somewhere in memory, or matched to a region."""

from __future__ import annotations

import math
from typing import Any

from oracles.ir.walk import items
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.decode_exprs import fold, scalar_of
from oracles.reference.tir.decode_lanes import LaneDecoder
from oracles.reference.tir.decode_pointers import EMPTY, Address, Pointer, Stack
from oracles.reference.tir.nodes import Buffer, DType, Stmt


class BufferDecoder(LaneDecoder):
    """Adds the definitions of buffers."""

    def describe(self, buffer: Any) -> tuple[DType, tuple[int, ...]]:
        """The element type and the constant shape of a buffer that is no parameter."""
        ty = buffer.ty
        shape = tuple([self.constant(extent, "an allocation whose extents are computed") for extent in items(ty.shape)])
        return scalar_of(ty), shape

    def new_buffer(self, buffer: Any) -> Buffer:
        """A buffer of the function's own."""
        dtype, shape = self.describe(buffer)
        if any(extent < 0 for extent in shape):
            raise Trap("type", f"{self.name}: {buffer.name} has a negative extent")
        decoded = self.owner(str(buffer.name), dtype, shape + self.elements(buffer), str(buffer.scope()))
        self.buffers[buffer.__chandle__()] = (decoded, None)
        return decoded

    def match(self, match: Any) -> None:
        """A matched buffer is its source at an offset: accesses are rewritten, and no new storage appears."""
        source, outer = self.buffer(match.source.source)
        ranges = items(match.source.region)
        rank = len(match.buffer.ty.shape)
        offsets = tuple(self.expr(r.min) for r in ranges)
        if rank > len(offsets):
            raise Unsupported("s_tir.MatchBufferRegion[rank]")
        if outer is not None:
            lead = len(outer) - len(offsets)
            inner = zip(outer[lead:], offsets, strict=True)
            offsets = (*outer[:lead], *(fold("add", o, i, o.dtype) for o, i in inner))
        self.buffers[match.buffer.__chandle__()] = (source, offsets)

    def declare(self, node: Any) -> Stmt:
        """A DeclBuffer: the memory at a pointer, seen as the buffer says."""
        ty = node.buffer.ty
        pointer = self.pointer(node.data)
        if isinstance(pointer, Stack):
            self.stacks[node.buffer.__chandle__()] = pointer
            return EMPTY
        dtype, shape = self.describe(node.buffer)
        offset = self.constant(ty.elem_offset, "tirx.DeclBuffer[elem_offset]") if ty.elem_offset is not None else 0
        lanes = self.elements(node.buffer)
        rows = self._with_gaps(ty, shape)
        if rows != shape and (lanes or not _fits(pointer, dtype, rows, offset)):
            raise Unsupported("tirx.DeclBuffer[strides]")
        return self.view(node.buffer, pointer, dtype, rows + lanes, offset * math.prod(lanes))

    def _with_gaps(self, ty: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape with the gaps that strides leave behind its rows; elements lie one behind the other in that one.

        What an index does that reaches into a gap is not noticed.
        """
        rows, size = list(shape), 1
        for place, stride in reversed(list(enumerate(items(ty.strides or [])))):
            step = self.constant(stride, "strides")
            if step != size and place + 1 < len(shape):
                size //= max(rows[place + 1], 1)
                rows[place + 1] = step // max(size, 1)
                size *= rows[place + 1]
            if step != size or any(row < extent for row, extent in zip(rows, shape, strict=True)):
                raise Unsupported("tirx.DeclBuffer[strides]")
            size *= shape[place]
        return tuple(rows)


def _fits(pointer: Pointer, dtype: DType, shape: tuple[int, ...], offset: int) -> bool:
    """Whether the memory at a pointer is known to hold so many elements."""
    if not isinstance(pointer, Address):
        return False
    held = math.prod(pointer.buffer.shape) * pointer.buffer.dtype.numpy.itemsize
    return bool((offset + math.prod(shape)) * dtype.numpy.itemsize <= held)
