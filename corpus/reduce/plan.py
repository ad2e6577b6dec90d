"""A ReductionPlan: a draft with its passes and calls, and the bookkeeping that follows every edit.

Arguments of entry calls and call sites follow when parameters come and go. What has become dead is the work of
`corpus.reduce.prune`; what to try is decided in `corpus.reduce.steps`. Worker processes only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

import numpy as np
from tvm import relax, tirx

from corpus.reduce.callees import called_names
from corpus.reduce.candidate import Candidate
from corpus.reduce.draft import (
    CALL,
    GLOBAL_VAR,
    Draft,
    DraftBinding,
    DraftBlock,
    ModuleDraft,
    NotApplicable,
    leaves,
    lift,
    module_binds,
    rewrite_module,
)
from generators import tvm_api as T
from generators.case import Argument, EntryCall, PassCall, Shape
from generators.dtypes import Array, is_float, numpy_dtype
from generators.prim_expr import UnboundSymbol, UnknownPrimExpr, evaluate

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ReductionPlan:
    """What will be tried next. passes and setup carry their original index, which stays theirs.

    prune: the kinds of dead things ("bindings", "parameters", "functions") that are dropped after every edit.
    """

    draft: ModuleDraft
    setup: tuple[tuple[int, PassCall], ...]
    passes: tuple[tuple[int, PassCall], ...]
    calls: tuple[EntryCall, ...]
    prune: frozenset[str] = frozenset()

    def candidate(self, module: T.IRModule) -> Candidate:
        """The candidate with a module realised from this plan's draft."""
        return Candidate(module, _plain(self.setup), _plain(self.passes), self.calls)


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan as steps see it: with the types that its variables have, by original variable."""

    plan: ReductionPlan
    types: Mapping[T.Var, T.Type]

    @property
    def draft(self) -> ModuleDraft:
        """The plan's draft."""
        return self.plan.draft


Edit: TypeAlias = Callable[[ReductionPlan], ReductionPlan]
"""A pure change of a plan. Raises NotApplicable where it makes no sense (any more)."""


@dataclass(frozen=True, slots=True)
class Joint:
    """An edit of which many are made in one walk. make: gets what each of them is `about`; what makes no sense (any
    more) for one of them it leaves out, and raises NotApplicable where nothing is left."""

    make: Callable[[ReductionPlan, Sequence[Any]], ReductionPlan]
    about: Any

    def __call__(self, plan: ReductionPlan) -> ReductionPlan:
        """The plan with this edit alone."""
        return self.make(plan, [self.about])


def applied(plan: ReductionPlan, edits: Sequence[Edit]) -> ReductionPlan:
    """The plan with those of the edits that make sense, one after another; itself where none does."""
    for make, alike in groupby(edits, key=lambda edit: edit.make if isinstance(edit, Joint) else None):
        try:
            if make is not None:
                plan = make(plan, [edit.about for edit in alike if isinstance(edit, Joint)])
                continue
        except NotApplicable:
            continue
        for edit in alike:
            try:
                plan = edit(plan)
            except NotApplicable:
                continue
    return plan


def together(edits: Sequence[Edit]) -> Edit:
    """One edit that makes several, those of them that make sense."""

    def edit(plan: ReductionPlan) -> ReductionPlan:
        changed = applied(plan, edits)
        if changed is plan:
            raise NotApplicable("none of them makes sense")
        return changed

    return edit


def view_of(plan: ReductionPlan, module: T.IRModule) -> PlanView:
    """A view of the same plan with its draft taken from the live module anew: no swaps or symbols are left in it."""
    draft = lift(module)
    types = {param: T.type_of(param) for _, function in draft.drafts() for param in function.params}
    types.update((bind.var, T.type_of(bind.var)) for _, bind in module_binds(draft))
    return PlanView(replace(plan, draft=draft), types)


def plan_of(candidate: Candidate) -> ReductionPlan:
    """The plan that realises to the candidate itself."""
    return ReductionPlan(
        lift(candidate.module),
        tuple(enumerate(candidate.setup)),
        tuple(enumerate(candidate.passes)),
        candidate.calls,
    )


