"""Unary elementwise operators: rounding, exponentials, trigonometry, classification, activation-free mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from tvm.relax import op

from generators.dtypes import Array, Scalar
from generators.operators.domain import between
from generators.operators.row import NumpyMeaning, Operator, Rounding
from generators.operators.specials import ASKED, CLIPPED, COMPUTED, ROUNDED, SIZED, Specials
from generators.ranges import TRUTH, UNIT, Range
from generators.relax.scope import FLOAT, INTEGER, NUMERIC, Drawn, Scope

SIGNED = tuple(d for d in NUMERIC if d != "uint8")


def _unary(
    name: str,
    meaning: NumpyMeaning,
    result: Callable[[Range], Range],
    rounding: Rounding = Rounding.SMOOTH,
    dtypes: tuple[str, ...] = FLOAT,
    domain: tuple[float, float] = (-math.inf, math.inf),
    ulps: float = 4.0,
    weight: int = 4,
    specials: Specials | None = None,
) -> Operator:
    """A row for relax.<name>: operands of `dtypes` inside `domain`, with the range `result` of their range."""
    build = getattr(op, name)

    def draw(s: Scope) -> Drawn:
        x = s.any_tensor(dtypes) if domain == (-math.inf, math.inf) else s.tensor(dtypes, low=domain[0], high=domain[1])
        return Drawn(build(x.expr), result(x.range), x.shape)

    domains = () if domain == (-math.inf, math.inf) else ((0, between(*domain)),)
    return Operator(
        f"relax.{name}",
        draw,
        meaning,
        rounding,
        elementwise=True,
        ulps=ulps,
        domains=domains,
        weight=weight,
        own_specials=specials,
    )


def _monotone(function: Callable[[float], float]) -> Callable[[Range], Range]:
    return lambda r: Range(function(r.low), function(r.high))


def _round_half_even(x: Array) -> Array:
    return np.round(x)


def erf(x: Array) -> Array:
    """The error function of each element."""
    return np.vectorize(math.erf, otypes=[np.float64])(x) if x.size else x


def _draw_clip(s: Scope) -> Drawn:
    x = s.tensor(NUMERIC)
    low = s.source.integer(0 if x.dtype == "uint8" else -3, 2)
    high = low + s.source.integer(0, 4)
    return Drawn(op.clip(x.expr, low, high), x.range.clipped(low, high), x.shape)


def _clip(x: Array, low: float, high: float) -> Array | Scalar:
    """With low above high, which only a pass makes, it is low: max(min(x, high), low), as in tvm/topi/math.py."""
    return np.maximum(np.minimum(x, x.dtype.type(high)), x.dtype.type(low))


OPERATORS = (
    _unary("abs", np.abs, Range.absolute, Rounding.SMOOTH, SIGNED, ulps=0, specials=SIZED),
    _unary("negative", np.negative, Range.__neg__, Rounding.MOVE, SIGNED, specials=SIZED),
    _unary("exp", np.exp, _monotone(math.exp), domain=(-8, 5)),
    _unary("log", np.log, _monotone(math.log), domain=(2**-6, math.inf)),
    _unary("sqrt", np.sqrt, _monotone(math.sqrt), domain=(0, math.inf)),
    _unary("rsqrt", lambda x: 1 / np.sqrt(x), lambda r: Range(r.high**-0.5, r.low**-0.5), domain=(2**-6, math.inf)),
    _unary("sin", np.sin, lambda _: UNIT, domain=(-64, 64)),
    _unary("cos", np.cos, lambda _: UNIT, domain=(-64, 64)),
    _unary("tan", np.tan, _monotone(math.tan), domain=(-1, 1)),
    _unary("sinh", np.sinh, _monotone(math.sinh), domain=(-5, 5)),
    _unary("cosh", np.cosh, lambda r: Range(1, math.cosh(r.magnitude)), domain=(-5, 5)),
    _unary("tanh", np.tanh, lambda _: UNIT),
    _unary("asin", np.arcsin, _monotone(math.asin), domain=(-1, 1)),
    _unary("acos", np.arccos, lambda r: Range(math.acos(r.high), math.acos(r.low)), domain=(-1, 1)),
    _unary("atan", np.arctan, _monotone(math.atan)),
    _unary("asinh", np.arcsinh, _monotone(math.asinh)),
    _unary("acosh", np.arccosh, _monotone(math.acosh), domain=(1, math.inf)),
    _unary("atanh", np.arctanh, _monotone(math.atanh), domain=(-0.9, 0.9)),
    _unary("erf", erf, lambda _: UNIT),
    _unary("sigmoid", lambda x: 1 / (1 + np.exp(-x)), lambda _: Range(0, 1)),
    _unary("square", np.square, lambda r: r.absolute() * r.absolute(), Rounding.RING, NUMERIC,
           specials=COMPUTED),
    _unary("floor", np.floor, lambda r: Range(math.floor(r.low), math.floor(r.high), True), Rounding.STEP, ulps=0,
           specials=ROUNDED),
    _unary("ceil", np.ceil, lambda r: Range(math.ceil(r.low), math.ceil(r.high), True), Rounding.STEP, ulps=0,
           specials=ROUNDED),
    _unary("trunc", np.trunc, lambda r: Range(math.trunc(r.low), math.trunc(r.high), True), Rounding.STEP, ulps=0,
           specials=ROUNDED),
    _unary("round", _round_half_even, lambda r: Range(round(r.low), round(r.high), True), Rounding.STEP, ulps=0,
           specials=ROUNDED),
    _unary("sign", np.sign, lambda _: Range(-1, 1, True), Rounding.STEP, SIGNED, ulps=0),
    _unary("isnan", np.isnan, lambda _: TRUTH, Rounding.STEP, ulps=0, specials=ASKED),
    _unary("isinf", np.isinf, lambda _: TRUTH, Rounding.STEP, ulps=0, specials=ASKED),
    _unary("isfinite", np.isfinite, lambda _: TRUTH, Rounding.STEP, ulps=0, specials=ASKED),
    _unary("logical_not", np.logical_not, lambda _: TRUTH, Rounding.STEP, ("bool",), ulps=0),
    _unary("bitwise_not", np.invert, lambda r: Range(~int(r.high), ~int(r.low), True), Rounding.EXACT, INTEGER[:4]),
    Operator("relax.clip", _draw_clip, _clip, Rounding.SMOOTH, elementwise=True, ulps=0, own_specials=CLIPPED,
             numbers=(1, 2)),
)  # fmt: skip
