"""Building blocks of recipes: operands of a wanted shape, common calls with their ranges, and uses of their results.

No recipe lives here. Every block binds in the given scope and raises Unavailable where it cannot serve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from tvm import relax

from generators import tvm_api
from generators.operators.table import OPERATORS
from generators.ranges import UNIT, Range, hull_of
from generators.recipes.knobs import KNOBS
from generators.relax.scope import FLOAT, Drawn, Scope
from generators.relax.values import AnyValue, Dim, ShapeValue, TupleValue, Value, extent, number_value, ranges_of
from generators.source import favour
from generators.tvm_api import Expr
from generators.unavailable import Unavailable

UnaryCall: TypeAlias = tuple[Callable[..., Expr], Callable[[Range], Range]]
BinaryCall: TypeAlias = tuple[Callable[..., Expr], Callable[[Range, Range], Range]]

_RELU: UnaryCall = (relax.op.nn.relu, lambda r: r.maximum(Range(0, 0, True)))
SIMPLE_UNARY: tuple[UnaryCall, ...] = (
    _RELU,
    (relax.op.negative, lambda r: -r),
    (relax.op.abs, Range.absolute),
    (relax.op.square, lambda r: Range(0, r.magnitude**2, r.integral)),
)
"""Unary operators on floats that are exact on whole numbers."""
SMOOTH_UNARY: tuple[UnaryCall, ...] = (
    (relax.op.tanh, lambda r: UNIT),
    (relax.op.sigmoid, lambda r: Range(0, 1)),
    (relax.op.erf, lambda r: UNIT),
    (relax.op.sin, lambda r: UNIT),
)
RING: tuple[BinaryCall, ...] = (
    (relax.op.add, Range.__add__),
    (relax.op.subtract, Range.__sub__),
    (relax.op.multiply, Range.__mul__),
    (relax.op.maximum, Range.maximum),
)

# --- operands -------------------------------------------------------------------------------------------


def side(s: Scope) -> Dim:
    """A dim of at least one; it may be symbolic."""
    return s.draw_dim(1)


def small(s: Scope, high: int = 4) -> int:
    """A static extent of one to `high`."""
    return s.source.integer(1, high)


def batch(s: Scope) -> tuple[Dim, ...]:
    """No batch dims in half of the cases, else one or two."""
    count = favour(s.source, 0, 1, 2)
    return tuple(s.source.integer(1, 3) for _ in range(count))


def float_dtype(s: Scope) -> str:
    """A float dtype, float32 in 80 % of the cases."""
    return "float32" if s.source.flip(KNOBS.shared.float32) else s.source.pick(("float64", "float16"))


def operand(s: Scope, dims: Sequence[Dim], dtype: str = "float32") -> Value:
    """A tensor with these dims: one in scope, or a new one."""
    return s.tensor((dtype,), dims=tuple(dims))


def variable(s: Scope, dims: Sequence[Dim], dtype: str = "float32") -> Value:
    """The same, bound to a variable: constants in scope do not serve."""
    near = [
        v
        for v in s.values
        if isinstance(v, Value) and v.dims == tuple(dims) and v.dtype == dtype and isinstance(v.expr, relax.Var)
    ]
    return (
        s.source.pick(near[-3:])
        if near and s.source.flip(KNOBS.shared.variable_in_scope)
        else parameter(s, dims, dtype)
    )


def parameter(s: Scope, dims: Sequence[Dim], dtype: str = "float32", values: Range | None = None) -> Value:
    """A new parameter with these dims."""
    if not s.frame.open or not all(s.frame.may_annotate(d) for d in dims):
        raise Unavailable("no parameter with these dims can be made here")
    s.check_size([extent(d) for d in dims])
    value = s.frame.add_parameter(tuple(dims), dtype, values or s.draw_range(dtype))
    s.values.append(value)
    return value


def weight(s: Scope, dims: Sequence[Dim], dtype: str = "float32") -> Value:
    """A new parameter that is a weight: it follows the `num_input` inputs."""
    value = parameter(s, dims, dtype)
    s.frame.weights.add(value.expr)
    return value


def constant(s: Scope, dims: Sequence[Dim], dtype: str = "float32", low: float | None = None) -> Value:
    """A new constant; its elements are at least `low` where given."""
    values = s.draw_range(dtype) if low is None else s.draw_range(dtype, low, low + 3)
    return s.constant(dims, dtype, values)


def literal(number: float, dtype: str) -> Expr:
    """A number as a constant of rank 0, which no scope holds."""
    return number_value(dtype, number).expr


def tensor(s: Scope, ranks: tuple[int, int] = (0, 3), *, static: bool = False, dtype: str | None = None) -> Value:
    """A non-empty float tensor bound to a variable."""
    value = s.tensor((dtype or float_dtype(s),), ranks, static=static, nonempty=True)
    if isinstance(value.expr, relax.Var):
        return value
    assert value.dims is not None
    return variable(s, value.dims, value.dtype)


# --- calls ----------------------------------------------------------------------------------------------


def call(s: Scope, expr: Expr, values: Range, *, exported: bool | None = None) -> Value:
    """Binds a call that gives one tensor."""
    name = tvm_api.op_name(expr)
    value = s.emit_tensor(Drawn(expr, values), exported=exported)
    if name is not None:
        s.frame.module.operators[name] += 1
    return value


def row(s: Scope, *names: str) -> AnyValue:
    """A call of one of these operators, drawn by its row of the operator table."""
    chosen = OPERATORS[s.source.pick(names)]
    value = s.emit(chosen.draw(s))
    s.frame.module.operators[chosen.name] += 1
    if value is None:
        raise Unavailable("the result is of no use")
    return value


def unary(s: Scope, x: Value, table: Sequence[UnaryCall] = SIMPLE_UNARY, *, exported: bool | None = None) -> Value:
    """One operator of the table on `x`."""
    build, values = s.source.pick(table)
    return call(s, build(x.expr), values(x.range), exported=exported)


def binary(s: Scope, a: Value, b: Value, table: Sequence[BinaryCall] = RING) -> Value:
    """One operator of the table on `a` and `b`."""
    build, values = s.source.pick(table)
    return call(s, build(a.expr, b.expr), values(a.range, b.range))


def relu(s: Scope, x: Value) -> Value:
    """R.nn.relu."""
    return unary(s, x, (_RELU,))


def add(s: Scope, a: Value, b: Value) -> Value:
    """R.add."""
    return call(s, relax.op.add(a.expr, b.expr), a.range + b.range)


def multiply(s: Scope, a: Value, b: Value) -> Value:
    """R.multiply."""
    return call(s, relax.op.multiply(a.expr, b.expr), a.range * b.range)


def concat(s: Scope, parts: Sequence[Value], axis: int | None) -> Value:
    """The values in one along an axis; None for the default of R.concat."""
    return call(s, relax.op.concat([part.expr for part in parts], axis), hull_of(part.range for part in parts))


def matmul(s: Scope, a: Value, b: Value) -> Value:
    """R.matmul; the dims must fit."""
    assert a.dims is not None
    values = (a.range * b.range).summed(extent(a.dims[-1]))
    return call(s, relax.op.matmul(a.expr, b.expr), values)


def permuted(s: Scope, x: Value, axes: Sequence[int] | None, *, exported: bool | None = None) -> Value:
    """R.permute_dims."""
    return call(s, relax.op.permute_dims(x.expr, None if axes is None else list(axes)), x.range, exported=exported)


def reshaped(s: Scope, x: Value, dims: Sequence[Dim]) -> Value:
    """R.reshape to dims of the same number of elements."""
    return call(s, relax.op.reshape(x.expr, s.shape_expr(dims)), x.range)


def alias(s: Scope, value: AnyValue, *, exported: bool | None = None) -> AnyValue:
    """A second name for a variable."""
    bound = s.bind(value.expr, ranges_of(value), value.shape if isinstance(value, Value) else None, exported=exported)
    if bound is None:
        raise Unavailable("nothing that can be named")
    return bound


def tuple_of(s: Scope, *parts: AnyValue) -> TupleValue:
    """A bound tuple."""
    expr = s.frame.module.builder.normalize(relax.Tuple([p.expr for p in parts]))
    value = s.bind(expr, tuple(ranges_of(p) for p in parts))
    if not isinstance(value, TupleValue):
        raise Unavailable("a field has no known type")
    return value


def item(s: Scope, whole: AnyValue | None, index: int) -> AnyValue:
    """One field of a bound tuple."""
    if not isinstance(whole, TupleValue) or index >= len(whole.fields):
        raise Unavailable("no such field")
    value = s.field(whole, index)
    if value is None:
        raise Unavailable("the field has no known type")
    return value


def tensors_of(s: Scope, value: AnyValue | None) -> list[Value]:
    """A tensor, or the tensors among the fields of a tuple, bound."""
    if isinstance(value, TupleValue):
        return [field for index in range(len(value.fields)) for field in tensors_of(s, item(s, value, index))]
    return [value] if isinstance(value, Value) else []


def tensor_item(s: Scope, whole: AnyValue | None, index: int) -> Value:
    """One field of a bound tuple, which must be a tensor."""
    return as_tensor(item(s, whole, index))


def as_tensor(value: AnyValue | None) -> Value:
    """The value, known to be a tensor. Unavailable for any other."""
    if not isinstance(value, Value):
        raise Unavailable("no tensor")
    return value


# --- uses of results ---------------------------------------------------------------------------------------


def reuse(s: Scope, value: Value) -> Value:
    """Another use of a value: elementwise with itself or another, reduced, or under another name."""
    kind = s.source.integer(0, 3)
    if kind == 0 or value.dims is None or value.dtype not in FLOAT:
        return as_tensor(alias(s, value))
    if kind == 1:
        return unary(s, value)
    if kind == 2:
        return add(s, value, value if s.source.flip(KNOBS.shared.added_to_itself) else s.like(value))
    return call(s, relax.op.max(value.expr), value.range) if value.size else unary(s, value)


def keep(s: Scope, value: AnyValue) -> None:
    """Makes a value come out of the function, by itself or under another name where its block hides it."""
    if s.depth > 0 or isinstance(value, ShapeValue) or not isinstance(value.expr, relax.Var):
        return
    if value.dataflow:
        value = alias(s, value, exported=True)
    if not any(value.expr.same_as(other) for other in s.frame.kept):
        s.frame.kept.append(value.expr)


def finish(s: Scope, *values: AnyValue) -> None:
    """Uses values again after the planted shape and lets the last of them, and some others, come out."""
    for index, value in enumerate(values):
        if isinstance(value, Value) and s.source.flip(KNOBS.shared.used_again):
            keep(s, reuse(s, value))
        if index == len(values) - 1 or s.source.flip(KNOBS.shared.returned_beside):
            keep(s, _exported(s, value) if index == len(values) - 1 and value not in values[:-1] else value)


def _exported(s: Scope, value: AnyValue) -> AnyValue:
    """The value bound to a variable that is visible after its block, where nothing uses the old one yet."""
    last = s.bindings[-1] if s.bindings else None
    if not value.dataflow or not isinstance(last, relax.VarBinding) or not last.var.same_as(value.expr):
        return value
    var = s.frame.new_var(tvm_api.type_of(value.expr))
    s.bindings[-1] = relax.VarBinding(var, last.value)
    visible = replace(value, expr=var, dataflow=False)
    s.values = [visible if v.expr is not None and v.expr.same_as(value.expr) else v for v in s.values]
    return visible