def _plain(calls: tuple[tuple[int, PassCall], ...]) -> tuple[PassCall, ...]:
    return tuple(call for _, call in calls)


# --- parameters -----------------------------------------------------------------------------------------


def callers(draft: ModuleDraft, name: str) -> int:
    """How many bindings refer to a function."""
    return sum(name in called_names(bind.value) for _, bind in module_binds(draft))


def add_parameter(plan: ReductionPlan, name: str, param: T.Var) -> ReductionPlan:
    """Appends a parameter to a function without callers, and inputs for it to the entry calls."""
    return add_parameters(plan, name, [param])


def add_parameters(plan: ReductionPlan, name: str, params: Sequence[T.Var], *, signed: bool = False) -> ReductionPlan:
    """The same with several. NotApplicable where one has a type of which no inputs can be drawn, and they are asked
    for. signed: the inputs are on both sides of zero."""
    function = plan.draft.functions[name]
    if not isinstance(function, Draft) or callers(plan.draft, name):
        raise NotApplicable("only functions without callers can get parameters")
    grown = replace(function, params=(*function.params, *params))
    calls = tuple(
        replace(call, arguments=(*call.arguments, *_drawn(params, function, call, signed)))
        if call.function == name
        else call
        for call in plan.calls
    )
    return replace(plan, draft=plan.draft.with_function(name, grown), calls=calls)


def _drawn(params: Sequence[T.Var], function: Draft, call: EntryCall, signed: bool) -> Iterator[Argument]:
    symbols = symbol_values(function, call)
    return (draw_argument(T.type_of(param), symbols, signed) for param in params)


def drawable(plan: ReductionPlan, name: str, params: Collection[T.Var]) -> set[T.Var]:
    """Those of the variables for which inputs can be drawn in every entry call of the function."""
    function = plan.draft.functions[name]
    assert isinstance(function, Draft)
    known = [symbol_values(function, call) for call in plan.calls if call.function == name]
    return {param for param in params if all(_can_be_drawn(T.type_of(param), symbols) for symbols in known)}


def _can_be_drawn(ty: T.Type, symbols: Mapping[T.Var, int]) -> bool:
    try:
        draw_argument(ty, symbols)
    except NotApplicable:
        return False
    return True


def drop_parameters(plan: ReductionPlan, name: str, params: Collection[T.Var]) -> ReductionPlan:
    """Removes parameters that are not used; arguments of calls follow. The plan itself where there are none."""
    function = plan.draft.functions[name]
    if not isinstance(function, Draft) or not params:
        return plan
    wanted = set(params)
    places = frozenset(place for place, param in enumerate(function.params) if param in wanted)
    attrs = dict(function.attrs)
    if "num_input" in attrs:
        attrs["num_input"] = int(attrs["num_input"]) - sum(place < int(attrs["num_input"]) for place in places)
    left = _but(function.params, places)
    draft = plan.draft.with_function(name, replace(function, params=left, attrs=attrs))
    calls = tuple(
        replace(call, arguments=_but(call.arguments, places)) if call.function == name else call for call in plan.calls
    )
    return replace(plan, draft=_at_call_sites(draft, name, places), calls=calls)


def _but(items: Sequence[Item], places: Collection[int]) -> tuple[Item, ...]:
    return tuple(item for place, item in enumerate(items) if place not in places)


def without_argument(call: EntryCall, index: int) -> EntryCall:
    """The entry call without one of its arguments."""
    return replace(call, arguments=call.arguments[:index] + call.arguments[index + 1 :])


def _at_call_sites(draft: ModuleDraft, name: str, places: Collection[int]) -> ModuleDraft:
    def rewrite(bind: DraftBinding) -> tuple[DraftBinding | DraftBlock, ...] | None:
        if name not in called_names(bind.value):
            return None
        call = bind.value
        if not (isinstance(call, CALL) and isinstance(call.op, GLOBAL_VAR) and call.op.name_hint == name):
            raise NotApplicable(f"{name} is passed around as a value")
        return (replace(bind, value=CALL(call.op, _but(call.args, places), call.attrs, call.ty_args)),)

    return rewrite_module(draft, rewrite)


