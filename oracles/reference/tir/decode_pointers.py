"""Decoding of pointers and of the packed calling convention, as MakePackedAPI and LowerTVMBuiltin write them.

A function is decoded for one binding of its arguments, so that everything about them is known here: how many there
are, their types, shapes and strides. What the header of a packed function asks folds to constants; pointers to data
become buffers, and no pointer is left for the generated code. Layouts and codes are those of DLPack and of TVM's FFI
(tirx/builtin.h: TVMStructFieldKind).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from generators.tvm_api import items_of
from oracles.ir.walk import items
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.decode_exprs import ExprDecoder
from oracles.reference.tir.nodes import DTYPES, Alloc, Buffer, Const, DType, Expr, Seq, Stmt, Var, View

EMPTY = Seq(())

DL_TYPE_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
"""DLPack's codes by kind."""
DL_CODES_BY_NAME = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
"""Types that have a code of their own."""
DL_CPU, DL_CUDA = 1, 2
ANY_INT, ANY_BOOL, ANY_FLOAT, ANY_TENSOR = 1, 2, 3, 70
"""Type indices of TVMFFIAny (tvm/ffi/c_api.h)."""

TENSOR_ADDRESS, DATA, SHAPE, STRIDES, NDIM, TYPE_CODE, TYPE_BITS, TYPE_LANES, BYTE_OFFSET, DEVICE_ID, DEVICE_TYPE = (
    range(11)
)
ANY_TYPE_INDEX, ANY_PADDING, ANY_VALUE = 13, 14, 15
INT64_ELEMENT = 17


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a packed call: a buffer, or the value of a number (a variable where it is no integer)."""

    buffer: Buffer | None
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The address of the arguments themselves."""


@dataclass(frozen=True, slots=True)
class TensorHandle:
    """The address of an argument's DLTensor."""

    argument: int


@dataclass(frozen=True, slots=True)
class Extents:
    """The address of an argument's shape."""

    argument: int


@dataclass(frozen=True, slots=True)
class Null:
    """The null pointer."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a buffer's first element."""

    buffer: Buffer


@dataclass(slots=True)
class Workspace:
    """Memory from TVMBackendAllocWorkspace; the first declaration in it says of which type."""

    size: int
    buffer: Buffer | None = None


@dataclass(slots=True, eq=False)
class Stack:
    """Memory from tvm_stack_alloca ("array", "shape", "tvm_ffi_any"): fields of structures by (element, kind)."""

    kind: str
    fields: dict[tuple[int, int], Expr | Pointer | str] = field(default_factory=dict)

    def field(self, element: int, kind: int) -> Expr | Pointer | str:
        """What was stored last. Trap where nothing was."""
        if (element, kind) not in self.fields:
            raise Trap("uninitialised", f"field {kind} of element {element} on the stack of {self.kind}")
        return self.fields[element, kind]


@dataclass(frozen=True, slots=True, eq=False)
class StackElement:
    """The address of one structure on a stack."""

    stack: Stack
    element: int


Pointer: TypeAlias = Arguments | TensorHandle | Extents | Null | Address | Workspace | Stack | StackElement

POINTER_TYPE = "PointerType"
RESULT = "result"
"""The kind of the stack that stands for where a packed function leaves its result."""
NULL = Null()


