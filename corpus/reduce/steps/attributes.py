"""Attributes: those of functions and the module go, those of operators get their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tvm import relax

from corpus.reduce.draft import CALL, Draft, DraftBinding, ModuleDraft, NotApplicable, at_binding, module_binds
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from corpus.reduce.realise import TVM_ERRORS
from generators import tvm_api as T


def functions(view: PlanView) -> Sequence[Edit]:
    """Each attribute of a function but its global symbol may go, and its impurity; so may the module's."""
    edits = [_without_attr(name, key) for name, f in view.draft.drafts() for key in f.attrs if key != "global_symbol"]
    edits.extend(_pure(name) for name, f in view.draft.drafts() if not f.pure)
    edits.extend(_without_module_attr(key) for key in view.draft.attrs)
    if view.draft.infos:
        edits.append(_without_infos)
    return edits


def _without_attr(name: str, key: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, Draft) or key not in function.attrs:
            raise NotApplicable("gone")
        attrs = {other: value for other, value in function.attrs.items() if other != key}
        return replace(plan, draft=plan.draft.with_function(name, replace(function, attrs=attrs)))

    return edit


def _pure(name: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, Draft):
            raise NotApplicable("gone")
        return replace(plan, draft=plan.draft.with_function(name, replace(function, pure=True)))

    return edit


def _without_module_attr(key: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        attrs = {other: value for other, value in plan.draft.attrs.items() if other != key}
        return replace(plan, draft=replace(plan.draft, attrs=attrs))

    return edit


def _without_infos(plan: ReductionPlan) -> ReductionPlan:
    return replace(plan, draft=replace(plan.draft, infos={}))


def operators(view: PlanView) -> Sequence[Edit]:
    """Each call of an operator gets the attributes that its Python function gives by default."""
    calls = [(bind.var, bind.value) for _, bind in module_binds(view.draft) if isinstance(bind.value, CALL)]
    return [_defaulted(var) for var, call in calls if T.op_name(call) and call.attrs]


def _defaulted(var: T.Var) -> Edit:
    def pieces(bind: DraftBinding) -> tuple[DraftBinding, ...]:
        call: T.Call = bind.value
        default = _default_call(call)
        if T.structural_equal(default.attrs, call.attrs):
            raise NotApplicable("has its defaults")
        return (replace(bind, value=CALL(call.op, call.args, default.attrs, call.ty_args)),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        draft: ModuleDraft = at_binding(plan.draft, var, pieces)
        return replace(plan, draft=draft)

    return edit


def _default_call(call: T.Call) -> T.Call:
    """The call that the operator's function in tvm.relax.op makes of the same operands."""
    function: Any = relax.op
    for word in str(call.op.name).split(".")[1:]:
        function = getattr(function, word, None)
    if not callable(function):
        raise NotApplicable("no function for the operator")
    try:
        default = function(*call.args)
    except TVM_ERRORS as error:
        raise NotApplicable(f"no defaults: {error}") from error
    if not isinstance(default, CALL) or not default.op.same_as(call.op) or len(default.args) != len(call.args):
        raise NotApplicable("the function makes another call")
    return default
