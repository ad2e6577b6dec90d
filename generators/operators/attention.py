"""Fused attention, with and without a bias."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm.relax.op import nn

from generators.dtypes import Array, Scalar
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.relax.scope import FLOAT, Drawn, Scope
from generators.relax.values import extent
from generators.source import favour

_LARGEST_SCORE = 64
"""Operands are bounded so that scores stay where exp of their differences loses nothing but what rounds away."""


def _draw(biased: bool) -> Callable[[Scope], Drawn]:
    def draw(s: Scope) -> Drawn:
        source = s.source
        query = s.tensor(FLOAT, (4, 4), -4, 4, static=not source.flip(KNOBS.shared.symbolic_rarely), nonempty=True)
        assert query.dims is not None
        batch, length, heads, width = query.dims
        keys = length if source.flip(KNOBS.products.same_keys) else s.draw_extent(1)
        key = s.tensor((query.dtype,), dims=(batch, keys, heads, width), low=-4, high=4)
        value_width = width if source.flip(KNOBS.products.same_value_width) else source.integer(1, 4)
        value = s.tensor((query.dtype,), dims=(batch, keys, heads, value_width))
        bias = None
        if biased:
            dims = [1 if source.flip(KNOBS.shared.dim_of_one) else d for d in (batch, heads, length)]
            bias = s.tensor((query.dtype,), dims=(*dims, keys), low=-_LARGEST_SCORE, high=_LARGEST_SCORE).expr
        mask = favour(source, None, "TopLeft", "BottomRight")
        # With more queries than keys some would see no key at all.
        windowed = mask == "BottomRight" and extent(keys) >= extent(length) and source.flip(KNOBS.shared.rare)
        window = source.integer(1, 3) if windowed else None
        # In 16 bits an explicit scale makes the legalised result float32.
        wide = query.dtype in ("float32", "float64") or source.flip(KNOBS.shared.rare)
        scale = source.pick((None, 1.0, 0.5, 0.125)) if wide else None
        call = nn.attention(query.expr, key.expr, value.expr, bias, scale, mask, window)
        return Drawn(call, value.range.real())

    return draw


def _allowed(rows: int, columns: int, causal_mask: str | None, window_size: int | None) -> Array:
    """Which key each query may see, as documented: np.tril, shifted by abs(rows - columns) for BottomRight.

    A window of w lets a query see the w last keys it may see (contrib/cutlass/gen_tensor_op.py).
    """
    seen = np.ones((rows, columns), np.bool_)
    if causal_mask is None:
        return seen
    shift = abs(rows - columns) if causal_mask == "BottomRight" else 0
    seen = np.tril(seen, shift)
    return seen & ~np.tril(seen, shift - window_size) if window_size is not None else seen


def _attention(
    query: Array, key: Array, value: Array, bias: Array | None = None, *, scale: float | None, causal_mask: str | None,
    window_size: int | None,
) -> Array | Scalar:  # fmt: skip
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = np.einsum("bqhd,bkhd->bhqk", query, key) * factor
    scores = scores if bias is None else scores + bias
    scores = np.where(_allowed(scores.shape[2], scores.shape[3], causal_mask, window_size), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(axis=-1, keepdims=True), value)


_ATTRIBUTES = ("scale", "causal_mask", "window_size")
OPERATORS = (
    Operator("relax.nn.attention", _draw(biased=False), _attention, Rounding.SMOOTH, _ATTRIBUTES, ulps=64),
    Operator("relax.nn.attention_bias", _draw(biased=True), _attention, Rounding.SMOOTH, _ATTRIBUTES, ulps=64),
)
