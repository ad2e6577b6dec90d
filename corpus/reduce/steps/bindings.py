"""Bindings replaced by something simpler of the same type: a fresh parameter, an operand, a parameter, a constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import tvm

from corpus.reduce.draft import (
    CALL,
    TUPLE,
    VAR,
    Draft,
    DraftBinding,
    NotApplicable,
    all_binds,
    at_binding,
    leaves,
    own_binds,
    without_binding,
    without_bindings,
)
from corpus.reduce.plan import (
    Edit,
    Joint,
    PlanView,
    ReductionPlan,
    add_parameters,
    callers,
    draw_argument,
    drawable,
)
from generators import tvm_api as T


def to_parameters(view: PlanView) -> Sequence[Edit]:
    """Each binding of a function without callers becomes a fresh parameter of its type, with small inputs."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        if callers(view.draft, name) == 0:
            edits.extend(_to_parameter(name, bind, view) for bind in all_binds(function.body))
    return edits


def to_signed_parameters(view: PlanView) -> Sequence[Edit]:
    """The same with inputs on both sides of zero, which a rectifier does not let through as they are."""
    return [Joint(_to_signed_parameters, edit.about) for edit in to_parameters(view) if isinstance(edit, Joint)]


def all_but_last(view: PlanView) -> Sequence[Edit]:
    """All bindings of a function without callers but the last k become parameters, for each k from 1."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        if callers(view.draft, name) == 0:
            each = [_to_parameter(name, bind, view) for bind in own_binds(function.body)]
            edits.extend(Joint(_some_to_parameters, each[:-k]) for k in range(1, len(each)))
    return edits


def _some_to_parameters(plan: ReductionPlan, several: Sequence[Sequence[Joint]]) -> ReductionPlan:
    return _to_parameters(plan, [edit.about for edits in several for edit in edits])


def _to_parameter(name: str, bind: DraftBinding, view: PlanView) -> Joint:
    return Joint(_to_parameters, (name, bind.var, tvm.ir.Var(bind.var.name, view.types[bind.var])))


def _to_signed_parameters(plan: ReductionPlan, wanted: Sequence[tuple[str, T.Var, T.Var]]) -> ReductionPlan:
    return _to_parameters(plan, wanted, signed=True)


def _to_parameters(
    plan: ReductionPlan, wanted: Sequence[tuple[str, T.Var, T.Var]], *, signed: bool = False
) -> ReductionPlan:
    """wanted: the function, the variable that is bound, and the parameter that it becomes. Those of which no inputs can
    be drawn stay bound."""
    for name in dict.fromkeys(owner for owner, _, _ in wanted):
        function = plan.draft.functions.get(name)
        if not isinstance(function, Draft):
            raise NotApplicable("gone")
        wishes = {var: param for owner, var, param in wanted if owner == name}
        can = drawable(plan, name, wishes.values())
        pairs = {var: param for var, param in wishes.items() if param in can}
        draft = without_bindings(plan.draft, pairs)
        left = draft.functions[name]
        assert isinstance(left, Draft)  # as before
        used = draft.used_in(left)
        params = [param for var, param in pairs.items() if var in used]
        draft = replace(draft, swaps={**draft.swaps, **pairs})
        plan = add_parameters(replace(plan, draft=draft), name, params, signed=signed)
    return plan


def to_operands(view: PlanView) -> Sequence[Edit]:
    """Each binding becomes an operand or a parameter of the same type; last first."""
    edits: list[Edit] = []
    for _, function in view.draft.drafts():
        for bind in reversed(list(all_binds(function.body))):
            edits.extend(_to_expr(bind.var, other) for other in _same_type(view, function, bind))
    return edits


def _same_type(view: PlanView, function: Draft, bind: DraftBinding) -> Iterator[T.Var]:
    seen: set[T.Var] = set()
    for other in (*leaves(bind.value), *function.params):
        if other in seen or other not in view.types or other.same_as(bind.var):
            continue
        seen.add(other)
        if T.structural_equal(view.types[other], view.types[bind.var]):
            yield other


def to_constants(view: PlanView) -> Sequence[Edit]:
    """Each binding of a function with callers becomes a constant: its parameters cannot grow."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        if callers(view.draft, name):
            edits.extend(_to_constant(bind.var, view.types[bind.var]) for bind in all_binds(function.body))
    return edits


