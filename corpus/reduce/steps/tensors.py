"""Simpler tensors: smaller extents, fewer dims and float32, consistently through a module, its constants and inputs.

Types of everything computed are inferred anew; where an operator does not allow the new shape or dtype, the
candidate is given up. Types that calls give for their results follow; PrimFuncs follow smaller extents only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import tvm
import tvm_ffi
from tvm import relax, tirx

from corpus.reduce.draft import (
    CALL,
    CONSTANT,
    Branch,
    Draft,
    DraftBinding,
    ModuleDraft,
    NotApplicable,
    map_leaves,
    module_binds,
    rewrite_sequence,
)
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, callers, dims_of, small_numbers
from corpus.reduce.prim_func import verified
from corpus.reduce.prim_repair import traffic_of
from corpus.reduce.realise import TVM_ERRORS
from generators import tvm_api as T
from generators.case import Argument, EntryCall, Shape
from generators.dtypes import Array, is_float, numpy_dtype

SIMPLE_DTYPES = ("float32", "int32", "int64", "bool")


def extents(view: PlanView) -> Sequence[Edit]:
    """Each extent becomes 1, else 2, wherever the number occurs as an extent (in PrimFuncs wherever it occurs)."""
    found = sorted(_extents_of(view.draft), reverse=True)
    return [_with_extent(extent, to) for to in (1, 2) for extent in found if extent > to]


def not_empty(view: PlanView) -> Sequence[Edit]:
    """Extents of zero become one: a program that computes something is easier to read than one that does not."""
    return [_with_extent(0, 1)] if 0 in _extents_of(view.draft) else []


def dims(view: PlanView) -> Sequence[Edit]:
    """Tensors lose their dims of one element: all of them or all but one, of the whole module or of one parameter.

    Else a parameter loses one of its dims, whatever its extent."""
    edits: list[Edit] = []
    for left in (0, 1):
        edits.append(_squeezed(left, None))
        for _, function in view.draft.drafts():
            edits.extend(_squeezed(left, param) for param in function.params if 1 in _dims_in(T.type_of(param)))
    if not any(1 in _dims_in(ty) for ty in _types(view.draft)):
        edits = []
    for _, function in view.draft.drafts():
        for param in function.params:
            ty = T.type_of(param)
            if isinstance(ty, T.TensorType):
                edits.extend(_without_dim(param, number) for number in range(len(dims_of(ty))))
    return edits


def _without_dim(param: T.Var, number: int) -> Edit:
    def changed(values: Sequence[T.Expr]) -> list[T.Expr | int]:
        return [*values[:number], *values[number + 1 :]]

    def argument(old: Argument) -> Argument:
        if not isinstance(old, np.ndarray) or not old.shape[number]:
            raise NotApplicable("nothing to take")
        return np.array(old.take(0, number), order="C")

    return _of_parameter(param, _with_dims(changed), argument)


def dtypes(view: PlanView) -> Sequence[Edit]:
    """Each odd dtype of a parameter becomes float32 (floats) or int32 (integers)."""
    return [edit for _, edit in simpler_dtypes(view)]


def simpler_dtypes(view: PlanView) -> list[tuple[str, Edit]]:
    """The same, each with the dtype."""
    found = sorted({T.dtype_name(ty) or "" for ty in _parameter_types(view.draft) if isinstance(ty, T.TensorType)})
    odd = [dtype for dtype in found if dtype and dtype not in SIMPLE_DTYPES]
    return [(dtype, _with_dtype(dtype, "float32" if is_float(dtype) else "int32")) for dtype in odd]


def _parameter_types(draft: ModuleDraft) -> Iterator[T.Type]:
    for _, function in draft.drafts():
        for param in function.params:
            yield from _flat_types(T.type_of(param))


def _types(draft: ModuleDraft) -> Iterator[T.Type]:
    """The types of parameters and of constants, those that casts and calls give, and shapes as types; all flat."""
    yield from _parameter_types(draft)
    for _, bind in module_binds(draft):
        if bind.cast is not None:
            yield from _flat_types(bind.cast)
        if isinstance(bind.value, Draft):
            for param in bind.value.params:
                yield from _flat_types(T.type_of(param))
        if isinstance(bind.value, (Branch, Draft)):
            continue
        if isinstance(bind.value, CALL):
            for ty in bind.value.ty_args:
                yield from _flat_types(ty)
        yield from _written_in(bind.value)
    for _, function in draft.drafts():
        yield from _written_in(function.body.result)


def _written_in(value: T.Expr) -> list[T.Type]:
    """The types of the constants and shapes in an expression."""
    found: list[T.Type] = []

    def leaf(expr: T.Expr) -> T.Expr:
        if isinstance(expr, (relax.ShapeExpr, CONSTANT)):
            found.append(T.type_of(expr))
        return expr

    map_leaves(value, leaf)
    return found


def _extents_of(draft: ModuleDraft) -> set[int]:
    """Every extent that is a number: in types, and of the buffers of PrimFuncs."""
    found = {dim for ty in _types(draft) for dim in _static_dims(ty)}
    for function in draft.functions.values():
        if isinstance(function, tirx.PrimFunc):
            buffers = (*function.params, *traffic_of(function.body).allocated)
            types = [ty for ty in map(T.type_of, buffers) if isinstance(ty, tirx.BufferType)]
            found |= {dim for ty in types for dim in _static_dims(ty)}
    return found


def _dims_in(ty: T.Type) -> set[int]:
    return {dim for flat in _flat_types(ty) for dim in _static_dims(flat)}


def _flat_types(ty: T.Type) -> Iterator[T.Type]:
    if isinstance(ty, T.TupleType):
        for field in ty.fields:
            yield from _flat_types(field)
    else:
        yield ty


def _static_dims(ty: T.Type) -> list[int]:
    return [int(dim) for dim in dims_of(ty) if isinstance(dim, (int, tirx.IntImm))]


def _with_extent(extent: int, to: int) -> Edit:
    def changed(values: Sequence[T.Expr]) -> list[T.Expr | int]:
        return [to if isinstance(dim, tirx.IntImm) and int(dim) == extent else dim for dim in values]

    def array(old: Array) -> Array:
        if to > extent and extent in old.shape:
            return small_numbers(tuple(to if n == extent else n for n in old.shape), str(old.dtype))
        return np.array(old[tuple(slice(to if n == extent else n) for n in old.shape)], order="C")

    def leaf(expr: T.Expr) -> T.Expr:
        if isinstance(expr, relax.ShapeExpr):
            return relax.ShapeExpr(changed(expr.values))
        return _new_constant(expr, array)

    def argument(old: Argument) -> Argument:
        if isinstance(old, Shape):
            return Shape(tuple(to if n == extent else n for n in old.extents))
        return array(old) if isinstance(old, np.ndarray) else old

    def number(node: tirx.IntImm) -> tirx.IntImm:
        return tirx.IntImm(T.dtype_text(T.type_of(node).dtype), to) if int(node) == extent else node

    def prim_func(old: T.PrimFunc) -> T.PrimFunc:
        try:
            new = tvm_ffi.structural_map(old, [(tirx.IntImm, number)])
            return verified(
                T.prim_func(T.parameters_of(new), new.body, new.ret_type, new.attrs)
            )  # made anew for its type
        except TVM_ERRORS as error:
            raise NotApplicable(f"not well-formed: {error}") from error

    return _throughout(_with_dims(changed), leaf, argument, prim_func)


def _with_dims(changed: Callable[[Sequence[T.Expr]], list[T.Expr | int]]) -> Callable[[T.Type], T.Type]:
    """What makes a type with other dims."""

    def ty(old: T.Type) -> T.Type:
        if isinstance(old, T.TensorType) and isinstance(old.shape, relax.ShapeExpr):
            return T.tensor_type(changed(old.shape.values), T.dtype_name(old), vdevice=old.vdevice)
        return T.ShapeType(changed(old.values)) if isinstance(old, T.ShapeType) and old.values is not None else old

    return ty


def _squeezed(left: int, param: T.Var | None) -> Edit:
    """Dims of one element go, but for `left` of them where a shape has no other: of one parameter, or everywhere."""

    def changed(values: Sequence[T.Expr]) -> list[T.Expr | int]:
        kept: list[T.Expr | int] = [v for v in values if not (isinstance(v, (int, tirx.IntImm)) and int(v) == 1)]
        return kept or [1] * min(left, len(values))

    def array(old: Array) -> Array:
        return old.reshape([n for n in old.shape if n != 1] or [1] * min(left, old.ndim))

    def leaf(expr: T.Expr) -> T.Expr:
        if isinstance(expr, relax.ShapeExpr):
            return relax.ShapeExpr(changed(expr.values))
        return _new_constant(expr, array)

    def argument(old: Argument) -> Argument:
        if isinstance(old, Shape):
            return Shape(tuple(n for n in old.extents if n != 1) or (1,) * min(left, len(old.extents)))
        return array(old) if isinstance(old, np.ndarray) else old

    if param is None:
        return _throughout(_with_dims(changed), leaf, argument)
    return _of_parameter(param, _with_dims(changed), argument)


def _of_parameter(param: T.Var, ty: Callable[[T.Type], T.Type], argument: Callable[[Argument], Argument]) -> Edit:
    """Changes the type of one parameter of a function without callers, and its inputs."""

    def edit(plan: ReductionPlan) -> ReductionPlan:
        for name, function in plan.draft.drafts():
            if param not in function.params:
                continue
            if callers(plan.draft, name):
                raise NotApplicable("callers give it")
            place = function.params.index(param)
            new = {**function.types, param: _mapped_type(ty, function.types.get(param, T.type_of(param)))}
            calls = tuple(_with_given(call, place, argument) if call.function == name else call for call in plan.calls)
            return replace(plan, draft=plan.draft.with_function(name, replace(function, types=new)), calls=calls)
        raise NotApplicable("gone")

    return edit


def _with_given(call: EntryCall, place: int, change: Callable[[Argument], Argument]) -> EntryCall:
    given = list(call.arguments)
    given[place] = _mapped_argument(change, given[place])
    return replace(call, arguments=tuple(given))


def _mapped_type(change: Callable[[T.Type], T.Type], old: T.Type) -> T.Type:
    if isinstance(old, T.TupleType):
        return T.TupleType([_mapped_type(change, field) for field in old.fields])
    return change(old)


def _mapped_argument(change: Callable[[Argument], Argument], old: Argument) -> Argument:
    return tuple(_mapped_argument(change, field) for field in old) if isinstance(old, tuple) else change(old)


def _with_dtype(dtype: str, to: str) -> Edit:
    def ty(old: T.Type) -> T.Type:
        if isinstance(old, T.TensorType) and T.dtype_name(old) == dtype:
            return T.tensor_type(old.shape, to, old.ndim, old.vdevice)
        return old

    def array(old: Array) -> Array:
        return old.astype(numpy_dtype(to)) if str(old.dtype) == dtype else old

    def argument(old: Argument) -> Argument:
        return array(old) if isinstance(old, np.ndarray) else old

    return _throughout(ty, lambda expr: _new_constant(expr, array), argument)


def _new_constant(expr: T.Expr, change: Callable[[Array], Array]) -> T.Expr:
    if not isinstance(expr, CONSTANT) or not isinstance(expr.value, tvm.runtime.Tensor):
        return expr
    old = T.constant_array(expr)
    new = change(old)
    return expr if new.shape == old.shape and new.dtype == old.dtype else T.constant(new, str(new.dtype))


def _throughout(
    ty: Callable[[T.Type], T.Type],
    leaf: Callable[[T.Expr], T.Expr],
    argument: Callable[[Argument], Argument],
    prim_func: Callable[[T.PrimFunc], T.PrimFunc] | None = None,
) -> Edit:
    """Applies the changes to parameters' types, casts, leaves and types of values, PrimFuncs, and inputs.

    Without `prim_func` a module with PrimFuncs is left alone: their types would not follow.
    """

    def value_of(old: T.Expr) -> T.Expr:
        new = map_leaves(old, leaf)
        if not isinstance(new, CALL) or not len(new.ty_args):
            return new
        return CALL(new.op, new.args, new.attrs, [_mapped_type(ty, given) for given in new.ty_args])

    def function_of(old: Draft) -> Draft:
        new = {p: _mapped_type(ty, old.types.get(p, T.type_of(p))) for p in old.params}
        body = rewrite_sequence(old.body, rewrite)
        return replace(old, types=new, body=replace(body, result=map_leaves(body.result, leaf)))

    def rewrite(bind: DraftBinding) -> tuple[DraftBinding, ...] | None:
        if isinstance(bind.value, Draft):
            return (replace(bind, value=function_of(bind.value)),)
        if isinstance(bind.value, Branch):
            return None
        cast = None if bind.cast is None else _mapped_type(ty, bind.cast)
        return (replace(bind, value=value_of(bind.value), cast=cast),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        draft = plan.draft
        for name, function in tuple(draft.functions.items()):
            if isinstance(function, tirx.PrimFunc):
                if prim_func is None or draft.nodes:
                    raise NotApplicable("PrimFuncs have types of their own")
                draft = draft.with_function(name, prim_func(function))
            elif isinstance(function, Draft):
                draft = draft.with_function(name, function_of(function))
        calls = tuple(
            replace(call, arguments=tuple(_mapped_argument(argument, a) for a in call.arguments)) for call in plan.calls
        )
        return replace(plan, draft=draft, calls=calls)

    return edit
