"""Changes of element type: astype, wrap_param, quantize, dequantize.

Meaning: a cast to an integer truncates towards zero, to bool asks whether the value differs from zero; a value that
the target cannot hold has no meaning, so ranges keep it inside. Quantisation: `relax.op.qdq`,
clamp(round(data / scale) + zero_point) and scale * (data - zero_point), with ties rounded to even.
"""

from __future__ import annotations

import math

import numpy as np
from tvm.relax import op

from generators.dtypes import Array, Scalar, integer_limits, is_float
from generators.operators.domain import POSITIVE
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.operators.specials import ROUNDED
from generators.ranges import TRUTH, Range, comfortable
from generators.relax.scope import EVERY, INTEGER, Drawn, Scope
from generators.relax.values import Dim, Value
from generators.source import favour, weighted

ZERO_POINT = 4
"""The largest absolute value of a zero point."""
_TARGETS = (
    ("float32", 8),
    ("float16", 4),
    ("int32", 4),
    ("int64", 3),
    ("bool", 2),
    ("int8", 2),
    ("uint8", 2),
    ("float64", 2),
    ("bfloat16", 2),
    ("int16", 1),
)


def _cast_range(values: Range, dtype: str) -> Range:
    if dtype == "bool":
        return TRUTH
    if is_float(dtype):
        return values
    return Range(math.trunc(values.low), math.trunc(values.high), True)


def _wider(dtype: str) -> tuple[str, ...]:
    """The other integer dtypes that hold all values of this one."""
    low, high = integer_limits(dtype)
    return tuple(d for d in INTEGER if d != dtype and Range(low, high).within(*integer_limits(d)))


def _draw_astype(s: Scope) -> Drawn:
    """In a chain, some casts go back to the dtype before the last operator. On integers, most of the others go to an
    integer dtype, half of these to one that holds all values: rewrites ask which is wider."""
    given = s.leading[0].dtype if s.leading else ""
    if s.link.origin and s.source.flip(KNOBS.elementwise.cast_back):
        dtype = s.link.origin
    elif given in INTEGER and s.source.flip(KNOBS.elementwise.whole_cast):
        dtype = s.source.pick((s.source.flip() and _wider(given)) or INTEGER)
    else:
        dtype = weighted(s.source, _TARGETS)
    if dtype == "bool":
        x = s.any_tensor(EVERY)
    else:
        limits = comfortable(dtype)
        x = s.tensor(EVERY, low=limits.low, high=limits.high)
    return Drawn(op.astype(x.expr, dtype), _cast_range(x.range, dtype), x.shape)


def _draw_wrap_param(s: Scope) -> Drawn:
    """A weight seen as float32, the one use that ToMixedPrecision knows: it takes the operator for its own
    (src/relax/transform/to_mixed_precision.cc)."""
    source = s.source.pick(("float32", "float16", "int8", "int32", "float64"))
    dtype = "float32"
    limits = comfortable(dtype)
    x = s.constant(s.draw_dims(static=True), source, s.draw_range(source, limits.low, limits.high))
    return Drawn(op.wrap_param(x.expr, dtype), _cast_range(x.range, dtype))


def _cast(x: Array, dtype: str) -> Array | Scalar:
    if dtype == "bool":
        return x != 0
    if is_float(dtype):
        return x.astype(np.float64)
    return np.trunc(x).astype(dtype) if x.dtype.kind == "f" else x.astype(dtype)


# --- quantisation ----------------------------------------------------------------------------------------


def _per_channel(s: Scope, x: Value, dtype: str, axis: int, low: float, high: float) -> Value:
    """A scale or zero point for `x`: a scalar, one element, or one element per channel along `axis`."""
    assert x.dims is not None
    options: tuple[tuple[Dim, ...], ...] = ((), (1,), *(((x.dims[axis],),) if x.ndim else ()))
    led = [led.dims for led in s.leading if led.dtype == dtype and led.dims in options]
    dims = led[0] if led else favour(s.source, options[-1], *options[:2]) if x.ndim else s.source.pick(options)
    assert dims is not None
    return s.tensor((dtype,), dims=dims, low=low, high=high)


