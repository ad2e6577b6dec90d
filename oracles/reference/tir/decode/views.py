"""New buffers: with memory of their own, and views of the memory of others."""

from __future__ import annotations

from math import prod

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import fold, is_index
from oracles.reference.tir.decode.pointer_kinds import BufferAddress, ElementAddress, Pointer, Workspace
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Placed, hold
from oracles.reference.tir.decode.variables import new_var
from oracles.reference.tir.nodes import Alloc, Bind, Buffer, Const, DType, Expr, Seq, Stmt, View


def new_owner(state: DecodeState, name: str, dtype: DType, shape: tuple[int, ...], scope: str = "global") -> Buffer:
    """A new buffer with memory of its own."""
    buffer = Buffer(state.own.slots, name, dtype, shape, scope=scope)
    state.own.slots += 1
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
    state.buffers.placed.pop(tvm_buffer.__chandle__(), None)  # from another call of the same function
    if isinstance(pointer, Workspace):
        if pointer.buffer is None:
            extent = -(-pointer.size * 8 // max(8, dtype.bits))
            pointer.buffer = new_owner(state, str(tvm_buffer.name), dtype, (extent,))
            before = Alloc(pointer.buffer)
        pointer = BufferAddress(pointer.buffer)
    if isinstance(pointer, ElementAddress):
        return _placed(state, tvm_buffer, pointer, dtype, shape, offset)
    if not isinstance(pointer, BufferAddress):
        raise Unsupported("tirx.DeclBuffer[pointer]")
    buffer, stmt = part_of(state, str(tvm_buffer.name), pointer.buffer, dtype, shape, offset)
    hold(state, tvm_buffer, buffer)
    return stmt if before is EMPTY else Seq((before, stmt))


def _placed(
    state: DecodeState,
    tvm_buffer: tvm_api.Buffer,
    address: ElementAddress,
    dtype: DType,
    shape: tuple[int, ...],
    offset: int,
) -> Stmt:
    """A buffer at an element. Where the place is computed, accesses are those of the buffer that it lies in."""
    whole, position = address.buffer, address.position
    if not whole.dtype is address.dtype is dtype or tvm_buffer.__chandle__() in state.buffers.lanes:
        raise Unsupported("tirx.DeclBuffer[other elements at an element]")
    if whole.slot in state.buffers.strides:
        raise Unsupported("tirx.DeclBuffer[strides]")
    count = prod(whole.shape)
    if isinstance(position, Const):
        start = int(position.value) + offset
        if not 0 <= start <= count - prod(shape):
            raise Trap("out-of-bounds", f"{state.name}: {tvm_buffer.name} reaches beyond {whole.name}")
        part, stmt = part_of(state, str(tvm_buffer.name), whole, dtype, shape, start)
        hold(state, tvm_buffer, part)
        return stmt
    flat, stmt = part_of(state, whole.name, whole, dtype, (count,), 0)
    before = [] if stmt is EMPTY else [stmt]
    if not is_index(position):  # the place stays where it is when what it was computed of changes
        var = new_var(f"{tvm_buffer.name}.place", position.dtype)
        before.append(Bind(var, position))
        position = var
    first = fold("add", position, Const(offset, position.dtype), position.dtype)
    hold(state, tvm_buffer, flat)
    state.buffers.placed[tvm_buffer.__chandle__()] = Placed(first, shape)
    return Seq(tuple(before))


def address_of(buffer: Buffer, indices: tuple[Expr, ...]) -> Pointer:
    """The address of an element."""
    if all(isinstance(index, Const) and index.value == 0 for index in indices):
        return BufferAddress(buffer)
    return ElementAddress(buffer, position_of(buffer.shape, indices), buffer.dtype)


def position_of(shape: tuple[int, ...], indices: tuple[Expr, ...]) -> Expr:
    """The position in row-major order of the element at these indices, of which there is at least one."""
    position = indices[0]
    for extent, index in zip(shape[1:], indices[1:], strict=True):
        scaled = fold("mul", position, Const(extent, position.dtype), position.dtype)
        position = fold("add", scaled, index, position.dtype)
    return position


def part_of(
    state: DecodeState, name: str, source: Buffer, dtype: DType, shape: tuple[int, ...], offset: int
) -> tuple[Buffer, Stmt]:
    """A view of a buffer, one for each memory, type, shape and offset in elements; the statement that makes it."""
    if (dtype, shape, offset) == (source.dtype, source.shape, 0):
        return source, EMPTY
    lead = offset * int(dtype.numpy.itemsize)
    key = (source.memory, dtype.name, shape, source.start + lead)
    known = state.own.views.get(key)
    if known is None:
        known = Buffer(state.own.slots, name, dtype, shape, source, lead, source.scope)
        state.own.slots += 1
        state.own.views[key] = known
    return known, View(known)


def element_units(state: DecodeState) -> dict[int, int]:
    """The smallest element in bytes of each memory that is seen as elements of several sizes."""
    widths: dict[int, set[int]] = {}
    for view in state.own.views.values():
        whole: Buffer | None = view
        while whole is not None:
            widths.setdefault(view.memory, set()).add(int(whole.dtype.numpy.itemsize))
            whole = whole.source
    return {memory: min(sizes) for memory, sizes in widths.items() if len(sizes) > 1}
