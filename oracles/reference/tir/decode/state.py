"""The data of one decoding: `DecodeState`, and `Rules`, the tables of functions that decode each kind of node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from generators import tvm_api
from oracles.reference.tir.context import ALONE, Context
from oracles.reference.tir.decode.abi import DL_CPU
from oracles.reference.tir.decode.pointer_kinds import BufferAddress, PackedArgument, Pointer, Stack
from oracles.reference.tir.nodes import Buffer, Expr, Seq, Stmt

EMPTY = Seq(())
"""The statement that does nothing."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a buffer lies in another one of one dimension: the position of its first element, and how many elements
    lie from one index to the next in each dimension."""

    first: Expr
    strides: tuple[int, ...]


# An `int` key is the address of one of TVM's objects (a variable or a buffer), or, where "by slot" is said, the slot of
# a buffer. Addresses stay valid because the function that is decoded holds the objects.


@dataclass(slots=True, eq=False)
class Variables:
    """The meaning of TVM's variables at the current statement."""

    scalars: dict[int, Expr] = field(default_factory=dict)
    vectors: dict[int, Callable[[Expr], Expr]] = field(default_factory=dict)
    """The function that gives one lane."""
    pointers: dict[int, Pointer] = field(default_factory=dict)

    def copy(self) -> Variables:
        """The same, for a callee to add to."""
        return Variables(dict(self.scalars), dict(self.vectors), dict(self.pointers))


@dataclass(slots=True, eq=False)
class KnownBuffers:
    """The meaning of TVM's buffers at the current statement, and how their elements lie."""

    known: dict[int, tuple[Buffer, tuple[Expr, ...] | None]] = field(default_factory=dict)
    """Each with the offset of its region if it is matched to a region of another one."""
    placed: dict[int, Placed] = field(default_factory=dict)
    """Places of those that lie at a computed one, or have strides of their own."""
    stacks: dict[int, Stack] = field(default_factory=dict)
    """Those that are declared over a stack of arguments."""
    lanes: dict[int, int] = field(default_factory=dict)
    """Lanes per element, of those with vector elements."""
    strides: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Elements from one index to the next in each dimension, of those with gaps, by slot."""

    def copy(self) -> KnownBuffers:
        """The same, for a callee to add to."""
        return KnownBuffers(
            dict(self.known), dict(self.placed), dict(self.stacks), dict(self.lanes), dict(self.strides)
        )


@dataclass(slots=True, eq=False)
class Fragments:
    """Fragments of tensor cores."""

    transposed: dict[int, bool] = field(default_factory=dict)
    """Whether one is held by columns, by slot."""
    said: dict[tuple[int, str], str] = field(default_factory=dict)
    """What attributes say of the shape and the layout of one, by slot and key."""
    shape: tuple[int, int, int] | None = None
    """The rows, columns and inner length of their products, once one was loaded or filled."""


@dataclass(slots=True, eq=False)
class Here:
    """The place of the current node."""

    lane: Expr | None = None
    """The lane that vectors are decoded for; None outside of a vector statement."""
    loops: int = 0
    """The number of loops around the statement."""
    ended: bool = False
    """Whether the next statement of the sequence is unreachable."""
    extents: dict[str, Expr] = field(default_factory=dict)
    """The number of threads by thread tag, while the body of a called kernel is decoded."""
    reducers: list[tvm_api.Node] = field(default_factory=list)
    """The reducers of the attributes "reduce_scope" around the statement, outermost first."""
    header: int | None = None
    """The position in the header of a packed function; None outside of a header (see `headers.py`)."""


@dataclass(slots=True, eq=False)
class OwnBuffers:
    """Buffers that the decoded function gets besides its parameters."""

    slots: int = 0
    """The number of all its buffers, parameters too."""
    views: dict[tuple[int, str, tuple[int, ...], int], Buffer] = field(default_factory=dict)
    """Views, by memory, type, shape and first byte."""
    blanks: dict[str, Buffer] = field(default_factory=dict)
    """Buffers that are never written, by type: the lanes that a masked load leaves out."""
    undefined: dict[str, Buffer] = field(default_factory=dict)
    """The same for T.undef()."""
    forgotten: set[int] = field(default_factory=set)
    """The slots of buffers to which T.undef() is stored."""


@dataclass(slots=True, eq=False)
class Exits:
    """How the function ends, and its loops."""

    jumps: int = 0
    """The number of break and continue statements."""
    returns: int = 0
    """The number of return statements."""
    result: Expr | None = None
    """The number that the function returns."""
    returned: Stack | None = None
    """Where a packed function leaves its result; None in other functions."""


@dataclass(slots=True, eq=False)
class Inlined:
    """The functions of the module that were decoded in place of their calls, by name."""

    kernels: set[str] = field(default_factory=set)
    prim_funcs: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class DecodeState:
    """The state of decoding one PrimFunc for one binding of its symbols."""

    name: str
    """The function's name, for messages."""
    rules: Rules
    symbols: dict[int, int]
    """The values of its shape variables and integer parameters."""
    arguments: tuple[PackedArgument, ...] = ()
    """Those of a packed call, in order."""
    context: Context = ALONE
    """The rest of the module."""
    device_type: int = DL_CPU
    """The device on which tensor arguments lie."""
    variables: Variables = field(default_factory=Variables)
    buffers: KnownBuffers = field(default_factory=KnownBuffers)
    fragments: Fragments = field(default_factory=Fragments)
    here: Here = field(default_factory=Here)
    own: OwnBuffers = field(default_factory=OwnBuffers)
    exits: Exits = field(default_factory=Exits)
    inlined: Inlined = field(default_factory=Inlined)


def hold(state: DecodeState, tvm_buffer: tvm_api.Buffer, buffer: Buffer) -> None:
    """What a buffer of TVM is here, without offsets; and its pointer, where that is another variable."""
    state.buffers.known[tvm_buffer.__chandle__()] = (buffer, None)
    if (data := tvm_api.pointer_of(tvm_buffer)) is not None:
        state.variables.pointers.setdefault(data.__chandle__(), BufferAddress(buffer))


StatementRule: TypeAlias = Callable[[DecodeState, tvm_api.Stmt], Stmt]
ExpressionRule: TypeAlias = Callable[[DecodeState, tvm_api.Expr], Expr]
EffectRule: TypeAlias = Callable[[DecodeState, tvm_api.Expr], Stmt]
PointerRule: TypeAlias = Callable[[DecodeState, tvm_api.Expr], Pointer]


@dataclass(frozen=True, slots=True)
class Rules:
    """Functions that decode nodes. Each family of nodes has one of these; `table.py` joins them."""

    statements: dict[str, StatementRule] = field(default_factory=dict)
    """By class name."""
    attributes: dict[str, StatementRule] = field(default_factory=dict)
    """AttrStmt, by key."""
    effects: dict[str, EffectRule] = field(default_factory=dict)
    """Calls that are statements, by the operator's name without its dialect."""
    expressions: dict[str, ExpressionRule] = field(default_factory=dict)
    """By class name."""
    calls: dict[str, ExpressionRule] = field(default_factory=dict)
    """Calls that give a number, by the operator's name without its dialect."""
    pointers: dict[str, PointerRule] = field(default_factory=dict)
    """Calls that give a pointer, by the operator's name without its dialect."""
