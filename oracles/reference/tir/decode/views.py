"""New buffers: with memory of their own, and views of the memory of others."""

from __future__ import annotations

from generators import tvm_api
from oracles.reference.errors import Unsupported
from oracles.reference.tir.decode.pointer_kinds import BufferAddress, Pointer, Workspace
from oracles.reference.tir.decode.state import EMPTY, DecodeState
from oracles.reference.tir.nodes import Alloc, Buffer, DType, Seq, Stmt, View


def new_owner(state: DecodeState, name: str, dtype: DType, shape: tuple[int, ...], scope: str = "global") -> Buffer:
    """A new buffer with memory of its own."""
    buffer = Buffer(state.slots, name, dtype, shape, scope=scope)
    state.slots += 1
    return buffer


def view_at(
    state: DecodeState,
    tvm_buffer: tvm_api.Buffer,
    pointer: Pointer,
    dtype: DType,
    shape: tuple[int, ...],
    offset: int,
) -> Stmt:
    """Makes `tvm_buffer` stand for the memory at `pointer`, `offset` elements in; the statement that makes the view."""
    before: Stmt = EMPTY
    if isinstance(pointer, Workspace):
        if pointer.buffer is None:
            extent = -(-pointer.size * 8 // max(8, dtype.bits))
            pointer.buffer = new_owner(state, str(tvm_buffer.name), dtype, (extent,))
            before = Alloc(pointer.buffer)
        pointer = BufferAddress(pointer.buffer)
    if not isinstance(pointer, BufferAddress):
        raise Unsupported("tirx.DeclBuffer[pointer]")
    buffer, stmt = part_of(state, str(tvm_buffer.name), pointer.buffer, dtype, shape, offset)
    state.buffers[tvm_buffer.__chandle__()] = (buffer, None)
    return stmt if before is EMPTY else Seq((before, stmt))


def part_of(
    state: DecodeState, name: str, source: Buffer, dtype: DType, shape: tuple[int, ...], offset: int
) -> tuple[Buffer, Stmt]:
    """A view of a buffer, one for each memory, type, shape and offset in elements; the statement that makes it."""
    if (dtype, shape, offset) == (source.dtype, source.shape, 0):
        return source, EMPTY
    lead = offset * int(dtype.numpy.itemsize)
    key = (source.memory, dtype.name, shape, source.start + lead)
    known = state.views.get(key)
    if known is None:
        known = Buffer(state.slots, name, dtype, shape, source, lead, source.scope)
        state.slots += 1
        state.views[key] = known
    return known, View(known)


def element_units(state: DecodeState) -> dict[int, int]:
    """The smallest element in bytes of each memory that is seen as elements of several sizes."""
    widths: dict[int, set[int]] = {}
    for view in state.views.values():
        whole: Buffer | None = view
        while whole is not None:
            widths.setdefault(view.memory, set()).add(int(whole.dtype.numpy.itemsize))
            whole = whole.source
    return {memory: min(sizes) for memory, sizes in widths.items() if len(sizes) > 1}
