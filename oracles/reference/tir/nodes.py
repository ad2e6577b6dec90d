"""The interpreter's own form of a PrimFunc: the decoder makes it from TVM's objects, the code generator reads it.

Expressions compare by structure (they serve as keys), statements by identity. Sizes that depend on the
arguments' shapes are already numbers here: a PrimFunc is decoded once per binding of its shape variables and
integer parameters. No TVM object occurs in these nodes, and no code generation lives here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from oracles.reference.tir.node_kinds import by_identity, by_structure
from oracles.reference.tir.scalar_types import BOOL as BOOL
from oracles.reference.tir.scalar_types import DTYPES as DTYPES
from oracles.reference.tir.scalar_types import INT64 as INT64
from oracles.reference.tir.scalar_types import DType as DType

ConstValue: TypeAlias = int | float | bool


@by_structure
class Const:
    """A literal: a Python int, float or bool."""

    value: ConstValue
    dtype: DType


@by_structure
class Var:
    """A loop, let or bound variable; `key` is unique per binding site, so that shadowing needs no care."""

    key: int
    name: str
    dtype: DType


@by_structure
class Bin:
    """`op` is one of add sub mul div mod floordiv floormod min max band bor bxor shl shr; both operands have
    `dtype`.
    """

    op: str
    a: Expr
    b: Expr
    dtype: DType


@by_structure
class Cmp:
    """`op` is a Python comparison sign."""

    op: str
    a: Expr
    b: Expr
    dtype: DType = BOOL


@by_structure
class Logic:
    """`op` is "and" or "or"; the right operand is evaluated only where the left one does not decide."""

    op: str
    a: Expr
    b: Expr
    dtype: DType = BOOL


@by_structure
class Not:
    """Logical negation."""

    a: Expr
    dtype: DType = BOOL


@by_structure
class Cast:
    """A conversion of `a` to `dtype`."""

    a: Expr
    dtype: DType


@by_structure
class Select:
    """`if_then_else` and `Select`: only the chosen branch is evaluated.

    TVM's RewriteUnsafeSelect turns a Select with unsafe branches into if_then_else, so that both are lazy in
    meaning.
    """

    cond: Expr
    then: Expr
    other: Expr
    dtype: DType


@by_structure
class Load:
    """One element of a buffer."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    dtype: DType


@by_structure
class Call:
    """An intrinsic by its bare name ("exp", "shift_left")."""

    name: str
    args: tuple[Expr, ...]
    dtype: DType


@by_structure
class Initialised:
    """Whether an element of a buffer is initialised."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    dtype: DType = BOOL


@by_structure
class Let:
    """`body` with `var` bound to `value`."""

    var: Var
    value: Expr
    body: Expr
    dtype: DType


Expr = Const | Var | Bin | Cmp | Logic | Not | Cast | Select | Load | Call | Initialised | Let


@by_identity
class Buffer:
    """A parameter, an allocated buffer or a view of one; `slot` numbers the buffers of one function.

    A view sees the memory of `source` from `offset` (in bytes) on, maybe as elements of another size. `scope` is TVM's
    storage scope.
    """

    slot: int
    name: str
    dtype: DType
    shape: tuple[int, ...]
    source: Buffer | None = None
    offset: int = 0
    scope: str = "global"

    @property
    def memory(self) -> int:
        """The slot of the buffer whose memory this is."""
        return self.slot if self.source is None else self.source.memory

    @property
    def start(self) -> int:
        """Where the first element lies in that memory, in bytes."""
        return self.offset if self.source is None else self.offset + self.source.start


@by_identity
class Store:
    """`buffer[indices] = value`."""

    buffer: Buffer
    value: Expr
    indices: tuple[Expr, ...]


@by_identity
class Bind:
    """A variable defined for the statements that follow in the same sequence."""

    var: Var
    value: Expr


@by_identity
class Seq:
    """Statements in order. `single`: together they are one statement of TVM's, whose loads come before its stores."""

    body: tuple[Stmt, ...]
    single: bool = False


VECTORIZED = "vectorized"
"""The kind of a loop of which each iteration is a lane."""


