"""Our own dead code elimination: never by the passes under suspicion.

The first step turns pruning on for the rest of the reduction; where dead code is what the bug needs, it goes piece
by piece instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from corpus.reduce.draft import (
    CALL,
    Draft,
    DraftBinding,
    NotApplicable,
    at_binding,
    module_binds,
    rewrite_module,
    without_binding,
)
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, drop_parameter, unused_parameters
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
    """Each function may go, if it has no caller (else TVM's verifier refuses)."""
    return [_without_function(name) for name in view.draft.functions]


def _without_function(name: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        if name not in plan.draft.functions or len(plan.draft.functions) == 1:
            raise NotApplicable("the last function stays")
        calls = tuple(call for call in plan.calls if call.function != name)
        return replace(plan, draft=plan.draft.without_function(name), calls=calls)

    return edit


def bindings(view: PlanView) -> Sequence[Edit]:
    """Each binding may go, dead or with an effect (else TVM's verifier refuses); last first."""
    return [_without_binding(bind.var) for _, bind in reversed(list(module_binds(view.draft)))]


def _without_binding(var: object) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=without_binding(plan.draft, var))

    return edit


def parameters(view: PlanView) -> Sequence[Edit]:
    """Each unused parameter may go, also where it defines a symbolic dim that is used nowhere else."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        edits.extend(_without_parameter(name, param) for param in unused_parameters(view.draft, function))
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


def _without_parameter(name: str, param: object) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, Draft) or param not in unused_parameters(plan.draft, function):
            raise NotApplicable("in use")
        return drop_parameter(plan, name, param)

    return edit
