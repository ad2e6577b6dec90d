"""Decoding of packed calls that a PrimFunc makes: with arrays made on the spot, or by way of a stack of arguments.

LowerTVMBuiltin turns the one into the other: headers and shapes are stored field by field, all of them known while
decoding. Either way a PackedCall on whole buffers comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.decode_pointers import (
    ANY_BOOL,
    ANY_FLOAT,
    ANY_INT,
    ANY_TYPE_INDEX,
    ANY_VALUE,
    DATA,
    EMPTY,
    INT64_ELEMENT,
    NDIM,
    POINTER_TYPE,
    RESULT,
    SHAPE,
    Address,
    Pointer,
    PointerDecoder,
    Stack,
    StackElement,
    is_header_of,
)
from oracles.reference.tir.nodes import Bind, Buffer, Cast, Cmp, Const, Expr, PackedCall, Seq, Stmt, Var

ANY_DLTENSOR, ANY_RAW_STRING = 7, 8
MADE_ON_THE_SPOT = _MAKE_ARRAY, _MAKE_SHAPE = "tvm_stack_make_array", "tvm_stack_make_shape"
ECHO = "testing.echo"
"""TVM's FFI has it for tests: it gives back its argument (tvm_ffi, testing.cc)."""
RESULT_KINDS = {ANY_INT: "iu", ANY_BOOL: "iub", ANY_FLOAT: "f"}
"""The kinds of number that a type index may stand for; the value itself is 64 bits wide."""


