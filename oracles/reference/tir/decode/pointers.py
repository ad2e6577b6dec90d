"""Pointers, and the numbers read through them: the packed calling convention as MakePackedAPI and LowerTVMBuiltin
write it.

A function is decoded for one binding of its arguments, so that their number, types, shapes and strides are known. The
checks of a packed function's header fold to constants, and pointers to data become buffers.
"""

from __future__ import annotations

from functools import cache
from math import prod

from generators import tvm_api
from oracles.ir.walk import items
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.decode.abi import (
    ANY_BOOL,
    ANY_FLOAT,
    ANY_INT,
    ANY_TENSOR,
    ANY_TYPE_INDEX,
    ANY_VALUE,
    BYTE_OFFSET,
    DATA,
    DEVICE_ID,
    DEVICE_TYPE,
    DL_CODES_BY_NAME,
    DL_CPU,
    DL_TYPE_CODES,
    INT64_ELEMENT,
    NDIM,
    SHAPE,
    STRIDES,
    TENSOR_ADDRESS,
    TYPE_BITS,
    TYPE_CODE,
    TYPE_LANES,
)
from oracles.reference.tir.decode.access import access
from oracles.reference.tir.decode.dispatch import at_lane, buffer_of, constant, data_of, expression, pointer
from oracles.reference.tir.decode.pointer_kinds import (
    NULL,
    Arguments,
    BufferAddress,
    ElementAddress,
    Extents,
    Null,
    PackedArgument,
    Pointer,
    Stack,
    StackElement,
    TensorHandle,
    Workspace,
)
from oracles.reference.tir.decode.state import DecodeState, Rules
from oracles.reference.tir.decode.tvm_objects import POINTER_TYPE, dtype_of, lanes_of, scalar_of
from oracles.reference.tir.decode.views import address_of
from oracles.reference.tir.nodes import DTYPES, Buffer, Cast, Const, DType, Expr

# --- pointers ---------------------------------------------------------------------------------------------------------


