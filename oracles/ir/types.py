"""Relax types as facts about values: when two of them contradict each other, and the type that the parts of an
expression give it.

Only contradictions count: unknown ranks, dtypes and shapes agree with everything, and so do symbolic dimensions.
TVM's own subtype check is not used.
"""

from __future__ import annotations

from tvm import relax, tirx

from generators import tvm_api as T
from generators.tvm_api import BlockBuilder, Expr, Type, Var
from oracles.ir.type_facts import TypeFacts, facts_of
from oracles.ir.walk import FUNCTION, TUPLE, TUPLE_GET_ITEM

_KINDS: dict[type, str] = {
    T.TensorType: "a tensor",
    T.DistributedType: "a tensor",
    T.ShapeType: "a shape",
    T.TupleType: "a tuple",
    T.FuncType: "a function",
    T.PrimType: "a scalar",
}


def kind_of(ty: Type) -> str | None:
    """The sort of value that a type is about; None when it says nothing (Any, a missing type)."""
    return _KINDS.get(type(ty))


def contradiction(one: Type, other: Type) -> str | None:
    """Why no value can have both types, in words without numbers and names; None when one can."""
    if one is not None and T.is_same(one, other):
        return None
    left, right = kind_of(one), kind_of(other)
    if left is None or right is None:
        return None
    if left != right:
        return f"{left} against {right}"
    return _SAME_KIND[left](one, other)


def _tensors(one: Type, other: Type) -> str | None:
    one, other = _whole(one), _whole(other)
    left, right = facts_of(one), facts_of(other)
    if left.dtype is not None and right.dtype is not None and left.dtype != right.dtype:
        return "two dtypes"
    if -1 not in (left.ndim, right.ndim) and left.ndim != right.ndim:
        return "two ranks"
    return _dims(_dims_of(one, left), _dims_of(other, right))


def _whole(ty: Type) -> Type:
    """The type of the whole tensor, where it is spread over devices."""
    return ty.tensor_ty if type(ty) is T.DistributedType else ty


def _dims_of(ty: Type, facts: TypeFacts) -> tuple[int | Expr, ...] | None:
    """The dimensions written in a tensor's type, through a shape variable's own type."""
    if facts.dims is not None or ty.shape is None or not isinstance(T.type_of(ty.shape), T.ShapeType):
        return facts.dims
    return facts_of(T.type_of(ty.shape)).dims


def _shapes(one: Type, other: Type) -> str | None:
    left, right = facts_of(one), facts_of(other)
    if -1 not in (left.ndim, right.ndim) and left.ndim != right.ndim:
        return "two ranks"
    return _dims(left.dims, right.dims)


def _dims(left: tuple[int | Expr, ...] | None, right: tuple[int | Expr, ...] | None) -> str | None:
    if left is None or right is None:
        return None
    if len(left) != len(right):
        return "two ranks"
    for one, other in zip(left, right, strict=True):
        if isinstance(one, int) and isinstance(other, int) and one != other:
            return "two extents"
    return None


def _tuples(one: Type, other: Type) -> str | None:
    left, right = list(one.fields), list(other.fields)
    if len(left) != len(right):
        return "two lengths"
    return next((why for pair in zip(left, right, strict=True) if (why := contradiction(*pair))), None)


def _functions(one: Type, other: Type) -> str | None:
    if one.params is None or other.params is None:
        return None
    if len(one.params) != len(other.params):
        return "two numbers of parameters"
    pairs = [*zip(one.params, other.params, strict=True), (one.ret, other.ret)]
    return next((why for pair in pairs if (why := contradiction(*pair))), None)


def _scalars(one: Type, other: Type) -> str | None:
    return None if str(one.dtype) == str(other.dtype) else "two dtypes"


_SAME_KIND = {
    "a tensor": _tensors,
    "a shape": _shapes,
    "a tuple": _tuples,
    "a function": _functions,
    "a scalar": _scalars,
}


def said_by_parts(expr: Expr) -> Type | None:
    """The type that the annotations of an expression's parts give it; None for a leaf, which has only its own
    annotation, and for a call (`inferred_call` asks the operator)."""
    if type(expr) is TUPLE:
        return T.TupleType([said_by_parts(field) or T.type_of(field) for field in expr.fields])
    if type(expr) is TUPLE_GET_ITEM:
        ty = T.type_of(expr.tuple_value)
        return ty.fields[expr.index] if type(ty) is T.TupleType and expr.index < len(ty.fields) else None
    if type(expr) is T.Constant:
        array = expr.value
        return T.tensor_type([int(extent) for extent in array.shape], str(array.dtype))
    if type(expr) is relax.ShapeExpr:
        return T.ShapeType(list(expr.values))
    if type(expr) is FUNCTION:
        return T.FuncType([T.type_of(param) for param in expr.params], T.return_type(expr), expr.is_pure)
    return None


def inferred_call(call: Expr, builder: BlockBuilder) -> Type:
    """The type that TVM infers for a call without looking at its annotation. Raises what inference raises.

    `builder` is any relax.BlockBuilder; it is not changed.
    """
    return T.type_of(builder.normalize(T.Call(call.op, call.args, call.attrs, call.ty_args)))


def buffer_type(param: Var) -> Type | None:
    """The tensor type of the argument of a PrimFunc's buffer parameter. None for scalars and handles, and for a shape
    that no tensor type can state: one with an extent that is neither a number nor int64."""
    ty = T.type_of(param)
    if not isinstance(ty, tirx.BufferType) or not all(_may_be_extent(extent) for extent in ty.shape):
        return None
    extents = [int(extent.value) if isinstance(extent, tirx.IntImm) else extent for extent in ty.shape]
    return T.tensor_type(extents, str(ty.dtype))


def _may_be_extent(extent: Expr) -> bool:
    return isinstance(extent, tirx.IntImm) or T.dtype_text(extent.ty.dtype) == "int64"
