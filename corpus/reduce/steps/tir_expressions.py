"""Expressions of PrimFuncs, wherever they stand: they become a constant, or one of their operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tvm_ffi
from tvm import s_tir, tirx

from corpus.reduce.draft import COMPOUND_TIR
from corpus.reduce.plan import Edit, PlanView
from corpus.reduce.steps.tir import replacing
from generators import tvm_api as T
from generators.dtypes import is_float
from oracles.ir.walk import nodes_of


def to_constants(view: PlanView) -> Sequence[Edit]:
    """Each expression becomes one, or zero where it is an index or part of one; outer first."""
    edits: list[Edit] = []
    for function in _prim_funcs(view):
        indices = _handles_in_indices(function)
        for expression in _compound(function.body):
            constant = _constant(expression, 0 if expression.__chandle__() in indices else 1)
            if constant is not None:
                edits.append(replacing({expression: constant}))
    return edits


def to_first_elements(view: PlanView) -> Sequence[Edit]:
    """Each index of a load or a store that is a number becomes zero."""
    edits: list[Edit] = []
    for function in _prim_funcs(view):
        for node in nodes_of(function.body, (T.TensorLoad, tirx.BufferStore)):
            indices = [_constant(i, 0) if isinstance(i, tirx.IntImm) else i for i in node.indices]
            if any(isinstance(old, tirx.IntImm) and int(old) for old in node.indices):
                edits.append(replacing({node: _at(node, indices)}))
    return edits


def _at(node: T.Node, indices: list[T.Expr]) -> T.Node:
    if isinstance(node, tirx.BufferStore):
        return tirx.BufferStore(node.buffer, node.value, indices)
    return tirx.BufferLoad(node.source, indices)


def to_operands(view: PlanView) -> Sequence[Edit]:
    """Each expression becomes an operand of the same type; outer first, the last operand first."""
    edits: list[Edit] = []
    for function in _prim_funcs(view):
        for expression in _compound(function.body):
            ty = T.type_of(expression)
            same = [o for o in reversed(_operands(expression)) if T.structural_equal(T.type_of(o), ty)]
            edits.extend(replacing({expression: operand}) for operand in same)
    return edits


def _prim_funcs(view: PlanView) -> Iterator[T.PrimFunc]:
    return (function for function in view.draft.functions.values() if isinstance(function, tirx.PrimFunc))


def _compound(node: T.Node) -> list[T.Expr]:
    found: list[T.Expr] = []
    tvm_ffi.structural_walk(node, [(COMPOUND_TIR, found.append)], order="pre")
    return found


def _handles_in_indices(function: T.PrimFunc) -> set[int]:
    """The addresses of everything that is in an index of a buffer or in a region of one, or is the value of a block's
    axis."""
    found = nodes_of(function.body, (T.TensorLoad, tirx.BufferStore, s_tir.SBlockRealize, s_tir.SBlock))
    return {part.__chandle__() for node in found for index in _indices(node) for part in _compound(index)}


def _indices(node: T.Node) -> list[T.Expr]:
    match node:
        case s_tir.SBlockRealize():
            return list(node.iter_values)
        case s_tir.SBlock():
            regions = (*node.reads, *node.writes, *(match.source for match in node.match_buffers))
            return [bound for region in regions for dim in region.region for bound in (dim.min, dim.extent)]
        case _:
            return list(node.indices)


def _constant(expression: T.Expr, value: int) -> T.Expr | None:
    """The value in the expression's type; None where that is no number of one lane. A condition that is one is folded
    away when the printed script is read."""
    ty = T.type_of(expression)
    if not isinstance(ty, T.PrimType):
        return None
    dtype = T.dtype_text(ty.dtype)
    if is_float(dtype):
        return tirx.FloatImm(dtype, float(value))
    whole = dtype.startswith(("int", "uint")) and "x" not in dtype
    return tirx.IntImm(dtype, value) if whole else None


def _operands(expression: T.Expr) -> list[T.Expr]:
    operands: list[T.Expr]
    match expression:
        case tirx.Select():
            operands = [expression.true_value, expression.false_value]
        case tirx.Not():
            operands = [expression.a]
        case tirx.Cast():
            operands = [expression.value]
        case tirx.Let():
            operands = [expression.value, expression.body]
        case T.TensorLoad():
            operands = expression.indices[:]
        case T.Call():
            operands = expression.args[:]
        case _:
            operands = [expression.a, expression.b]
    return operands
