"""Shorter tuples, nested ones too: a field that is not used goes, wherever its tuple comes from.

Tuples come from parameters, from bindings of a tuple, and from calls of functions of the module. Where their fields
are taken, the numbers of later fields follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from tvm import relax

from corpus.reduce.callees import called_names
from corpus.reduce.draft import (
    CALL,
    GLOBAL_VAR,
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
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, callers
from generators import tvm_api as T
from generators.case import Argument, EntryCall
from generators.relax.nested_tuples import FieldPath


def fields(view: PlanView) -> Sequence[Edit]:
    """Each field of a tuple may go that is a parameter, is bound, or is the result of a function with callers."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        for param in function.params:
            edits.extend(_without_of_parameter(name, param, path) for path in _paths(T.type_of(param)))
        if callers(view.draft, name):
            edits.extend(_without_of_result(name, number) for number in _result_fields(view.draft, function))
    for _, bind in module_binds(view.draft):
        if isinstance(bind.value, TUPLE):
            edits.extend(_without_of_bound(bind.var, number) for number in reversed(range(len(bind.value.fields))))
    return edits


def _paths(ty: T.Type, before: FieldPath = ()) -> Iterator[FieldPath]:
    """The fields of a tuple type that can go: last first, outer before inner, none that is alone."""
    if not isinstance(ty, T.TupleType):
        return
    for number in reversed(range(len(ty.fields))):
        if len(ty.fields) > 1:
            yield (*before, number)
        yield from _paths(ty.fields[number], (*before, number))


def _result_fields(draft: ModuleDraft, function: Draft) -> Iterator[int]:
    result = draft.resolve(function.body.result)
    if isinstance(result, TUPLE) and len(result.fields) > 1:
        yield from reversed(range(len(result.fields)))


def _without_of_parameter(name: str, param: T.Var, path: FieldPath) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, Draft) or param not in function.params:
            raise NotApplicable("gone")
        place = function.params.index(param)
        types = {**function.types, param: _type_without(function.types.get(param, T.type_of(param)), path)}
        draft = plan.draft.with_function(name, replace(function, types=types))
        draft = _uses_follow(draft, {param: ()}, path)
        if callers(draft, name):
            draft = _call_sites_follow(draft, name, place, path)
        calls = tuple(_call_without(call, place, path) if call.function == name else call for call in plan.calls)
        return replace(plan, draft=draft, calls=calls)

    return edit