@by_identity
class For:
    """A loop over 0 .. extent - 1 (another start or step is in the uses of the variable); `thread` is a
    thread tag or "". A `kind` of "launch" is no loop of the schedule: all that is inside is done by every thread.
    """

    var: Var
    extent: Expr
    kind: str
    thread: str
    body: Stmt


@by_identity
class While:
    """Repeat while the condition holds."""

    cond: Expr
    body: Stmt


@by_identity
class If:
    """A conditional statement; `other` may be empty."""

    cond: Expr
    then: Stmt
    other: Stmt | None


@by_identity
class Block:
    """A realised sblock whose block variables are already replaced by their bindings.

    `reduce` holds, for each reduction axis, its binding and the first value of its domain: `init` runs where
    all are equal (the rule of TVM's LowerInitBlock).
    """

    name: str
    predicate: Expr | None
    reduce: tuple[tuple[Expr, Expr], ...]
    init: Stmt | None
    allocs: tuple[Buffer, ...]
    body: Stmt


@by_identity
class Alloc:
    """A fresh, uninitialised buffer."""

    buffer: Buffer


@by_identity
class View:
    """From here on, `buffer` is a view of its source as it is now."""

    buffer: Buffer


@by_identity
class Assert:
    """A run-time check."""

    cond: Expr
    message: str


@by_identity
class Jump:
    """`kind` is "break" or "continue"."""

    kind: str


@by_identity
class PackedCall:
    """A call of a packed function by name on whole buffers, scalars and strings, for its effect."""

    name: str
    args: tuple[Buffer | Expr | str, ...]


@by_identity
class Sync:
    """A barrier of a warp ("warp") or a block (other scopes). `guard` has one bool per thread of each
    of the `blocks`: whether it arrives; None: all do."""

    scope: str
    guard: Buffer | None = None
    blocks: int = 1
    site: str = "barrier"


@by_identity
class Copying:
    """Stores inside are made by asynchronous copies: see `flights.py`."""

    body: Stmt


@by_identity
class Commit:
    """The asynchronous copies issued since the last one become a group of a queue."""

    queue: int


@by_identity
class Wait:
    """Waits until all groups of a queue but the last `left` have arrived."""

    queue: int
    left: Expr


@by_identity
class Allreduce:
    """Combines `values` of all threads that differ in `threads` alone, and leaves the result with each of them.

    `combined` gives the new accumulators from `left` and `right`; `cond` says whose value counts, else `identity`.
    """

    left: tuple[Var, ...]
    right: tuple[Var, ...]
    combined: tuple[Expr, ...]
    identity: tuple[Expr, ...]
    values: tuple[Expr, ...]
    cond: Expr
    results: tuple[tuple[Buffer, tuple[Expr, ...]], ...]
    threads: tuple[Expr, ...]


@by_identity
class Forget:
    """From here on, an element is uninitialised."""

    buffer: Buffer
    indices: tuple[Expr, ...]


@by_identity
class Watched:
    """Accesses inside are those of thread `thread` of block `block` in a statement of this number; see `races.py`."""

    block: Expr
    thread: Expr
    body: Stmt
    statement: int = 0


Stmt = (
    Store
    | Bind
    | Seq
    | For
    | While
    | If
    | Block
    | Alloc
    | View
    | Assert
    | Jump
    | PackedCall
    | Sync
    | Copying
    | Commit
    | Wait
    | Allreduce
    | Forget
    | Watched
)


@by_identity
class Function:
    """A decoded PrimFunc. `params` holds a buffer, or the variable of a float or bool parameter, or None for
    a bound integer; `viewed` numbers the memories that are also reached through views, `unsure` the buffers whose
    elements may be forgotten again, `watched` the memories whose accesses may race, `launches` and `calls` name the
    kernels and the functions that it calls. `units` gives, of the memories that are seen as elements of several sizes,
    the smallest size in bytes. `result` holds the number that the function returns.
    """

    name: str
    params: tuple[Buffer | Var | None, ...]
    body: Stmt
    viewed: frozenset[int] = frozenset()
    unsure: frozenset[int] = frozenset()
    watched: frozenset[int] = frozenset()
    launches: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    units: Mapping[int, int] = field(default_factory=dict)
    result: Expr | None = None
