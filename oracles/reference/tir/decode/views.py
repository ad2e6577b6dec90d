"""New buffers: with memory of their own, and views of the memory of others."""

from __future__ import annotations

from functools import reduce
from math import prod

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import fold, is_index
from oracles.reference.tir.decode.pointer_kinds import BufferAddress, ElementAddress, Pointer, Workspace
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Placed, hold
from oracles.reference.tir.decode.variables import new_var
from oracles.reference.tir.nodes import DTYPES, Alloc, Bind, Buffer, Const, DType, Expr, Seq, Stmt, View


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
    strides: tuple[int, ...] | None = None,
) -> Stmt:
    """Makes `tvm_buffer` stand for the memory at `pointer`, `offset` elements in; the statement that makes the view.

    strides: elements from one index to the next in each dimension, where that is not what `shape` says.
    """
    before: Stmt = EMPTY
    state.buffers.placed.pop(tvm_buffer.__chandle__(), None)  # from another call of the same function
    if isinstance(pointer, Workspace):
        if pointer.buffer is None:
            extent = -(-pointer.size * 8 // max(8, dtype.bits))
            pointer.buffer = new_owner(state, str(tvm_buffer.name), dtype, (extent,))
            before = Alloc(pointer.buffer)
        pointer = BufferAddress(pointer.buffer)
    if isinstance(pointer, BufferAddress) and strides is not None:
        pointer = ElementAddress(pointer.buffer, Const(0, DTYPES["int32"]), dtype)
    if isinstance(pointer, ElementAddress):
        stmt = _placed(state, tvm_buffer, pointer, dtype, shape, offset, strides)
    elif isinstance(pointer, BufferAddress):
        buffer, stmt = part_of(state, str(tvm_buffer.name), pointer.buffer, dtype, shape, offset)
        hold(state, tvm_buffer, buffer)
    else:
        raise Unsupported("tirx.DeclBuffer[pointer]")
    return stmt if before is EMPTY else Seq((before, stmt))


def _placed(
    state: DecodeState,
    tvm_buffer: tvm_api.Buffer,
    address: ElementAddress,
    dtype: DType,
    shape: tuple[int, ...],
    offset: int,
    strides: tuple[int, ...] | None,
) -> Stmt:
    """A buffer at an element. Where the place is computed, or the strides are its own, accesses are those of the buffer
    that it lies in."""
    whole, position = address.buffer, address.position
    if not whole.dtype is address.dtype is dtype or tvm_buffer.__chandle__() in state.buffers.lanes:
        raise Unsupported("tirx.DeclBuffer[other elements at an element]")
    if whole.slot in state.buffers.strides:
        raise Unsupported("tirx.DeclBuffer[strides]")
    count = prod(whole.shape)
    if isinstance(position, Const):
        start = int(position.value) + offset
        reach = prod(_within(whole, dtype, shape, start)) if strides is None else _reach(shape, strides)
        if not 0 <= start <= count - reach:
            raise Trap("out-of-bounds", f"{state.name}: {tvm_buffer.name} reaches beyond {whole.name}")
        if strides is None:
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
    state.buffers.placed[tvm_buffer.__chandle__()] = Placed(first, dense(shape) if strides is None else strides)
    return Seq(tuple(before))


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Elements from one index to the next in each dimension of a buffer without gaps in row-major order."""
    return tuple([prod(shape[place + 1 :]) for place in range(len(shape))])


def _reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many elements of memory there are up to the last one of a buffer with these strides, itself included."""
    if not all(shape):
        return 0
    if any(stride < 0 for stride in strides):
        raise Unsupported("tirx.DeclBuffer[strides]")
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def address_of(buffer: Buffer, indices: tuple[Expr, ...]) -> Pointer:
    """The address of an element."""
    if all(isinstance(index, Const) and index.value == 0 for index in indices):
        return BufferAddress(buffer)
    return ElementAddress(buffer, position_at(dense(buffer.shape), indices), buffer.dtype)


def position_at(strides: tuple[int, ...], indices: tuple[Expr, ...]) -> Expr:
    """The position of the element at these indices, of which there is at least one, for these strides."""
    steps = [fold("mul", i, Const(stride, i.dtype), i.dtype) for i, stride in zip(indices, strides, strict=True)]
    return reduce(lambda position, step: fold("add", position, step, position.dtype), steps)


def part_of(
    state: DecodeState, name: str, source: Buffer, dtype: DType, shape: tuple[int, ...], offset: int
) -> tuple[Buffer, Stmt]:
    """A view of a buffer, one for each memory, type, shape and offset in elements; the statement that makes it."""
    shape = _within(source, dtype, shape, offset)
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


def _within(source: Buffer, dtype: DType, shape: tuple[int, ...], offset: int) -> tuple[int, ...]:
    """The shape of a view, cut to its memory where it has one dim: the flat extent of a buffer with strides is by
    definition the whole span of its outermost axis, with the gap after the last element (src/tirx/ir/buffer.cc,
    GetFlattenedBuffer). An access in that gap is out of bounds."""
    held = room_for(dtype, source) - offset
    return (min(shape[0], held),) if len(shape) == 1 and offset >= 0 and held >= 0 else shape


def room_for(dtype: DType, source: Buffer) -> int:
    """How many elements of this type the memory of a buffer holds."""
    return prod(source.shape) * int(source.dtype.numpy.itemsize) // int(dtype.numpy.itemsize)


def element_units(state: DecodeState) -> dict[int, int]:
    """The smallest element in bytes of each memory that is seen as elements of several sizes."""
    widths: dict[int, set[int]] = {}
    for view in state.own.views.values():
        whole: Buffer | None = view
        while whole is not None:
            widths.setdefault(view.memory, set()).add(int(whole.dtype.numpy.itemsize))
            whole = whole.source
    return {memory: min(sizes) for memory, sizes in widths.items() if len(sizes) > 1}
