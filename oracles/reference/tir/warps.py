"""What threads do together in a kernel: shuffles within a warp, and reductions over threads.

A shuffle gives the value of another lane of the warp (CUDA C++ Programming Guide, "Warp Shuffle Functions"): of `lane`
modulo the width, of one so much lower or higher, or with bits flipped; lanes are numbered within segments of `width`,
and a lane that asks for one outside of its segment gets its own value (xor: outside means a later segment; an earlier
one can be read). The value of a thread that does not exist or does not take part is undefined: an uninitialised
element.

TVM's reductions (LowerThreadAllreduce) compute with such values in lanes whose results are not used. So in the memory
of threads that shuffles read or write, a value computed from uninitialised elements is uninitialised; a trap is only to
store it elsewhere, or to decide by it.
"""

from __future__ import annotations

from oracles.reference.errors import Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.dependence import children, subexpressions
from oracles.reference.tir.nodes import (
    INT64,
    Alloc,
    Allreduce,
    Bin,
    Bind,
    Buffer,
    Call,
    Cmp,
    Const,
    Expr,
    For,
    Forget,
    If,
    Initialised,
    Load,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
)
from oracles.reference.tir.races import WARP
from oracles.reference.tir.rewrite import substitute
from oracles.reference.tir.thread_memory import converted, new_buffer, per_thread, placed
from oracles.reference.tir.threads import Guards, Kernel, conjunction, for_all, parts

SHUFFLES = ("shuffle", "shuffle_up", "shuffle_down", "shuffle_xor")


def shuffles(expr: Expr) -> list[Call]:
    """The shuffles in an expression."""
    return [node for node in subexpressions(expr) if isinstance(node, Call) and node.name in SHUFFLES]


def find_doubtful(kernel: Kernel, stmt: Stmt) -> None:
    """Finds the memory of threads that shuffles read, and memory computed from shuffles or from such memory."""
    doubtful = kernel.memory.doubtful
    stores = [part for part in parts(stmt) if isinstance(part, Store)]
    for store in stores:
        for call in shuffles(store.value):
            doubtful |= {node.buffer.memory for node in subexpressions(call.args[0]) if isinstance(node, Load)}
    shared = {s.buffer.memory for s in stores if s.buffer.scope == "global" or s.buffer.scope.startswith("shared")}
    doubtful -= shared
    grown = -1
    while grown != len(doubtful):
        grown = len(doubtful)
        for store in stores:
            if store.buffer.memory not in shared and _from_doubtful(kernel, store.value):
                doubtful.add(store.buffer.memory)


def _from_doubtful(kernel: Kernel, value: Expr) -> bool:
    """Whether a value is computed from shuffles or from memory that holds their results."""
    return bool(shuffles(value)) or any(
        isinstance(node, Load) and node.buffer.memory in kernel.memory.doubtful for node in subexpressions(value)
    )


def needs_warps(kernel: Kernel, store: Store) -> bool:
    """Whether `warp_store` is to lower a store."""
    return bool(shuffles(store.value)) or (
        store.buffer.memory in kernel.memory.doubtful and _from_doubtful(kernel, store.value)
    )


def _all_initialised(kernel: Kernel, value: Expr) -> Guards:
    """That all elements that a value is computed from, and that may be uninitialised, are initialised."""
    loads = [
        node for node in subexpressions(value) if isinstance(node, Load) and node.buffer.slot in kernel.memory.unsure
    ]
    return tuple(dict.fromkeys(Initialised(load.buffer, load.indices) for load in loads))


def warp_store(kernel: Kernel, store: Store, guards: Guards) -> Stmt:
    """A store whose value holds shuffles, or may be uninitialised."""
    target, where = placed(kernel, store.buffer, tuple(converted(kernel, index) for index in store.indices))
    return warp_value(kernel, target, where, store.value, guards)


def warp_value(kernel: Kernel, target: Buffer, where: tuple[Expr, ...], value: Expr, guards: Guards) -> Stmt:
    """Stores such a value; an uninitialised one makes the element uninitialised where the memory is doubtful."""
    before: list[Stmt] = []
    computed = _shuffled(kernel, value, before, guards)
    known = conjunction(_all_initialised(kernel, computed)) if target.slot in kernel.memory.unsure else None
    stored: Stmt = Store(target, computed, where)
    if known is not None:
        stored = If(known, stored, Forget(target, where))
    return Seq((*before, for_all(kernel, stored, guards)))


def _shuffled(kernel: Kernel, value: Expr, before: list[Stmt], guards: Guards) -> Expr:
    """The value with its shuffles as loads of what all threads have stored before."""
    by: dict[Expr, Expr] = {}
    for call in reversed(shuffles(value)):
        if any(shuffles(part) for part in children(call)):
            raise Unsupported("shuffle of a shuffle")
        by[call] = _shuffle(kernel, call, before, guards)
    return converted(kernel, _replaced(value, by))


