"""Symbolic dims become the numbers that they are in the entry calls; match_casts go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.reduce.draft import Draft, all_binds, without_binding
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, leaves_of_type, symbol_values
from generators import tvm_api as T

LATE_EXTENT = 2
"""What a dim becomes that no parameter defines: the run-time extent is not known here."""


def numbers(view: PlanView) -> Sequence[Edit]:
    """Each symbolic dim of each function becomes a number."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        known: dict[T.Var, int] = {}
        for call in view.plan.calls:
            if call.function == name:
                known = {**symbol_values(function, call), **known}
        edits.extend(_to_number(symbol, known.get(symbol, LATE_EXTENT)) for symbol in _symbols(function))
    return edits


def _symbols(function: Draft) -> list[T.Var]:
    """The symbolic dims in the types of parameters, bindings and casts, in order of appearance."""
    types = [T.type_of(param) for param in function.params]
    for bind in all_binds(function.body):
        types.extend(ty for ty in (T.type_of(bind.var), bind.cast) if ty is not None)
    scalars = {param for param in function.params if isinstance(T.type_of(param), T.PrimType)}
    found = dict.fromkeys(leaf for ty in types for leaf in leaves_of_type(ty))
    return [symbol for symbol in found if symbol not in scalars]


def _to_number(symbol: T.Var, number: int) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=replace(plan.draft, symbols={**plan.draft.symbols, symbol: number}))

    return edit


def casts(view: PlanView) -> Sequence[Edit]:
    """Each match_cast goes: its uses take the value that was cast."""
    edits: list[Edit] = []
    for _, function in view.draft.drafts():
        edits.extend(_uncast(bind.var, bind.value) for bind in all_binds(function.body) if bind.cast is not None)
    return edits


def _uncast(var: T.Var, value: T.Expr) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=without_binding(plan.draft, var).swap(var, value))

    return edit
