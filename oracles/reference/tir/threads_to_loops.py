"""Threads to loops: a function whose kernels run on threads, as one of loops alone.

Here: the entry, the code outside of kernels, and the edge of each kernel. What the loops mean is said in `threads.py`.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from oracles.reference.errors import Unsupported
from oracles.reference.tir.lockstep import lower
from oracles.reference.tir.nodes import Alloc, Block, For, Function, If, Seq, Stmt, Sync, While
from oracles.reference.tir.thread_memory import PRIVATE, allocate
from oracles.reference.tir.threads import Kernel, around, begin, common, has_threads, kernel_state, number_of, parts
from oracles.reference.tir.warps import find_doubtful

SIDE_BY_SIDE = 1 << 22
"""Blocks run at the same time while their memory and that of their threads has no more elements than this."""


def without_threads(function: Function, synchronised: frozenset[str] = frozenset()) -> Function:
    """The same function in loops. Raises Unsupported.

    synchronised: the scopes of memory in which barriers are explicit, so that accesses that they do not order may race.
    That holds in any case for memory of a scope for which the function has barriers.
    """
    if not has_threads(function):
        return function
    kernel = kernel_state(function)
    body = _host(kernel, function.body)
    memory = kernel.memory
    explicit = {part.scope for part in parts(function.body) if isinstance(part, Sync)}
    written = kernel.dependence.summary(body).written - memory.local
    scopes = {home.slot: home.scope for home, _, _ in memory.homes.values()}
    watched = {slot for slot in written if scopes.get(slot, "global") in synchronised | explicit}
    return replace(
        function,
        body=body,
        viewed=function.viewed | {slot for slot, _ in memory.recast},
        unsure=frozenset(memory.unsure),
        watched=frozenset(watched),
        units=memory.units,
    )


def _host(kernel: Kernel, stmt: Stmt) -> Stmt:
    """A statement outside of kernels."""
    match stmt:
        case For() if stmt.thread:
            return _kernel(kernel, stmt)
        case Seq(body):
            return Seq(tuple(_host(kernel, child) for child in body))
        case For(var, extent, kind, thread, body):
            return For(var, extent, kind, thread, _host(kernel, body))
        case If(cond, then, other):
            return If(cond, _host(kernel, then), None if other is None else _host(kernel, other))
        case While(cond, body):
            return While(cond, _host(kernel, body))
        case Block():
            kernel.waiting |= {buffer.slot: buffer for buffer in stmt.allocs if buffer.scope == "local"}
            kernel.outside |= {buffer.slot for buffer in stmt.allocs if buffer.scope.startswith("shared")}
            return replace(stmt, body=_host(kernel, stmt.body))
        case Alloc(buffer) if buffer.scope == "local":
            kernel.waiting[buffer.slot] = buffer
            return stmt
        case _:
            return stmt


def _kernel(kernel: Kernel, stmt: For) -> Stmt:
    """A kernel: the outermost thread and all that is in it."""
    extents: dict[str, For] = {}
    for part in parts(stmt):
        if isinstance(part, For) and part.thread:
            first = extents.setdefault(part.thread, part)
            if number_of(first.extent) != number_of(part.extent):
                raise Unsupported(f"{part.thread} of two extents")
    kernel.launched = stmt.kind == "launch"
    blocks = [tag for tag in extents if tag.startswith("blockIdx")]
    # What the schedule has allocated outside of the kernel is one memory, which the blocks use one after the other.
    one_memory = not kernel.outside.isdisjoint(kernel.dependence.summary(stmt).accesses)
    kernel.one_by_one = frozenset(blocks if one_memory or _memory(kernel, stmt, extents) > SIDE_BY_SIDE else ())
    find_doubtful(kernel, stmt)
    kernel.canonical = {tag: loop.var for tag, loop in extents.items()}
    several = frozenset(tag for tag, loop in extents.items() if number_of(loop.extent) > 1)
    kernel.shared = set() if kernel.launched else set(common(stmt, several, kernel.dependence))
    begun = _open(kernel, list(extents.values()))
    allocated, every = _awaited(kernel, stmt), dict(kernel.dims)
    if not kernel.launched:
        begun, kernel.outer, kernel.dims = [], {}, {}
    kernel.every = {} if kernel.launched else every
    body = Seq((*allocated, lower(kernel, stmt, ()), Sync("end")))
    return around(begun, body)


def _open(kernel: Kernel, loops: list[For]) -> list[For]:
    """Makes these loops threads of the kernel; gives those that remain loops around it."""
    kernel.outer, kernel.dims = {}, {}
    return [loop for loop in loops if begin(kernel, loop)]


def _awaited(kernel: Kernel, stmt: For) -> list[Stmt]:
    """Allocations of thread memory that the schedule has put outside of the kernel that uses it.

    Where a copy for each thread would be too much, it stays one memory, which threads share by their indices.
    """
    used = kernel.dependence.summary(stmt).accesses
    threads = prod(extent for _, extent in kernel.dims.values())
    mine = [buffer for slot, buffer in kernel.waiting.items() if slot in used]
    return [allocate(kernel, b) for b in mine if prod(b.shape) * threads <= PRIVATE and b.slot not in kernel.shared]


def _memory(kernel: Kernel, stmt: For, extents: dict[str, For]) -> int:
    """How many elements all blocks together need."""
    sizes = {tag: number_of(loop.extent) for tag, loop in extents.items()}
    threads = prod(sizes.values())
    blocks = prod(size for tag, size in sizes.items() if tag.startswith("blockIdx"))
    total = 4 * threads
    for part in parts(stmt):
        buffers = part.allocs if isinstance(part, Block) else (part.buffer,) if isinstance(part, Alloc) else ()
        for buffer in buffers:
            total += prod(buffer.shape) * (blocks if buffer.scope.startswith("shared") else threads)
    return total