def symbol_values(function: Draft, call: EntryCall) -> dict[T.Var, int]:
    """What the symbolic dims of a function are in a call, as far as its parameters tell."""
    values: dict[T.Var, int] = {}
    for param, argument in zip(function.params, call.arguments, strict=False):
        _match(function.types.get(param, T.type_of(param)), param, argument, values)
    return values


def _match(ty: T.Type, param: T.Var, argument: Argument, values: dict[T.Var, int]) -> None:
    if isinstance(argument, tuple) and isinstance(ty, T.TupleType):
        for field, value in zip(ty.fields, argument, strict=False):
            _match(field, param, value, values)
        return
    if isinstance(argument, (int, float)):
        if isinstance(ty, T.PrimType):
            values[param] = int(argument)
        return
    extents = argument.extents if isinstance(argument, Shape) else getattr(argument, "shape", ())
    for dim, extent in zip(dims_of(ty), extents, strict=False):
        if isinstance(dim, type(param)):
            values.setdefault(dim, int(extent))


def dims_of(ty: T.Type) -> tuple[T.Expr, ...]:
    """The dims written in the type of a tensor, a shape or a buffer, none when they are unknown."""
    if isinstance(ty, tirx.BufferType):
        return tuple(ty.shape)
    if isinstance(ty, T.TensorType):
        return tuple(ty.shape.values) if isinstance(ty.shape, relax.ShapeExpr) else ()
    return tuple(ty.values) if isinstance(ty, T.ShapeType) and ty.values is not None else ()


def leaves_of_type(ty: T.Type) -> Iterator[T.Var]:
    """The symbolic variables in a type; with repetitions."""
    if isinstance(ty, T.TupleType):
        for field in ty.fields:
            yield from leaves_of_type(field)
    for dim in dims_of(ty):
        yield from leaves(dim)


def has_symbols(ty: T.Type) -> bool:
    """Whether a type mentions symbolic dims."""
    return next(leaves_of_type(ty), None) is not None


def is_impossible(ty: T.Type) -> bool:
    """Whether a type has an extent below zero, as TVM infers for some results of operators whose attributes do not fit
    their operands."""
    if isinstance(ty, T.TupleType):
        return any(map(is_impossible, ty.fields))
    return any(isinstance(dim, tirx.IntImm) and int(dim) < 0 for dim in dims_of(ty))


def draw_argument(ty: T.Type, symbols: Mapping[T.Var, int], signed: bool = False) -> Argument:
    """Small whole numbers in a type: floats 1..3, integers and bools 0..1, which are valid almost everywhere. signed:
    floats -1..1, which more passes tell apart.

    NotApplicable when the type does not tell the extents.
    """
    if isinstance(ty, T.TupleType):
        return tuple(draw_argument(field, symbols, signed) for field in ty.fields)
    try:
        extents = tuple(int(evaluate(dim, symbols)) for dim in dims_of(ty))
    except (UnboundSymbol, UnknownPrimExpr, ZeroDivisionError) as error:
        raise NotApplicable(f"extent unknown: {error}") from error
    if isinstance(ty, T.ShapeType) and ty.ndim == len(extents):
        return Shape(extents)
    if isinstance(ty, tirx.BufferType):
        return small_numbers(extents, T.dtype_text(ty.dtype))
    dtype = T.dtype_name(ty) if isinstance(ty, T.TensorType) else None
    if dtype is None or len(extents) != ty.ndim:
        raise NotApplicable("no values of this type")
    numbers = small_numbers(extents, dtype)
    return numbers - 2 if signed and is_float(dtype) else numbers


def small_numbers(extents: tuple[int, ...], dtype: str) -> Array:
    """An array of small whole numbers that differ between neighbours."""
    flat = np.arange(int(np.prod(extents, dtype=np.int64)))
    numbers = flat % 3 + 1 if is_float(dtype) else flat % 2
    return numbers.reshape(extents).astype(numpy_dtype(dtype))