def _buffer_data(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    return data_of(state, node.args[0])


def _reinterpreted(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    value = node.args[0]
    if type(value.ty).__name__ == POINTER_TYPE:
        return pointer(state, value)
    address = expression(state, value)
    if not isinstance(address, Const) or address.value != 0:
        raise Unsupported("pointer from a number")
    return NULL


def _address_of(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    load = node.args[0]
    stack = state.buffers.stacks.get(load.source.__chandle__())
    indices = [expression(state, index) for index in items(load.indices)]
    first = all(isinstance(index, Const) and index.value == 0 for index in indices)
    if stack is None and first and buffer_of(state, load.source)[1] is None:
        return data_of(state, load.source)
    index = indices[0] if len(indices) == 1 else None
    if stack is None:
        return _element_address(state, load)
    if not isinstance(index, Const):
        raise Unsupported("tirx.address_of")
    return StackElement(stack, int(index.value))


def _element_address(state: DecodeState, load: tvm_api.Expr) -> Pointer:
    """The address of an element, of its first lane where it is a vector."""
    if load.source.__chandle__() in state.buffers.lanes:
        raise Unsupported("tirx.address_of[vector elements]")
    with at_lane(state, Const(0, DTYPES["int32"])):
        buffer, indices = access(state, load.source, load.indices)
    if len(indices) > 1 and buffer.slot in state.buffers.strides:
        raise Unsupported("tirx.address_of[strides]")
    return address_of(buffer, indices)


def _access_ptr(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    """`tvm_access_ptr(type, pointer, offset, extent, mask)`: the address some elements of this type on."""
    element, base, offset = items(node.args)[:3]
    where, dtype, lanes = pointer(state, base), scalar_of(element.ty), lanes_of(element.ty)
    moved = fold("mul", expression(state, offset), Const(lanes, dtype_of(offset.ty)), dtype_of(offset.ty))
    match where:
        case BufferAddress(buffer) if buffer.dtype is dtype and len(buffer.shape) == 1:
            return address_of(buffer, (moved,))
        case BufferAddress(buffer):
            return ElementAddress(buffer, moved, dtype)
        case ElementAddress(buffer, position, elements) if elements is dtype:
            if position.dtype is not moved.dtype:
                moved = Cast(moved, position.dtype)
            return ElementAddress(buffer, fold("add", position, moved, position.dtype), dtype)
    raise Unsupported("pointer from tirx.tvm_access_ptr")


def _chosen(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    asked, then, other = items(node.args)
    condition = expression(state, asked)
    if not isinstance(condition, Const):
        raise Unsupported("pointer chosen at run time")
    return pointer(state, then if condition.value else other)


def _byte_offset(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    base = pointer(state, node.args[0])
    if not isinstance(base, TensorHandle):  # from the header of a Tensor object to its DLTensor
        raise Unsupported("tirx.handle_add_byte_offset")
    return base


def _workspace(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    return Workspace(constant(state, node.args[2], "workspace of unknown size"))


def _shaped(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    """`nd_mem_alloc_with_scope(scope, rank, shape)`: new memory for as many elements."""
    what = "memory of unknown size"
    extents = [constant(state, extent, what) for extent in items(node.args[2].args)]
    if len(extents) != constant(state, node.args[1], what):
        raise Trap("type", f"{state.name}: memory of rank {node.args[1]} with {len(extents)} extents")
    bits = dtype_of(node.ty.element_type, None).bits
    return Workspace(prod(extents) * max(bits, 8) // 8)


def _alloca(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    return Stack(str(node.args[0].value))


def _pointer_field(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    base, element, kind = _field(state, node)
    match base:
        case Arguments() if kind == ANY_VALUE:
            return TensorHandle(element) if _argument(state, element).buffer is not None else NULL
        case TensorHandle(argument) if kind == DATA:
            return BufferAddress(_tensor(state, argument))
        case TensorHandle(argument) if kind == SHAPE:
            return Extents(argument)
        case TensorHandle() if kind == STRIDES:
            return NULL
        case Stack() if kind == TENSOR_ADDRESS:
            return StackElement(base, element)
        case _:
            raise Unsupported(f"pointer field {kind}")


def _field(state: DecodeState, node: tvm_api.Expr) -> tuple[Pointer, int, int]:
    """Structure, element and field of a tvm_struct_get."""
    structure, element, kind = tvm_api.items_of(node.args)[:3]
    what = "tirx.tvm_struct_get[computed]"
    return pointer(state, structure), constant(state, element, what), constant(state, kind, what)


def _argument(state: DecodeState, number: int) -> PackedArgument:
    if not 0 <= number < len(state.arguments):
        raise Trap("out-of-bounds", f"{state.name}: argument {number} of {len(state.arguments)}")
    return state.arguments[number]


def _tensor(state: DecodeState, argument: int) -> Buffer:
    buffer = _argument(state, argument).buffer
    assert buffer is not None
    return buffer


# --- numbers that pointers lead to ------------------------------------------------------------------------------------


def _is_null(state: DecodeState, node: tvm_api.Expr) -> Expr:
    return Const(isinstance(pointer(state, node.args[0]), Null), DTYPES["bool"])


def _freed(state: DecodeState, node: tvm_api.Expr) -> Expr:
    return Const(0, DTYPES["int32"])


def _number_field(state: DecodeState, node: tvm_api.Expr) -> Expr:
    base, element, kind = _field(state, node)
    dtype = dtype_of(node.ty, state.here.lane)
    match base:
        case Arguments() if kind == ANY_TYPE_INDEX:
            return Const(_type_index(_argument(state, element)), dtype)
        case Arguments() if kind == ANY_VALUE:
            return _value(state, _argument(state, element), dtype)
        case Extents(argument) if kind == INT64_ELEMENT:
            buffer = _tensor(state, argument)
            if not 0 <= element < len(buffer.shape):
                raise Trap("out-of-bounds", f"{state.name}: extent {element} of argument {argument}")
            return Const(buffer.shape[element], dtype)
        case Stack():
            stored = base.field(element, kind)
            if not isinstance(stored, Const):
                raise Unsupported(f"tirx.tvm_struct_get[{kind}]")
            return stored
        case TensorHandle(argument) if element == 0:
            return Const(_header_field(_tensor(state, argument), kind, state.device_type), dtype)
        case _:
            raise Unsupported(f"tirx.tvm_struct_get[{kind}]")


def _value(state: DecodeState, argument: PackedArgument, dtype: DType) -> Expr:
    value = argument.value
    if value is None:
        raise Trap("type", f"{state.name}: a tensor where a number is read")
    if isinstance(value, Const):
        return Const(value.value, dtype)
    if value.dtype is not dtype:
        raise Trap("type", f"{state.name}: an argument is {value.dtype}, read as {dtype}")
    return value


def _type_index(argument: PackedArgument) -> int:
    if argument.buffer is not None:
        return ANY_TENSOR
    assert argument.value is not None
    return {"f": ANY_FLOAT, "b": ANY_BOOL}.get(argument.value.dtype.kind, ANY_INT)


# --- headers of DLTensors ---------------------------------------------------------------------------------------------


def _header_field(buffer: Buffer, kind: int, device_type: int = DL_CPU) -> int:
    known = _header(buffer.dtype, len(buffer.shape), device_type)
    if kind not in known:
        raise Unsupported(f"tirx.tvm_struct_get[{kind}]")
    return known[kind]


@cache
def _header(dtype: DType, rank: int, device_type: int) -> dict[int, int]:
    return {
        NDIM: rank,
        TYPE_CODE: DL_CODES_BY_NAME.get(dtype.name, DL_TYPE_CODES[dtype.kind]),
        TYPE_BITS: max(8, dtype.bits),
        TYPE_LANES: 1,
        BYTE_OFFSET: 0,
        DEVICE_ID: 0,
        DEVICE_TYPE: device_type,
    }


def is_header_of(stack: Stack, element: int, buffer: Buffer) -> bool:
    """Whether a DLTensor on a stack describes the buffer's data."""
    known = {kind: _header_field(buffer, kind) for kind in (TYPE_CODE, TYPE_BITS, TYPE_LANES, BYTE_OFFSET, DEVICE_TYPE)}

    def agrees(kind: int, value: int) -> bool:
        stored = stack.field(element, kind)
        return isinstance(stored, Const) and stored.value == value

    return all(agrees(kind, value) for kind, value in known.items())


RULES = Rules(
    calls={
        "isnullptr": _is_null,
        "tvm_struct_get": _number_field,
        "TVMBackendFreeWorkspace": _freed,
    },
    pointers={
        "buffer_data": _buffer_data,
        "reinterpret": _reinterpreted,
        "address_of": _address_of,
        "tvm_access_ptr": _access_ptr,
        "if_then_else": _chosen,
        "handle_add_byte_offset": _byte_offset,
        "tvm_struct_get": _pointer_field,
        "TVMBackendAllocWorkspace": _workspace,
        "nd_mem_alloc_with_scope": _shaped,
        "tvm_stack_alloca": _alloca,
    },
)
