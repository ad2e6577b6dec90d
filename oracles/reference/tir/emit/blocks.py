"""The code of sequences, branches and sblocks. A branch on a grid is a mask over both its parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from oracles.reference.tir.emit.declarations import alloc
from oracles.reference.tir.emit.state import Code, EmitState, EmitStmt
from oracles.reference.tir.nodes import Block, Cmp, Const, Expr, If, Logic, Seq, Stmt


@contextmanager
def nested(state: EmitState) -> Iterator[None]:
    """A deeper indentation, with at least one line; what is hoisted there is forgotten afterwards."""
    state.indent += 1
    state.hoisted.append({})
    before = len(state.lines)
    yield
    if len(state.lines) == before:
        state.line("pass")
    state.hoisted.pop()
    state.indent -= 1


def sequence(state: EmitState, node: Seq) -> None:
    """One statement after the other."""
    for child in node.body:
        state.stmt(child)


def branch(state: EmitState, cond: Expr, then: Stmt, other: Stmt | None) -> None:
    """A branch."""
    code = state.expr(cond)
    if code.grid:
        _masked(state, code, then, other)
        return
    buffers = state.buffers
    before = set(buffers.full)
    state.line(f"if {code.text}:")
    with nested(state):
        state.stmt(then)
    after, buffers.full = buffers.full, set(before)
    if other is not None:
        state.line("else:")
        with nested(state):
            state.stmt(other)
    buffers.full &= after


def _masked(state: EmitState, code: Code, then: Stmt, other: Stmt | None) -> None:
    outer, before = state.mask, set(state.buffers.full)
    name = state.names.temporary()
    state.line(f"{name} = {code.text}.copy()" if code.view else f"{name} = {code.text}")
    parts = [(name, then)] + ([(f"~{name}", other)] if other is not None else [])
    for condition, part in parts:
        state.mask = outer
        text = state.under(condition)
        if text != name:
            state.mask = state.names.temporary()
            state.line(f"{state.mask} = {text}")
        else:
            state.mask = name
        state.stmt(part)
    state.mask, state.buffers.full = outer, before


def block(state: EmitState, node: Block) -> None:
    """An sblock, under its predicate."""
    outer, state.block = (state.block, state.around), node.name
    if node.allocs:
        state.around += (node,)
    for buffer in node.allocs:
        alloc(state, buffer)
    if node.predicate is not None:
        branch(state, node.predicate, Block(node.name, None, node.reduce, node.init, (), node.body), None)
    else:
        if node.init is not None:
            init(state, node, ())
        state.stmt(node.body)
    state.block, state.around = outer


def init(state: EmitState, node: Block, hoisted: tuple[int, ...]) -> None:
    """The init statement, where all reduction axes but those numbered in `hoisted` are at their start."""
    cond: Expr | None = None
    for number, (binding, start) in enumerate(node.reduce):
        if number in hoisted or (isinstance(binding, Const) and binding == start):
            continue
        test = Cmp("==", binding, start)
        cond = test if cond is None else Logic("and", cond, test)
    assert node.init is not None
    if cond is None:
        state.stmt(node.init)
    else:
        branch(state, cond, node.init, None)


STATEMENTS: dict[type, EmitStmt] = {
    Seq: sequence,
    If: lambda state, node: branch(state, node.cond, node.then, node.other),
    Block: block,
}
