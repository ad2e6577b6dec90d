"""Padding of every axis: with a constant, by reflection, by repetition of the edge, or around the circle."""

from __future__ import annotations

import numpy as np
from tvm.relax.op import nn

from generators.dtypes import Array, Scalar, is_float
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.relax.scope import NUMERIC, Drawn, Scope
from generators.source import favour

_NUMPY_MODE = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _draw_pad(s: Scope) -> Drawn:
    zeros = s.link.before_windows and s.source.flip(KNOBS.windows.zeros_before_window)
    mode = "constant" if zeros else favour(s.source, "constant", "reflect", "replicate", "circular")
    constant = mode == "constant"
    # A reflection and a wrap may be at most as wide as the axis allows, which only a number shows.
    x = s.tensor(NUMERIC, (1, 5), static=mode in ("reflect", "circular"), nonempty=not constant)
    assert x.shape is not None
    widths: list[int] = []
    share = KNOBS.windows.padded_before_window if s.link.before_windows else KNOBS.windows.padded_window
    window = x.ndim > 2 and s.source.flip(share)
    for axis, n in enumerate(x.shape):
        widest = {"reflect": n - 1, "circular": n}.get(mode, KNOBS.windows.widest_zeros if zeros else 2)
        touched = axis > 1 if window else s.source.flip(KNOBS.windows.padded_axis)
        widths += [s.source.integer(0, min(widest, 2)) if touched else 0 for _ in range(2)]
    value = favour(s.source, 0.0, 1.0, 2.5 if is_float(x.dtype) else 3.0) if constant and not zeros else 0.0
    call = nn.pad(x.expr, widths, mode, value)
    return Drawn(call, x.range.including(value) if constant else x.range)


def _pad(x: Array, *, pad_width: tuple[int, ...], pad_mode: str, pad_value: float) -> Array | Scalar:
    widths = list(zip(pad_width[::2], pad_width[1::2], strict=True))
    if pad_mode == "constant":
        return np.pad(x, widths, constant_values=x.dtype.type(pad_value))
    return np.pad(x, widths, mode=_NUMPY_MODE[pad_mode])  # type: ignore[call-overload]


OPERATORS = (
    Operator("relax.nn.pad", _draw_pad, _pad, Rounding.MOVE, ("pad_width", "pad_mode", "pad_value"), weight=5,
             numbers=("pad_value",)),
)  # fmt: skip
