"""Constants and inputs with simple contents: parameters instead of constants, ones, small whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import tvm

from corpus.reduce.draft import (
    CALL,
    CONSTANT,
    TUPLE,
    BoundValue,
    Branch,
    Draft,
    DraftBinding,
    NotApplicable,
    all_binds,
    map_leaves,
    module_binds,
    rewrite_module,
)
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, add_parameter, callers, small_numbers
from generators import tvm_api as T
from generators.case import Argument
from generators.dtypes import Array, is_float

Contents: TypeAlias = Callable[[Array], Array]

MOST = 4
"""The largest of the whole numbers that contents are rounded to."""


def _ones(old: Array) -> Array:
    return np.ones(old.shape, old.dtype)


def _small(old: Array) -> Array:
    return small_numbers(old.shape, str(old.dtype))


def _rounded(old: Array) -> Array:
    """The whole numbers next to the contents, up to MOST; what is infinite or no number stays."""
    if not is_float(str(old.dtype)):
        return np.clip(old, 0 if old.dtype.kind == "u" else -MOST, MOST) if old.dtype.kind in "iu" else old
    values = old.astype(np.float64)
    return np.where(np.isfinite(values), np.clip(np.rint(values), -MOST, MOST), values).astype(old.dtype)


FILLS: tuple[Contents, ...] = (_ones, _small, _rounded)
"""Contents by simplicity."""


def _filled(old: Array, fill: Contents) -> Array:
    """The array with simpler contents; itself where they are as simple already."""
    new = fill(old)
    return old if any(_same(old, known(old)) for known in FILLS[: FILLS.index(fill) + 1]) else new


def to_parameters(view: PlanView) -> Sequence[Edit]:
    """Each tensor constant of a function without callers becomes a parameter with the same contents as input."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        if callers(view.draft, name) == 0:
            for bind in all_binds(function.body):
                edits.extend(_to_parameter(name, constant) for constant in _constants(bind.value) if _rank(constant))
    return edits


def simpler_constants(view: PlanView) -> Sequence[Edit]:
    """Each constant gets simpler contents."""
    edits: list[Edit] = []
    for fill in FILLS:
        for _, bind in module_binds(view.draft):
            edits.extend(_refilled(constant, fill) for constant in _constants(bind.value))
    return edits


def _constants(value: BoundValue) -> list[T.Constant]:
    """Those that hold a tensor: in lowered modules a dtype is a constant, too."""
    found: list[T.Constant] = []

    def leaf(expr: T.Expr) -> T.Expr:
        if isinstance(expr, CONSTANT) and isinstance(expr.value, tvm.runtime.Tensor):
            found.append(expr)
        return expr

    if isinstance(value, (CALL, TUPLE, CONSTANT)):
        map_leaves(value, leaf)
    return found


def _rank(constant: T.Constant) -> int:
    return T.constant_array(constant).ndim


def _to_parameter(name: str, constant: T.Constant) -> Edit:
    param = tvm.ir.Var("c", T.type_of(constant))

    def edit(plan: ReductionPlan) -> ReductionPlan:
        grown = add_parameter(plan, name, param)
        calls = tuple(
            replace(call, arguments=(*call.arguments[:-1], T.constant_array(constant)))
            if call.function == name
            else call
            for call in grown.calls
        )
        return replace(_substituted(grown, constant, param), calls=calls)

    return edit


def _refilled(constant: T.Constant, fill: Contents) -> Edit:
    old = T.constant_array(constant)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        new = _filled(old, fill)
        if new is old:
            raise NotApplicable("simple already")
        return _substituted(plan, constant, T.constant(new, str(old.dtype)))

    return edit


def _substituted(plan: ReductionPlan, constant: T.Constant, expr: T.Expr) -> ReductionPlan:
    found = False

    def leaf(old: T.Expr) -> T.Expr:
        nonlocal found
        if isinstance(old, CONSTANT) and old.same_as(constant):
            found = True
            return expr
        return old

    def rewrite(bind: DraftBinding) -> tuple[DraftBinding, ...] | None:
        return None if isinstance(bind.value, (Branch, Draft)) else (replace(bind, value=map_leaves(bind.value, leaf)),)

    draft = rewrite_module(plan.draft, rewrite)
    if not found:
        raise NotApplicable("the constant is gone")
    return replace(plan, draft=draft)


def _same(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


# --- inputs ---------------------------------------------------------------------------------------------


def odd_inputs(view: PlanView) -> Sequence[Edit]:
    """Each array that holds an infinity or a NaN holds nothing else, so that it can lose the elements without."""
    return [
        _with_input_of(number, index, odd)
        for number, call in enumerate(view.plan.calls)
        for index, argument in enumerate(call.arguments)
        if isinstance(argument, np.ndarray) and is_float(str(argument.dtype))
        for odd in (np.nan, np.inf, -np.inf)
    ]


def _with_input_of(number: int, index: int, odd: float) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        if number >= len(plan.calls) or index >= len(plan.calls[number].arguments):
            raise NotApplicable("gone")
        old = plan.calls[number].arguments[index]
        if not isinstance(old, np.ndarray):
            raise NotApplicable("no array")
        values = old.astype(np.float64)
        alike = np.isnan(values) if np.isnan(odd) else values == odd
        if not alike.any() or alike.all():
            raise NotApplicable("has none of it, or no other")
        return _given(plan, number, index, np.full(old.shape, odd, old.dtype))

    return edit


def _given(plan: ReductionPlan, number: int, index: int, argument: Argument) -> ReductionPlan:
    call = plan.calls[number]
    arguments = (*call.arguments[:index], argument, *call.arguments[index + 1 :])
    calls = (*plan.calls[:number], replace(call, arguments=arguments), *plan.calls[number + 1 :])
    return replace(plan, calls=calls)


def simpler_inputs(view: PlanView) -> Sequence[Edit]:
    """Each array among the inputs gets simpler contents."""
    return [
        _with_input(number, index, fill)
        for fill in FILLS
        for number, call in enumerate(view.plan.calls)
        for index in range(len(call.arguments))
    ]


def _with_input(number: int, index: int, fill: Contents) -> Edit:
    def filled(argument: Argument) -> Argument:
        if isinstance(argument, tuple):
            fields = tuple(filled(field) for field in argument)
            return argument if all(new is old for new, old in zip(fields, argument, strict=True)) else fields
        return _filled(argument, fill) if isinstance(argument, np.ndarray) else argument

    def edit(plan: ReductionPlan) -> ReductionPlan:
        if number >= len(plan.calls) or index >= len(plan.calls[number].arguments):
            raise NotApplicable("gone")
        call = plan.calls[number]
        new = filled(call.arguments[index])
        if new is call.arguments[index]:
            raise NotApplicable("simple already")
        return _given(plan, number, index, new)

    return edit
