"""Operators that make tensors from shapes and numbers: full, ones, zeros, arange, eye, triangles, windows, one-hot.

Meaning: `relax.op.create` and `relax.op.one_hot`. A fill value is cast to the result's dtype.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import tirx
from tvm.relax import op

from generators.dtypes import Array, Scalar, is_float
from generators.operators.knobs import KNOBS
from generators.operators.row import NumpyMeaning, Operator, Rounding
from generators.ranges import Range, comfortable, of_values
from generators.relax.scope import EVERY, FLOAT, INTEGER, Drawn, Scope
from generators.relax.values import ShapeValue, Value, dim_expr
from generators.source import favour
from generators.tvm_api import Expr

_TARGETS = ("float32", "float16", "int32", "int64", "bool", "float64", "int8", "uint8", "bfloat16")


def _carrier(dtype: str) -> np.dtype[Any]:
    """The NumPy dtype in which `meaning` holds elements of `dtype`."""
    return np.dtype(np.float64) if is_float(dtype) else np.dtype(dtype)


def _target(s: Scope) -> str:
    return favour(s.source, *_TARGETS)


def _shape(s: Scope) -> Expr:
    """A shape as the operators take it: a shape value in scope, the dims of a tensor in scope, or new numbers."""
    shapes = [v for v in s.values if isinstance(v, ShapeValue)]
    if shapes and s.source.flip(KNOBS.creation.shape_value):
        return s.source.pick(shapes).expr
    if s.source.flip(KNOBS.creation.shape_of_tensor):
        known = [v for v in s.values if isinstance(v, Value) and v.dims is not None]
        if known:
            return s.shape_expr(s.source.pick(known).dims or ())
    return s.shape_expr(s.draw_dims(static=True))


# --- full, ones, zeros -----------------------------------------------------------------------------------


def _fill(s: Scope, dtype: str) -> Value:
    """A rank-0 fill value that a tensor of `dtype` can hold."""
    source = (
        dtype
        if dtype == "bool" or s.source.flip(KNOBS.creation.fill_of_result_dtype)
        else s.source.pick(("float32", "int32", "int64"))
    )
    limits = comfortable(dtype)
    if s.source.flip(KNOBS.creation.fill_computed):
        return s.scalar(source, limits.low, limits.high)
    return s.constant((), source, s.draw_range(source, limits.low, limits.high))


def _filled(value: Range, dtype: str) -> Range:
    if is_float(dtype) or dtype == "bool":
        return value
    return Range(math.trunc(value.low), math.trunc(value.high), True)


def _draw_full(s: Scope) -> Drawn:
    dtype = _target(s)
    fill = _fill(s, dtype)
    named = dtype if fill.dtype != dtype or s.source.flip() else None
    return Drawn(op.full(_shape(s), fill.expr, named), _filled(fill.range, dtype))


def _draw_full_like(s: Scope) -> Drawn:
    x = s.tensor(EVERY)
    named = _target(s) if s.source.flip(KNOBS.creation.dtype_named) else None
    dtype = named or x.dtype
    fill = _fill(s, dtype)
    return Drawn(op.full_like(x.expr, fill.expr, named), _filled(fill.range, dtype))


def _full(shape: tuple[int, ...], fill: Array, dtype: str | None) -> Array:
    return np.full(shape, fill.item(), fill.dtype if dtype is None else _carrier(dtype))


def _full_like(x: Array, fill: Array, dtype: str | None) -> Array:
    return np.full(x.shape, fill.item(), x.dtype if dtype is None else _carrier(dtype))


def _uniform(name: str, number: int) -> tuple[Operator, Operator]:
    """The rows relax.<name> and relax.<name>_like, which fill with `number`."""
    build, build_like = getattr(op, name), getattr(op, f"{name}_like")
    values = Range(number, number, True)

    def draw(s: Scope) -> Drawn:
        return Drawn(build(_shape(s), _target(s)), values)

    def draw_like(s: Scope) -> Drawn:
        x = s.tensor(EVERY)
        return Drawn(build_like(x.expr, _target(s) if s.source.flip(KNOBS.creation.dtype_named) else None), values)

    def make(shape: tuple[int, ...], dtype: str) -> Array:
        return np.full(shape, number, _carrier(dtype))

    def make_like(x: Array, dtype: str | None) -> Array:
        return np.full(x.shape, number, x.dtype if dtype is None else _carrier(dtype))

    return (
        Operator(f"relax.{name}", draw, make, Rounding.EXACT, ("dtype",), weight=2),
        Operator(f"relax.{name}_like", draw_like, make_like, Rounding.EXACT, ("dtype",), weight=2),
    )


# --- arange, eye -----------------------------------------------------------------------------------------


def _draw_arange(s: Scope) -> Drawn:
    count = s.draw_extent()
    dtype = s.source.pick(("int64", "int32", "float32", "float64", "int8"))
    # The inferred length of an integer range is right for positive steps only; real ranges may also descend.
    if is_float(dtype) and s.source.flip():
        start, step = s.source.integer(-4, 4) / 2, s.source.pick((0.5, 1.0, 0.25, -0.5, -1.0))
        call = op.arange(_real(start), _real(start + count * step), _real(step), dtype)
        ends = of_values(start, start + count * step)
        return Drawn(call, ends if float(step).is_integer() else ends.real())
    start, step = s.source.integer(-3, 3), favour(s.source, 1, 2, 3)
    stop = start + count * step - (s.source.integer(0, step - 1) if count else 0)
    last = start + max(count - 1, 0) * step
    if s.source.flip(KNOBS.creation.symbolic_end):
        known = [v for v in s.values if isinstance(v, Value) and v.dims and not v.static]
        if known:
            value = s.source.pick(known)
            dim = next(d for d in value.dims or () if not isinstance(d, int))
            return Drawn(op.arange(dim_expr(dim), dtype=dtype), Range(0, max(dim.extent - 1, 0), True))
    return Drawn(op.arange(start, stop, step, dtype), Range(start, last, True))


def _real(number: float) -> Expr:
    return tirx.const(number, "float32")


def _arange(start: Scalar, stop: Scalar, step: Scalar, dtype: str) -> Array | Scalar:
    count = max(0, math.ceil((stop - start) / step))
    return (start + step * np.arange(count)).astype(_carrier(dtype))


def _draw_eye(s: Scope) -> Drawn:
    rows, columns = s.draw_extent(), s.draw_extent() if s.source.flip(KNOBS.creation.eye_columns) else None
    return Drawn(op.eye(rows, columns, s.source.integer(-2, 2), _target(s)), Range(0, 1, True))


def _draw_eye_like(s: Scope) -> Drawn:
    x = s.tensor(EVERY, (2, 2))
    named = _target(s) if s.source.flip(KNOBS.creation.eye_dtype_named) else None
    return Drawn(op.eye_like(x.expr, s.source.integer(-2, 2), named), Range(0, 1, True))


def _eye(rows: int, columns: int, k: int, dtype: str) -> Array:
    return np.eye(rows, columns, k, _carrier(dtype))


def _eye_like(x: Array, k: int, dtype: str | None) -> Array:
    return np.eye(x.shape[0], x.shape[1], k, x.dtype if dtype is None else _carrier(dtype))


# --- triangles, windows, one-hot -------------------------------------------------------------------------


def _triangle(name: str, meaning: NumpyMeaning) -> Operator:
    build = getattr(op, name)

    def draw(s: Scope) -> Drawn:
        x = s.tensor(EVERY, (2, 5))
        assert x.shape is not None
        k = s.source.integer(-x.shape[-2] - 1, x.shape[-1] + 1) if s.source.flip(KNOBS.creation.diagonal_shifted) else 0
        return Drawn(build(x.expr, k), x.range.including(0))

    return Operator(f"relax.{name}", draw, meaning, Rounding.MOVE)


def _draw_hamming_window(s: Scope) -> Drawn:
    alpha, beta = s.source.pick(((0.54, 0.46), (0.5, 0.5), (1.0, 0.25)))
    size = s.draw_extent(2)
    call = op.hamming_window(size, s.source.flip(), alpha, beta, s.source.pick(FLOAT))
    return Drawn(call, Range(alpha - beta - 1e-3, alpha + beta + 1e-3))


def _hamming_window(size: int, periodic: bool, alpha: float, beta: float, dtype: str) -> Array:
    period = size if periodic else size - 1
    return alpha - beta * np.cos(2 * np.pi * np.arange(size) / period)


def _draw_one_hot(s: Scope) -> Drawn:
    depth = s.draw_extent(1)
    beyond = s.source.pick(KNOBS.creation.indices_beyond)
    x = s.tensor(INTEGER, (0, 5), low=-beyond, high=depth - 1 + beyond)
    # The numbers' dtype is the result's; `meaning` sees it by their Python type, so one dtype of each kind is drawn.
    dtype, values = s.source.pick((("float32", (1.0, 0.0, -1.5)), ("int64", (1, 0, -3, 2))))
    on, off = s.source.pick(values), s.source.pick(values)
    # The type rule takes every negative axis, topi only -1, so the others come rarely.
    axis = s.source.integer(-x.ndim - 1 if s.source.flip(KNOBS.creation.one_hot_far_axis) else -1, x.ndim)
    call = op.one_hot(x.expr, tirx.const(on, dtype), tirx.const(off, dtype), depth, axis)
    return Drawn(call, of_values(on, off))


def _one_hot(x: Array, on: Scalar, off: Scalar, depth: int, axis: int) -> Array:
    hit = np.arange(depth) == x.astype(np.int64)[..., None]
    dtype = np.float64 if isinstance(on, float) else np.int64
    return np.moveaxis(np.where(hit, dtype(on), dtype(off)), -1, axis)


OPERATORS = (
    Operator("relax.full", _draw_full, _full, Rounding.CAST, ("dtype",), without_gradient=(1,)),
    Operator(
        "relax.full_like",
        _draw_full_like,
        _full_like,
        Rounding.CAST,
        ("dtype",),
        weight=2,
        without_gradient=(1,),
    ),
    *_uniform("ones", 1),
    *_uniform("zeros", 0),
    Operator("relax.arange", _draw_arange, _arange, Rounding.EXACT, ("dtype",), weight=2),
    Operator("relax.eye", _draw_eye, _eye, Rounding.EXACT, ("dtype",), weight=2),
    Operator("relax.eye_like", _draw_eye_like, _eye_like, Rounding.EXACT, ("dtype",), weight=2),
    _triangle("tril", np.tril),
    _triangle("triu", np.triu),
    Operator("relax.hamming_window", _draw_hamming_window, _hamming_window, Rounding.SMOOTH, ("dtype",), ulps=64),
    Operator("relax.one_hot", _draw_one_hot, _one_hot, Rounding.EXACT, ("depth", "axis"),
             dtype_of=lambda operands, attributes: "float32", weight=2),
)  # fmt: skip