def _to_constant(var: T.Var, ty: T.Type) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        if not isinstance(ty, T.TensorType):
            raise NotApplicable("only tensors can be constants")
        array = draw_argument(ty, {})
        assert isinstance(array, np.ndarray)  # as for every tensor type
        constant = T.constant(array, str(array.dtype))
        return replace(plan, draft=without_binding(plan.draft, var).swap(var, constant))

    return edit


def _to_expr(var: T.Var, expr: T.Expr) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=without_binding(plan.draft, var).swap(var, expr))

    return edit


def aliases(view: PlanView) -> Sequence[Edit]:
    """Bindings of plain variables, and casts, go: their uses take the variable itself."""
    edits: list[Edit] = []
    for _, function in view.draft.drafts():
        for bind in all_binds(function.body):
            if isinstance(bind.value, VAR):
                edits.append(_to_expr(bind.var, bind.value))
    return edits


def tuples(view: PlanView) -> Sequence[Edit]:
    """Bound tuples are written out where they are used, so that their fields are used directly."""
    edits: list[Edit] = []
    for _, function in view.draft.drafts():
        edits.extend(
            _to_expr(bind.var, bind.value) for bind in all_binds(function.body) if isinstance(bind.value, TUPLE)
        )
    return edits


def operands_shared(view: PlanView) -> Sequence[Edit]:
    """A call's later tensor operands become its first one where the types agree: f(x, y) -> f(x, x)."""
    edits: list[Edit] = []
    for _, function in view.draft.drafts():
        for bind in all_binds(function.body):
            if isinstance(bind.value, CALL):
                edits.extend(_shared(view, bind))
    return edits


def _shared(view: PlanView, bind: DraftBinding) -> Iterator[Edit]:
    call: T.Call = bind.value
    arguments = list(call.args)
    variables = [a for a in arguments if isinstance(a, VAR) and a in view.types]
    for number, argument in enumerate(arguments):
        first = variables[0] if variables else None
        if first is None or not isinstance(argument, VAR) or argument.same_as(first) or argument not in view.types:
            continue
        if T.structural_equal(view.types[argument], view.types[first]):
            yield _with_argument(bind.var, number, first)
    for number, argument in enumerate(arguments):
        if isinstance(argument, TUPLE):
            yield from _shared_fields(view, bind.var, number, argument)


def _shared_fields(view: PlanView, var: T.Var, number: int, given: T.Expr) -> Iterator[Edit]:
    """Later fields of a tuple that a call takes become an earlier one of the same type."""
    fields = [field for field in given.fields if isinstance(field, VAR) and field in view.types]
    for place, field in enumerate(given.fields):
        same = [f for f in fields if field in view.types and T.structural_equal(view.types[f], view.types[field])]
        if isinstance(field, VAR) and same and not same[0].same_as(field):
            yield _with_field(var, number, place, same[0])


def _with_field(var: T.Var, number: int, place: int, expr: T.Expr) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        def pieces(bind: DraftBinding) -> tuple[DraftBinding, ...]:
            call: T.Call = bind.value
            arguments = list(call.args)
            fields = list(arguments[number].fields)
            fields[place] = expr
            arguments[number] = TUPLE(fields)
            return (replace(bind, value=CALL(call.op, arguments, call.attrs, call.ty_args)),)

        return replace(plan, draft=at_binding(plan.draft, var, pieces))

    return edit


def _with_argument(var: T.Var, number: int, expr: T.Expr) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        def pieces(bind: DraftBinding) -> tuple[DraftBinding, ...]:
            call: T.Call = bind.value
            arguments = list(call.args)
            arguments[number] = expr
            return (replace(bind, value=CALL(call.op, arguments, call.attrs, call.ty_args)),)

        return replace(plan, draft=at_binding(plan.draft, var, pieces))

    return edit
