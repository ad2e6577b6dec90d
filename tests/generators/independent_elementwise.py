"""Elementwise rows by Python's `math`, `operator` and `fractions`, SciPy's special functions and ONNX.

Each function has the signature of its row's meaning. Python's integers do not overflow, so these say too whether a
result fits the dtype it is given.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from tests.generators.onnx_reference import onnx


def each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers applied to the elements of arrays that broadcast; the result's dtype is Python's own."""

    def apply(*arrays: Any) -> Any:
        whole = np.broadcast_arrays(*arrays)
        numbers = [function(*items) for items in zip(*(a.reshape(-1).tolist() for a in whole), strict=True)]
        return np.array(numbers, None if numbers else whole[0].dtype).reshape(whole[0].shape)

    return apply


def _sign(x: float) -> float:
    return (x > 0) - (x < 0)


def _quotient(a: float, b: float) -> float:
    return a / b if isinstance(a, float) else math.trunc(Fraction(a, b))


def _remainder(a: float, b: float) -> float:
    return math.fmod(a, b) if isinstance(a, float) else a - b * math.trunc(Fraction(a, b))


def _clip(x: Any, low: float, high: float) -> Any:
    return onnx("Clip", x, x.dtype.type(low), x.dtype.type(high))


def _prelu(x: Any, alpha: Any, *, axis: int) -> Any:
    last = np.moveaxis(x, axis, -1)
    return np.moveaxis(onnx("PRelu", last, alpha), -1, axis)


def _softplus(x: Any, *, beta: float, threshold: float) -> Any:
    """PyTorch's definition: linear above the threshold."""
    return onnx("Where", beta * x > threshold, x, onnx("Softplus", beta * x) / beta)


def _dropout(x: Any) -> Any:
    out, mask = onnx("Dropout", x, outputs=2)
    return out, mask.astype(x.dtype)


UNARY: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "negative": operator.neg,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "square": lambda x: x * x,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
    "sign": _sign,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "logical_not": operator.not_,
    "bitwise_not": operator.invert,
}

BINARY: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _quotient,
    "floor_divide": operator.floordiv,
    "floor_mod": operator.mod,
    "mod": _remainder,
    "power": math.pow,
    "atan2": math.atan2,
    "log_add_exp": lambda a, b: float(special.logsumexp([a, b])),
    "maximum": max,
    "minimum": min,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "logical_and": lambda a, b: a and b,
    "logical_or": lambda a, b: a or b,
    "logical_xor": operator.ne,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "ewise_fma": lambda a, b, c: a * b + c,
}

INDEPENDENT: dict[str, Callable[..., Any]] = {
    **{f"relax.{name}": each(function) for name, function in {**UNARY, **BINARY}.items()},
    "relax.erf": special.erf,
    "relax.sigmoid": special.expit,
    "relax.clip": _clip,
    "relax.where": lambda condition, a, b: onnx("Where", condition, a, b),
    "relax.nn.silu": lambda x: onnx("Swish", x),
    "relax.nn.gelu": lambda x: x * special.ndtr(x),
    "relax.nn.gelu_tanh": lambda x: onnx("Gelu", x, approximate="tanh"),
    "relax.nn.selu": lambda x: onnx("Selu", x),
    "relax.nn.relu": lambda x: onnx("Relu", x),
    "relax.nn.leakyrelu": lambda x, *, alpha: onnx("LeakyRelu", x, alpha=alpha),
    "relax.nn.prelu": _prelu,
    "relax.nn.softplus": _softplus,
    "relax.nn.softmax": lambda x, *, axis: special.softmax(x, axis=axis),
    "relax.nn.log_softmax": lambda x, *, axis: special.log_softmax(x, axis=axis),
    "relax.nn.dropout": _dropout,
}
"""By row: what an implementation from elsewhere gives for the arguments of the row's meaning."""
