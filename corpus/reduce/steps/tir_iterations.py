"""Loops of PrimFuncs: one iteration alone, or one for all. The first iteration alone is one of `tir.unwrapped`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import tvm
import tvm_ffi
from tvm import s_tir, tirx

from corpus.reduce.draft import ARITHMETIC, LOGIC, VAR
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from corpus.reduce.steps.tir import replacing, statements
from generators import tvm_api as T
from oracles.ir.walk import nodes_of


def alone(view: PlanView) -> Sequence[Edit]:
    """Each loop becomes its last iteration, the one in the middle, or one between: a few that are spread over it."""
    loops = [statement for statement in statements(view) if isinstance(statement, tirx.For) and statement.step is None]
    return _in_turn([_alone(loop, number) for number in _spread(loop.loop_var, loop)[1:]] for loop in loops)


def _alone(loop: tirx.For, number: tirx.IntImm) -> Edit:
    return lambda plan: replacing({loop: _at(loop.body, loop.loop_var, number)})(plan)


def for_all(view: PlanView) -> Sequence[Edit]:
    """What a loop, or a block along one of its axes, stores is the same everywhere: what its first iteration stores,
    its last, or another of a few. Where it is stored stays."""
    edits: list[list[Edit]] = []
    for statement in statements(view):
        if isinstance(statement, tirx.For) and statement.step is None:
            edits.append(_one_for_all(statement, statement.loop_var, _spread(statement.loop_var, statement)))
        elif isinstance(statement, s_tir.SBlock):
            axes = [axis for axis in statement.iter_vars if axis.iter_type == tirx.IterVar.DataPar]
            edits += [_one_for_all(statement, axis.var, _spread(axis.var, axis.dom)) for axis in axes]
    return _in_turn(edits)


def _in_turn(edits: Iterable[Sequence[Edit]]) -> list[Edit]:
    """The first of each, the second of each, ..."""
    return [edit for some in zip_longest(*edits) for edit in some if edit is not None]


def _spread(var: T.Var, dom: T.Node) -> list[tirx.IntImm]:
    """A few values of a variable, the first one first; none where its `min` and `extent` are no numbers."""
    if not (isinstance(dom.min, tirx.IntImm) and isinstance(dom.extent, tirx.IntImm)):
        return []
    first, extent, dtype = int(dom.min), int(dom.extent), T.dtype_text(T.type_of(var).dtype)
    numbers = dict.fromkeys((0, extent - 1, extent // 2, 3 * extent // 4, extent // 4))
    return [tirx.IntImm(dtype, first + number) for number in numbers]


def _one_for_all(inside: T.Stmt, var: T.Var, numbers: Sequence[tirx.IntImm]) -> list[Edit]:
    values = [store.value for store in nodes_of(inside, tirx.BufferStore)]
    if len(numbers) < 2 or not any(part.same_as(var) for value in values for part in nodes_of(value, VAR)):
        return []
    return [_stored_for_all(inside, var, number) for number in numbers]


def _stored_for_all(inside: T.Stmt, var: T.Var, number: tirx.IntImm) -> Edit:
    def store(old: tirx.BufferStore) -> tirx.BufferStore:
        return tirx.BufferStore(old.buffer, _at(old.value, var, number), old.indices)

    def block(old: s_tir.SBlock) -> s_tir.SBlock:
        reads = [_at(region, var, number) for region in old.reads]
        return T.with_fields(old, reads=reads)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        new = tvm_ffi.structural_map(inside, [(tirx.BufferStore, store), (s_tir.SBlock, block)])
        return replacing({inside: new})(plan)

    return edit


def _at(node: T.Node, var: T.Var, number: tirx.IntImm) -> T.Node:
    """The node where a variable has this value, with a number in place of each expression of numbers."""
    there = tvm_ffi.structural_map(node, [(VAR, lambda leaf: number if leaf.same_as(var) else leaf)])
    return tvm_ffi.structural_map(there, [((*ARITHMETIC, *LOGIC), _as_number)])


_DIVISIONS = (tirx.Div, tirx.Mod, tirx.FloorDiv, tirx.FloorMod)


def _as_number(expression: T.Expr) -> T.Expr:
    operands = [expression.a] if isinstance(expression, tirx.Not) else [expression.a, expression.b]
    numbers = all(isinstance(operand, tirx.IntImm) for operand in operands)
    by_zero = isinstance(expression, _DIVISIONS) and T.is_zero(expression.b)  # in a branch that is not taken
    return tvm.sym.Analyzer().simplify(expression) if numbers and not by_zero else expression
