"""The code of loops: which become axes of grids, and which run one iteration at a time.

Reductions that are evaluated over their whole domain at once are in `reductions.py`.
"""

from __future__ import annotations

from oracles.reference.tir.emit.blocks import nested
from oracles.reference.tir.emit.reductions import reduction
from oracles.reference.tir.emit.state import Axis, Code, EmitState, EmitStmt
from oracles.reference.tir.emit.stores import settle
from oracles.reference.tir.nodes import Const, For, Jump, While

PARALLEL = "parallel"
"""The kind of loop whose iterations may run at the same time, and in any order."""


def loop(state: EmitState, node: For) -> None:
    """Any loop over a range."""
    if _collides(state, node):
        return
    if not state.axes:
        state.rank = max(state.dependence.depth(node), 0)
    if reduction(state, node):
        return
    if state.dependence.parallel(node):
        _axis(state, node)
        return
    _sequential(state, node)


def _collides(state: EmitState, node: For) -> bool:
    """Whether the loop is parallel and its iterations are sure to change one element at the same time."""
    several = isinstance(node.extent, Const) and node.extent.value > 1
    if node.kind != PARALLEL or not several or state.mask is not None:
        return False
    store = state.dependence.collides(node, state.around)
    if store is None:
        return False
    what = f"iterations of a parallel loop change one element of {store.buffer.name}"
    state.line(f"raise Trap('data-race', {state.site(what)})")
    return True


def _axis(state: EmitState, node: For) -> None:
    """An independent loop: an axis of the grids inside."""
    assert isinstance(node.extent, Const)
    state.axes[node.var.key] = Axis(int(node.extent.value), state.depth - state.rank)
    state.depth += 1
    state.hoisted.append({})
    scatters = not state.dependence.independent(node)
    state.scattering += scatters
    state.stmt(node.body)
    state.scattering -= scatters
    state.hoisted.pop()
    state.depth -= 1
    del state.axes[node.var.key]


def _sequential(state: EmitState, node: For) -> None:
    extent = state.expr(node.extent).text
    name = state.names.variable(node.var.key)
    before = set(state.buffers.full)
    state.values[node.var.key] = Code(name, False)
    outermost = state.loops == 0
    state.loops += 1
    state.line(f"fuel({extent})")
    # A parallel loop runs backwards: iterations that depend on earlier ones then give another result.
    turns = f"reversed(range({extent}))" if node.kind == PARALLEL else f"range({extent})"
    state.line(f"for {name} in {turns}:")
    with nested(state):
        state.stmt(node.body)
    state.loops -= 1
    summary = state.dependence.summary(node)
    if not isinstance(node.extent, Const) or summary.jumps:
        state.buffers.full = before
    if outermost:
        settle(state, summary.written)


def while_(state: EmitState, node: While) -> None:
    """A loop as long as a condition holds."""
    before = set(state.buffers.full)
    code = state.expr(node.cond)
    state.line(f"while {code.text}:")
    with nested(state):
        state.line("fuel(1)")
        state.stmt(node.body)
    state.buffers.full = before


STATEMENTS: dict[type, EmitStmt] = {
    For: loop,
    While: while_,
    Jump: lambda state, node: state.line(node.kind),
}