def _shuffle(kernel: Kernel, call: Call, before: list[Stmt], guards: Guards) -> Expr:
    given, lane, width = (converted(kernel, arg) for arg in call.args)
    blocks = kernel.lead("shared")
    lanes = -(-kernel.block_size() // WARP) * WARP
    down = new_buffer(kernel, "lanes", call.dtype, (*(extent for _, extent in blocks), lanes), "local")
    kernel.memory.unsure.add(down.slot)
    lead = tuple(index for index, _ in blocks)
    known = _all_initialised(kernel, given)
    before += [Alloc(down), for_all(kernel, Store(down, given, (*lead, kernel.thread())), (*guards, *known))]
    return Load(down, (*lead, _source(call.name, kernel.thread(), lane, width)), call.dtype)


def allreduce(kernel: Kernel, node: Allreduce, guards: Guards) -> Stmt:
    """Values of all threads, one accumulator per group, and the results back to all threads."""
    over: set[Expr] = {converted(kernel, thread) for thread in node.threads}
    group = [(var, extent) for _, var, extent in kernel.ordered() if var not in over]
    summed = [(var, extent) for _, var, extent in kernel.ordered() if var in over]
    cond = converted(kernel, node.cond)
    body: list[Stmt] = []
    accumulators, terms = [], []
    for value, identity in zip(node.values, node.identity, strict=True):
        term, at = per_thread(kernel, "term", value.dtype)
        body += [Alloc(term), for_all(kernel, Store(term, identity, at), (), False)]
        body.append(for_all(kernel, Store(term, converted(kernel, value), at), (*guards, cond)))
        terms.append(Load(term, at, term.dtype))
        total = new_buffer(kernel, "total", value.dtype, tuple(extent for _, extent in group), "local")
        place: tuple[Expr, ...] = tuple(var for var, _ in group)
        body += [Alloc(total), _loops(group, Store(total, identity, place))]
        accumulators.append(Load(total, place, total.dtype))
    body.append(_loops([*group, *summed], _combined(node, accumulators, terms)))
    for (buffer, indices), accumulator in zip(node.results, accumulators, strict=True):
        target, where = placed(kernel, buffer, tuple(converted(kernel, index) for index in indices))
        body.append(for_all(kernel, Store(target, accumulator, where), guards))
    return Seq(tuple(body))


def _replaced(value: Expr, by: dict[Expr, Expr]) -> Expr:
    """The expression with each shuffle replaced by the load that `by` gives."""
    found = by.get(value)
    if found is not None:
        return found
    if not shuffles(value):
        return value
    if isinstance(value, Bin):
        return Bin(value.op, _replaced(value.a, by), _replaced(value.b, by), value.dtype)
    raise Unsupported("shuffle inside another expression")


def _source(name: str, thread: Expr, lane: Expr, width: Expr) -> Expr:
    """The number of the thread whose value a shuffle gives to `thread`."""

    def calc(op: str, a: Expr, b: Expr) -> Expr:
        return fold(op, a, b, INT64)

    place = calc("floormod", thread, width)
    start = calc("sub", thread, place)
    match name:
        case "shuffle":
            return calc("add", start, calc("floormod", lane, width))
        case "shuffle_up":
            return Select(Cmp(">=", place, lane), calc("sub", thread, lane), thread, INT64)
        case "shuffle_down":
            return Select(Cmp("<", calc("add", place, lane), width), calc("add", thread, lane), thread, INT64)
        case _:
            other = calc("bxor", thread, lane)
            return Select(Cmp("<", other, calc("add", start, width)), other, thread, INT64)


def _loops(dims: list[tuple[Var, int]], body: Stmt) -> Stmt:
    for var, extent in reversed(dims):
        body = For(var, Const(extent, var.dtype), "serial", "", body)
    return body


def _combined(node: Allreduce, accumulators: list[Load], terms: list[Load]) -> Stmt:
    """One step of the reduction."""
    stores = [
        Store(total.buffer, combined, total.indices)
        for total, combined in zip(accumulators, node.combined, strict=True)
    ]
    if len(stores) == 1:
        by: dict[Expr, Expr] = {node.left[0]: accumulators[0], node.right[0]: terms[0]}
        return Store(stores[0].buffer, substitute(stores[0].value, by), stores[0].indices)
    bound = [Bind(var, load) for var, load in zip((*node.left, *node.right), (*accumulators, *terms), strict=True)]
    # All new accumulators come from the old ones.
    return Seq((*bound, *stores))
