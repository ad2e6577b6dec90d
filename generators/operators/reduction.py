"""Reductions along axes: sum, product, extrema, mean, variance, standard deviation, median.

Meaning: `relax.op.statistical` (axes absent, one or many, negative; ddof = 0 for variance and std). The median is
the lower of the two middle elements and comes with its index when one axis is given (`_te_median`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from tvm.relax import op

from generators.dtypes import Array, Scalar
from generators.operators.knobs import KNOBS
from generators.operators.row import NumpyMeaning, Operator, Rounding
from generators.operators.specials import COMPUTED, Specials
from generators.ranges import Range
from generators.relax.scope import FLOAT, NUMERIC, Drawn, Scope
from generators.relax.values import Value

Axes = int | Sequence[int] | None
SORTABLE = ("float32", "float64", "float16", "bfloat16", "int32", "int64")
"""The dtypes that TVM's CPU sort library takes; other dtypes are refused at run time ("Unsupported input dtype")."""
_ATTRIBUTES = ("axis", "keepdims")


def reduced_count(x: Value, axes: Axes) -> int:
    """How many elements of `x` one element of the result is made of."""
    assert x.shape is not None
    if axes is None:
        return x.size
    return math.prod(x.shape[a] for a in ([axes] if isinstance(axes, int) else axes))


def _terms(x: Array, axis: tuple[int, ...] | None, **_: object) -> int:
    """One element of the result is made of all along the axes."""
    return x.size if axis is None else math.prod(x.shape[a] for a in axis)


def _reduction(
    name: str,
    meaning: NumpyMeaning,
    result: Callable[[Range, int], Range],
    rounding: Rounding = Rounding.SMOOTH,
    dtypes: tuple[str, ...] = NUMERIC,
    ulps: float = 4.0,
    weight: int = 4,
    empty: bool = False,
    specials: Specials | None = None,
) -> Operator:
    """A row for relax.<name>; `empty` says that it has a value over no elements."""
    build = getattr(op, name)

    def draw(s: Scope) -> Drawn:
        x = s.tensor(dtypes, nonempty=not empty)
        axes = [] if s.source.flip(KNOBS.reduction.axes_empty) else s.axes(x)
        return Drawn(build(x.expr, axes, s.source.flip(KNOBS.shared.keepdims)), result(x.range, reduced_count(x, axes)))

    return Operator(
        f"relax.{name}",
        draw,
        meaning,
        rounding,
        _ATTRIBUTES,
        ulps=ulps,
        terms=_terms,
        weight=weight,
        own_specials=specials,
        family="a reduction",  # src/relax/op/tensor/statistical.cc has one function for types, layouts and devices
    )


def _sum(x: Array, axis: tuple[int, ...] | None, keepdims: bool) -> Array:
    return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _prod(x: Array, axis: tuple[int, ...] | None, keepdims: bool) -> Array | Scalar:
    return np.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _variance(r: Range, n: int) -> Range:
    return Range(0.0, ((r.high - r.low) / 2) ** 2)


def _std(r: Range, n: int) -> Range:
    return Range(0.0, (r.high - r.low) / 2)


def _draw_median(s: Scope) -> Drawn:
    x = s.tensor(SORTABLE, nonempty=True)
    if x.ndim == 0 or s.source.flip(KNOBS.reduction.median_flat):
        # The legalised result of keepdims has rank 1 whatever the annotated rank: drawn in most cases where both agree.
        keep = s.source.flip(KNOBS.shared.keepdims if x.ndim == 1 else KNOBS.reduction.median_keepdims_lowered)
        return Drawn(op.median(x.expr, None, keep), x.range)
    axis = s.axis(x)
    index = Range(0, reduced_count(x, axis) - 1, True)
    return Drawn(op.median(x.expr, axis, s.source.flip(KNOBS.shared.keepdims)), (x.range, index))


def _median(x: Array, axis: tuple[int, ...] | None, keepdims: bool) -> Array | tuple[Array, Array]:
    if axis is None:
        middle = np.sort(x, axis=None)[(x.size - 1) // 2]
        return np.full((1,) * x.ndim if keepdims else (), middle, x.dtype)
    order = np.argsort(x, axis=axis[0], kind="stable")
    index = np.take(order, [(x.shape[axis[0]] - 1) // 2], axis=axis[0])
    value = np.take_along_axis(x, index, axis=axis[0])
    if not keepdims:
        value, index = np.squeeze(value, axis[0]), np.squeeze(index, axis[0])
    return value, index.astype(np.int64)


OPERATORS = (
    _reduction("sum", _sum, Range.summed, Rounding.RING, weight=8, empty=True, specials=COMPUTED),
    _reduction("prod", _prod, Range.powered, Rounding.RING, empty=True),
    _reduction("max", np.max, lambda r, n: r, ulps=0, weight=6),
    _reduction("min", np.min, lambda r, n: r, ulps=0),
    _reduction("mean", np.mean, lambda r, n: r.real(), dtypes=FLOAT, weight=6, specials=COMPUTED),
    _reduction("variance", np.var, _variance, dtypes=FLOAT, ulps=8),
    _reduction("std", np.std, _std, dtypes=FLOAT, ulps=8),
    Operator("relax.median", _draw_median, _median, Rounding.ORDER, _ATTRIBUTES, weight=2),
)
