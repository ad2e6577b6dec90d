"""Kernels taken apart into loops over their threads; what that means is in `threads.py`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from oracles.reference.errors import Unsupported
from oracles.reference.tir.constants import is_index
from oracles.reference.tir.dependence import walk
from oracles.reference.tir.nodes import (
    BOOL,
    INT64,
    Alloc,
    Allreduce,
    Assert,
    Bin,
    Bind,
    Block,
    Buffer,
    Cmp,
    Const,
    Expr,
    For,
    Function,
    If,
    Load,
    Logic,
    Not,
    Select,
    Seq,
    Stmt,
    Store,
    Sync,
    Var,
    View,
    While,
)
from oracles.reference.tir.rewrite import rewritten
from oracles.reference.tir.threads import common, has_threads, parts
from oracles.reference.tir.warps import WarpKernel, shuffles

SIDE_BY_SIDE = 1 << 22
"""Up to so many elements of thread and block memory, blocks run at the same time."""
PRIVATE = 1 << 20
"""So much memory of threads may a schedule allocate outside of their loops, one copy each."""
Guards = tuple[Expr, ...]
EMPTY = Seq(())


def without_threads(function: Function, synchronised: bool = False) -> Function:
    """The same function in loops. `synchronised`: barriers are explicit, and whatever they do not order may race;
    memory of a scope for which the function has barriers is taken for synchronised in any case."""
    return _Fission(function).whole_function(function, synchronised) if has_threads(function) else function


class _Fission(WarpKernel):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.outer: dict[str, Expr] = {}
        """Thread tags that are loops around the kernel, or of extent one."""
        self.one_by_one: frozenset[str] = frozenset()
        self.launched = False
        self.common: set[int] = set()
        """Memory of threads that the schedule takes for one memory."""
        self.canonical: dict[str, Var] = {}
        """The variable that stands for a thread tag throughout the kernel."""
        self.every: dict[str, tuple[Var, int]] = {}
        """All threads of a kernel in the schedule, also those whose loops are not open."""
        self.waiting: dict[int, Buffer] = {}
        """Memory of threads that is allocated outside of kernels."""

    def whole_function(self, function: Function, synchronised: bool) -> Function:
        """See `without_threads`."""
        body = self._host(function.body)
        explicit = {part.scope for part in parts(function.body) if isinstance(part, Sync)}
        written = self.dependence.summary(body).written - self.local
        scopes = {home.slot: home.scope for home, _, _ in self.homes.values()}
        watched = {slot for slot in written if synchronised or scopes.get(slot) in explicit}
        return replace(
            function,
            body=body,
            viewed=function.viewed | {slot for slot, _ in self.recast},
            unsure=frozenset(self.unsure),
            watched=frozenset(watched),
            units=self.units,
        )

    # --- outside and at the edge of kernels -------------------------------------------------------------------------

    def _host(self, stmt: Stmt) -> Stmt:
        match stmt:
            case For() if stmt.thread:
                return self._kernel(stmt)
            case Seq(body):
                return Seq(tuple(self._host(child) for child in body))
            case For(var, extent, kind, thread, body):
                return For(var, extent, kind, thread, self._host(body))
            case If(cond, then, other):
                return If(cond, self._host(then), None if other is None else self._host(other))
            case While(cond, body):
                return While(cond, self._host(body))
            case Block():
                self.waiting |= {buffer.slot: buffer for buffer in stmt.allocs if buffer.scope == "local"}
                return replace(stmt, body=self._host(stmt.body))
            case Alloc(buffer) if buffer.scope == "local":
                self.waiting[buffer.slot] = buffer
                return stmt
            case _:
                return stmt

    def _kernel(self, stmt: For) -> Stmt:
        """A kernel: the outermost thread and all that is in it."""
        extents: dict[str, For] = {}
        for part in parts(stmt):
            if isinstance(part, For) and part.thread:
                first = extents.setdefault(part.thread, part)
                if _number(first.extent) != _number(part.extent):
                    raise Unsupported(f"{part.thread} of two extents")
        self.launched = stmt.kind == "launch"
        blocks = [tag for tag in extents if tag.startswith("blockIdx")]
        self.one_by_one = frozenset(blocks if self._memory(stmt, extents) > SIDE_BY_SIDE else ())
        self.find_unsure(stmt)
        self.canonical = {tag: loop.var for tag, loop in extents.items()}
        several = frozenset(tag for tag, loop in extents.items() if _number(loop.extent) > 1)
        self.common = set() if self.launched else set(common(stmt, several, self.dependence))
        begun = self._open(list(extents.values()))
        allocated, every = self._awaited(stmt), dict(self.dims)
        if not self.launched:
            begun, self.outer, self.dims = [], {}, {}
        self.every = {} if self.launched else every
        body = Seq((*allocated, self._lower(stmt, ()), Sync("end")))
        return _around(begun, body)

    def _open(self, loops: list[For]) -> list[For]:
        """Makes these loops threads of the kernel; gives those that remain loops around it."""
        self.outer, self.dims = {}, {}
        return [loop for loop in loops if self._begin(loop)]

    def _awaited(self, kernel: For) -> list[Stmt]:
        """Allocations of thread memory that the schedule has put outside of the kernel that uses it.

        Where one for each thread would be too much, it is memory that threads share by their indices.
        """
        used = self.dependence.summary(kernel).accesses
        threads = prod(extent for _, extent in self.dims.values())
        mine = [buffer for slot, buffer in self.waiting.items() if slot in used]
        return [self.settle(b) for b in mine if prod(b.shape) * threads <= PRIVATE and b.slot not in self.common]

    def _memory(self, stmt: For, extents: dict[str, For]) -> int:
        """How many elements all blocks together need."""
        sizes = {tag: _number(loop.extent) for tag, loop in extents.items()}
        threads = prod(sizes.values())
        blocks = prod(size for tag, size in sizes.items() if tag.startswith("blockIdx"))
        total = 4 * threads
        for part in parts(stmt):
            buffers = part.allocs if isinstance(part, Block) else (part.buffer,) if isinstance(part, Alloc) else ()
            for buffer in buffers:
                total += prod(buffer.shape) * (blocks if buffer.scope.startswith("shared") else threads)
        return total

    def _begin(self, loop: For) -> bool:
        """Makes a thread tag mean something; True where it becomes a loop around the kernel."""
        extent = _number(loop.extent)
        self.dependence.bounds.ranges[self.canonical[loop.thread].key] = (0, extent - 1)
        if extent == 1:
            self.outer[loop.thread] = Const(0, loop.var.dtype)
        elif loop.thread in self.one_by_one:
            self.outer[loop.thread] = self.canonical[loop.thread]
            return True
        else:
            self.dims[loop.thread] = (self.canonical[loop.thread], extent)
        return False

    # --- statements of a kernel -------------------------------------------------------------------------------------

    def _lower(self, stmt: Stmt, guards: Guards) -> Stmt:
        """A statement for all threads for whom the guards hold, in lock step."""
        if isinstance(stmt, Bind):
            return self._bind(stmt, guards)
        found = self._together(stmt, guards)
        if found is not None:
            return found
        match stmt:
            case Seq(body, single):
                with self._as_one(single):
                    return Seq(tuple(self._lower(child, guards) for child in body))
            case Store():
                with self._as_one(True):
                    return self._store(stmt, guards)
            case For():
                return self._thread(stmt, guards) if stmt.thread else self._for(stmt, guards)
            case If(cond, then, other):
                return self._if(cond, then, other, guards)
            case Block():
                return self._block(stmt, guards)
            case Alloc() | View():
                return self._memory_of(stmt)
            case Sync():
                return self._sync(stmt, guards)
            case Allreduce():
                return self.allreduce(stmt, guards)
            case While():
                return self._while(stmt, guards)
            case _:
                raise Unsupported(f"{type(stmt).__name__} in which threads meet")

    def _memory_of(self, stmt: Alloc | View) -> Stmt:
        if isinstance(stmt, Alloc):
            return self._alloc(stmt.buffer)
        return self.seen_as(stmt.buffer) if stmt.buffer.memory in self.homes else stmt

    @contextmanager
    def _as_one(self, single: bool) -> Iterator[None]:
        """What is lowered meanwhile is one statement, if `single`."""
        outer = self.single
        self.statement += single and not outer
        self.single = outer or single
        yield
        self.single = outer

    def _together(self, stmt: Stmt, guards: Guards) -> Stmt | None:
        """The statement as a whole in loops over the threads, where that is lock step as well."""
        for part in parts(stmt):
            match part:
                case Alloc() | View() | Sync() | Allreduce():
                    return None
                case For() if part.thread:
                    return None
                case Block() if part.allocs:
                    return None
                case Store() if self.needs_warps(part):
                    return None
                case Bind(_, value) if shuffles(value):
                    return None
                case _:
                    continue
        nest = self.nest(rewritten(stmt, self.expr, self.place), guards)
        if self.independent(nest) or (isinstance(nest, For) and self.dependence.scatters(nest)):
            return nest
        if isinstance(stmt, Assert | While):  # no barrier can stand in a loop that threads leave at different times
            return nest
        if not self.launched and isinstance(stmt, Block) and stmt.reduce:  # a reduction over a loop of the schedule
            return nest
        return None

    def _store(self, stmt: Store, guards: Guards) -> Stmt:
        """A store in which threads meet: all values are computed before the first is stored."""
        if self.needs_warps(stmt):
            return self.warp_store(stmt, guards)
        target, where = self.place(stmt.buffer, tuple(self.expr(index) for index in stmt.indices))
        value, at = self.per_thread("value", stmt.buffer.dtype)
        computed = self.nest(Store(value, self.expr(stmt.value), at), guards)
        stored = self.nest(Store(target, Load(value, at, value.dtype), where), guards)
        return Seq((Alloc(value), computed, stored))

    def _bind(self, stmt: Bind, guards: Guards) -> Stmt:
        """A variable: arithmetic on indices is put where it is used, anything else is kept for each thread."""
        value = self.expr(stmt.value)
        if is_index(value):
            self.by[stmt.var] = value
            return EMPTY
        kept, at = self.per_thread(stmt.var.name, stmt.var.dtype)
        self.by[stmt.var] = Load(kept, at, kept.dtype)
        if shuffles(stmt.value):
            return Seq((Alloc(kept), self.warp_value(kept, at, stmt.value, guards)))
        return Seq((Alloc(kept), self.nest(Store(kept, value, at), guards)))

    def _thread(self, loop: For, guards: Guards) -> Stmt:
        """A loop bound to a thread, which may be bound around it already."""
        if loop.thread not in self.dims and loop.thread not in self.outer:
            before = dict(self.dims), dict(self.outer)
            around = self._begin(loop)
            inner = self._thread(loop, guards)
            self.dims, self.outer = before
            return _around([replace(loop, var=self.canonical[loop.thread])], inner) if around else inner
        found = self.dims.get(loop.thread)
        by = self.outer[loop.thread] if found is None else found[0]
        if by != loop.var:
            self.by[loop.var] = by
        return self._lower(loop.body, guards)

    def _for(self, loop: For, guards: Guards) -> Stmt:
        """A loop that all threads make together; where their extents differ, as often as the longest."""
        extent = self.expr(loop.extent)
        ranges = self.dependence.bounds.ranges
        if not self.differs(extent):
            ranges[loop.var.key] = (0, max(self.dependence.bounds.interval(extent).high - 1, 0))
            return For(loop.var, extent, loop.kind, "", self._lower(loop.body, guards))
        if not is_index(extent):
            raise Unsupported("loop whose extent threads load")
        longest = self.dependence.bounds.interval(extent).high
        ranges[loop.var.key] = (0, max(longest - 1, 0))
        body = self._lower(loop.body, (*guards, Cmp("<", loop.var, extent)))
        return For(loop.var, Const(longest, extent.dtype), loop.kind, "", body)

    def _while(self, loop: While, guards: Guards) -> Stmt:
        """A loop that threads go round together, each as long as its condition holds."""
        cond = self.expr(loop.cond)
        if not self.differs(cond) and not guards:
            return While(cond, self._lower(loop.body, guards))
        active, at = self.per_thread("active", BOOL)
        going = Load(active, at, BOOL)
        count = self.new("some", INT64, (), "local")
        some = Load(count, (), INT64)
        one = Select(going, Const(1, INT64), Const(0, INT64), INT64)
        counted = (
            Store(count, Const(0, INT64), ()),
            self.nest(Store(count, Bin("max", some, one, INT64), ()), (), False),
        )
        nobody = self.nest(Store(active, Const(False, BOOL), at), (), False)
        first = self.nest(Store(active, cond, at), guards)
        body = self._lower(loop.body, (going,))
        again = self.nest(Store(active, cond, at), (going,))
        turns = While(Cmp(">", some, Const(0, INT64)), Seq((body, again, *counted)))
        return Seq((Alloc(active), Alloc(count), nobody, first, *counted, turns))

    def _if(self, cond: Expr, then: Stmt, other: Stmt | None, guards: Guards) -> Stmt:
        test = self.expr(cond)
        if not self.differs(test):
            return If(test, self._lower(then, guards), None if other is None else self._lower(other, guards))
        before: list[Stmt] = []
        if any(isinstance(node, Load) for node in walk(test)):
            kept, at = self.per_thread("condition", BOOL)
            before = [Alloc(kept), self.nest(Store(kept, test, at), guards)]
            test = Load(kept, at, BOOL)
        before.append(self._lower(then, (*guards, test)))
        if other is not None:
            before.append(self._lower(other, (*guards, Not(test))))
        return Seq(tuple(before))

    def _alloc(self, buffer: Buffer) -> Stmt:
        """Memory. In a schedule that of a thread may be allocated outside of the loops that are bound to threads."""
        threads = prod(extent for _, extent in self.every.values())
        known = buffer.scope == "local" and buffer.slot not in self.common
        if not known or not self.every or prod(buffer.shape) * threads > PRIVATE:
            return self.settle(buffer)
        opened, self.dims = self.dims, self.every
        stmt = self.settle(buffer)
        self.dims = opened
        return stmt

    def _block(self, block: Block, guards: Guards) -> Stmt:
        """An sblock as the statements that it stands for."""
        body = block.body
        if block.init is not None:
            first: Expr | None = None
            for binding, start in block.reduce:
                test = Cmp("==", binding, start)
                first = test if first is None else Logic("and", first, test)
            init = block.init if first is None else If(first, block.init, None)
            body = Seq((init, body))
        if block.predicate is not None:
            body = If(block.predicate, body, None)
        return self._lower(Seq((*(Alloc(buffer) for buffer in block.allocs), body)), guards)

    def _sync(self, sync: Sync, guards: Guards) -> Stmt:
        """A barrier; where threads may not all arrive, with a note of who does."""
        threads = any(tag.startswith("threadIdx") for tag in self.dims)
        if not guards or sync.scope == "warp" or not threads:
            return sync
        arrives, at = self.per_thread("arrives", BOOL)
        nobody = self.nest(Store(arrives, Const(False, BOOL), at), (), False)
        some = self.nest(Store(arrives, Const(True, BOOL), at), guards, False)
        return Seq((Alloc(arrives), nobody, some, replace(sync, guard=arrives, blocks=self.blocks())))


def _number(extent: Expr) -> int:
    if not isinstance(extent, Const):
        raise Unsupported("number of threads that is not known")
    return int(extent.value)


def _around(loops: list[For], body: Stmt) -> Stmt:
    for loop in reversed(loops):
        body = For(loop.var, loop.extent, "serial", "", body)
    return body
