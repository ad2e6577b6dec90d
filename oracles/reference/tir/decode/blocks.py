"""Sblocks: block variables are replaced by their bindings."""

from __future__ import annotations

from generators import tvm_api
from oracles.ir.walk import items
from oracles.reference.tir.decode.buffers import match_buffer, new_buffer
from oracles.reference.tir.decode.dispatch import expression, statement
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Rules
from oracles.reference.tir.decode.variables import named
from oracles.reference.tir.nodes import Block, Const, Expr, Seq, Stmt

_REDUCTION = 2
"""IterVar.CommReduce."""


def _realize(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    block = node.block
    before: list[Stmt] = []
    reduce: list[tuple[Expr, Expr]] = []
    for iter_var, value in zip(items(block.iter_vars), items(node.iter_values), strict=True):
        bound, binding = named(state, iter_var.var, expression(state, value))
        before.extend(bound)
        state.variables.scalars[iter_var.var.__chandle__()] = binding
        if iter_var.iter_type == _REDUCTION:
            reduce.append((binding, expression(state, iter_var.dom.min)))
    predicate = expression(state, node.predicate)
    if isinstance(predicate, Const) and not predicate.value:
        return EMPTY
    allocs = tuple(new_buffer(state, buffer) for buffer in items(block.alloc_buffers))
    for match in items(block.match_buffers):
        match_buffer(state, match)
    init = None if block.init is None else statement(state, block.init)
    where = None if isinstance(predicate, Const) else predicate
    realized = Block(str(block.name_hint), where, tuple(reduce), init, allocs, statement(state, block.body))
    return Seq((*before, realized)) if before else realized


RULES = Rules(statements={"SBlockRealize": _realize})
