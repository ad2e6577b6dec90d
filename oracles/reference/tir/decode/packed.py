"""Packed calls that a PrimFunc makes: with arrays made on the spot, or by way of a stack of arguments.

LowerTVMBuiltin turns the first form into the second: it stores headers and shapes field by field, all of them known
while decoding. Both forms become a PackedCall on whole buffers. If the callee is a kernel, its body takes the place of
the call (`functions.py`).
"""

from __future__ import annotations

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.context import SET_DEVICE
from oracles.reference.tir.decode.abi import (
    ANY_BOOL,
    ANY_DLTENSOR,
    ANY_FLOAT,
    ANY_INT,
    ANY_OPAQUE,
    ANY_RAW_STRING,
    ANY_TYPE_INDEX,
    ANY_VALUE,
    DATA,
    INT64_ELEMENT,
    NDIM,
    SHAPE,
)
from oracles.reference.tir.decode.callees import launched, passed
from oracles.reference.tir.decode.dispatch import constant, expression, pointer
from oracles.reference.tir.decode.pointer_kinds import RESULT, BufferAddress, Pointer, Stack, StackElement
from oracles.reference.tir.decode.pointers import is_header_of
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Rules
from oracles.reference.tir.decode.tvm_objects import POINTER_TYPE, dtype_of, op_name
from oracles.reference.tir.decode.variables import new_var
from oracles.reference.tir.decode.views import part_of
from oracles.reference.tir.nodes import Bind, Buffer, Cast, Cmp, Const, Expr, PackedCall, Seq, Stmt, Var

MADE_ON_THE_SPOT = _MAKE_ARRAY, _MAKE_SHAPE = "tvm_stack_make_array", "tvm_stack_make_shape"
"""Operators that occur in the arguments of a packed call only."""
_LOWERED = "tvm_call_packed_lowered"
_ECHO = "testing.echo"
"""TVM's FFI has it for tests: it returns its first argument (tvm_ffi, testing.cc)."""
_TRACES = ("tvm_call_trace_packed", "tvm_call_trace_packed_lowered")
_TRACE = "tvm.default_trace_action"
"""Prints what is traced. Others are functions of a process that registers them, and may give another value."""
_RESULT_KINDS = {ANY_INT: "iu", ANY_BOOL: "iub", ANY_FLOAT: "f"}
"""The kinds of number that a type index may stand for; the value itself is 64 bits wide."""


# --- stores that prepare a call, or leave a result --------------------------------------------------------------------


