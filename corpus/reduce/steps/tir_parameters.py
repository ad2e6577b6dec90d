"""Parameters of PrimFuncs, which go with what call_tir gives for them or makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import tvm_ffi
from tvm import tirx

from corpus.reduce.callees import called_names
from corpus.reduce.draft import (
    TUPLE,
    TUPLE_GET_ITEM,
    VAR,
    Branch,
    Draft,
    DraftBinding,
    ModuleDraft,
    NotApplicable,
    at_binding,
    module_binds,
    rewrite_module,
)
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, without_argument
from corpus.reduce.prim_repair import traffic_of
from generators import tvm_api as T


def parameters(view: PlanView) -> Sequence[Edit]:
    """Each unused parameter of a PrimFunc may go, last first."""
    edits: list[Edit] = []
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc):
            edits.extend(_without_parameter(name, param) for param in reversed(list(function.params)))
    return edits


def shared(view: PlanView) -> Sequence[Edit]:
    """Each buffer that a PrimFunc is given and only reads becomes an earlier one of the same type."""
    edits: list[Edit] = []
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc):
            traffic = traffic_of(function.body)
            given = [p for p in function.params if p in traffic.read and p not in traffic.stored | traffic.passed]
            for number, param in enumerate(given):
                alike = [o for o in given[:number] if T.structural_equal(T.type_of(o), T.type_of(param))]
                edits.extend(_read_instead(name, param, other) for other in alike[:1])
    return edits


def _read_instead(name: str, param: T.Var, other: T.Var) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, tirx.PrimFunc) or not _uses(function, param) or plan.draft.nodes:
            raise NotApplicable("gone")
        body = tvm_ffi.structural_map(function.body, [(VAR, lambda var: other if var.same_as(param) else var)])
        draft = plan.draft.with_function(name, function.with_body(body))
        return without_parameter(replace(plan, draft=draft), name, param)

    return edit


def _without_parameter(name: str, param: T.Var) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, tirx.PrimFunc) or _uses(function, param):
            raise NotApplicable("in use")
        return without_parameter(plan, name, param)

    return edit


def without_parameter(plan: ReductionPlan, name: str, param: T.Var) -> ReductionPlan:
    """The plan with a parameter of a PrimFunc less, whether it is used or not, and the arguments that are for it."""
    function = plan.draft.functions[name]
    assert isinstance(function, tirx.PrimFunc)
    held = T.parameters_of(function)
    places = [p.same_as(param) for p in held]
    if True not in places:
        raise NotApplicable("gone")
    index = places.index(True)
    params = [p for p in held if not p.same_as(param)]
    smaller = T.prim_func(params, function.body, function.ret_type, function.attrs)
    draft = plan.draft.with_function(name, smaller)
    for _, bind in list(module_binds(draft)):
        if name in called_names(bind.value):
            draft = _called_without(draft, bind, index)
    calls = tuple(without_argument(call, index) if call.function == name else call for call in plan.calls)
    return replace(plan, draft=draft, calls=calls)


def _uses(function: T.PrimFunc, param: T.Var) -> bool:
    found: list[T.Var] = []
    tvm_ffi.structural_walk(function.body, [(VAR, found.append)])
    for other in function.params:
        if not other.same_as(param):
            tvm_ffi.structural_walk(T.type_of(other), [(VAR, found.append)])
    return any(var.same_as(param) for var in found)


def _called_without(draft: ModuleDraft, bind: DraftBinding, index: int) -> ModuleDraft:
    """The draft with a call_tir that has an input or a result less. NotApplicable for other calls."""
    call = bind.value
    if not isinstance(call, T.Call) or T.op_name(call) != "relax.call_tir" or len(call.args) != 2:
        raise NotApplicable("not a plain call_tir")
    inputs, given = list(call.args[1].fields), call.ty_args[0]
    if index < len(inputs):
        return _with_value(draft, bind, _call(call, [*inputs[:index], *inputs[index + 1 :]], given))
    results = list(given.fields) if isinstance(given, T.TupleType) else [given]
    place = index - len(inputs)
    left = [*results[:place], *results[place + 1 :]]
    if not left:
        raise NotApplicable("the only result")
    shorter = _with_value(draft, bind, _call(call, inputs, left[0] if len(left) == 1 else T.TupleType(left)))
    return rewrite_module(shorter, _fields_moved(bind.var, place, alone=len(left) == 1))


def _call(call: T.Call, inputs: list[T.Expr], results: T.Type) -> T.Call:
    return T.Call(call.op, [call.args[0], TUPLE(inputs)], call.attrs, [results])


def _with_value(draft: ModuleDraft, bind: DraftBinding, value: T.Expr) -> ModuleDraft:
    return at_binding(draft, bind.var, lambda found: (replace(found, value=value),))


def _fields_moved(var: T.Var, gone: int, *, alone: bool) -> Callable[[DraftBinding], tuple[DraftBinding, ...] | None]:
    """Bindings of a field of `var`, of which one is gone; `alone`: the one that is left is the result itself."""

    def rewrite(bind: DraftBinding) -> tuple[DraftBinding, ...] | None:
        value = bind.value
        if isinstance(value, (Branch, Draft)) or not isinstance(value, TUPLE_GET_ITEM):
            return None
        if not value.tuple_value.same_as(var):
            return None
        if value.index == gone:
            raise NotApplicable("in use")
        field = var if alone else TUPLE_GET_ITEM(var, value.index - (value.index > gone))
        return (replace(bind, value=field),)

    return rewrite
