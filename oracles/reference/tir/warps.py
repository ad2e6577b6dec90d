"""What threads do together in a kernel: shuffles within a warp, and reductions over threads.

A shuffle gives the value of another lane of the warp (CUDA C++ Programming Guide, "Warp Shuffle Functions"): of `lane`
modulo the width, of one so much lower or higher, or with bits flipped; lanes are numbered within segments of `width`,
and who would look outside of its segment gets its own value (for xor: a later segment; an earlier one may be seen). The
value of a thread that is not there, or did not take part, is undefined: an element of nothing.

TVM's reductions (LowerThreadAllreduce) compute with such values in lanes whose results nobody uses. So in the memory of
threads that shuffles read or feed, what is computed from nothing is nothing, and only who stores it elsewhere, or
decides by it, traps.
"""

from __future__ import annotations

from oracles.reference.errors import Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.dependence import children, walk
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
    Function,
    If,
    Known,
    Load,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
)
from oracles.reference.tir.rewrite import substitute
from oracles.reference.tir.threads import WARP, Kernel, conjunction, parts

SHUFFLES = ("shuffle", "shuffle_up", "shuffle_down", "shuffle_xor")
Guards = tuple[Expr, ...]


def shuffles(expr: Expr) -> list[Call]:
    """The shuffles in an expression."""
    return [node for node in walk(expr) if isinstance(node, Call) and node.name in SHUFFLES]


class WarpKernel(Kernel):
    """Adds warps."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.unsure: set[int] = set()
        """Buffers of ours whose elements may be nothing."""
        self.doubtful: set[int] = set()
        """The memories of the kernel that become such buffers."""

    # --- values that may be nothing ---------------------------------------------------------------------------------

    def find_unsure(self, kernel: Stmt) -> None:
        """Finds the memory of threads that shuffles read, and what is computed from shuffles or from it."""
        stores = [part for part in parts(kernel) if isinstance(part, Store)]
        for store in stores:
            for call in shuffles(store.value):
                self.doubtful |= {node.buffer.memory for node in walk(call.args[0]) if isinstance(node, Load)}
        shared = {s.buffer.memory for s in stores if s.buffer.scope == "global" or s.buffer.scope.startswith("shared")}
        self.doubtful -= shared
        grown = -1
        while grown != len(self.doubtful):
            grown = len(self.doubtful)
            for store in stores:
                if store.buffer.memory not in shared and self._from_nothing(store.value):
                    self.doubtful.add(store.buffer.memory)

    def _from_nothing(self, value: Expr) -> bool:
        return bool(shuffles(value)) or any(
            isinstance(node, Load) and node.buffer.memory in self.doubtful for node in walk(value)
        )

    def needs_warps(self, store: Store) -> bool:
        """Whether a store is one of `warp_store`."""
        return bool(shuffles(store.value)) or (store.buffer.memory in self.doubtful and self._from_nothing(store.value))

    def settle(self, buffer: Buffer) -> Stmt:
        """Allocates memory of threads."""
        stmt = super().settle(buffer)
        if buffer.slot in self.doubtful:
            self.unsure.add(self.homes[buffer.slot][0].slot)
        return stmt

    def _something(self, value: Expr) -> Guards:
        """That all elements that a value is computed from, and may be nothing, are something."""
        loads = [node for node in walk(value) if isinstance(node, Load) and node.buffer.slot in self.unsure]
        return tuple(dict.fromkeys(Known(load.buffer, load.indices) for load in loads))

    def warp_store(self, store: Store, guards: Guards) -> Stmt:
        """A store whose value shuffles, or may be nothing."""
        target, where = self.place(store.buffer, tuple(self.expr(index) for index in store.indices))
        return self.warp_value(target, where, store.value, guards)

    def warp_value(self, target: Buffer, where: tuple[Expr, ...], value: Expr, guards: Guards) -> Stmt:
        """Stores such a value; into memory that may be nothing, nothing is stored as nothing."""
        before: list[Stmt] = []
        computed = self._shuffled(value, before, guards)
        known = conjunction(self._something(computed)) if target.slot in self.unsure else None
        stored: Stmt = Store(target, computed, where)
        if known is not None:
            stored = If(known, stored, Forget(target, where))
        return Seq((*before, self.nest(stored, guards)))

    # --- shuffles ---------------------------------------------------------------------------------------------------

    def _shuffled(self, value: Expr, before: list[Stmt], guards: Guards) -> Expr:
        """The value with its shuffles as loads of what all threads have put down before."""
        by: dict[Expr, Expr] = {}
        for call in reversed(shuffles(value)):
            if any(shuffles(part) for part in children(call)):
                raise Unsupported("shuffle of a shuffle")
            by[call] = self._shuffle(call, before, guards)
        return self.expr(_replaced(value, by))

    def _shuffle(self, call: Call, before: list[Stmt], guards: Guards) -> Expr:
        given, lane, width = (self.expr(arg) for arg in call.args)
        blocks = self.lead("shared")
        lanes = -(-self.block_size() // WARP) * WARP
        down = self.new("lanes", call.dtype, (*(extent for _, extent in blocks), lanes), "local")
        self.unsure.add(down.slot)
        lead = tuple(index for index, _ in blocks)
        known = self._something(given)
        before += [Alloc(down), self.nest(Store(down, given, (*lead, self.thread())), (*guards, *known))]
        return Load(down, (*lead, _source(call.name, self.thread(), lane, width)), call.dtype)

    # --- reductions over threads ------------------------------------------------------------------------------------

    def allreduce(self, node: Allreduce, guards: Guards) -> Stmt:
        """Values of all threads, one accumulator per group, and the results back to all threads."""
        over: set[Expr] = {self.expr(thread) for thread in node.threads}
        group = [(var, extent) for _, var, extent in self.ordered() if var not in over]
        summed = [(var, extent) for _, var, extent in self.ordered() if var in over]
        cond = self.expr(node.cond)
        body: list[Stmt] = []
        accumulators, terms = [], []
        for value, identity in zip(node.values, node.identity, strict=True):
            term, at = self.per_thread("term", value.dtype)
            body += [Alloc(term), self.nest(Store(term, identity, at), (), False)]
            body.append(self.nest(Store(term, self.expr(value), at), (*guards, cond)))
            terms.append(Load(term, at, term.dtype))
            total = self.new("total", value.dtype, tuple(extent for _, extent in group), "local")
            place: tuple[Expr, ...] = tuple(var for var, _ in group)
            body += [Alloc(total), _loops(group, Store(total, identity, place))]
            accumulators.append(Load(total, place, total.dtype))
        body.append(_loops([*group, *summed], _combined(node, accumulators, terms)))
        for (buffer, indices), accumulator in zip(node.results, accumulators, strict=True):
            target, where = self.place(buffer, tuple(self.expr(index) for index in indices))
            body.append(self.nest(Store(target, accumulator, where), guards))
        return Seq(tuple(body))


def _replaced(value: Expr, by: dict[Expr, Expr]) -> Expr:
    """The expression with some calls in it replaced by loads of ours."""
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
