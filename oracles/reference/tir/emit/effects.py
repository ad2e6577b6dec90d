"""The code of statements that check or that act outside of the buffers: assertions, calls, threads and barriers."""

from __future__ import annotations

from oracles.reference.errors import Unsupported
from oracles.reference.tir.emit.state import EmitState, EmitStmt
from oracles.reference.tir.emit.stores import settle
from oracles.reference.tir.nodes import Assert, Buffer, Commit, Copying, PackedCall, Sync, Wait, Watched
from oracles.reference.tir.packed import PACKED, BufferArgument


def assertion(state: EmitState, node: Assert) -> None:
    """A condition that must hold."""
    state.line(f"if not {state.expr(node.cond).text}: raise Trap('assertion', {state.site(node.message)})")


def packed_call(state: EmitState, node: PackedCall) -> None:
    """A call of a function outside of the module."""
    if node.name not in PACKED:
        raise Unsupported(f"call_packed {node.name}", outside=True)
    state.names.constants |= {"packed": PACKED, "BufferArgument": BufferArgument}
    texts = []
    for arg in node.args:
        if isinstance(arg, Buffer):
            texts.append(f"BufferArgument(b{arg.slot}, m{arg.slot}, {state.site(arg.name)})")
        else:
            texts.append(repr(arg) if isinstance(arg, str) else state.expr(arg).text)
    state.line(f"packed[{node.name!r}]({', '.join(texts)})")
    settle(state, {arg.memory for arg in node.args if isinstance(arg, Buffer)})


def watched(state: EmitState, node: Watched) -> None:
    """A statement of threads, whose accesses to watched memory are checked for data races."""
    if state.buffers.watched & state.dependence.summary(node.body).accesses.keys():
        state.actor = node
    state.stmt(node.body)
    state.actor = None


def barrier(state: EmitState, node: Sync) -> None:
    """A barrier, which all threads of a block must reach."""
    if node.guard is not None:
        state.line(f"same_for_all(b{node.guard.slot}, {node.blocks}, {state.site(node.site)})")
    if state.buffers.watched:
        state.line("races.warp_barrier()" if node.scope == "warp" else "races.barrier()")


def copying(state: EmitState, node: Copying) -> None:
    """A statement whose stores asynchronous copies make."""
    outer, state.copying = state.copying, True
    state.stmt(node.body)
    state.copying = outer


def commit(state: EmitState, node: Commit) -> None:
    """The end of a group of copies."""
    if state.buffers.flying:
        state.line(f"flights.commit({node.queue})")


def wait(state: EmitState, node: Wait) -> None:
    """A wait for groups of copies."""
    if state.buffers.flying:
        state.line(f"flights.wait({node.queue}, {state.expr(node.left).text})")


STATEMENTS: dict[type, EmitStmt] = {
    Assert: assertion,
    PackedCall: packed_call,
    Watched: watched,
    Sync: barrier,
    Copying: copying,
    Commit: commit,
    Wait: wait,
}
