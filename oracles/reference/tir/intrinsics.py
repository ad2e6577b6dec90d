"""The intrinsics of TIR on NumPy: one row each.

Elementary functions are computed in float64 and rounded once to the declared type, so that the reference is
closer to the true value than any float32 library and does not depend on NumPy's SIMD variants. `round` and
`nearbyint` round half to even (intrin_rule_llvm.cc maps both to llvm.nearbyint). Not here: operators of their
own node class (`arithmetic.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from generators.dtypes import OF_ML_DTYPES, Array, Scalar
from oracles.reference.errors import Unsupported
from oracles.reference.tir.nodes import DType

Elementwise: TypeAlias = Callable[..., Array | Scalar]
"""Of numbers, or arrays of them, all of one shape."""
IntrinsicMaker: TypeAlias = Callable[[DType, DType, bool], Elementwise]


class Intrinsic(NamedTuple):
    """`kinds` of the first argument's type that are known; `make(first argument's type, result type, grid)`
    gives the function.
    """

    kinds: str
    make: IntrinsicMaker


def _by_double(function: Elementwise) -> Intrinsic:
    """Computed in float64, rounded once."""

    def make(first: DType, result: DType, _grid: bool) -> Elementwise:
        if first.bits == 64:
            return function
        target = result.numpy

        def rounded(*args: Array | Scalar) -> Array | Scalar:
            return function(*(np.asarray(a).astype(np.float64)[()] for a in args)).astype(target)

        return rounded

    return Intrinsic("f", make)


def _exact(function: Elementwise) -> Intrinsic:
    """Exact in every float type; those of ml_dtypes go through float32, which holds them."""

    def make(first: DType, result: DType, _grid: bool) -> Elementwise:
        if first.name not in OF_ML_DTYPES:
            return function
        target = result.numpy
        return lambda *args: function(*(a.astype(np.float32) for a in args)).astype(target)

    return Intrinsic("f", make)


def _predicate(function: Elementwise) -> Intrinsic:
    """A float to a bool."""

    def make(_first: DType, _result: DType, grid: bool) -> Elementwise:
        if grid:
            return lambda x: function(x.astype(np.float64))
        return lambda x: bool(function(np.float64(x)))

    return Intrinsic("f", make)


def _erf(x: Array | Scalar) -> Array | Scalar:
    values = np.asarray(x)
    flat = [math.erf(v) for v in values.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(values.shape)[()]


def _sigmoid(x: Array | Scalar) -> Array | Scalar:
    return 1.0 / (1.0 + np.exp(-x))


def _round_half_away(x: Array | Scalar) -> Array | Scalar:
    """To the nearest whole number, away from zero where two are as near. x - trunc(x) is exact."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(np.ones_like(x), x), whole)[()]


def _make_nextafter(first: DType, _result: DType, _grid: bool) -> Elementwise:
    if first.name in OF_ML_DTYPES:
        raise Unsupported(f"tirx.nextafter on {first.name}")
    return np.nextafter


def _make_popcount(first: DType, _result: DType, grid: bool) -> Elementwise:
    mask = (1 << first.bits) - 1
    if not grid:
        return lambda x: (x & mask).bit_count()
    unsigned = np.dtype(f"uint{first.bits}")
    carrier = np.dtype(np.int64) if first.kind == "i" else first.numpy
    return lambda x: np.bitwise_count(x.astype(unsigned)).astype(carrier)


def _make_clz(first: DType, _result: DType, grid: bool) -> Elementwise:
    """The zeros before the first one, all bits of 0: what LLVM leaves open there, and CUDA does."""
    mask = (1 << first.bits) - 1
    if not grid:
        return lambda x: first.bits - (x & mask).bit_length()
    unsigned = np.dtype(f"uint{first.bits}")
    carrier = np.dtype(np.int64) if first.kind == "i" else first.numpy

    def count(x: Array) -> Array:
        left, length = x.astype(unsigned), np.zeros(x.shape, carrier)
        for step in (32, 16, 8, 4, 2, 1):
            if step < first.bits:
                more = (left >> step) != 0
                length, left = length + step * more, np.where(more, left >> step, left)
        return np.asarray(first.bits - length - (left != 0), carrier)

    return count


def _make_not(first: DType, _result: DType, grid: bool) -> Elementwise:
    if grid:
        return np.invert
    if first.kind == "b":
        return lambda x: not x
    return (lambda x: ~x) if first.kind == "i" else (lambda x: x ^ first.high)


def _make_abs(first: DType, _result: DType, _grid: bool) -> Elementwise:
    if first.kind == "f":
        return np.abs
    return lambda x: abs(x)


def _make_reinterpret(first: DType, result: DType, grid: bool) -> Elementwise:
    def bits(x: Array | Scalar) -> Array | Scalar:
        raw = np.asarray(x).astype(first.numpy).view(result.numpy)
        if grid:
            return raw.astype(np.int64) if result.kind == "i" else raw
        return int(raw) if result.kind in "iu" else raw[()]

    return bits


_DOUBLE: dict[str, Elementwise] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sigmoid": _sigmoid,
    "erf": _erf,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "pow": np.power,
    "hypot": np.hypot,
    "fma": lambda a, b, c: a * b + c,
    "ldexp": lambda a, b: a * np.exp2(b),
}
_EXACT: dict[str, Elementwise] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "nearbyint": np.rint,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "round_half_away": _round_half_away,
}
INTRINSICS: dict[str, Intrinsic] = {
    **{name: _by_double(function) for name, function in _DOUBLE.items()},
    **{name: _exact(function) for name, function in _EXACT.items()},
    "fabs": Intrinsic("f", _make_abs),
    "isnan": _predicate(np.isnan),
    "isinf": _predicate(np.isinf),
    "isfinite": _predicate(np.isfinite),
    "nextafter": Intrinsic("f", _make_nextafter),
    "popcount": Intrinsic("iu", _make_popcount),
    "clz": Intrinsic("iu", _make_clz),
    "bitwise_not": Intrinsic("iub", _make_not),
    "reinterpret": Intrinsic("iuf", _make_reinterpret),
}
OF_NODES = frozenset({"bitwise_not", "round_half_away"})
"""Rows that no operator has: the decoder makes them of nodes and of calls of libraries."""
