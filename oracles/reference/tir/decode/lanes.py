"""Vector statements, which VectorizeLoop and the passes after it write.

A vector statement becomes a loop over its lanes in which all loads come before all stores, so that no vector is left in
the decoded function. A vectorised loop over one store means the same, also before VectorizeLoop has made a vector of
it. A buffer with vector elements is a buffer of scalars with one more dimension (`buffers.py`). A scalable vector has
VSCALE times as many lanes as its type gives (`tvm_objects.py`).
"""

from __future__ import annotations

from generators import tvm_api
from oracles.reference.tir.constants import is_index
from oracles.reference.tir.decode.access import INT32, access
from oracles.reference.tir.decode.dispatch import at_lane, expression
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Rules
from oracles.reference.tir.decode.tvm_objects import lanes_of
from oracles.reference.tir.decode.variables import new_var
from oracles.reference.tir.decode.views import new_owner
from oracles.reference.tir.dependence import subexpressions
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import VECTORIZED, Alloc, Const, Expr, For, If, Load, Select, Seq, Stmt, Store, Var
from oracles.reference.tir.rewrite import substitute


def store_lanes(state: DecodeState, node: tvm_api.Stmt, lanes: int) -> Stmt:
    """A BufferStore of a vector."""
    var = _lane_variable()
    with at_lane(state, var):
        target, indices = access(state, node.buffer, node.indices)
        store = Store(target, expression(state, node.value), indices)
        return one_statement(_each_lane(state, var, lanes, store, None))


def _masked_store(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`masked_store(buffer, value, indices..., mask)`: stores the lanes that the mask selects."""
    buffer, value, *indices, mask = call.args
    var = _lane_variable()
    with at_lane(state, var):
        target, positions = access(state, buffer, indices)
        store = Store(target, expression(state, value), positions)
        return one_statement(_each_lane(state, var, lanes_of(value.ty), store, expression(state, mask)))


def bind_lanes(state: DecodeState, node: tvm_api.Stmt, lanes: int) -> Stmt:
    """A Bind of a vector: index arithmetic is substituted where it is used, any other value is kept in a buffer."""
    var = _lane_variable()
    with at_lane(state, var):
        value = expression(state, node.value)
    before: Stmt = EMPTY
    if not is_index(value):
        before, value = _kept(state, str(node.var.name), var, lanes, value, None)
    state.variables.vectors[node.var.__chandle__()] = lambda lane: substitute(value, {var: lane})
    return before


def in_lockstep(state: DecodeState, var: Var, lanes: int, store: Store) -> Stmt:
    """A vectorised loop over one store. One with a condition that differs between the lanes becomes a plain loop in
    VectorizeLoop (src/tirx/transform/vectorize_loop.cc), and is one here."""
    parts = [node for expr in (store.value, *store.indices) for node in subexpressions(expr)]
    if any(isinstance(node, Select) and var in subexpressions(node.cond) for node in parts):
        return _loop(var, lanes, store, None)
    return one_statement(_each_lane(state, var, lanes, store, None))


def one_statement(stmt: Stmt) -> Stmt:
    """Marks a sequence that comes from one statement of TVM's."""
    return Seq(stmt.body, True) if isinstance(stmt, Seq) else stmt


def _each_lane(state: DecodeState, var: Var, lanes: int, store: Store, mask: Expr | None) -> Stmt:
    """`store` for all lanes; loads from the memory that it stores to are done first, for all lanes."""
    before: list[Stmt] = []

    def ahead(expr: Expr, guard: Expr | None) -> Expr:
        if not _reads(expr, store, var, lanes):
            return expr
        kept, loaded = _kept(state, store.buffer.name, var, lanes, expr, guard)
        before.append(kept)
        return loaded

    mask = None if mask is None else ahead(mask, None)
    indices = tuple(ahead(index, mask) for index in store.indices)
    last = _loop(var, lanes, Store(store.buffer, ahead(store.value, mask), indices), mask)
    return Seq((*before, last)) if before else last


def _kept(state: DecodeState, name: str, var: Var, lanes: int, value: Expr, mask: Expr | None) -> tuple[Stmt, Expr]:
    """Computes all lanes of `value` into a new buffer; the load of one lane from there."""
    kept = new_owner(state, f"{name}.lanes", value.dtype, (lanes,), "local")
    return Seq((Alloc(kept), _loop(var, lanes, Store(kept, value, (var,)), mask))), Load(kept, (var,), value.dtype)


def _lane_variable() -> Var:
    return new_var("lane", INT32)


def _loop(var: Var, lanes: int, body: Stmt, mask: Expr | None) -> For:
    return For(var, Const(lanes, var.dtype), VECTORIZED, "", body if mask is None else If(mask, body, None))


def _reads(expr: Expr, store: Store, var: Var, lanes: int) -> bool:
    """Whether `expr` loads an element that another lane of `store` may store to."""
    memory = store.buffer.memory
    loads = [node for node in subexpressions(expr) if isinstance(node, Load) and node.buffer.memory == memory]
    if all(load.buffer is store.buffer and load.indices == store.indices for load in loads):
        return bool(loads) and not _distinct(store.indices, var, lanes)
    return True


def _distinct(indices: tuple[Expr, ...], var: Var, lanes: int) -> bool:
    """Whether every lane has an element of its own."""
    bounds = Bounds()
    bounds.ranges[var.key] = (0, lanes - 1)
    for index in indices:
        terms = bounds.linear(index).terms
        if terms.get(var) and not any(var in subexpressions(term) for term in terms if term != var):
            return True
    return False


RULES = Rules(effects={"masked_store": _masked_store})
