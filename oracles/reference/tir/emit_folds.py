"""Reductions `B[i] = B[i] op e` evaluated over their whole domain at once, in exactly the order of the loops.

The terms `e` are computed as one grid with the reduction loops as leading axes; `folds.py` combines them one
by one, so that every float operation is the same as in the sequential loop. Used only when `e` reads no
buffer that the loop writes.
"""

from __future__ import annotations

from typing import NamedTuple

from generators.dtypes import FLOAT8
from oracles.reference.tir.dependence import walk
from oracles.reference.tir.emit_access import AccessEmitter, loads
from oracles.reference.tir.emit_state import Axis, Code
from oracles.reference.tir.nodes import Bin, Bind, Block, Const, Expr, For, Load, Seq, Stmt, Store, Var
from oracles.reference.tir.rewrite import substitute

LIMIT = 1 << 21
_FOLDED = ("add", "mul", "min", "max")


class _Update(NamedTuple):
    """`store.buffer[...] = store.buffer[...] op term`, or with the operands the other way round if `swapped`."""

    store: Store
    op: str
    term: Expr
    swapped: bool


class _Fold(NamedTuple):
    """A nest of loops around one block; `loops` in order, each with whether it is independent."""

    loops: tuple[tuple[For, bool], ...]
    block: Block | None
    updates: tuple[_Update, ...]
    init_axes: tuple[int, ...]


class FoldEmitter(AccessEmitter):
    """Adds folded reductions."""

    def stmt(self, node: Stmt) -> None:
        """Any statement; in `emit_stmts.py`."""
        raise NotImplementedError

    def init(self, node: Block, hoisted: tuple[int, ...]) -> None:
        """The init part of a block; in `emit_stmts.py`."""
        raise NotImplementedError

    def fold(self, node: For) -> bool:
        """Emits the loop nest at `node` as a fold if it is one; says whether it did."""
        if self.mask is not None or node.thread or not self.dependence.vectorise or self.dependence.parallel(node):
            return False
        plan = self._plan(node)
        if plan is None:
            return False
        self._emit(plan)
        return True

    def _plan(self, node: For) -> _Fold | None:
        loops: list[tuple[For, bool]] = []
        inner: Stmt = node
        while isinstance(inner, For) and isinstance(inner.extent, Const):
            loops.append((inner, self.dependence.parallel(inner)))
            inner = inner.body
        size = 1
        for axis in self.axes.values():
            size *= axis.extent
        for loop, _ in loops:
            size *= _extent(loop)
        if size > LIMIT or any(loop.thread for loop, _ in loops):
            return None
        block = inner if isinstance(inner, Block) else None
        if block is not None and (block.predicate is not None or block.allocs):
            return None
        folded = {loop.var.key for loop, independent in loops if not independent}
        updates = self._updates(inner if block is None else block.body, folded)
        init_axes = _init_axes(block, folded, self) if updates else None
        if updates is None or init_axes is None:
            return None
        return _Fold(tuple(loops), block, updates, init_axes)

    def _updates(self, body: Stmt, folded: set[int]) -> tuple[_Update, ...] | None:
        """The stores of `body` as updates, with its bound variables inlined; None if one is anything else."""
        statements = body.body if isinstance(body, Seq) else (body,)
        bound: dict[Expr, Expr] = {}
        updates: list[_Update] = []
        for statement in statements:
            match statement:
                case Bind(var, value) if not updates:
                    bound[var] = substitute(value, bound)
                case Store(buffer, value, indices):
                    update = _update(Store(buffer, substitute(value, bound), indices))
                    if update is None:
                        return None
                    updates.append(update)
                case Seq(()):
                    continue
                case _:
                    return None
        memory = {update.store.buffer.memory for update in updates}
        if len(memory) != len(updates):
            return None
        for update in updates:
            nodes = [n for index in update.store.indices for n in walk(index)]
            if any(isinstance(n, Load) or (isinstance(n, Var) and n.key in folded) for n in nodes):
                return None
            if any(isinstance(n, Load) and n.buffer.memory in memory for n in walk(update.term)):
                return None
        return tuple(updates)

    def _emit(self, plan: _Fold) -> None:
        outer_axes, outer_depth, outer_block = dict(self.axes), self.depth, self.block
        if plan.block is not None:
            self.block = plan.block.name
        for loop, independent in plan.loops:
            if independent:
                self.axes[loop.var.key] = Axis(_extent(loop), self.depth - self.rank)
                self.depth += 1
        self.hoisted.append({})
        if plan.block is not None and plan.block.init is not None:
            self.init(plan.block, plan.init_axes)
        folded = [loop for loop, independent in plan.loops if not independent]
        shape = tuple(_extent(loop) for loop in folded)
        for update in plan.updates:
            self._fold_one(update, folded, shape)
        self.hoisted.pop()
        self.axes, self.depth, self.block = outer_axes, outer_depth, outer_block

    def _fold_one(self, update: _Update, folded: list[For], shape: tuple[int, ...]) -> None:
        buffer, indices = update.store.buffer, update.store.indices
        current = self.load(buffer, indices)
        lead = -self.rank - len(folded)
        for number, loop in enumerate(folded):
            self.axes[loop.var.key] = Axis(shape[number], lead + number)
        self.hoisted.append({})
        term = self.expr(update.term)
        self.hoisted.pop()
        for loop in folded:
            del self.axes[loop.var.key]
        dtype = buffer.dtype
        kind = "float" if dtype.kind == "f" else "int"
        limits = "" if kind == "float" else f", {dtype.low}, {dtype.high}, {self.site(buffer.name)}"
        order = f"{update.op}{'_swapped' if update.swapped else ''}"
        text = f"fold_{kind}_{order}({current.text}, {term.text}, {shape}, {self.rank}{limits})"
        self.store(buffer, indices, Code(text, current.grid))


def _extent(loop: For) -> int:
    assert isinstance(loop.extent, Const)
    return int(loop.extent.value)


def _update(store: Store) -> _Update | None:
    value, dtype = store.value, store.buffer.dtype
    if not isinstance(value, Bin) or value.op not in _FOLDED:
        return None
    if dtype.kind not in "fi" and not (dtype.kind == "u" and dtype.bits < 32):
        return None
    if dtype.name in FLOAT8:  # every partial result is checked
        return None
    if loads(value.a, store.buffer, store.indices):
        return _Update(store, value.op, value.b, False)
    if loads(value.b, store.buffer, store.indices):
        return _Update(store, value.op, value.a, True)
    return None


def _init_axes(block: Block | None, folded: set[int], emitter: AccessEmitter) -> tuple[int, ...] | None:
    """The reduction axes of the block that are exactly the folded loops; None if init depends on them in
    another way.
    """
    if block is None or block.init is None:
        return ()
    found: dict[int, int] = {}
    for number, (binding, start) in enumerate(block.reduce):
        form = emitter.bounds.linear(binding)
        keys = {node.key for node in walk(binding) if isinstance(node, Var)} & folded
        if not keys:
            continue
        key = next(iter(keys))
        simple = [(t.key, s) for t, s in form.terms.items() if isinstance(t, Var)] == [(key, 1)] and len(
            form.terms
        ) == 1
        if not simple or not isinstance(start, Const) or int(start.value) != form.const:
            return None
        found[key] = number
    return tuple(found.values()) if set(found) == folded else None
