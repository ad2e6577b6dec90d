"""Simpler tensors: smaller extents and float32, consistently through a function, its constants and its inputs.

Types of everything computed are inferred anew; where an operator does not allow the new shape or dtype, the
candidate is given up. Modules that call PrimFuncs or external functions are left alone: those have their own types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import tvm
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
    rewrite_module,
)
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, dims_of
from generators import tvm_api as T
from generators.case import Argument, Shape
from generators.dtypes import Array, is_float, numpy_dtype

SIMPLE_DTYPES = ("float32", "int32", "int64", "bool")


def extents(view: PlanView) -> Sequence[Edit]:
    """Each extent of a parameter becomes 1, else 2, wherever the number occurs as an extent."""
    found = sorted({dim for ty in _parameter_types(view.draft) for dim in _static_dims(ty)}, reverse=True)
    return [_smaller(extent, to) for to in (1, 2) for extent in found if extent > to]


def dtypes(view: PlanView) -> Sequence[Edit]:
    """Each odd dtype of a parameter becomes float32 (floats) or int32 (integers)."""
    found = sorted({T.dtype_name(ty) or "" for ty in _parameter_types(view.draft) if isinstance(ty, T.TensorType)})
    odd = [dtype for dtype in found if dtype and dtype not in SIMPLE_DTYPES]
    return [_with_dtype(dtype, "float32" if is_float(dtype) else "int32") for dtype in odd]


def _parameter_types(draft: ModuleDraft) -> Iterator[T.Type]:
    for _, function in draft.drafts():
        for param in function.params:
            yield from _flat_types(T.type_of(param))


def _flat_types(ty: T.Type) -> Iterator[T.Type]:
    if isinstance(ty, T.TupleType):
        for field in ty.fields:
            yield from _flat_types(field)
    else:
        yield ty


def _static_dims(ty: T.Type) -> list[int]:
    return [int(dim) for dim in dims_of(ty) if isinstance(dim, (int, tirx.IntImm))]


def _smaller(extent: int, to: int) -> Edit:
    def dims(values: Sequence[T.Expr]) -> list[T.Expr | int]:
        return [to if isinstance(dim, tirx.IntImm) and int(dim) == extent else dim for dim in values]

    def ty(old: T.Type) -> T.Type:
        if isinstance(old, T.TensorType) and isinstance(old.shape, relax.ShapeExpr):
            return T.tensor_type(dims(old.shape.values), T.dtype_name(old), vdevice=old.vdevice)
        return T.ShapeType(dims(old.values)) if isinstance(old, T.ShapeType) and old.values is not None else old

    def array(old: Array) -> Array:
        return np.ascontiguousarray(old[tuple(slice(to if n == extent else n) for n in old.shape)])

    def leaf(expr: T.Expr) -> T.Expr:
        if isinstance(expr, relax.ShapeExpr):
            return relax.ShapeExpr(dims(expr.values))
        return _new_constant(expr, array)

    def argument(old: Argument) -> Argument:
        if isinstance(old, Shape):
            return Shape(tuple(to if n == extent else n for n in old.extents))
        return array(old).reshape(array(old).shape) if isinstance(old, np.ndarray) else old

    return _throughout(ty, leaf, argument)


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
) -> Edit:
    """Applies the changes to parameters' types, casts, leaves of values, and inputs."""

    def types(old: T.Type) -> T.Type:
        return T.TupleType([types(field) for field in old.fields]) if isinstance(old, T.TupleType) else ty(old)

    def arguments(old: Argument) -> Argument:
        return tuple(arguments(field) for field in old) if isinstance(old, tuple) else argument(old)

    def rewrite(bind: DraftBinding) -> tuple[DraftBinding, ...] | None:
        if isinstance(bind.value, (Branch, Draft)):
            return None
        cast = None if bind.cast is None else types(bind.cast)
        return (replace(bind, value=map_leaves(bind.value, leaf), cast=cast),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        if any(isinstance(bind.value, CALL) and len(bind.value.ty_args) for _, bind in module_binds(plan.draft)):
            raise NotApplicable("calls with types of their own")
        draft = rewrite_module(plan.draft, rewrite)
        for name, function in tuple(draft.drafts()):
            new = {param: types(function.types.get(param, T.type_of(param))) for param in function.params}
            draft = draft.with_function(name, replace(function, types=new))
        calls = tuple(replace(call, arguments=tuple(arguments(a) for a in call.arguments)) for call in plan.calls)
        return replace(plan, draft=draft, calls=calls)

    return edit
