"""The statements of a kernel as loops over its threads, in lock step; `threads.py` says what lock step means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import prod

from oracles.reference.errors import Unsupported
from oracles.reference.tir.constants import is_index
from oracles.reference.tir.dependence import subexpressions
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
    Commit,
    Const,
    Copying,
    Expr,
    For,
    If,
    Load,
    Logic,
    Not,
    Select,
    Seq,
    Stmt,
    Store,
    Sync,
    View,
    Wait,
    While,
)
from oracles.reference.tir.rewrite import rewritten
from oracles.reference.tir.thread_memory import (
    PRIVATE,
    allocate,
    converted,
    new_buffer,
    per_thread,
    placed,
    view_for_all,
)
from oracles.reference.tir.threads import EMPTY, Guards, Kernel, around, begin, for_all, independent, parts
from oracles.reference.tir.warps import allreduce, needs_warps, shuffles, warp_store, warp_value


def lower(kernel: Kernel, stmt: Stmt, guards: Guards) -> Stmt:
    """A statement for all threads for which the guards hold, in lock step."""
    if isinstance(stmt, Bind):
        return _bind(kernel, stmt, guards)
    found = _together(kernel, stmt, guards)
    if found is not None:
        return found
    match stmt:
        case Seq(body, single):
            with _as_one(kernel, single):
                return Seq(tuple(lower(kernel, child, guards) for child in body))
        case Store():
            with _as_one(kernel, True):
                return _store(kernel, stmt, guards)
        case For():
            return _thread(kernel, stmt, guards) if stmt.thread else _for(kernel, stmt, guards)
        case If(cond, then, other):
            return _if(kernel, cond, then, other, guards)
        case Block():
            return _block(kernel, stmt, guards)
        case Alloc() | View():
            return _memory_of(kernel, stmt)
        case Sync() | Copying() | Commit() | Wait():
            return _ordering(kernel, stmt, guards)
        case Allreduce():
            return allreduce(kernel, stmt, guards)
        case While():
            return _while(kernel, stmt, guards)
        case _:
            raise Unsupported(f"{type(stmt).__name__} in which threads meet")


def _memory_of(kernel: Kernel, stmt: Alloc | View) -> Stmt:
    if isinstance(stmt, Alloc):
        return _alloc(kernel, stmt.buffer)
    return view_for_all(kernel, stmt.buffer) if stmt.buffer.memory in kernel.memory.homes else stmt


@contextmanager
def _as_one(kernel: Kernel, single: bool) -> Iterator[None]:
    """With `single`, all that is lowered inside of this context counts as one statement."""
    outer = kernel.single
    kernel.statement += single and not outer
    kernel.single = outer or single
    yield
    kernel.single = outer


def _together(kernel: Kernel, stmt: Stmt, guards: Guards) -> Stmt | None:
    """The whole statement inside of loops over the threads, where that means the same as lock step; None elsewhere."""
    for part in parts(stmt):
        match part:
            case Alloc() | View() | Sync() | Allreduce() | Commit() | Wait():
                return None
            case For() if part.thread:
                return None
            case Block() if part.allocs:
                return None
            case Store() if needs_warps(kernel, part):
                return None
            case Bind(_, value) if shuffles(value):
                return None
            case _:
                continue
    nest = for_all(kernel, rewritten(stmt, partial(converted, kernel), partial(placed, kernel)), guards)
    if independent(kernel, nest) or (isinstance(nest, For) and kernel.dependence.scatters(nest)):
        return nest
    if isinstance(stmt, Assert | While):  # no barrier can stand in a loop that threads leave at different times
        return nest
    if not kernel.launched and isinstance(stmt, Block) and stmt.reduce:  # a reduction over a loop of the schedule
        return nest
    return None


def _store(kernel: Kernel, stmt: Store, guards: Guards) -> Stmt:
    """A store that another thread may read or overwrite: all values are computed before the first is stored."""
    if needs_warps(kernel, stmt):
        return warp_store(kernel, stmt, guards)
    target, where = placed(kernel, stmt.buffer, tuple(converted(kernel, index) for index in stmt.indices))
    value, at = per_thread(kernel, "value", stmt.buffer.dtype)
    computed = for_all(kernel, Store(value, converted(kernel, stmt.value), at), guards)
    stored = for_all(kernel, Store(target, Load(value, at, value.dtype), where), guards)
    return Seq((Alloc(value), computed, stored))


def _bind(kernel: Kernel, stmt: Bind, guards: Guards) -> Stmt:
    """A variable: arithmetic on indices is inlined; any other value is kept in memory, one element for each thread."""
    value = converted(kernel, stmt.value)
    if is_index(value):
        kernel.by[stmt.var] = value
        return EMPTY
    kept, at = per_thread(kernel, stmt.var.name, stmt.var.dtype)
    kernel.by[stmt.var] = Load(kept, at, kept.dtype)
    if shuffles(stmt.value):
        return Seq((Alloc(kept), warp_value(kernel, kept, at, stmt.value, guards)))
    return Seq((Alloc(kept), for_all(kernel, Store(kept, value, at), guards)))


def _thread(kernel: Kernel, loop: For, guards: Guards) -> Stmt:
    """A loop bound to a thread, which may be bound around it already."""
    if loop.thread not in kernel.dims and loop.thread not in kernel.outer:
        before = dict(kernel.dims), dict(kernel.outer)
        outside = begin(kernel, loop)
        inner = _thread(kernel, loop, guards)
        kernel.dims, kernel.outer = before
        return around([replace(loop, var=kernel.canonical[loop.thread])], inner) if outside else inner
    found = kernel.dims.get(loop.thread)
    by = kernel.outer[loop.thread] if found is None else found[0]
    if by != loop.var:
        kernel.by[loop.var] = by
    return lower(kernel, loop.body, guards)


def _for(kernel: Kernel, loop: For, guards: Guards) -> Stmt:
    """A loop whose iterations all threads do together; where their extents differ, up to the greatest."""
    extent = converted(kernel, loop.extent)
    ranges = kernel.dependence.bounds.ranges
    if not kernel.differs(extent):
        ranges[loop.var.key] = (0, max(kernel.dependence.bounds.interval(extent).high - 1, 0))
        return For(loop.var, extent, loop.kind, "", lower(kernel, loop.body, guards))
    if not is_index(extent):
        raise Unsupported("loop whose extent threads load")
    longest = kernel.dependence.bounds.interval(extent).high
    ranges[loop.var.key] = (0, max(longest - 1, 0))
    body = lower(kernel, loop.body, (*guards, Cmp("<", loop.var, extent)))
    return For(loop.var, Const(longest, extent.dtype), loop.kind, "", body)


def _while(kernel: Kernel, loop: While, guards: Guards) -> Stmt:
    """A loop whose iterations all threads do together, each thread while its condition holds."""
    cond = converted(kernel, loop.cond)
    if not kernel.differs(cond) and not guards:
        return While(cond, lower(kernel, loop.body, guards))
    active, at = per_thread(kernel, "active", BOOL)
    going = Load(active, at, BOOL)
    count = new_buffer(kernel, "some", INT64, (), "local")
    some = Load(count, (), INT64)
    one = Select(going, Const(1, INT64), Const(0, INT64), INT64)
    counted = (
        Store(count, Const(0, INT64), ()),
        for_all(kernel, Store(count, Bin("max", some, one, INT64), ()), (), False),
    )
    cleared = for_all(kernel, Store(active, Const(False, BOOL), at), (), False)
    first = for_all(kernel, Store(active, cond, at), guards)
    body = lower(kernel, loop.body, (going,))
    again = for_all(kernel, Store(active, cond, at), (going,))
    turns = While(Cmp(">", some, Const(0, INT64)), Seq((body, again, *counted)))
    return Seq((Alloc(active), Alloc(count), cleared, first, *counted, turns))


def _if(kernel: Kernel, cond: Expr, then: Stmt, other: Stmt | None, guards: Guards) -> Stmt:
    """A branch; where threads differ, a guard of its parts."""
    test = converted(kernel, cond)
    if not kernel.differs(test):
        return If(test, lower(kernel, then, guards), None if other is None else lower(kernel, other, guards))
    before: list[Stmt] = []
    if any(isinstance(node, Load) for node in subexpressions(test)):
        kept, at = per_thread(kernel, "condition", BOOL)
        before = [Alloc(kept), for_all(kernel, Store(kept, test, at), guards)]
        test = Load(kept, at, BOOL)
    before.append(lower(kernel, then, (*guards, test)))
    if other is not None:
        before.append(lower(kernel, other, (*guards, Not(test))))
    return Seq(tuple(before))


def _alloc(kernel: Kernel, buffer: Buffer) -> Stmt:
    """Memory. A schedule may allocate that of a thread outside of the loops that are bound to threads."""
    threads = prod(extent for _, extent in kernel.every.values())
    known = buffer.scope == "local" and buffer.slot not in kernel.shared
    if not known or not kernel.every or prod(buffer.shape) * threads > PRIVATE:
        return allocate(kernel, buffer)
    opened, kernel.dims = kernel.dims, kernel.every
    stmt = allocate(kernel, buffer)
    kernel.dims = opened
    return stmt


def _block(kernel: Kernel, block: Block, guards: Guards) -> Stmt:
    """An sblock as plain statements."""
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
    return lower(kernel, Seq((*(Alloc(buffer) for buffer in block.allocs), body)), guards)


def _sync(kernel: Kernel, sync: Sync, guards: Guards) -> Stmt:
    """A barrier; where some threads may not reach it, with a buffer that says which ones do."""
    threads = any(tag.startswith("threadIdx") for tag in kernel.dims)
    if not guards or sync.scope == "warp" or not threads:
        return sync
    arrives, at = per_thread(kernel, "arrives", BOOL)
    cleared = for_all(kernel, Store(arrives, Const(False, BOOL), at), (), False)
    some = for_all(kernel, Store(arrives, Const(True, BOOL), at), guards, False)
    return Seq((Alloc(arrives), cleared, some, replace(sync, guard=arrives, blocks=kernel.blocks())))


def _ordering(kernel: Kernel, stmt: Sync | Copying | Commit | Wait, guards: Guards) -> Stmt:
    """What orders the accesses of threads, or makes them asynchronous."""
    match stmt:
        case Sync():
            return _sync(kernel, stmt, guards)
        case Copying(body):
            return Copying(lower(kernel, body, guards))
        case _:
            return _queue(kernel, stmt, guards)


def _queue(kernel: Kernel, stmt: Commit | Wait, guards: Guards) -> Stmt:
    """The end of a group of copies, or the wait for one, by all threads."""
    left = converted(kernel, stmt.left) if isinstance(stmt, Wait) else None
    if guards or (left is not None and kernel.differs(left)):
        raise Unsupported("asynchronous copies that threads wait for at different times")
    return stmt if left is None else Wait(stmt.queue, left)