class PointerDecoder(ExprDecoder):
    """Adds pointers to expressions. `arguments` are those of a packed call, in order, and lie on such a device."""

    def __init__(
        self, name: str, symbols: dict[int, int], arguments: Sequence[Argument] = (), device_type: int = DL_CPU
    ) -> None:
        super().__init__(name, symbols)
        self.arguments = tuple(arguments)
        self.device_type = device_type
        self.pointers: dict[int, Pointer] = {}
        self.stacks: dict[int, Stack] = {}
        self.returned: Stack | None = None
        """Where a packed function leaves its result."""
        self.views: dict[tuple[int, str, tuple[int, ...], int], Buffer] = {}

    # --- pointers ---------------------------------------------------------------------------------------------------

    def pointer(self, node: Any) -> Pointer:
        """What a pointer points to."""
        name = type(node).__name__
        if name == "Var":
            found = self.pointers.get(node.__chandle__())
            if found is not None:
                return found
            if node.__chandle__() in self.buffers:
                return self._data_of(node)
            raise Trap("undefined-variable", f"{self.name}: {node.name}")
        if name != "Call":
            raise Unsupported(f"pointer from tirx.{name}")
        rule = POINTERS.get(self.op_name(node))
        if rule is None:
            raise Unsupported(f"pointer from tirx.{self.op_name(node)}")
        return rule(self, node)

    def _data_of(self, tvm_buffer: Any) -> Pointer:
        buffer, offsets = self.buffer(tvm_buffer)
        if offsets is not None:
            raise Unsupported("pointer into a matched buffer")
        return Address(buffer)

    def _buffer_data(self, node: Any) -> Pointer:
        return self._data_of(node.args[0])

    def _reinterpreted(self, node: Any) -> Pointer:
        value = node.args[0]
        if type(value.ty).__name__ == POINTER_TYPE:
            return self.pointer(value)
        address = self.expr(value)
        if not isinstance(address, Const) or address.value != 0:
            raise Unsupported("pointer from a number")
        return NULL

    def _address_of(self, node: Any) -> Pointer:
        load = node.args[0]
        stack = self.stacks.get(load.source.__chandle__())
        indices = [self.expr(index) for index in items(load.indices)]
        if stack is None and all(isinstance(index, Const) and index.value == 0 for index in indices):
            return self._data_of(load.source)
        index = indices[0] if len(indices) == 1 else None
        if stack is None or not isinstance(index, Const):
            raise Unsupported("tirx.address_of")
        return StackElement(stack, int(index.value))

    def _chosen(self, node: Any) -> Pointer:
        asked, then, other = items(node.args)
        condition = self.expr(asked)
        if not isinstance(condition, Const):
            raise Unsupported("pointer chosen at run time")
        return self.pointer(then if condition.value else other)

    def _byte_offset(self, node: Any) -> Pointer:
        base = self.pointer(node.args[0])
        if not isinstance(base, TensorHandle):  # from the header of a Tensor object to its DLTensor
            raise Unsupported("tirx.handle_add_byte_offset")
        return base

    def _workspace(self, node: Any) -> Pointer:
        size = self.expr(node.args[2])
        if not isinstance(size, Const):
            raise Unsupported("workspace of unknown size")
        return Workspace(int(size.value))

    def _alloca(self, node: Any) -> Pointer:
        return Stack(str(node.args[0].value))

    def _pointer_field(self, node: Any) -> Pointer:
        base, element, kind = self._field(node)
        match base:
            case Arguments() if kind == ANY_VALUE:
                return TensorHandle(element) if self._argument(element).buffer is not None else NULL
            case TensorHandle(argument) if kind == DATA:
                buffer = self._argument(argument).buffer
                assert buffer is not None
                return Address(buffer)
            case TensorHandle(argument) if kind == SHAPE:
                return Extents(argument)
            case TensorHandle() if kind == STRIDES:
                return NULL
            case Stack() if kind == TENSOR_ADDRESS:
                return StackElement(base, element)
            case _:
                raise Unsupported(f"pointer field {kind}")

    def _field(self, node: Any) -> tuple[Pointer, int, int]:
        structure, element, kind = items_of(node.args)[:3]
        what = "tirx.tvm_struct_get[computed]"
        return self.pointer(structure), self.constant(element, what), self.constant(kind, what)

    def _argument(self, number: int) -> Argument:
        if not 0 <= number < len(self.arguments):
            raise Trap("out-of-bounds", f"{self.name}: argument {number} of {len(self.arguments)}")
        return self.arguments[number]

    # --- numbers that pointers lead to ------------------------------------------------------------------------------

    def host_call(self, name: str, node: Any) -> Expr | None:
        """The number that a call of the calling convention gives; None for other calls."""
        rule = HOST_CALLS.get(name)
        return None if rule is None else rule(self, node)

    def _is_null(self, node: Any) -> Expr:
        return Const(isinstance(self.pointer(node.args[0]), Null), DTYPES["bool"])

    def _freed(self, node: Any) -> Expr:
        return Const(0, DTYPES["int32"])

    def _number(self, node: Any) -> Expr:
        base, element, kind = self._field(node)
        dtype = self.dtype(node.ty)
        match base:
            case Arguments() if kind == ANY_TYPE_INDEX:
                return Const(_type_index(self._argument(element)), dtype)
            case Arguments() if kind == ANY_VALUE:
                return self._value(self._argument(element), dtype)
            case Extents(argument) if kind == INT64_ELEMENT:
                buffer = self._argument(argument).buffer
                assert buffer is not None
                if not 0 <= element < len(buffer.shape):
                    raise Trap("out-of-bounds", f"{self.name}: extent {element} of argument {argument}")
                return Const(buffer.shape[element], dtype)
            case Stack():
                stored = base.field(element, kind)
                if not isinstance(stored, Const):
                    raise Unsupported(f"tirx.tvm_struct_get[{kind}]")
                return stored
            case TensorHandle(argument) if element == 0:
                buffer = self._argument(argument).buffer
                assert buffer is not None
                return Const(_header_field(buffer, kind, self.device_type), dtype)
            case _:
                raise Unsupported(f"tirx.tvm_struct_get[{kind}]")

    def _value(self, argument: Argument, dtype: DType) -> Expr:
        value = argument.value
        if value is None:
            raise Trap("type", f"{self.name}: a tensor where a number is read")
        if isinstance(value, Const):
            return Const(value.value, dtype)
        if value.dtype is not dtype:
            raise Trap("type", f"{self.name}: an argument is {value.dtype}, read as {dtype}")
        return value

    # --- memory -----------------------------------------------------------------------------------------------------

    def view(self, tvm_buffer: Any, pointer: Pointer, dtype: DType, shape: tuple[int, ...], offset: int) -> Stmt:
        """Makes `tvm_buffer` stand for the memory at `pointer`; the statement that gets it."""
        before: Stmt = EMPTY
        if isinstance(pointer, Workspace):
            if pointer.buffer is None:
                extent = -(-pointer.size * 8 // max(8, dtype.bits))
                pointer.buffer = self.owner(str(tvm_buffer.name), dtype, (extent,))
                before = Alloc(pointer.buffer)
            pointer = Address(pointer.buffer)
        if not isinstance(pointer, Address):
            raise Unsupported("tirx.DeclBuffer[pointer]")
        source = pointer.buffer
        buffer, statement = self.part(str(tvm_buffer.name), source, dtype, shape, offset)
        self.buffers[tvm_buffer.__chandle__()] = (buffer, None)
        return statement if before is EMPTY else Seq((before, statement))

    def units(self) -> dict[int, int]:
        """The smallest element in bytes of each memory that is seen as elements of several sizes."""
        widths: dict[int, set[int]] = {}
        for view in self.views.values():
            whole: Buffer | None = view
            while whole is not None:
                widths.setdefault(view.memory, set()).add(int(whole.dtype.numpy.itemsize))
                whole = whole.source
        return {memory: min(sizes) for memory, sizes in widths.items() if len(sizes) > 1}

    def part(self, name: str, source: Buffer, dtype: DType, shape: tuple[int, ...], offset: int) -> tuple[Buffer, Stmt]:
        """A view of a buffer, made once for each memory, type and shape, and the statement that gets it."""
        if (dtype, shape, offset) == (source.dtype, source.shape, 0):
            return source, EMPTY
        lead = offset * int(dtype.numpy.itemsize)
        key = (source.memory, dtype.name, shape, source.start + lead)
        known = self.views.get(key)
        if known is None:
            known = Buffer(self.slots, name, dtype, shape, source, lead, source.scope)
            self.slots += 1
            self.views[key] = known
        return known, View(known)

    def owner(self, name: str, dtype: DType, shape: tuple[int, ...], scope: str = "global") -> Buffer:
        """A new buffer with memory of its own."""
        buffer = Buffer(self.slots, name, dtype, shape, scope=scope)
        self.slots += 1
        return buffer


def _type_index(argument: Argument) -> int:
    if argument.buffer is not None:
        return ANY_TENSOR
    assert argument.value is not None
    return {"f": ANY_FLOAT, "b": ANY_BOOL}.get(argument.value.dtype.kind, ANY_INT)


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
    """Whether a DLTensor on a stack says of its data what is true of the buffer."""
    known = {kind: _header_field(buffer, kind) for kind in (TYPE_CODE, TYPE_BITS, TYPE_LANES, BYTE_OFFSET, DEVICE_TYPE)}

    def says(kind: int, value: int) -> bool:
        stored = stack.field(element, kind)
        return isinstance(stored, Const) and stored.value == value

    return all(says(kind, value) for kind, value in known.items())


def number_argument(slot: int, what: int | str) -> Argument:
    """A number: an integer is known; of others the type is, and they are parameters of the generated function."""
    if isinstance(what, str):
        return Argument(None, Var(-1 - slot, f"argument{slot}", DTYPES[what]))
    return Argument(None, Const(what, DTYPES["int64"]))


HOST_CALLS: dict[str, Callable[[PointerDecoder, Any], Expr]] = {
    "isnullptr": PointerDecoder._is_null,
    "tvm_struct_get": PointerDecoder._number,
    "TVMBackendFreeWorkspace": PointerDecoder._freed,
}
POINTERS: dict[str, Callable[[PointerDecoder, Any], Pointer]] = {
    "buffer_data": PointerDecoder._buffer_data,
    "reinterpret": PointerDecoder._reinterpreted,
    "address_of": PointerDecoder._address_of,
    "if_then_else": PointerDecoder._chosen,
    "handle_add_byte_offset": PointerDecoder._byte_offset,
    "tvm_struct_get": PointerDecoder._pointer_field,
    "TVMBackendAllocWorkspace": PointerDecoder._workspace,
    "tvm_stack_alloca": PointerDecoder._alloca,
}
