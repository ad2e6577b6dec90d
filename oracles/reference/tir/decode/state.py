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
    """Where a buffer lies in another one of one dimension: the position of its first element, and its shape."""

    first: Expr
    shape: tuple[int, ...]


@dataclass(slots=True, eq=False)
class DecodeState:
    """The state of decoding one PrimFunc for one binding of its symbols.

    An `int` key is the address of one of TVM's objects (a variable or a buffer); addresses stay valid because the
    function that is decoded holds the objects.
    """

    # The function, and the binding that it is decoded for.
    name: str
    """Its name, for messages."""
    rules: Rules
    symbols: dict[int, int]
    """The values of its shape variables and integer parameters."""
    arguments: tuple[PackedArgument, ...] = ()
    """Those of a packed call, in order."""
    context: Context = ALONE
    """The rest of the module."""
    device_type: int = DL_CPU
    """The device on which tensor arguments lie."""

    # The meaning of TVM's variables and buffers at the current statement.
    env: dict[int, Expr] = field(default_factory=dict)
    """Scalar variables."""
    vectors: dict[int, Callable[[Expr], Expr]] = field(default_factory=dict)
    """Vector variables: the function that gives one lane."""
    pointers: dict[int, Pointer] = field(default_factory=dict)
    """Pointer variables."""
    buffers: dict[int, tuple[Buffer, tuple[Expr, ...] | None]] = field(default_factory=dict)
    """Buffers, each with the offset of its region if it is matched to a region of another one."""
    placed: dict[int, Placed] = field(default_factory=dict)
    """Places of the buffers that lie at a computed one."""
    wide: dict[int, int] = field(default_factory=dict)
    """Lanes per element, of the buffers with vector elements."""
    strides: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Elements from one index to the next in each dimension, of the buffers with gaps, by slot."""
    transposed: dict[int, bool] = field(default_factory=dict)
    """Whether a fragment of a tensor core is held by columns, by slot."""
    said: dict[tuple[int, str], str] = field(default_factory=dict)
    """What attributes say of the shape and the layout of a fragment, by slot and key."""
    stacks: dict[int, Stack] = field(default_factory=dict)
    """Buffers that are declared over a stack of arguments."""

    # The place of the current node.
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
    fragments: tuple[int, int, int] | None = None
    """The rows, columns and inner length of the products of fragments, once one was loaded or filled."""
    place: int | None = None
    """The position in the header of a packed function; None outside of a header (see `headers.py`)."""

    # The results so far.
    slots: int = 0
    """The number of buffers."""
    views: dict[tuple[int, str, tuple[int, ...], int], Buffer] = field(default_factory=dict)
    """Views, by memory, type, shape and first byte."""
    blanks: dict[str, Buffer] = field(default_factory=dict)
    """Buffers that are never written, by type: the lanes that a masked load leaves out."""
    undefined: dict[str, Buffer] = field(default_factory=dict)
    """The same for T.undef()."""
    forgotten: set[int] = field(default_factory=set)
    """The slots of buffers to which T.undef() is stored."""
    jumps: int = 0
    """The number of break and continue statements."""
    returns: int = 0
    """The number of return statements."""
    result: Expr | None = None
    """The number that the function returns."""
    returned: Stack | None = None
    """Where a packed function leaves its result; None in other functions."""
    launches: set[str] = field(default_factory=set)
    """The kernels that were decoded in place."""
    calls: set[str] = field(default_factory=set)
    """The PrimFuncs that were decoded in place."""


def hold(state: DecodeState, tvm_buffer: tvm_api.Buffer, buffer: Buffer) -> None:
    """What a buffer of TVM is here, without offsets; and its pointer, where that is another variable."""
    state.buffers[tvm_buffer.__chandle__()] = (buffer, None)
    if (data := tvm_api.pointer_of(tvm_buffer)) is not None:
        state.pointers.setdefault(data.__chandle__(), BufferAddress(buffer))


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