def store_to_stack(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """A BufferStore of an extent into a shape on the stack."""
    stack = state.buffers.stacks[node.buffer.__chandle__()]
    stack.fields[_place(state, node.indices[0]), INT64_ELEMENT] = expression(state, node.value)
    return EMPTY


def _place(state: DecodeState, node: tvm_api.Expr) -> int:
    return constant(state, node, "a place on the stack computed at run time")


def _struct_set(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`tvm_struct_set(structure, element, field, value)`."""
    target, element, kind = pointer(state, call.args[0]), _place(state, call.args[1]), _place(state, call.args[2])
    if not isinstance(target, Stack):
        raise Unsupported("tirx.tvm_struct_set")
    stored = _stored(state, call.args[3])
    if target.kind == RESULT and kind == ANY_VALUE and not isinstance(stored, (Pointer, str)):
        var = new_var("result", stored.dtype)
        target.fields[element, kind] = var
        return Bind(var, stored)
    target.fields[element, kind] = stored
    return EMPTY


def _stored(state: DecodeState, node: tvm_api.Expr) -> Expr | Pointer | str:
    if type(node).__name__ == "StringImm":
        return str(node.value)
    if type(node).__name__ == "Call" and op_name(node) == "reinterpret":  # a string's address
        return _stored(state, node.args[0])
    return pointer(state, node) if type(node.ty).__name__ == POINTER_TYPE else expression(state, node)


def returned_number(state: DecodeState) -> Expr | None:
    """The result that a packed function has stored, if any. Traps if its type and value disagree."""
    assert state.exits.returned is not None
    if not state.exits.returned.fields:
        return None
    index, value = state.exits.returned.field(0, ANY_TYPE_INDEX), state.exits.returned.field(0, ANY_VALUE)
    if not isinstance(value, Var) or not isinstance(index, Const):
        raise Unsupported("result of a packed function")
    if value.dtype.kind not in _RESULT_KINDS.get(int(index.value), ""):
        raise Trap("type", f"{state.name}: a result of {value.dtype} with type index {index.value}")
    truth = index.value == ANY_BOOL and value.dtype.kind != "b"
    return Cmp("!=", value, Const(0, value.dtype)) if truth else value


# --- calls for their effect -------------------------------------------------------------------------------------------


def _call(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`tvm_call_packed(name, ...)`."""
    name, given = str(call.args[0].value), list(call.args)[1:]
    if name == SET_DEVICE:
        return EMPTY
    if name in state.context.kernels:
        return launched(state, name, [passed(state, arg) for arg in given])
    before: list[Stmt] = []
    args: list[Buffer | Expr | str] = []
    for arg in given:
        if type(arg).__name__ == "StringImm":
            args.append(str(arg.value))
        elif type(arg).__name__ == "Call" and op_name(arg) == _MAKE_ARRAY:
            args.append(_array(state, _described(state, arg), _shape_made(state, arg.args[1]), before))
        else:
            args.append(expression(state, arg))
    return _after(before, PackedCall(name, tuple(args)))


def _described(state: DecodeState, call: tvm_api.Expr) -> Pointer:
    """The data of `tvm_stack_make_array(data, shape, strides, rank, value, offset)`. The dtype of `value`, whatever it
    is, becomes that of the array. Traps where the data has another."""
    data, said = pointer(state, call.args[0]), dtype_of(call.args[4].ty, state.here.lane)
    if isinstance(data, BufferAddress) and data.buffer.dtype is not said:
        raise Trap("type", f"{state.name}: an array of {data.buffer.name} is said to be of {said}")
    return data


def _shape_made(state: DecodeState, call: tvm_api.Expr) -> tuple[int, ...]:
    if op_name(call) != _MAKE_SHAPE:
        raise Unsupported(f"tirx.{op_name(call)} as a shape")
    return tuple(_place(state, extent) for extent in call.args)


def _call_lowered(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`tvm_call_packed_lowered(name, stack, begin, end)`."""
    name = str(call.args[0].value)
    if name == SET_DEVICE:
        return EMPTY
    stack = _stack(state, call.args[1])
    numbers = range(_place(state, call.args[2]), _place(state, call.args[3]))
    if name in state.context.kernels:
        return launched(state, name, [_kernel_argument(state, stack, number) for number in numbers])
    before: list[Stmt] = []
    args = tuple(_argument(state, stack, number, before) for number in numbers)
    return _after(before, PackedCall(name, args))


def _stack(state: DecodeState, node: tvm_api.Expr) -> Stack:
    stack = pointer(state, node)
    if not isinstance(stack, Stack):
        raise Unsupported(f"tirx.{_LOWERED}")
    return stack


def _kernel_argument(state: DecodeState, stack: Stack, number: int) -> Expr | Pointer:
    kind, value = stack.field(number, ANY_TYPE_INDEX), stack.field(number, ANY_VALUE)
    expected = (ANY_OPAQUE,) if isinstance(value, Pointer) else (ANY_INT, ANY_BOOL, ANY_FLOAT)
    if not isinstance(kind, Const) or kind.value not in expected or isinstance(value, str):
        raise Trap("type", f"{state.name}: argument {number} of a kernel is not what its type index says")
    return value


def _argument(state: DecodeState, stack: Stack, number: int, before: list[Stmt]) -> Buffer | Expr | str:
    """An argument on the stack; the statement that makes a view for it is added to `before`."""
    index, value = stack.field(number, ANY_TYPE_INDEX), stack.field(number, ANY_VALUE)
    kind = int(index.value) if isinstance(index, Const) else None
    if kind == ANY_DLTENSOR and isinstance(value, StackElement):
        return _array_on(state, value, before)
    if kind == ANY_RAW_STRING and isinstance(value, str):
        return value
    if kind in (ANY_INT, ANY_BOOL, ANY_FLOAT) and not isinstance(value, (Pointer, str)):
        return value
    raise Unsupported("argument of a packed call")


def _array_on(state: DecodeState, place: StackElement, before: list[Stmt]) -> Buffer:
    """The buffer that a DLTensor on the stack describes."""
    stack, element = place.stack, place.element
    data, shape, rank = stack.field(element, DATA), stack.field(element, SHAPE), stack.field(element, NDIM)
    if not isinstance(data, BufferAddress) or not isinstance(shape, StackElement) or not isinstance(rank, Const):
        raise Unsupported("tensor of a packed call")
    if not is_header_of(stack, element, data.buffer):
        raise Trap("type", f"{state.name}: the header of {data.buffer.name} does not say what it is")
    extents = [shape.stack.field(shape.element + n, INT64_ELEMENT) for n in range(int(rank.value))]
    known = [int(extent.value) for extent in extents if isinstance(extent, Const)]
    if len(known) != len(extents):
        raise Unsupported("tensor of a packed call whose shape is computed")
    return _array(state, data, tuple(known), before)


def _array(state: DecodeState, data: Pointer, shape: tuple[int, ...], before: list[Stmt]) -> Buffer:
    """The memory at `data` as a whole buffer of this shape."""
    if not isinstance(data, BufferAddress):
        raise Unsupported("tirx.tvm_stack_make_array[view]")
    buffer, stmt = part_of(state, data.buffer.name, data.buffer, data.buffer.dtype, shape, 0)
    if stmt is not EMPTY:
        before.append(stmt)
    return buffer


def _after(before: list[Stmt], call: Stmt) -> Stmt:
    return Seq((*before, call)) if before else call


# --- calls whose result is used: `testing.echo` -----------------------------------------------------------------------


def _echoed(state: DecodeState, call: tvm_api.Expr) -> Expr | Pointer | str:
    """The result of a packed call, in either form."""
    if op_name(call) != _LOWERED:
        _must_be_echo(call, len(call.args) - 1)
        return _stored(state, call.args[1])
    stack, first, end = pointer(state, call.args[1]), _place(state, call.args[2]), _place(state, call.args[3])
    _must_be_echo(call, end - first)
    if not isinstance(stack, Stack):
        raise Unsupported(f"tirx.{_LOWERED}")
    return stack.field(first, ANY_VALUE)


def _must_be_echo(call: tvm_api.Expr, count: int) -> None:
    name = str(call.args[0].value)
    if name != _ECHO or count < 1:
        raise Unsupported(f"call_packed {name}", outside=True)


def _number(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """The number that a packed call returns."""
    value, dtype = _echoed(state, node), dtype_of(node.ty, state.here.lane)
    if isinstance(value, (Pointer, str)):
        raise Trap("type", f"{state.name}: {_ECHO} gives no number")
    if value.dtype.kind != dtype.kind or value.dtype.bits < dtype.bits:
        raise Unsupported(f"call_packed {_ECHO} of {value.dtype} as {dtype}", outside=True)
    return value if value.dtype is dtype else Cast(value, dtype)


def _pointer(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    """The pointer that a packed call returns."""
    value = _echoed(state, node)
    if not isinstance(value, Pointer):
        raise Trap("type", f"{state.name}: {_ECHO} gives no pointer")
    return value


def _traced(state: DecodeState, call: tvm_api.Expr) -> Expr:
    """`tvm_call_trace_packed(action, ..., value)`: the value, as the action gives nothing (tvm/tirx/op.py, `trace`)."""
    action = str(call.args[0].value)
    if action != _TRACE:
        raise Unsupported(f"call_packed {action}", outside=True)
    return expression(state, call.args[-1])


RULES = Rules(
    effects={"tvm_call_packed": _call, _LOWERED: _call_lowered, "tvm_struct_set": _struct_set},
    calls={"tvm_call_packed": _number, _LOWERED: _number, **dict.fromkeys(_TRACES, _traced)},
    pointers={"tvm_call_packed": _pointer, _LOWERED: _pointer},
)
