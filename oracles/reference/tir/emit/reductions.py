"""The code of reductions `B[i] = B[i] op e` that are evaluated over their whole domain at once, in exactly the order of
the loops.

The terms `e` are computed as one grid with the reduction loops as leading axes. `oracles/reference/tir/folds.py`
combines them one by one, so that every float operation is the same as in the sequential loop. Used only when `e` reads
no buffer that the loop writes.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from generators.dtypes import FLOAT8
from oracles.reference.tir.dependence import subexpressions
from oracles.reference.tir.emit.blocks import init
from oracles.reference.tir.emit.loads import load
from oracles.reference.tir.emit.state import Axis, Code, EmitState
from oracles.reference.tir.emit.stores import store
from oracles.reference.tir.nodes import Bin, Bind, Block, Buffer, Const, Expr, For, Load, Seq, Stmt, Store, Var
from oracles.reference.tir.rewrite import substitute

LIMIT = 1 << 21
"""Terms of a reduction that are computed at once, at most."""
_FOLDED = ("add", "mul", "min", "max")


class _Update(NamedTuple):
    """`store.buffer[...] = store.buffer[...] op term`, or with the operands the other way round if `swapped`."""

    store: Store
    op: str
    term: Expr
    swapped: bool


class _Plan(NamedTuple):
    """A nest of loops around one block; `loops` in order, each with whether it is independent."""

    loops: tuple[tuple[For, bool], ...]
    block: Block | None
    updates: tuple[_Update, ...]
    init_axes: tuple[int, ...]


def reduction(state: EmitState, node: For) -> bool:
    """Emits the loop nest at `node` if it is a reduction that can be evaluated at once; says whether it did."""
    dependence = state.dependence
    if state.mask is not None or node.thread or not dependence.vectorise or dependence.parallel(node):
        return False
    plan = _planned(state, node)
    if plan is None:
        return False
    _emit(state, plan)
    return True


def _planned(state: EmitState, node: For) -> _Plan | None:
    loops: list[tuple[For, bool]] = []
    inner: Stmt = node
    while isinstance(inner, For) and isinstance(inner.extent, Const):
        loops.append((inner, state.dependence.parallel(inner)))
        inner = inner.body
    size = prod(axis.extent for axis in state.axes.values()) * prod(_extent(loop) for loop, _ in loops)
    if size > LIMIT or any(loop.thread for loop, _ in loops):
        return None
    block = inner if isinstance(inner, Block) else None
    if block is not None and (block.predicate is not None or block.allocs):
        return None
    folded = {loop.var.key for loop, independent in loops if not independent}
    updates = _updates(inner if block is None else block.body, folded)
    init_axes = _init_axes(state, block, folded) if updates else None
    if updates is None or init_axes is None:
        return None
    return _Plan(tuple(loops), block, updates, init_axes)


def _updates(body: Stmt, folded: set[int]) -> tuple[_Update, ...] | None:
    """The stores of `body` as updates, with its bound variables inlined; None if one is anything else, or if they
    depend on each other or on the folded loops in another way.
    """
    updates = _inlined(body)
    if updates is None:
        return None
    memory = {update.store.buffer.memory for update in updates}
    if len(memory) != len(updates):
        return None
    for update in updates:
        nodes = [n for index in update.store.indices for n in subexpressions(index)]
        if any(isinstance(n, Load) or (isinstance(n, Var) and n.key in folded) for n in nodes):
            return None
        if any(isinstance(n, Load) and n.buffer.memory in memory for n in subexpressions(update.term)):
            return None
    return tuple(updates)


def _inlined(body: Stmt) -> list[_Update] | None:
    """The stores as updates, with bound variables inlined; None if a statement is anything else."""
    bound: dict[Expr, Expr] = {}
    updates: list[_Update] = []
    for statement in body.body if isinstance(body, Seq) else (body,):
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
    return updates


def _update(stored: Store) -> _Update | None:
    value, dtype = stored.value, stored.buffer.dtype
    if not isinstance(value, Bin) or value.op not in _FOLDED:
        return None
    if dtype.kind not in "fi" and not (dtype.kind == "u" and dtype.bits < 32):
        return None
    if dtype.name in FLOAT8:  # every partial result is checked
        return None
    if _loads(value.a, stored.buffer, stored.indices):
        return _Update(stored, value.op, value.b, False)
    if _loads(value.b, stored.buffer, stored.indices):
        return _Update(stored, value.op, value.a, True)
    return None


def _loads(expr: Expr, buffer: Buffer, indices: tuple[Expr, ...]) -> bool:
    """Whether `expr` is exactly the load of this element."""
    return isinstance(expr, Load) and expr.buffer is buffer and expr.indices == indices


def _init_axes(state: EmitState, block: Block | None, folded: set[int]) -> tuple[int, ...] | None:
    """The reduction axes of the block that are exactly the folded loops; None if init depends on them in another
    way.
    """
    if block is None or block.init is None:
        return ()
    found: dict[int, int] = {}
    for number, (binding, start) in enumerate(block.reduce):
        form = state.bounds.linear(binding)
        keys = {node.key for node in subexpressions(binding) if isinstance(node, Var)} & folded
        if not keys:
            continue
        key = next(iter(keys))
        variables = [(term.key, scale) for term, scale in form.terms.items() if isinstance(term, Var)]
        simple = variables == [(key, 1)] and len(form.terms) == 1
        if not simple or not isinstance(start, Const) or int(start.value) != form.const:
            return None
        found[key] = number
    return tuple(found.values()) if set(found) == folded else None


def _emit(state: EmitState, plan: _Plan) -> None:
    outer_axes, outer_depth, outer_block = dict(state.axes), state.depth, state.block
    if plan.block is not None:
        state.block = plan.block.name
    for loop, independent in plan.loops:
        if independent:
            state.axes[loop.var.key] = Axis(_extent(loop), state.depth - state.rank)
            state.depth += 1
    state.hoisted.append({})
    if plan.block is not None and plan.block.init is not None:
        init(state, plan.block, plan.init_axes)
    folded = [loop for loop, independent in plan.loops if not independent]
    for update in plan.updates:
        _fold(state, update, folded)
    state.hoisted.pop()
    state.axes, state.depth, state.block = outer_axes, outer_depth, outer_block


def _fold(state: EmitState, update: _Update, folded: list[For]) -> None:
    buffer, indices = update.store.buffer, update.store.indices
    shape = tuple(_extent(loop) for loop in folded)
    current = load(state, buffer, indices)
    lead = -state.rank - len(folded)
    for number, loop in enumerate(folded):
        state.axes[loop.var.key] = Axis(shape[number], lead + number)
    state.hoisted.append({})
    term = state.expr(update.term)
    state.hoisted.pop()
    for loop in folded:
        del state.axes[loop.var.key]
    dtype = buffer.dtype
    kind = "float" if dtype.kind == "f" else "int"
    limits = "" if kind == "float" else f", {dtype.low}, {dtype.high}, {state.site(buffer.name)}"
    order = f"{update.op}{'_swapped' if update.swapped else ''}"
    text = f"fold_{kind}_{order}({current.text}, {term.text}, {shape}, {state.rank}{limits})"
    store(state, buffer, indices, Code(text, current.grid))


def _extent(loop: For) -> int:
    assert isinstance(loop.extent, Const)
    return int(loop.extent.value)
