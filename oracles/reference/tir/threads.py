"""GPU threads as loops: what the threads of a kernel are, and loops over them. `threads_to_loops.py` is the entry: it
turns kernels into loops, so that nothing after it knows of threads. `thread_memory.py` says where their memory lies,
`lockstep.py` turns the statements of a kernel into loops, `warps.py` those in which the threads of a warp exchange
values.

The meaning is lock step: all threads do a statement before the next one begins. Before ThreadSync that is what TVM's IR
means, since a barrier is implied wherever one is needed. Afterwards it is one of the legal schedules, and a different
result under another one is a data race, which `races.py` finds. (CUDA C++ Programming Guide,
"Synchronization Functions": accesses of one block between two barriers are in no order.)

A statement in which no thread accesses an element that another one writes is put whole into loops over the threads,
which the code generator turns into axes of arrays. Any other statement is split into parts with a loop each (loop
fission over threads): conditions in which threads differ become guards of the parts, kept in a temporary unless they
are arithmetic on indices; memory of one thread (scope local) gets a leading dimension per thread, memory of one block
(shared) one per block, of a warp one per warp. Blocks are independent and run side by side, or one after the other
where that would need too much memory. A loop that threads leave at different times is done by one thread after the
other: no barrier can stand in it.

Two forms. Thread-bound *loops* (up to UnifyThreadBinding) are loops of the schedule: a statement is done by the threads
of the loops around it, a reduction over a thread-bound loop is sequential, and a loop bound to a thread that is already
bound around it is that thread (UnifyThreadBinding). Inside a *launch* (AttrStmt[thread_extent]) every statement is done
by all threads of the kernel. Virtual threads are threads with shared memory of their own (InjectVirtualThread).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod
from operator import attrgetter
from typing import Any

from oracles.reference.errors import Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.dependence import Dependence, subexpressions
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import (
    INT64,
    Alloc,
    Block,
    Buffer,
    Const,
    Copying,
    Expr,
    For,
    Function,
    If,
    Logic,
    Seq,
    Stmt,
    Var,
    View,
    Watched,
    While,
)
from oracles.reference.tir.races import WARP

Guards = tuple[Expr, ...]
"""Conditions that must all hold for a thread to do a statement."""
EMPTY = Seq(())


def parts(stmt: Stmt) -> Iterator[Stmt]:
    """The statement and all statements in it, in order."""
    left = [stmt]
    while left:
        part = left.pop()
        yield part
        inside = _INSIDE.get(type(part))
        if inside is not None:
            left += [child for child in reversed(inside(part)) if child is not None]


_INSIDE: dict[type[Stmt], Callable[[Any], tuple[Stmt | None, ...]]] = {
    Seq: attrgetter("body"),
    **dict.fromkeys((For, While, Watched, Copying), lambda stmt: (stmt.body,)),
    If: attrgetter("then", "other"),
    Block: attrgetter("init", "body"),
}
"""The statements right inside of one."""


def has_threads(function: Function) -> bool:
    """Whether anything in the function is done by threads."""
    return any(isinstance(part, For) and part.thread for part in parts(function.body))


def common(stmt: Stmt, missing: frozenset[str], dependence: Dependence) -> Iterator[int]:
    """The memories that a schedule does not access in the loops of all threads (`missing`: those that are not around
    yet), or reduces over such a loop: these are one memory for all iterations, in any scope."""
    match stmt:
        case Seq(body):
            for child in body:
                yield from common(child, missing, dependence)
        case For(_, _, _, thread, body):
            yield from common(body, missing - {thread}, dependence)
        case While(_, body) | Copying(body):
            yield from common(body, missing, dependence)
        case If(_, then, other):
            for part in (then, other):
                if part is not None:
                    yield from common(part, missing, dependence)
        case Block() if stmt.init is None:  # LowerCrossThreadReduction takes the init out of what threads do
            yield from common(stmt.body, missing, dependence)
        case Block():
            yield from dependence.summary(stmt).written
        case _ if missing:
            yield from dependence.summary(stmt).accesses
        case _:
            return


def rank_of(tag: str) -> tuple[int, int]:
    """Order of threads from the outermost: blocks, virtual threads, threads; z before y before x."""
    kind = 0 if tag.startswith("blockIdx") else 1 if tag.startswith("vthread") else 2
    return kind, -"xyz".find(tag[-1]) if "." in tag else -3


@dataclass(slots=True)
class ThreadMemory:
    """Where the buffers of kernels lie. Buffers go by slot, `slots` is the first that is free.

    viewed: memory that views share. units: bytes of a unit of initialisation where this is less than an element. homes:
    for each memory of threads its buffer, the leading indices, and whether the other dimensions are flattened. recast:
    memory of threads seen as elements of another type, by the name of that type. local: buffers of which each thread
    has its own part. doubtful: memory of threads that holds results of shuffles, which may be undefined; unsure: the
    buffers that such memory lies in.
    """

    slots: int
    viewed: frozenset[int]
    units: dict[int, int]
    homes: dict[int, tuple[Buffer, tuple[Expr, ...], bool]] = field(default_factory=dict)
    recast: dict[tuple[int, str], Buffer] = field(default_factory=dict)
    local: set[int] = field(default_factory=set)
    doubtful: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Kernel:
    """The kernel that is being turned into loops, and the threads around the current statement.

    dims: variable and extent of each open thread tag. by: what replaces a variable. outer: the values of thread tags
    that are loops around the kernel, or of extent one. canonical: the variable that replaces a thread tag. every: all
    threads of a kernel of a schedule, those whose loops are not open included; empty in a launch. one_by_one: tags that
    run one after the other. launched: inside a launch, not a schedule. shared: memory of threads that a schedule takes
    for one memory. waiting: memory of threads that is allocated outside of kernels; outside: that of blocks. statement:
    the number of the current statement; single: what is being lowered is one statement.
    """

    memory: ThreadMemory
    dependence: Dependence = field(default_factory=lambda: Dependence(Bounds()))
    dims: dict[str, tuple[Var, int]] = field(default_factory=dict)
    by: dict[Expr, Expr] = field(default_factory=dict)
    outer: dict[str, Expr] = field(default_factory=dict)
    canonical: dict[str, Var] = field(default_factory=dict)
    every: dict[str, tuple[Var, int]] = field(default_factory=dict)
    one_by_one: frozenset[str] = frozenset()
    launched: bool = False
    shared: set[int] = field(default_factory=set)
    waiting: dict[int, Buffer] = field(default_factory=dict)
    outside: set[int] = field(default_factory=set)
    statement: int = 0
    single: bool = False

    def ordered(self) -> list[tuple[str, Var, int]]:
        """Tag, variable and number of the threads, from the outermost."""
        return [(tag, *self.dims[tag]) for tag in sorted(self.dims, key=rank_of)]

    def lead(self, scope: str) -> list[tuple[Expr, int]]:
        """Index and extent of the leading dimensions that memory of this scope has."""
        if scope.startswith("shared"):
            return [(var, extent) for tag, var, extent in self.ordered() if not tag.startswith("threadIdx")]
        if scope == "warp":
            blocks = [(var, extent) for tag, var, extent in self.ordered() if not tag.startswith("threadIdx")]
            warp = fold("floordiv", self.thread(), Const(WARP, INT64), INT64)
            return [*blocks, (warp, -(-self.block_size() // WARP))]
        return [(var, extent) for _, var, extent in self.ordered()]

    def thread(self) -> Expr:
        """The number of the thread in its block, x running fastest."""
        return self._numbered("threadIdx")

    def block(self) -> Expr:
        """The number of the block, or of the virtual thread in it."""
        return self._numbered("blockIdx", "vthread")

    def _numbered(self, *kinds: str) -> Expr:
        total: Expr = Const(0, INT64)
        for tag, var, extent in self.ordered():
            if tag.startswith(kinds):
                total = fold("add", fold("mul", total, Const(extent, INT64), INT64), var, INT64)
        return total

    def block_size(self) -> int:
        """How many threads a block has."""
        return prod(extent for tag, _, extent in self.ordered() if tag.startswith("threadIdx"))

    def blocks(self) -> int:
        """How many blocks run side by side."""
        return prod(extent for tag, _, extent in self.ordered() if not tag.startswith("threadIdx"))

    def differs(self, expr: Expr) -> bool:
        """Whether threads may see different values of an expression."""
        keys = {var.key for var, _ in self.dims.values()}
        return any(isinstance(node, Var) and node.key in keys for node in subexpressions(expr))


def kernel_state(function: Function) -> Kernel:
    """The state before the first kernel of a function."""
    every = list(parts(function.body))
    slots = [p.slot for p in function.params if isinstance(p, Buffer)]
    for part in every:
        match part:
            case Alloc(buffer) | View(buffer):
                slots.append(buffer.slot)
            case Block():
                slots += [buffer.slot for buffer in part.allocs]
            case _:
                continue
    viewed = frozenset(part.buffer.memory for part in every if isinstance(part, View))
    return Kernel(ThreadMemory(max(slots, default=-1) + 1, viewed, dict(function.units)))


def begin(kernel: Kernel, loop: For) -> bool:
    """Opens a thread tag; True where it becomes a loop around the kernel."""
    extent = number_of(loop.extent)
    kernel.dependence.bounds.ranges[kernel.canonical[loop.thread].key] = (0, extent - 1)
    if extent == 1:
        kernel.outer[loop.thread] = Const(0, loop.var.dtype)
    elif loop.thread in kernel.one_by_one:
        kernel.outer[loop.thread] = kernel.canonical[loop.thread]
        return True
    else:
        kernel.dims[loop.thread] = (kernel.canonical[loop.thread], extent)
    return False


def for_all(kernel: Kernel, stmt: Stmt, guards: Guards, watched: bool = True) -> Stmt:
    """Loops over all threads around a statement; threads do it for which all guards hold."""
    guard = conjunction(guards)
    body = stmt if guard is None else If(guard, stmt, None)
    if watched and any(tag.startswith("threadIdx") for tag in kernel.dims):
        kernel.statement += not kernel.single
        body = Watched(kernel.block(), kernel.thread(), body, kernel.statement)
    for _, var, extent in reversed(kernel.ordered()):
        body = For(var, Const(extent, var.dtype), "serial", "", body)
    return body


def independent(kernel: Kernel, nest: Stmt) -> bool:
    """Whether no thread accesses an element that another one writes."""
    kernel.dependence.summary(nest)
    for _ in kernel.dims:
        assert isinstance(nest, For)
        if not kernel.dependence.independent(nest):
            return False
        nest = nest.body
    return True


def conjunction(guards: Guards) -> Expr | None:
    """All of them; None for none."""
    whole: Expr | None = None
    for guard in guards:
        whole = guard if whole is None else Logic("and", whole, guard)
    return whole


def number_of(extent: Expr) -> int:
    """The number of threads of a loop. Raises Unsupported where it is not known."""
    if not isinstance(extent, Const):
        raise Unsupported("number of threads that is not known")
    return int(extent.value)


def around(loops: list[For], body: Stmt) -> Stmt:
    """These loops, run one iteration at a time, around a body."""
    for loop in reversed(loops):
        body = For(loop.var, loop.extent, "serial", "", body)
    return body
