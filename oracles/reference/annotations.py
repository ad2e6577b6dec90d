"""Type annotations and actual values: binds the symbols that a type defines, and traps where the two disagree."""

from __future__ import annotations

from generators import tvm_api
from generators.case import Shape
from generators.prim_expr import UnboundSymbol, UnknownPrimExpr, evaluate
from generators.tvm_api import Expr, Type, Var
from oracles.evidence import TrapKind
from oracles.ir.type_facts import facts_of
from oracles.ir.walk import VAR
from oracles.reference.errors import Trap
from oracles.reference.values import Runtime, Tensor


def bind_and_check(
    ty: Type, value: Runtime, symbols: dict[Var, int], where: str, check: bool, kind: TrapKind = "type"
) -> None:
    """With check False, gives every symbol that is alone in `ty` and has no value yet its actual value.

    With check True, raises Trap(kind) where the value does not have the type, and Trap("undefined-variable") where the
    type names a symbol without a value.
    """
    if isinstance(ty, tvm_api.TensorType):
        if isinstance(value, Tensor):
            _tensor(ty, value, symbols, where, check, kind)
        elif check:
            raise Trap(kind, f"{where}: annotated {ty}, is {type(value).__name__}")
    elif isinstance(ty, tvm_api.TupleType):
        _tuple(ty, value, symbols, where, check, kind)
    elif isinstance(ty, tvm_api.ShapeType):
        _shape(ty, value, symbols, where, check, kind)


def _tensor(ty: Type, value: Tensor, symbols: dict[Var, int], where: str, check: bool, kind: TrapKind) -> None:
    facts, shape = facts_of(ty), value.shape
    if facts.static and facts.dims == shape and facts.dtype == value.dtype:
        return
    if check:
        if facts.dtype is not None and facts.dtype != value.dtype:
            raise Trap(kind, f"{where}: annotated {facts.dtype}, is {value.dtype}")
        if facts.ndim not in (-1, len(shape)):
            raise Trap(kind, f"{where}: annotated rank {facts.ndim}, is rank {len(shape)}")
    if facts.dims is not None:
        _extents(facts.dims, shape, symbols, where, check, kind)


def _shape(ty: Type, value: Runtime, symbols: dict[Var, int], where: str, check: bool, kind: TrapKind) -> None:
    if not isinstance(value, Shape):
        if check:
            raise Trap(kind, f"{where}: annotated a shape, is {type(value).__name__}")
        return
    facts = facts_of(ty)
    if check and facts.ndim not in (-1, len(value.extents)):
        raise Trap(kind, f"{where}: annotated a shape of {facts.ndim}, is {len(value.extents)}")
    if facts.dims is not None:
        _extents(facts.dims, value.extents, symbols, where, check, kind)


def _tuple(ty: Type, value: Runtime, symbols: dict[Var, int], where: str, check: bool, kind: TrapKind) -> None:
    fields = ty.fields[:]
    if not isinstance(value, tuple) or len(value) != len(fields):
        # A call made for its effect is annotated with the empty tuple.
        if check and len(fields):
            raise Trap(kind, f"{where}: annotated a tuple of {len(fields)}, is {_describe(value)}")
        return
    for index, (field, part) in enumerate(zip(fields, value, strict=True)):
        bind_and_check(field, part, symbols, f"field {index} of {where}", check, kind)


def _describe(value: Runtime) -> str:
    return f"a tuple of {len(value)}" if isinstance(value, tuple) else type(value).__name__


def _extents(
    dims: tuple[int | Expr, ...],
    actual: tuple[int, ...],
    symbols: dict[Var, int],
    where: str,
    check: bool,
    kind: TrapKind,
) -> None:
    if len(dims) != len(actual):
        if check:
            raise Trap(kind, f"{where}: annotated rank {len(dims)}, is rank {len(actual)}")
        return
    for dim, extent in zip(dims, actual, strict=True):
        if not check:
            if isinstance(dim, VAR) and dim not in symbols:
                symbols[dim] = extent
            continue
        try:
            annotated = dim if isinstance(dim, int) else evaluate(dim, symbols)
        except UnboundSymbol as error:
            raise Trap("undefined-variable", f"symbol {error} in the type of {where}") from error
        except (UnknownPrimExpr, ZeroDivisionError):
            continue
        if annotated != extent:
            raise Trap(kind, f"{where}: annotated shape {list(dims)}, is {list(actual)}")
