"""The Relax generator's facts about the values in scope: shapes, dtypes, ranges. No choices are made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from generators import tvm_api
from generators.arrays import draw_array
from generators.dtypes import integer_limits, is_float
from generators.prim_expr import UnboundSymbol, UnknownPrimExpr, evaluate
from generators.ranges import Range, Ranges
from generators.tvm_api import Expr, Type, Var


@dataclass(frozen=True, slots=True)
class SymbolicDim:
    """A dimension that is an expression over symbols: its IR, its value in the first entry call, its text.

    Two dims are the same when their texts are; symbols of one function have distinct names.
    """

    expr: Expr
    extent: int
    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicDim) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


Dim: TypeAlias = int | SymbolicDim


def extent(dim: Dim) -> int:
    """The value of a dimension in the first entry call."""
    return dim if isinstance(dim, int) else dim.extent


def broadcast(one: Sequence[Dim], other: Sequence[Dim]) -> bool:
    """Whether tensors with these dims broadcast under NumPy's rules, whatever the symbols are."""
    return all(a == b or a == 1 or b == 1 for a, b in zip(reversed(one), reversed(other), strict=False))


@dataclass(frozen=True, slots=True)
class Link:
    """What an operator of a chain stands beside. before_windows: its result goes to an operator over windows. changed:
    the axes along which the operator before it has made its operand longer or shorter. origin: the dtype of that
    operand; "" for none."""

    before_windows: bool = False
    changed: tuple[int, ...] = ()
    origin: str = ""


def dim_expr(dim: Dim) -> int | Expr:
    """The dimension as it is written into IR."""
    return dim if isinstance(dim, int) else dim.expr


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor in scope: `expr` is a Var or a constant.

    dims is None when the IR does not know the shape; shape is the run-time shape in the first entry call
    (None when even the generator does not know it). dataflow: not visible outside its block.
    """

    expr: Expr
    dims: tuple[Dim, ...] | None
    shape: tuple[int, ...] | None
    dtype: str
    range: Range
    dataflow: bool = False
    depth: int = 0

    @property
    def ndim(self) -> int:
        """Number of dimensions; only for values whose shape is known."""
        assert self.shape is not None
        return len(self.shape)

    @property
    def known(self) -> bool:
        """Whether the IR knows the shape."""
        return self.dims is not None

    @property
    def static(self) -> bool:
        """Whether every dimension is a number."""
        return self.dims is not None and all(isinstance(d, int) for d in self.dims)

    @property
    def size(self) -> int:
        """Number of elements in the first entry call; only for values whose shape is known."""
        assert self.shape is not None
        total = 1
        for n in self.shape:
            total *= n
        return total

    def at_least(self, minimum: Sequence[int]) -> bool:
        """Whether the last extents in the first entry call are no less than these."""
        assert self.shape is not None
        tail = self.shape[-len(minimum) :] if minimum else ()
        return len(tail) == len(minimum) and all(n >= m for n, m in zip(tail, minimum, strict=True))


@dataclass(frozen=True, slots=True)
class TupleValue:
    """A tuple in scope, with the facts about its fields; `expr` is a Var."""

    expr: Expr
    fields: tuple[AnyValue, ...]
    dataflow: bool = False


@dataclass(frozen=True, slots=True)
class ShapeValue:
    """A shape value in scope (R.Shape)."""

    expr: Expr
    dims: tuple[Dim, ...] | None
    shape: tuple[int, ...]
    dataflow: bool = False


AnyValue: TypeAlias = Value | TupleValue | ShapeValue


def ranges_of(value: AnyValue) -> Ranges:
    """The range of a tensor, or those of a tuple's fields."""
    if isinstance(value, TupleValue):
        return tuple(ranges_of(f) for f in value.fields)
    return Range(0, 0) if isinstance(value, ShapeValue) else value.range


def dims_of(exprs: Sequence[Expr], symbols: Mapping[Var, int]) -> tuple[Dim, ...] | None:
    """Dims from the PrimExprs of a shape; None when one of them cannot be evaluated."""
    dims: list[Dim] = []
    for expr in exprs:
        try:
            number = int(evaluate(expr, symbols))
        except (UnboundSymbol, UnknownPrimExpr, ZeroDivisionError):
            return None
        static = isinstance(expr, int) or type(expr).__name__ == "IntImm"
        dims.append(number if static else SymbolicDim(expr, number, str(expr)))
    return tuple(dims)


def value_of(
    expr: Expr | None,
    ty: Type,
    ranges: Ranges,
    symbols: Mapping[Var, int],
    dataflow: bool = False,
    shape: tuple[int, ...] | None = None,
    depth: int = 0,
) -> AnyValue | None:
    """The value of a freshly bound expression of type `ty`; None for types that the generator does not use.

    `ranges` is one Range for all tensors, or one per field of a tuple. `shape` is the run-time shape where
    the type does not tell it.
    """
    if isinstance(ty, tvm_api.TensorType):
        dtype = tvm_api.dtype_name(ty)
        one = ranges
        while not isinstance(one, Range):
            one = one[0]
        if dtype is None:
            return None
        dims = dims_of(ty.shape.values, symbols) if isinstance(ty.shape, tvm_api.relax.ShapeExpr) else None
        extents = tuple(extent(d) for d in dims) if dims is not None else shape
        return Value(expr, dims, extents, dtype, one, dataflow, depth)
    if isinstance(ty, tvm_api.TupleType):
        per_field = ranges if isinstance(ranges, tuple) else (ranges,) * len(ty.fields)
        fields = [value_of(None, t, r, symbols, dataflow) for t, r in zip(ty.fields, per_field, strict=True)]
        known = tuple(f for f in fields if f is not None)
        return TupleValue(expr, known, dataflow) if len(known) == len(fields) else None
    if isinstance(ty, tvm_api.ShapeType) and ty.values is not None:
        dims = dims_of(ty.values, symbols)
        return None if dims is None else ShapeValue(expr, dims, tuple(extent(d) for d in dims), dataflow)
    return None


def keeps_integers(result: Value, call: Expr, values: Sequence[AnyValue]) -> bool:
    """Whether the result of a call is of integers of its dtype that are no larger than operands of the call: nothing
    overflows then, as far as they are from zero. values: those in scope."""
    if is_float(result.dtype) or result.dtype == "bool" or not result.range.within(*integer_limits(result.dtype)):
        return False
    read = [v for v in values if isinstance(v, Value) and v.dtype != "bool" and _reads(call, v.expr)]
    whole = [v.range for v in read if not is_float(v.dtype)]
    return bool(whole) and result.range.within(min(r.low for r in whole), max(r.high for r in whole))


def _reads(call: Expr, expr: Expr) -> bool:
    """Whether an expression is an operand of a call, or a field of one."""
    operands = call.args if isinstance(call, tvm_api.Call) else ()
    fields = [f for one in operands for f in (one.fields if isinstance(one, tvm_api.TupleExpr) else (one,))]
    return any(field.same_as(expr) for field in fields)


def number_value(dtype: str, number: float) -> Value:
    """A rank-0 constant, which no scope holds."""
    values = Range(number, number, True)
    return Value(tvm_api.constant(draw_array(0, (), dtype, values), dtype), (), (), dtype, values)