class PackedCallDecoder(PointerDecoder):
    """Adds calls of packed functions, and the stores that prepare them."""

    def host_statement(self, name: str, call: Any) -> Stmt:
        """One of HOST_STATEMENTS."""
        return HOST_STATEMENTS[name](self, call)

    def stack_store(self, node: Any) -> Stmt:
        """A store of an extent into a shape on the stack."""
        stack = self.stacks[node.buffer.__chandle__()]
        stack.fields[self.number_of(node.indices[0]), INT64_ELEMENT] = self.expr(node.value)
        return EMPTY

    def number_of(self, node: Any) -> int:
        """A number that is known while decoding."""
        return self.constant(node, "a place on the stack computed at run time")

    def _struct_set(self, call: Any) -> Stmt:
        target, element, kind = self.pointer(call.args[0]), self.number_of(call.args[1]), self.number_of(call.args[2])
        if not isinstance(target, Stack):
            raise Unsupported("tirx.tvm_struct_set")
        stored = self._stored(call.args[3])
        if target.kind == RESULT and kind == ANY_VALUE and not isinstance(stored, (Pointer, str)):
            var = self.new_var("result", stored.dtype)
            target.fields[element, kind] = var
            return Bind(var, stored)
        target.fields[element, kind] = stored
        return EMPTY

    def returned_number(self) -> Expr | None:
        """What a packed function has left as its result. Traps where type and value do not agree."""
        assert self.returned is not None
        if not self.returned.fields:
            return None
        index, value = self.returned.field(0, ANY_TYPE_INDEX), self.returned.field(0, ANY_VALUE)
        if not isinstance(value, Var) or not isinstance(index, Const):
            raise Unsupported("result of a packed function")
        if value.dtype.kind not in RESULT_KINDS.get(int(index.value), ""):
            raise Trap("type", f"{self.name}: a result of {value.dtype} with type index {index.value}")
        truth = index.value == ANY_BOOL and value.dtype.kind != "b"
        return Cmp("!=", value, Const(0, value.dtype)) if truth else value

    def _stored(self, node: Any) -> Expr | Pointer | str:
        if type(node).__name__ == "StringImm":
            return str(node.value)
        if type(node).__name__ == "Call" and self.op_name(node) == "reinterpret":  # a string's address
            return self._stored(node.args[0])
        return self.pointer(node) if type(node.ty).__name__ == POINTER_TYPE else self.expr(node)

    # --- calls ------------------------------------------------------------------------------------------------------

    def _packed(self, call: Any) -> Stmt:
        """`call_packed(name, ...)`: arrays made of a whole buffer become that buffer."""
        before: list[Stmt] = []
        args: list[Buffer | Expr | str] = []
        for arg in list(call.args)[1:]:
            if type(arg).__name__ == "StringImm":
                args.append(str(arg.value))
            elif type(arg).__name__ == "Call" and self.op_name(arg) == _MAKE_ARRAY:
                args.append(self._array(self.pointer(arg.args[0]), self._shape_made(arg.args[1]), before))
            else:
                args.append(self.expr(arg))
        return _after(before, PackedCall(str(call.args[0].value), tuple(args)))

    def host_call(self, name: str, node: Any) -> Expr | None:
        """Also the number that a packed function gives."""
        if name not in PACKED_VALUES:
            return super().host_call(name, node)
        value, dtype = PACKED_VALUES[name](self, node), self.dtype(node.ty)
        if isinstance(value, (Pointer, str)):
            raise Trap("type", f"{self.name}: {ECHO} gives no number")
        if value.dtype.kind != dtype.kind or value.dtype.bits < dtype.bits:
            raise Unsupported(f"call_packed {ECHO} of {value.dtype} as {dtype}")
        return value if value.dtype is dtype else Cast(value, dtype)

    def pointer(self, node: Any) -> Pointer:
        """Also the pointer that a packed function gives."""
        name = self.op_name(node) if type(node).__name__ == "Call" else ""
        if name not in PACKED_VALUES:
            return super().pointer(node)
        value = PACKED_VALUES[name](self, node)
        if not isinstance(value, Pointer):
            raise Trap("type", f"{self.name}: {ECHO} gives no pointer")
        return value

    def _echoed(self, call: Any) -> Expr | Pointer | str:
        self._must_be_echo(call, len(call.args) - 1)
        return self._stored(call.args[1])

    def _echoed_on_stack(self, call: Any) -> Expr | Pointer | str:
        stack, first, end = self.pointer(call.args[1]), self.number_of(call.args[2]), self.number_of(call.args[3])
        self._must_be_echo(call, end - first)
        if not isinstance(stack, Stack):
            raise Unsupported("tirx.tvm_call_packed_lowered")
        return stack.field(first, ANY_VALUE)

    def _must_be_echo(self, call: Any, count: int) -> None:
        name = str(call.args[0].value)
        if name != ECHO or count != 1:
            raise Unsupported(f"call_packed {name}")

    def _shape_made(self, call: Any) -> tuple[int, ...]:
        if self.op_name(call) != _MAKE_SHAPE:
            raise Unsupported(f"tirx.{self.op_name(call)} as a shape")
        return tuple(self.number_of(extent) for extent in call.args)

    def packed_lowered(self, call: Any) -> Stmt:
        """`call_packed_lowered(name, stack, begin, end)`."""
        stack = self.pointer(call.args[1])
        if not isinstance(stack, Stack):
            raise Unsupported("tirx.tvm_call_packed_lowered")
        before: list[Stmt] = []
        numbers = range(self.number_of(call.args[2]), self.number_of(call.args[3]))
        args = tuple(self._argument_on(stack, number, before) for number in numbers)
        return _after(before, PackedCall(str(call.args[0].value), args))

    def _argument_on(self, stack: Stack, number: int, before: list[Stmt]) -> Buffer | Expr | str:
        index, value = stack.field(number, ANY_TYPE_INDEX), stack.field(number, ANY_VALUE)
        kind = int(index.value) if isinstance(index, Const) else None
        if kind == ANY_DLTENSOR and isinstance(value, StackElement):
            return self._array_on(value, before)
        if kind == ANY_RAW_STRING and isinstance(value, str):
            return value
        if kind in (ANY_INT, ANY_BOOL, ANY_FLOAT) and not isinstance(value, (Pointer, str)):
            return value
        raise Unsupported("argument of a packed call")

    def _array_on(self, place: StackElement, before: list[Stmt]) -> Buffer:
        """The buffer that a DLTensor on the stack describes."""
        stack, element = place.stack, place.element
        data, shape, rank = stack.field(element, DATA), stack.field(element, SHAPE), stack.field(element, NDIM)
        if not isinstance(data, Address) or not isinstance(shape, StackElement) or not isinstance(rank, Const):
            raise Unsupported("tensor of a packed call")
        if not is_header_of(stack, element, data.buffer):
            raise Trap("type", f"{self.name}: the header of {data.buffer.name} does not say what it is")
        extents = [shape.stack.field(shape.element + n, INT64_ELEMENT) for n in range(int(rank.value))]
        known = [int(extent.value) for extent in extents if isinstance(extent, Const)]
        if len(known) != len(extents):
            raise Unsupported("tensor of a packed call whose shape is computed")
        return self._array(data, tuple(known), before)

    def _array(self, data: Pointer, shape: tuple[int, ...], before: list[Stmt]) -> Buffer:
        """The memory at `data` as a whole buffer of this shape."""
        if not isinstance(data, Address):
            raise Unsupported("tirx.tvm_stack_make_array[view]")
        buffer, statement = self.part(data.buffer.name, data.buffer, data.buffer.dtype, shape, 0)
        if statement is not EMPTY:
            before.append(statement)
        return buffer


HOST_STATEMENTS: dict[str, Callable[[PackedCallDecoder, Any], Stmt]] = {
    "tvm_call_packed": PackedCallDecoder._packed,
    "tvm_call_packed_lowered": lambda self, call: self.packed_lowered(call),
    "tvm_struct_set": PackedCallDecoder._struct_set,
}
PACKED_VALUES: dict[str, Callable[[PackedCallDecoder, Any], Expr | Pointer | str]] = {
    "tvm_call_packed": PackedCallDecoder._echoed,
    "tvm_call_packed_lowered": PackedCallDecoder._echoed_on_stack,
}
"""Calls whose result is used."""


def _after(before: list[Stmt], call: Stmt) -> Stmt:
    return Seq((*before, call)) if before else call
