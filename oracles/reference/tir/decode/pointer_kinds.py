"""The objects that a pointer may point to while a PrimFunc is decoded. No pointer is left in the decoded function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from oracles.reference.errors import Trap
from oracles.reference.tir.nodes import Buffer, DType, Expr

RESULT = "result"
"""The kind of the stack on which a packed function leaves its result."""

Described: TypeAlias = tuple[tuple[int, ...], str] | int | str
"""What a function is decoded for: the value of a symbol, or an argument as `PackedSignature` describes it."""


@dataclass(frozen=True, slots=True)
class PackedArgument:
    """One argument of a packed call: a buffer, or the value of a number (a variable unless it is an integer)."""

    buffer: Buffer | None
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The address of the array of arguments."""


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
class BufferAddress:
    """The address of a buffer's first element."""

    buffer: Buffer


@dataclass(frozen=True, slots=True)
class ElementAddress:
    """The address of an element of a buffer: so many elements of a type after its first one, in memory."""

    buffer: Buffer
    position: Expr
    dtype: DType


@dataclass(slots=True)
class Workspace:
    """Memory of `size` bytes from TVMBackendAllocWorkspace; the first declaration in it gives its type."""

    size: int
    buffer: Buffer | None = None


@dataclass(slots=True, eq=False)
class Stack:
    """Memory from tvm_stack_alloca ("array", "shape", "tvm_ffi_any"): structures, with fields by (element, kind)."""

    kind: str
    fields: dict[tuple[int, int], Expr | Pointer | str] = field(default_factory=dict)

    def field(self, element: int, kind: int) -> Expr | Pointer | str:
        """The value stored last. Trap if there is none."""
        if (element, kind) not in self.fields:
            raise Trap("uninitialised", f"field {kind} of element {element} on the stack of {self.kind}")
        return self.fields[element, kind]


@dataclass(frozen=True, slots=True, eq=False)
class StackElement:
    """The address of one structure on a stack."""

    stack: Stack
    element: int


Pointer: TypeAlias = (
    Arguments | TensorHandle | Extents | Null | BufferAddress | ElementAddress | Workspace | Stack | StackElement
)

NULL = Null()
