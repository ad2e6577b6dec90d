"""Canonical names: parameters x, y, z, ...; bindings a, b, c, ...; last, since nothing gets smaller by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.reduce.draft import Draft, all_binds
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from generators import tvm_api as T

PARAMETERS = ("x", "y", "z", "w", "u", "v")
BINDINGS = tuple("abcdefghijklm")


def canonical(view: PlanView) -> Sequence[Edit]:
    """All variables of all functions at once."""
    names: dict[T.Var, str] = {}
    for _, function in view.draft.drafts():
        names.update(_names_of(function))
    if all(var.name == name for var, name in names.items()):
        return []

    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=replace(plan.draft, names=names))

    return [edit]


def _names_of(function: Draft) -> dict[T.Var, str]:
    params = [param for param in function.params if not isinstance(T.type_of(param), T.PrimType)]
    binds = [bind.var for bind in all_binds(function.body)]
    inner = [param for bind in all_binds(function.body) if isinstance(bind.value, Draft) for param in bind.value.params]
    return {
        **{var: _name(PARAMETERS, "p", number) for number, var in enumerate((*params, *inner))},
        **{var: _name(BINDINGS, "v", number) for number, var in enumerate(binds)},
    }


def _name(simple: Sequence[str], prefix: str, number: int) -> str:
    return simple[number] if number < len(simple) else f"{prefix}{number}"
