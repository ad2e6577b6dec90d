"""The facts of a tensor or shape type, read from TVM's object once and kept as Python values.

Types are immutable, and the modules before and after a pass share most of them. To read a dimension through the FFI
costs more than any use of it. When a pass changes a type in place all the same, `input_unchanged` reports it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvm import relax, tirx

from generators import tvm_api as T
from generators.tvm_api import Expr, Type, Var
from oracles.ir.cache import CacheByAddress
from oracles.ir.walk import VAR, prim_vars

LIMIT = 20_000
"""Types of which the facts are remembered."""


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """dtype: None where unknown, and for shapes. ndim: -1 where unknown. dims: None where unknown.

    symbols: the variables that the type mentions, in order; bare: those that stand alone. A tensor whose shape is a
    variable mentions that variable, and has no dims. static: all dims are numbers.
    """

    dtype: str | None
    ndim: int
    dims: tuple[int | Expr, ...] | None
    symbols: tuple[Var, ...]
    bare: tuple[Var, ...]
    static: bool


def facts_of(ty: Type) -> TypeFacts:
    """The facts of a TensorType or ShapeType."""
    return _READ.of(ty)


def facts_in(ty: Type) -> list[TypeFacts]:
    """The facts of every tensor and shape in a type, tuples flattened; function types are not entered.

    A distributed tensor has the facts of the whole tensor, as in TVM's `relax/ir/type_functor.cc`.
    """
    if isinstance(ty, (T.TensorType, T.ShapeType)):
        return [facts_of(ty)]
    if isinstance(ty, T.DistributedType):
        return [facts_of(ty.tensor_ty)]
    if isinstance(ty, T.TupleType):
        return [facts for field in ty.fields[:] for facts in facts_in(field)]
    return []


def _read(ty: Type) -> TypeFacts:
    if isinstance(ty, T.TensorType):
        dtype, shape = T.dtype_name(ty), ty.shape
        values = shape.values if isinstance(shape, relax.ShapeExpr) else None
        mentioned = [] if shape is None or values is not None else [shape]
    else:
        dtype, values, mentioned = None, ty.values, []
    dims = None if values is None else tuple([int(d) if isinstance(d, tirx.IntImm) else d for d in values[:]])
    unknown = mentioned if dims is None else [d for d in dims if not isinstance(d, int)]
    symbols = tuple(v for d in unknown for v in prim_vars(d))
    bare = tuple(d for d in unknown if isinstance(d, VAR))
    return TypeFacts(dtype, int(ty.ndim), dims, symbols, bare, dims is not None and not unknown)


_READ = CacheByAddress(_read, LIMIT)
