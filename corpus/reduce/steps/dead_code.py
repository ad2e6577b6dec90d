"""Our own dead code elimination: never by the passes under suspicion.

The first step turns pruning on for the rest of the reduction; where dead code is what the bug needs, it goes piece
by piece instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from corpus.reduce.callees import callees_first, refers_to
from corpus.reduce.draft import (
    CALL,
    Draft,
    DraftBinding,
    NotApplicable,
    at_binding,
    module_binds,
    rewrite_module,
    without_bindings,
)
from corpus.reduce.plan import Edit, Joint, PlanView, ReductionPlan, drop_parameters
from corpus.reduce.prune import unused_parameters
from generators import tvm_api as T

KINDS = ("bindings", "functions", "parameters")


def prune(view: PlanView) -> Sequence[Edit]:
    """Drop all that is dead, now and after every later edit."""
    return [_pruning(kind) for kind in KINDS if kind not in view.plan.prune]


def _pruning(kind: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, prune=plan.prune | {kind})

    return edit


def demote(view: PlanView) -> Sequence[Edit]:
    """Unused outputs of dataflow blocks become local variables."""

    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=replace(plan.draft, demoted=True))

    return [edit]


def functions(view: PlanView) -> Sequence[Edit]:
    """Each function may go that no function which stays refers to, but the last public one; callers first."""
    # A long chain of functions takes as many attempts: what each of them refers to is looked up once.
    known = {name: (function, refers_to(function)) for name, function in view.draft.functions.items()}

    def without(plan: ReductionPlan, names: Sequence[str]) -> ReductionPlan:
        return _without_functions(plan, names, known)

    return [Joint(without, name) for name in reversed(callees_first(view.draft))]


_Known: TypeAlias = "Mapping[str, tuple[Draft | T.BaseFunc, set[str]]]"


def _referred(name: str, function: Draft | T.BaseFunc, known: _Known) -> set[str]:
    before, names = known.get(name, (None, set[str]()))
    return names if function is before else refers_to(function)


def _without_functions(plan: ReductionPlan, names: Sequence[str], known: _Known) -> ReductionPlan:
    referring = {name: _referred(name, function, known) for name, function in plan.draft.functions.items()}
    public = {name for name, function in plan.draft.functions.items() if T.is_public(function)}
    for name in names:
        needed = any(name in to for other, to in referring.items() if other != name)
        if len(referring) > 1 and public != {name} and not needed:
            referring.pop(name, None)
            public.discard(name)
    if len(referring) == len(plan.draft.functions):
        raise NotApplicable("in use, or the last one")
    kept = {name: function for name, function in plan.draft.functions.items() if name in referring}
    calls = tuple(call for call in plan.calls if call.function in kept)
    return replace(plan, draft=replace(plan.draft, functions=kept), calls=calls)


def bindings(view: PlanView) -> Sequence[Edit]:
    """Each binding may go, dead or with an effect (else TVM's verifier refuses); last first."""
    return [Joint(_without_bindings, bind.var) for _, bind in reversed(list(module_binds(view.draft)))]


def _without_bindings(plan: ReductionPlan, gone: Sequence[T.Var]) -> ReductionPlan:
    return replace(plan, draft=without_bindings(plan.draft, gone))


def parameters(view: PlanView) -> Sequence[Edit]:
    """Each unused parameter may go, also where it defines a symbolic dim that is used nowhere else."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        unused = unused_parameters(view.draft, function)
        edits.extend(Joint(_without_parameters, (name, param)) for param in unused)
    for _, bind in module_binds(view.draft):
        if isinstance(bind.value, Draft):
            unused = unused_parameters(view.draft, bind.value)
            edits.extend(_without_local_parameter(bind.var, param) for param in unused)
    return edits


def _without_local_parameter(var: T.Var, param: T.Var) -> Edit:
    """A local function loses a parameter, and its calls the argument."""

    def rewrite_for(index: int) -> Callable[[DraftBinding], tuple[DraftBinding, ...] | None]:
        def rewrite(bind: DraftBinding) -> tuple[DraftBinding, ...] | None:
            call = bind.value
            if not isinstance(call, CALL) or not call.op.same_as(var):
                return None
            arguments = [argument for place, argument in enumerate(call.args) if place != index]
            return (replace(bind, value=CALL(call.op, arguments, call.attrs, call.ty_args)),)

        return rewrite

    def edit(plan: ReductionPlan) -> ReductionPlan:
        found = [b.value for _, b in module_binds(plan.draft) if b.var.same_as(var) and isinstance(b.value, Draft)]
        if not found or param not in unused_parameters(plan.draft, found[0]):
            raise NotApplicable("in use")
        index = found[0].params.index(param)
        params = tuple(other for other in found[0].params if not other.same_as(param))
        shorter = replace(found[0], params=params)
        draft = at_binding(plan.draft, var, lambda bind: (replace(bind, value=shorter),))
        return replace(plan, draft=rewrite_module(draft, rewrite_for(index)))

    return edit


def _without_parameters(plan: ReductionPlan, gone: Sequence[tuple[str, T.Var]]) -> ReductionPlan:
    shorter = plan
    for name in dict.fromkeys(name for name, _ in gone):
        function = shorter.draft.functions.get(name)
        if isinstance(function, Draft):
            wanted = {param for owner, param in gone if owner == name}
            unused = [param for param in unused_parameters(shorter.draft, function) if param in wanted]
            shorter = drop_parameters(shorter, name, unused)
    if shorter is plan:
        raise NotApplicable("in use")
    return shorter