def _without_of_bound(var: T.Var, number: int) -> Edit:
    def shorter(bind: DraftBinding) -> tuple[DraftBinding, ...]:
        if not isinstance(bind.value, TUPLE):
            raise NotApplicable("no tuple any more")
        return (replace(bind, value=TUPLE(_without(bind.value.fields, number))),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        draft = _uses_follow(at_binding(plan.draft, var, shorter), {var: ()}, (number,))
        return replace(plan, draft=draft)

    return edit


def _without_of_result(name: str, number: int) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        result = plan.draft.resolve(function.body.result) if isinstance(function, Draft) else None
        if not isinstance(function, Draft) or not isinstance(result, TUPLE):
            raise NotApplicable("gone")
        body = replace(function.body, result=TUPLE(_without(result.fields, number)))
        draft = plan.draft.with_function(name, replace(function, body=body))
        results: dict[T.Var, FieldPath] = {bind.var: () for _, bind in module_binds(draft) if _calls(bind, name)}
        if len(results) < callers(draft, name):
            raise NotApplicable(f"{name} is passed around as a value")
        return replace(plan, draft=_uses_follow(draft, results, (number,)))

    return edit


def _calls(bind: DraftBinding, name: str) -> bool:
    value = bind.value
    return isinstance(value, CALL) and isinstance(value.op, GLOBAL_VAR) and value.op.name_hint == name


def _without(fields_: Sequence[T.Expr], number: int) -> list[T.Expr]:
    if len(fields_) < 2 or number >= len(fields_):
        raise NotApplicable("the last field stays")
    return [*fields_[:number], *fields_[number + 1 :]]


def _type_without(ty: T.Type, path: FieldPath) -> T.Type:
    if not isinstance(ty, T.TupleType) or path[0] >= len(ty.fields):
        raise NotApplicable("no such field")
    inner = list(ty.fields)
    if len(path) == 1:
        return T.TupleType(_without(inner, path[0]))
    inner[path[0]] = _type_without(inner[path[0]], path[1:])
    return T.TupleType(inner)


def _uses_follow(draft: ModuleDraft, tuples: dict[T.Var, FieldPath], gone: FieldPath) -> ModuleDraft:
    """The draft with the numbers of fields moved. tuples: variables and what of the tuple they are."""
    known = dict(tuples)

    def rewrite(bind: DraftBinding) -> tuple[DraftBinding, ...] | None:
        value = bind.value
        if isinstance(value, (Branch, Draft)):
            return None
        if isinstance(value, VAR) and value in known:
            known[bind.var] = known[value]
            return None
        if not isinstance(value, TUPLE_GET_ITEM) or value.tuple_value not in known:
            return None
        taken = (*known[value.tuple_value], value.index)
        if taken == gone:
            raise NotApplicable("in use")
        if taken == gone[: len(taken)]:
            known[bind.var] = taken
        if taken[:-1] == gone[:-1] and taken[-1] > gone[-1]:
            return (replace(bind, value=TUPLE_GET_ITEM(value.tuple_value, value.index - 1)),)
        return None

    return rewrite_module(draft, rewrite)


def _call_sites_follow(draft: ModuleDraft, name: str, place: int, path: FieldPath) -> ModuleDraft:
    """Calls give a tuple without the field. NotApplicable where they give one that they have not written out."""

    def rewrite(bind: DraftBinding) -> tuple[DraftBinding, ...] | None:
        if name not in called_names(bind.value):
            return None
        call = bind.value
        if not _calls(bind, name) or not isinstance(call, CALL):
            raise NotApplicable(f"{name} is passed around as a value")
        arguments = list(call.args)
        arguments[place] = _expr_without(arguments[place], path)
        return (replace(bind, value=CALL(call.op, arguments, call.attrs, call.ty_args)),)

    return rewrite_module(draft, rewrite)


def _expr_without(expr: T.Expr, path: FieldPath) -> T.Expr:
    if not isinstance(expr, TUPLE):
        raise NotApplicable("not written out")
    inner = list(expr.fields)
    if len(path) == 1:
        return TUPLE(_without(inner, path[0]))
    inner[path[0]] = _expr_without(inner[path[0]], path[1:])
    return TUPLE(inner)


def _call_without(call: EntryCall, place: int, path: FieldPath) -> EntryCall:
    given = call.arguments
    return replace(call, arguments=(*given[:place], _argument_without(given[place], path), *given[place + 1 :]))


def _argument_without(argument: Argument, path: FieldPath) -> Argument:
    if not isinstance(argument, tuple) or path[0] >= len(argument):
        raise NotApplicable("no tuple is given")
    inner = () if len(path) == 1 else (_argument_without(argument[path[0]], path[1:]),)
    return (*argument[: path[0]], *inner, *argument[path[0] + 1 :])


# --- operands -------------------------------------------------------------------------------------------


def operands(view: PlanView) -> Sequence[Edit]:
    """A tuple that an operator or a builtin takes is left with one field."""
    return [
        _with_fields(var, place, _only(number))
        for var, place, fields_ in _taken(view.draft)
        for number in range(len(fields_))
    ]


def fewer_operands(view: PlanView) -> Sequence[Edit]:
    """Each field of a tuple that an operator or a builtin takes may go; last first."""
    return [
        _with_fields(var, place, _all_but(number))
        for var, place, fields_ in _taken(view.draft)
        for number in reversed(range(len(fields_)))
    ]


def _taken(draft: ModuleDraft) -> Iterator[tuple[T.Var, int, Sequence[T.Expr]]]:
    """The tuples of more than one field that calls take: the variable bound to the call, the place, and the fields.

    Calls of the module's functions keep theirs: what they call has as many parameters."""
    for _, bind in module_binds(draft):
        if isinstance(bind.value, CALL) and not any(name in draft.functions for name in called_names(bind.value)):
            for place, argument in enumerate(bind.value.args):
                if isinstance(argument, TUPLE) and len(argument.fields) > 1:
                    yield bind.var, place, argument.fields


def arguments(view: PlanView) -> Sequence[Edit]:
    """Each argument of a call of an external function may go; last first."""
    edits: list[Edit] = []
    for _, bind in module_binds(view.draft):
        if isinstance(bind.value, CALL) and (first := _first_argument(bind.value)) is not None:
            places = reversed(range(first, len(bind.value.args)))
            edits.extend(_without_argument(bind.var, place) for place in places)
    return edits


def _first_argument(call: T.Call) -> int | None:
    """The place of the first argument that goes to an external function; None for other calls."""
    if isinstance(call.op, relax.ExternFunc):
        return 0
    packed = T.op_name(call) in ("relax.call_pure_packed", "relax.call_inplace_packed")
    return 1 if packed and isinstance(call.args[0], relax.ExternFunc) else None


def _without_argument(var: T.Var, place: int) -> Edit:
    def pieces(bind: DraftBinding) -> tuple[DraftBinding, ...]:
        call = bind.value
        if not isinstance(call, CALL) or place >= len(call.args):
            raise NotApplicable("gone")
        kept = [argument for number, argument in enumerate(call.args) if number != place]
        return (replace(bind, value=CALL(call.op, kept, call.attrs, call.ty_args)),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=at_binding(plan.draft, var, pieces))

    return edit


Chosen: TypeAlias = Callable[[Sequence[T.Expr]], list[T.Expr]]


def _only(number: int) -> Chosen:
    return lambda given: [given[number]] if 1 < len(given) > number else _none_left()


def _all_but(number: int) -> Chosen:
    return lambda given: _without(given, number)


def _none_left() -> list[T.Expr]:
    raise NotApplicable("the last field stays")


def _with_fields(var: T.Var, place: int, chosen: Chosen) -> Edit:
    def pieces(bind: DraftBinding) -> tuple[DraftBinding, ...]:
        call = bind.value
        if not isinstance(call, CALL) or not isinstance(call.args[place], TUPLE):
            raise NotApplicable("gone")
        arguments = list(call.args)
        arguments[place] = TUPLE(chosen(arguments[place].fields))
        return (replace(bind, value=CALL(call.op, arguments, call.attrs, call.ty_args)),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=at_binding(plan.draft, var, pieces))

    return edit