def _parameters(s: Scope, x: Value) -> tuple[int, Value, Value]:
    axis = s.axis(x) if x.ndim else -1
    scale = _per_channel(
        s, x, "float32" if s.source.flip(KNOBS.elementwise.scale_float32) else "float16", axis, 0.25, 4
    )
    # Integer data minus a float16 zero point is rounded to float16, which shows in no operand's or result's dtype.
    dtypes = KNOBS.elementwise.zero_dtypes if is_float(x.dtype) else KNOBS.elementwise.zero_dtypes[:-1]
    led = [led.dtype for led in s.leading if led.dtype in dict(dtypes)]
    zero = led[0] if led else weighted(s.source, dtypes)
    return axis, scale, _per_channel(s, x, zero, axis, 0 if zero == "uint8" else -ZERO_POINT, ZERO_POINT)


def _draw_quantize(s: Scope) -> Drawn:
    x = s.tensor(("float32", "float16"))
    axis, scale, zero = _parameters(s, x)
    dtype = weighted(s.source, KNOBS.elementwise.quantized_dtypes)
    if s.link.origin in dict(KNOBS.elementwise.quantized_dtypes) and s.source.flip():
        dtype = s.link.origin
    ends = [v / f for v in (x.range.low, x.range.high) for f in (scale.range.low, scale.range.high)]
    low, high = integer_limits(dtype)
    values = Range(round(min(ends)) + zero.range.low, round(max(ends)) + zero.range.high, True).clipped(low, high)
    return Drawn(op.quantize(x.expr, scale.expr, zero.expr, axis, dtype), values)


def _draw_dequantize(s: Scope) -> Drawn:
    low, high = integer_limits("int32")  # in which LegalizeOps subtracts the zero point
    dtypes = ("int8", "uint8", "int16", "int32", "float32", "float16")
    narrow = s.source.flip(KNOBS.elementwise.dequantized_narrow)
    x = s.tensor(dtypes[:2] if narrow else dtypes, low=low + ZERO_POINT, high=high - ZERO_POINT)
    axis, scale, zero = _parameters(s, x)
    dtype = "float32" if s.source.flip(KNOBS.elementwise.dequantized_float32) else "float16"
    return Drawn(op.dequantize(x.expr, scale.expr, zero.expr, axis, dtype), (x.range - zero.range) * scale.range)


def _along(parameter: Array, x: Array, axis: int) -> Array:
    """A scale or zero point in float64, shaped to broadcast with `x` along `axis`."""
    numbers = parameter.astype(np.float64)
    if numbers.size == 1 and (x.ndim == 0 or numbers.shape != (x.shape[axis],)):
        return numbers.reshape(())
    shape = [1] * x.ndim
    shape[axis] = -1
    return numbers.reshape(shape)


def _quantize(x: Array, scale: Array, zero: Array, axis: int, out_dtype: str) -> Array:
    low, high = integer_limits(out_dtype)
    if not np.asarray(scale).all():
        raise ZeroDivisionError("a scale of zero")
    level = np.round(x / _along(scale, x, axis)) + _along(zero, x, axis)
    return np.clip(level, low, high).astype(out_dtype)


def _dequantize(x: Array, scale: Array, zero: Array, axis: int, out_dtype: str) -> Array:
    values = (x.astype(np.float64) - _along(zero, x, axis)) * _along(scale, x, axis)
    return np.clip(values, -65504.0, 65504.0) if out_dtype == "float16" else values


OPERATORS = (
    Operator(
        "relax.astype", _draw_astype, _cast, Rounding.CAST, ("dtype",), elementwise=True, weight=8, own_specials=ROUNDED
    ),
    Operator("relax.wrap_param", _draw_wrap_param, _cast, Rounding.CAST, ("dtype",), elementwise=True, weight=1),
    Operator(
        "relax.quantize",
        _draw_quantize,
        _quantize,
        Rounding.STEP,
        ("axis", "out_dtype"),
        weight=3,
        domains=((1, POSITIVE),),
    ),
    Operator(
        "relax.dequantize",
        _draw_dequantize,
        _dequantize,
        Rounding.RING,
        ("axis", "out_dtype"),
        weight=3,
        domains=((1, POSITIVE),),
    ),
)
