"""Loops, and the jumps out of them."""

from __future__ import annotations

from collections.abc import Iterator

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import fold, settled
from oracles.reference.tir.decode.dispatch import constant, expression, statement
from oracles.reference.tir.decode.lanes import in_lockstep
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Rules
from oracles.reference.tir.decode.statements import nested
from oracles.reference.tir.decode.threads import UnknownThreads
from oracles.reference.tir.decode.variables import fresh, named
from oracles.reference.tir.nodes import VECTORIZED, Const, Expr, For, Jump, Seq, Stmt, Store, While

_KINDS = ("serial", "parallel", VECTORIZED, "unrolled", "thread")
UNROLLED = 64
"""A loop whose kernels have another number of threads in each iteration may have this many iterations."""


def _for(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """A loop of no iteration is nothing, one of one iteration is its body."""
    kind = _KINDS[int(node.kind)]
    thread = node.thread_binding.thread_tag if node.thread_binding is not None else ""
    before, low = named(state, node.loop_var, expression(state, node.min))
    extent = settled(expression(state, node.extent))
    handle = node.loop_var.__chandle__()
    step = 1 if node.step is None else constant(state, node.step, "For.step")
    if step != 1:
        extent = Const(-(-constant(state, node.extent, "For.extent[step]") // step), low.dtype)
    if isinstance(extent, Const):
        if extent.value <= 0:
            return EMPTY
        if extent.value == 1 and not thread:
            state.variables.scalars[handle] = low
            return Seq((*before, _once(state, node, kind)))
    elif thread:
        raise UnknownThreads(thread)
    var = fresh(state, node.loop_var, low.dtype)
    state.variables.scalars[handle] = fold("add", low, fold("mul", var, Const(step, low.dtype), low.dtype), low.dtype)
    try:
        body = _iteration(state, node.body)
    except UnknownThreads:
        return Seq((*before, *_unrolled(state, node, low, step, extent)))
    loop: Stmt = For(var, extent, kind, thread, body)
    if kind == VECTORIZED and isinstance(body, Store) and isinstance(extent, Const):
        loop = in_lockstep(state, var, int(extent.value), body)
    return Seq((*before, loop)) if before else loop


def _iteration(state: DecodeState, body: tvm_api.Stmt) -> Stmt:
    """The body of a loop."""
    state.here.loops += 1
    try:
        return nested(state, body)
    finally:
        state.here.loops -= 1


def _unrolled(state: DecodeState, node: tvm_api.Stmt, low: Expr, step: int, extent: Expr) -> Iterator[Stmt]:
    """The iterations of a loop one by one: in each of them, the number of threads of its kernels is known."""
    if not isinstance(extent, Const) or extent.value > UNROLLED:
        raise UnknownThreads("threads")
    jumps = state.exits.jumps
    for turn in range(int(extent.value)):
        value = fold("add", low, Const(turn * step, low.dtype), low.dtype)
        state.variables.scalars[node.loop_var.__chandle__()] = value
        yield _iteration(state, node.body)
    if state.exits.jumps != jumps:
        raise Unsupported("tirx.For[jump between launches]")


def _once(state: DecodeState, node: tvm_api.Stmt, kind: str) -> Stmt:
    """The body of a loop with one iteration; still a loop if a statement in it jumps."""
    jumps = state.exits.jumps
    state.here.loops += 1
    body = statement(state, node.body)
    state.here.loops -= 1
    if state.exits.jumps == jumps:
        return body
    low = expression(state, node.min)
    return For(fresh(state, node.loop_var, low.dtype), Const(1, low.dtype), kind, "", body)


def _while(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    return While(expression(state, node.condition), _iteration(state, node.body))


def _jump(state: DecodeState, kind: str) -> Stmt:
    if not state.here.loops:
        raise Trap("type", f"{state.name}: {kind} outside of a loop")
    state.exits.jumps += 1
    return Jump(kind)


def _break(state: DecodeState, node: tvm_api.Node) -> Stmt:
    return _jump(state, "break")


def _continue(state: DecodeState, node: tvm_api.Node) -> Stmt:
    return _jump(state, "continue")


RULES = Rules(
    statements={"For": _for, "While": _while, "Break": _break, "Continue": _continue},
    effects={"break_loop": _break, "continue_loop": _continue},
)
