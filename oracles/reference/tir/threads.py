"""GPU threads as loops: what the threads of a kernel are, and where their memory lies. `fission.py` takes kernels
apart, so that nothing below knows of threads.

The meaning is lock step: every statement is done by all threads before the next one begins. Before ThreadSync that is
what TVM's IR means, since a barrier is implied wherever one is needed; afterwards it is one of the legal schedules, and
whatever another one could do differently is a data race, which `races.py` finds. (CUDA C++ Programming Guide,
"Synchronization Functions": accesses of one block between two barriers are in no order.)

A statement in which no thread touches what another one writes is put whole into loops over the threads, which the code
generator turns into axes of arrays. Any other statement is taken apart (loop fission over threads): conditions in
which threads differ become guards of the parts, kept in a temporary if they are no arithmetic on indices; memory of one
thread (scope local) gets a leading dimension per thread, memory of one block (shared) one per block, of a warp one per
warp. Blocks are independent and run side by side, or one after the other where that would need too much memory. A loop
that threads leave at different times is done by one thread after the other: no barrier can stand in it.

Two forms. Thread-bound *loops* (up to UnifyThreadBinding) are loops of the schedule: a statement is done by the threads
of the loops around it, a reduction over a thread-bound loop is sequential, and a loop bound to a thread that is already
bound around it is that thread (UnifyThreadBinding). Inside a *launch* (AttrStmt[thread_extent]) every statement is done
by all threads of the kernel. Virtual threads are threads with shared memory of their own (InjectVirtualThread).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from operator import attrgetter
from typing import Any

from oracles.reference.tir.constants import fold
from oracles.reference.tir.dependence import Dependence, walk
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import (
    INT64,
    Alloc,
    Block,
    Buffer,
    Const,
    DType,
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
from oracles.reference.tir.rewrite import substitute

WARP = 32
WORD = 8
"""Bytes of the largest element."""
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


_INSIDE: dict[type, Callable[[Any], tuple[Stmt | None, ...]]] = {
    Seq: attrgetter("body"),
    **dict.fromkeys((For, While, Watched), lambda stmt: (stmt.body,)),
    If: attrgetter("then", "other"),
    Block: attrgetter("init", "body"),
}
"""The statements right inside of one."""


def _flat_size(buffer: Buffer, mixed: bool) -> int:
    """How many elements; with `mixed`, as many as fill whole words, since others may be larger."""
    size, width = prod(buffer.shape), int(buffer.dtype.numpy.itemsize)
    return -(-size * width // WORD) * WORD // width if mixed else size


def has_threads(function: Function) -> bool:
    """Whether anything in the function is done by threads."""
    return any(isinstance(part, For) and part.thread for part in parts(function.body))


def common(stmt: Stmt, missing: frozenset[str], dependence: Dependence) -> Iterator[int]:
    """The memories that a schedule does not access in the loops of all threads (`missing`: those that are not around
    yet), or reduces over such a loop: these are one memory for all iterations, whatever their scope."""
    match stmt:
        case Seq(body):
            for child in body:
                yield from common(child, missing, dependence)
        case For(_, _, _, thread, body):
            yield from common(body, missing - {thread}, dependence)
        case While(_, body):
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


class Kernel:
    """The threads around the current statement, and what has become of variables and buffers."""

    def __init__(self, function: Function) -> None:
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
        self.slots = max(slots, default=-1) + 1
        self.viewed = {part.buffer.memory for part in every if isinstance(part, View)}
        self.units = dict(function.units)
        self.recast: dict[tuple[int, str], Buffer] = {}
        """The memory of threads, seen as elements of another type."""
        self.dims: dict[str, tuple[Var, int]] = {}
        self.by: dict[Expr, Expr] = {}
        self.homes: dict[int, tuple[Buffer, tuple[Expr, ...], bool]] = {}
        """For each memory of threads: its buffer, the leading indices, and whether the others are flattened."""
        self.dependence = Dependence(Bounds())
        self.statement = 0
        self.single = False
        """Whether what is being taken apart is one statement."""
        self.local: set[int] = set()
        """The buffers of which each thread has its own part."""

    # --- threads ----------------------------------------------------------------------------------------------------

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
        return self._number("threadIdx")

    def block(self) -> Expr:
        """The number of the block, or of the virtual thread in it."""
        return self._number("blockIdx", "vthread")

    def _number(self, *kinds: str) -> Expr:
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
        return any(isinstance(node, Var) and node.key in keys for node in walk(expr))

    # --- memory -----------------------------------------------------------------------------------------------------

    def new(self, name: str, dtype: DType, shape: tuple[int, ...], scope: str) -> Buffer:
        """A buffer of our own."""
        self.slots += 1
        if scope == "local":
            self.local.add(self.slots - 1)
        return Buffer(self.slots - 1, name, dtype, shape, scope=scope)

    def per_thread(self, name: str, dtype: DType) -> tuple[Buffer, tuple[Expr, ...]]:
        """A temporary with one element for each thread, and where that is."""
        lead = self.lead("local")
        buffer = self.new(name, dtype, tuple(extent for _, extent in lead), "local")
        return buffer, tuple(index for index, _ in lead)

    def settle(self, buffer: Buffer) -> Stmt:
        """Allocates the memory of threads that `buffer` stands for."""
        lead = self.lead(buffer.scope)
        flat = buffer.slot in self.viewed
        shape = (_flat_size(buffer, buffer.slot in self.units),) if flat else buffer.shape
        scope = buffer.scope if buffer.scope == "warp" or buffer.scope.startswith("shared") else "local"
        home = self.new(buffer.name, buffer.dtype, (*(extent for _, extent in lead), *shape), scope)
        self.homes[buffer.slot] = home, tuple(index for index, _ in lead), flat
        if buffer.slot in self.units:
            self.units[home.slot] = self.units[buffer.slot]
        return Alloc(home)

    def seen_as(self, buffer: Buffer) -> Stmt:
        """Makes a view of memory of threads what it is for all threads."""
        home, _, _ = self.homes[buffer.memory]
        if buffer.dtype is home.dtype:
            return EMPTY
        *lead, last = home.shape
        width = buffer.dtype.numpy.itemsize
        found = self.recast.get((home.slot, buffer.dtype.name))
        if found is None:
            shape = (*lead, last * home.dtype.numpy.itemsize // width)
            found = self.new(buffer.name, buffer.dtype, shape, home.scope)
            found = replace(found, source=home)
            self.recast[home.slot, buffer.dtype.name] = found
        return View(found)

    def place(self, buffer: Buffer, indices: tuple[Expr, ...]) -> tuple[Buffer, tuple[Expr, ...]]:
        """Where an element of a buffer of the kernel lies. Indices are already changed."""
        found = self.homes.get(buffer.memory)
        if found is None:
            return buffer, indices
        home, lead, flat = found
        if buffer.dtype is not home.dtype:
            home = self.recast[home.slot, buffer.dtype.name]
        if not flat:
            return home, (*lead, *indices)
        offset: Expr = Const(buffer.start // home.dtype.numpy.itemsize, INT64)
        stride = 1
        for extent, index in zip(reversed(buffer.shape), reversed(indices), strict=True):
            offset = fold("add", offset, fold("mul", index, Const(stride, INT64), INT64), INT64)
            stride *= extent
        return home, (*lead, offset)

    def expr(self, expr: Expr) -> Expr:
        """An expression as it is in loops over the threads."""
        return substitute(expr, self.by, self.place)

    # --- statements -------------------------------------------------------------------------------------------------

    def nest(self, stmt: Stmt, guards: tuple[Expr, ...], watched: bool = True) -> Stmt:
        """Loops over all threads around a statement, done by those for whom all guards hold."""
        guard = conjunction(guards)
        body = stmt if guard is None else If(guard, stmt, None)
        if watched and any(tag.startswith("threadIdx") for tag in self.dims):
            self.statement += not self.single
            body = Watched(self.block(), self.thread(), body, self.statement)
        for _, var, extent in reversed(self.ordered()):
            body = For(var, Const(extent, var.dtype), "serial", "", body)
        return body

    def independent(self, nest: Stmt) -> bool:
        """Whether no thread touches what another one writes."""
        self.dependence.summary(nest)
        for _ in self.dims:
            assert isinstance(nest, For)
            if not self.dependence.independent(nest):
                return False
            nest = nest.body
        return True


def conjunction(guards: tuple[Expr, ...]) -> Expr | None:
    """All of them; None for none."""
    whole: Expr | None = None
    for guard in guards:
        whole = guard if whole is None else Logic("and", whole, guard)
    return whole
