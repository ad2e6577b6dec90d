"""Activations: rectifiers, smooth units, softmax and log_softmax, and dropout as inference means it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from tvm.relax.op import nn

from generators.dtypes import Array, Scalar
from generators.operators.elementwise import erf
from generators.operators.knobs import KNOBS
from generators.operators.row import NumpyMeaning, Operator, Rounding
from generators.operators.specials import ORDERED
from generators.ranges import TRUTH, Range
from generators.relax.scope import FLOAT, NUMERIC, Drawn, Scope
from generators.relax.values import Value

# Constants of Klambauer et al., Self-Normalizing Neural Networks (2017), which SELU is defined by.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946
_PRELU_DTYPES = ("float32", "float16", "float64")
_LARGE_SCORES = ("float32", "float32", "float16", "float64")


def _smooth(
    name: str,
    meaning: NumpyMeaning,
    result: Callable[[Range], Range],
    domain: tuple[float, float],
    ulps: float = 16.0,
) -> Operator:
    """A row for relax.nn.<name> without attributes, on floats inside `domain`."""
    build = getattr(nn, name)

    def draw(s: Scope) -> Drawn:
        x = s.tensor(FLOAT, low=domain[0], high=domain[1])
        return Drawn(build(x.expr), result(x.range), x.shape)

    return Operator(f"relax.nn.{name}", draw, meaning, Rounding.SMOOTH, elementwise=True, ulps=ulps)


def _above(low: float) -> Callable[[Range], Range]:
    """The range of a unit that is at least `low` and never above max(x, 0)."""
    return lambda r: Range(low, max(r.high, 0.0))


def _selu_range(r: Range) -> Range:
    return Range(-_SELU_SCALE * _SELU_ALPHA, _SELU_SCALE * max(r.high, 0.0))


def _selu(x: Array) -> Array:
    return _SELU_SCALE * np.where(x > 0, x, _SELU_ALPHA * np.expm1(np.minimum(x, 0)))


def _silu(x: Array) -> Array | Scalar:
    return x / (1 + np.exp(-x))


def _gelu(x: Array) -> Array | Scalar:
    return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))


def _gelu_tanh(x: Array) -> Array | Scalar:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _draw_relu(s: Scope) -> Drawn:
    x = s.any_tensor(NUMERIC)
    return Drawn(nn.relu(x.expr), x.range.maximum(Range(0, 0, True)), x.shape)


def _relu(x: Array) -> Array | Scalar:
    return np.maximum(x, x.dtype.type(0))


def _draw_leakyrelu(s: Scope) -> Drawn:
    x = s.tensor(FLOAT)
    alpha = s.source.pick((0.01, 0.25, 0.0, -0.5, 1.0, 1.5))
    return Drawn(nn.leakyrelu(x.expr, alpha), x.range.hull(x.range.scaled(alpha)), x.shape)


def _leakyrelu(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, x * alpha)


def _draw_prelu(s: Scope) -> Drawn:
    x = s.tensor(_PRELU_DTYPES, (1, 5), static=True)
    assert x.dims is not None
    axis = 1 if x.ndim > 1 and s.source.flip() else s.axis(x)
    alpha = s.tensor((x.dtype,), dims=(1 if s.source.flip(KNOBS.elementwise.one_slope) else x.dims[axis],))
    return Drawn(nn.prelu(x.expr, alpha.expr, axis), x.range.hull(x.range * alpha.range), x.shape)


def _prelu(x: Array, alpha: Array, axis: int) -> Array:
    shape = [1] * x.ndim
    shape[axis] = alpha.size
    return np.where(x > 0, x, x * alpha.reshape(shape))


def _draw_softplus(s: Scope) -> Drawn:
    # Below -2 the result is tiny while its error stays near one unit roundoff of 1.
    x = s.tensor(FLOAT, low=-2, high=64)
    beta = s.source.pick((1.0, 0.5, 2.0))
    threshold = s.source.pick((20.0, 5.0, 1.0))
    return Drawn(nn.softplus(x.expr, beta, threshold), Range(0, max(x.range.high, 0) + 2), x.shape)


def _softplus(x: Array, beta: float, threshold: float) -> Array:
    return np.where(beta * x > threshold, x, np.logaddexp(0, beta * x) / beta)


def _scores(s: Scope) -> Value:
    """What softmax is taken of; in a share of the cases the exponential of the larger elements is beyond float32, so
    that the largest of a row must be taken off first."""
    if s.source.flip(KNOBS.elementwise.large_scores):
        return s.fresh(s.draw_dims((1, 5), nonempty=True), s.source.pick(_LARGE_SCORES), Range(-128, 128, True))
    return s.tensor(FLOAT, (1, 5), low=-64, high=64, nonempty=True)


def _draw_softmax(s: Scope) -> Drawn:
    x = _scores(s)
    axis = -1 if not s.link.changed and s.source.flip(KNOBS.elementwise.last_axis) else s.axis(x)
    return Drawn(nn.softmax(x.expr, axis), Range(0, 1), x.shape)


def _softmax(x: Array, axis: int) -> Array | Scalar:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _draw_log_softmax(s: Scope) -> Drawn:
    x = _scores(s)
    axis = -1 if not s.link.changed and s.source.flip(KNOBS.elementwise.last_axis) else s.axis(x)
    return Drawn(nn.log_softmax(x.expr, axis), Range(x.range.low - x.range.high - 7, 0), x.shape)


def _log_softmax(x: Array, axis: int) -> Array | Scalar:
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _terms(x: Array, axis: int) -> int:
    """One sum of exponentials is over the axis."""
    return int(x.shape[axis])


def _draw_dropout(s: Scope) -> Drawn:
    x = s.tensor(FLOAT)
    return Drawn(nn.dropout(x.expr, s.source.pick((0.5, 0.0, 0.25))), (x.range, TRUTH), x.shape)


def _dropout(x: Array) -> tuple[Array, Array]:
    """Nothing is dropped: TVM compiles for inference (relax/transform/legalize_ops/nn.py)."""
    return x, np.ones_like(x)


OPERATORS = (
    _smooth("silu", _silu, _above(-0.3), (-32, 32)),
    _smooth("gelu", _gelu, _above(-0.2), (-32, 32)),
    _smooth("gelu_tanh", _gelu_tanh, _above(-0.2), (-16, 16), ulps=32),
    _smooth("selu", _selu, _selu_range, (-32, 10), ulps=32),
    Operator("relax.nn.relu", _draw_relu, _relu, Rounding.SMOOTH, elementwise=True, ulps=0, weight=8,
             own_specials=ORDERED),
    Operator("relax.nn.leakyrelu", _draw_leakyrelu, _leakyrelu, Rounding.SMOOTH, ("alpha",), elementwise=True),
    Operator("relax.nn.prelu", _draw_prelu, _prelu, Rounding.SMOOTH, ("axis",)),
    Operator("relax.nn.softplus", _draw_softplus, _softplus, Rounding.SMOOTH, ("beta", "threshold"),
             elementwise=True, ulps=128),
    Operator("relax.nn.softmax", _draw_softmax, _softmax, Rounding.SMOOTH, ("axis",), ulps=16, terms=_terms,
             weight=6),
    Operator("relax.nn.log_softmax", _draw_log_softmax, _log_softmax, Rounding.SMOOTH, ("axis",), ulps=16,
             terms=_terms),
    Operator("relax.nn.dropout", _draw_dropout, _dropout, Rounding.MOVE, weight=2),
)  # fmt: skip
