"""Blocks of PrimFuncs: axes of one value go, and what starts a block becomes a statement like others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from tvm import s_tir, tirx

from corpus.reduce.draft import VAR, NotApplicable
from corpus.reduce.plan import Edit, Joint, PlanView, ReductionPlan
from corpus.reduce.prim_func import is_empty
from corpus.reduce.steps.tir import replacing
from generators import tvm_api as T
from oracles.ir.walk import nodes_of

REDUCE = tirx.IterVar.CommReduce
AxisOf: TypeAlias = "tuple[s_tir.SBlockRealize, T.Var, T.Expr]"
"""A block, one of its axes, and the value that the axis has wherever the block names it."""


def axes(view: PlanView) -> Sequence[Edit]:
    """Each axis of a block that has one value, or that the block does not name, goes; the last first."""
    return [Joint(_without_axes, axis) for realize in _realizes(view) for axis in reversed(_idle_axes(realize))]


def _realizes(view: PlanView) -> list[s_tir.SBlockRealize]:
    functions = [function for function in view.draft.functions.values() if isinstance(function, tirx.PrimFunc)]
    return [realize for function in functions for realize in nodes_of(function.body, s_tir.SBlockRealize)]


def _idle_axes(realize: s_tir.SBlockRealize) -> list[AxisOf]:
    found: list[AxisOf] = []
    block = realize.block
    occurrences = Counter(nodes_of(block, VAR)) if len(block.iter_vars) else Counter()
    for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
        once = _is_number(axis.dom.extent) and int(axis.dom.extent) == 1
        if once:
            value = axis.dom.min  # noqa: PLW2901 - the same, in the block's own terms
        elif int(axis.iter_type) == REDUCE and _goes_on(block):
            continue  # What is added up, and when it begins, hangs on the axis.
        if _is_number(value) or occurrences[axis.var] == 1:  # there is its definition alone
            found.append((realize, axis.var, value))
    return found


def _goes_on(block: s_tir.SBlock) -> bool:
    """Whether a block reads what it writes."""
    stored = [store.buffer for store in nodes_of(block.body, tirx.BufferStore)]
    loads = nodes_of(block.body, T.TensorLoad)
    return any(load.source.same_as(buffer) for load in loads for buffer in stored)


def _is_number(expression: T.Expr) -> bool:
    return isinstance(expression, tirx.IntImm)


def _without_axes(plan: ReductionPlan, axes: Sequence[AxisOf]) -> ReductionPlan:
    """Edits of the same block add up: a block that has lost axes already loses these of what is left of it."""
    nodes = dict(plan.draft.nodes)
    for realize, var, value in axes:
        left = nodes.get(realize, realize)
        if not isinstance(left, s_tir.SBlockRealize):
            raise NotApplicable("gone")
        nodes[realize] = _without_axis(left, var)
        nodes[var] = value
    return replace(plan, draft=replace(plan.draft, nodes=nodes))


def _without_axis(realize: s_tir.SBlockRealize, var: T.Var) -> s_tir.SBlockRealize:
    block = realize.block
    pairs = [
        (axis, value)
        for axis, value in zip(block.iter_vars, realize.iter_values, strict=True)
        if not axis.var.same_as(var)
    ]
    smaller = T.with_fields(block, iter_vars=[axis for axis, _ in pairs])
    return s_tir.SBlockRealize([value for _, value in pairs], realize.predicate, smaller)


def starts(view: PlanView) -> Sequence[Edit]:
    """What starts a block that does nothing else, or that has no axis to reduce over, is a statement of the block."""
    edits: list[Edit] = []
    for block in (realize.block for realize in _realizes(view)):
        if block.init is None:
            continue
        if is_empty(block.body):
            edits.append(replacing({block: T.with_fields(block, body=block.init, init=None)}))
        elif all(axis.iter_type != REDUCE for axis in block.iter_vars):
            body = tirx.SeqStmt([block.init, block.body])
            edits.append(replacing({block: T.with_fields(block, body=body, init=None)}))
    return edits
