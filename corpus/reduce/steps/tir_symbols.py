"""Symbolic dims of PrimFuncs become numbers; where one is a parameter, that and the argument of calls go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tvm_ffi
from tvm import tirx

from corpus.reduce.callees import called_names
from corpus.reduce.draft import CALL, VAR, Branch, Draft, NotApplicable, module_binds
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, dims_of
from corpus.reduce.prim_func import verified
from corpus.reduce.realise import TVM_ERRORS
from corpus.reduce.steps.tir_parameters import without_parameter
from generators import tvm_api as T

MOST_NUMBERS = 4
"""How many numbers are tried for a dim: extents of what the calls give and take."""


def numbers(view: PlanView) -> Sequence[Edit]:
    """Each symbolic dim becomes an extent that is given at a call, else one. TVM refuses those that do not fit."""
    edits: list[Edit] = []
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc):
            given = sorted(_given(view, name))[:MOST_NUMBERS] or [1]
            edits.extend(_to_number(name, symbol, number) for symbol in _symbols(function) for number in given)
    return edits


def _symbols(function: T.PrimFunc) -> list[T.Var]:
    """The variables in the shapes of buffers that are parameters, in order of appearance."""
    found: dict[T.Var, None] = {}
    for param in function.params:
        ty = T.type_of(param)
        if isinstance(ty, tirx.BufferType):
            for dim in ty.shape:
                tvm_ffi.structural_walk(dim, [(VAR, lambda var: found.setdefault(var))])
    return list(found)


def _given(view: PlanView, name: str) -> set[int]:
    """The extents of all arguments and results of calls of a function that are numbers."""
    types: list[T.Type] = []
    for _, bind in module_binds(view.draft):
        value = bind.value
        if isinstance(value, (Branch, Draft)) or name not in called_names(value) or not isinstance(value, CALL):
            continue
        types.append(view.types[bind.var])
        types.extend(view.types[leaf] for leaf in view.draft.uses(value) if leaf in view.types)
    flat = [field for ty in types for field in (ty.fields if isinstance(ty, T.TupleType) else [ty])]
    return {int(dim) for ty in flat for dim in dims_of(ty) if isinstance(dim, tirx.IntImm)}


def _to_number(name: str, symbol: T.Var, number: int) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, tirx.PrimFunc) or symbol not in _symbols(function) or plan.draft.nodes:
            raise NotApplicable("gone")
        if any(param.same_as(symbol) for param in T.parameters_of(function)):
            plan = without_parameter(plan, name, symbol)
            function = plan.draft.functions[name]
        literal = tirx.IntImm(T.dtype_text(T.type_of(symbol).dtype), number)
        new = tvm_ffi.structural_map(function, [(VAR, lambda var: literal if var.same_as(symbol) else var)])
        try:
            # Made anew for its type.
            whole = verified(T.prim_func(T.parameters_of(new), new.body, new.ret_type, new.attrs))
        except TVM_ERRORS as error:
            raise NotApplicable(f"not well-formed: {error}") from error
        return replace(plan, draft=plan.draft.with_function(name, whole))

    return edit
