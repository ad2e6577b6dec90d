"""Attributes: those of functions and the module go, those of operators get their defaults."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tvm
import tvm_ffi
from tvm import relax, tirx

from corpus.reduce.draft import CALL, Draft, DraftBinding, ModuleDraft, NotApplicable, at_binding, module_binds
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from corpus.reduce.realise import TVM_ERRORS
from generators import tvm_api as T

RELIED_ON = {"Codegen": ("WorkspaceSize",)}
"""Attributes of functions that give others their meaning: without it the others read as misuse of the pass
(`src/relax/transform/allocate_workspace.cc` asks for both). They go last."""

KEPT_BY_PRIM_FUNCS = ("global_symbol", "s_tir")
"""Attributes of PrimFuncs that say how they are called and read."""


def functions(view: PlanView) -> Sequence[Edit]:
    """Each attribute of a function but its global symbol may go, and its impurity; so may the module's."""
    edits = [_without_attr(name, key) for name, f in view.draft.drafts() for key in f.attrs if key != "global_symbol"]
    edits.extend(_pure(name) for name, f in view.draft.drafts() if not f.pure)
    for _, bind in module_binds(view.draft):
        if isinstance(bind.value, Draft):
            edits.extend(_without_local_attr(bind.var, key) for key in bind.value.attrs if key != "global_symbol")
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc) and function.attrs:
            keys = [str(key) for key, _ in function.attrs.items() if str(key) not in KEPT_BY_PRIM_FUNCS]
            edits.extend(_without_prim_func_attr(name, key) for key in keys)
    edits.extend(_without_module_attr(key) for key in view.draft.attrs)
    if view.draft.infos:
        edits.append(_without_infos)
        edits.extend(
            _without_info(kind, number) for kind, infos in view.draft.infos.items() for number in range(len(infos))
        )
    return edits


def _without_attr(name: str, key: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, Draft):
            raise NotApplicable("gone")
        return replace(plan, draft=plan.draft.with_function(name, _attr_less(function, key)))

    return edit


def _without_local_attr(var: T.Var, key: str) -> Edit:
    def pieces(bind: DraftBinding) -> tuple[DraftBinding, ...]:
        if not isinstance(bind.value, Draft):
            raise NotApplicable("gone")
        return (replace(bind, value=_attr_less(bind.value, key)),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=at_binding(plan.draft, var, pieces))

    return edit


def _attr_less(function: Draft, key: str) -> Draft:
    if key not in function.attrs:
        raise NotApplicable("gone")
    if any(other in function.attrs for other in RELIED_ON.get(key, ())):
        raise NotApplicable("gives another one its meaning")
    return replace(function, attrs={other: value for other, value in function.attrs.items() if other != key})


def _without_prim_func_attr(name: str, key: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, tirx.PrimFunc) or key not in function.attrs:
            raise NotApplicable("gone")
        return replace(plan, draft=plan.draft.with_function(name, function.without_attr(key)))

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


def _without_info(kind: str, number: int) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        infos = list(plan.draft.infos.get(kind, ()))
        if number >= len(infos):
            raise NotApplicable("gone")
        del infos[number]
        return replace(plan, draft=replace(plan.draft, infos={**plan.draft.infos, kind: infos}))

    return edit


def operators(view: PlanView) -> Sequence[Edit]:
    """Each call of an operator gets the attributes that its Python function gives by default: all, or one of them."""
    calls = [(bind.var, bind.value) for _, bind in module_binds(view.draft) if isinstance(bind.value, CALL)]
    known = [(var, call) for var, call in calls if T.op_name(call) and call.attrs]
    edits = [defaulted(var, None) for var, _ in known]
    for var, call in known:
        names = differing(call)
        edits.extend(defaulted(var, name) for name in (names if len(names) > 1 else ()))
        for name, value in values_of(call).items():
            if isinstance(value, tvm_ffi.Array) and len(value) > 1:
                edits.extend(_shorter(var, name, item) for item in sorted(value, key=_size, reverse=True))
    return edits


def _size(item: object) -> int:
    """How many dims an axis needs, about; later items go first where they are no numbers."""
    return abs(int(item)) if isinstance(item, (int, tirx.IntImm)) else 0


def _shorter(var: T.Var, name: str, item: object) -> Edit:
    """An attribute that is a list loses an item, as axes do."""

    def pieces(bind: DraftBinding) -> tuple[DraftBinding, ...]:
        call = bind.value
        held = values_of(call).get(name) if isinstance(call, CALL) else None
        given = list(held) if isinstance(held, tvm_ffi.Array) else []
        places = [place for place, other in enumerate(given) if _equal(item, other)]
        if not isinstance(call, CALL) or not places or len(given) < 2:
            raise NotApplicable("gone")
        attrs = _with_value(call, name, [*given[: places[-1]], *given[places[-1] + 1 :]])
        return (replace(bind, value=CALL(call.op, call.args, attrs, call.ty_args)),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=at_binding(plan.draft, var, pieces))

    return edit


def defaulted(var: T.Var, name: str | None) -> Edit:
    """Attributes of a bound call get their defaults. name: of the attribute; None for all of them."""

    def pieces(bind: DraftBinding) -> tuple[DraftBinding, ...]:
        call = bind.value
        if not isinstance(call, CALL) or not call.attrs:
            raise NotApplicable("gone")
        default = _default_call(call).attrs
        if name is not None:
            default = _with_value(call, name, getattr(default, name))
        if T.structural_equal(default, call.attrs):
            raise NotApplicable("has its defaults")
        return (replace(bind, value=CALL(call.op, call.args, default, call.ty_args)),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        draft: ModuleDraft = at_binding(plan.draft, var, pieces)
        return replace(plan, draft=draft)

    return edit


def differing(call: T.Call) -> list[str]:
    """The attributes of an operator's call that are not as by default."""
    try:
        others = values_of(_default_call(call))
    except NotApplicable:
        return []
    mine = values_of(call)
    return [name for name in mine if name in others and not _equal(mine[name], others[name])]


def values_of(call: T.Call) -> dict[str, object]:
    """The attributes of a call by name."""
    if not call.attrs:
        return {}
    info = type(call.attrs).__tvm_ffi_type_info__
    return {field.name: getattr(call.attrs, field.name) for field in info.fields}


def _with_value(call: T.Call, name: str, value: object) -> T.Node:
    """The attributes of a call with another value for one of them."""
    key = type(call.attrs).__tvm_ffi_type_info__.type_key
    return tvm.ir.make_node(key, **{**values_of(call), name: value})


def _equal(one: object, other: object) -> bool:
    try:
        return bool(T.structural_equal(one, other))
    except TVM_ERRORS:
        return bool(one == other)


def _default_call(call: T.Call) -> T.Call:
    """The call that the operator's function in tvm.relax.op makes of the same operands.

    What the function asks for and is an attribute of the call is given as it is there."""
    function: Any = relax.op
    for word in str(call.op.name).split(".")[1:]:
        function = getattr(function, word, None)
    if not callable(function):
        raise NotApplicable("no function for the operator")
    attrs = values_of(call)
    try:
        asked = list(inspect.signature(function).parameters.values())[len(call.args) :]
        needed = {p.name: attrs[p.name] for p in asked if p.default is p.empty and p.name in attrs}
        default = function(*call.args, **needed)
    except TVM_ERRORS as error:
        raise NotApplicable(f"no defaults: {error}") from error
    if not isinstance(default, CALL) or not default.op.same_as(call.op) or len(default.args) != len(call.args):
        raise NotApplicable("the function makes another call")
    return default
