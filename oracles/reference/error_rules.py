"""The error rules: one function per `Rounding`, which gives the errors of an operator's results.

No rule names an operator. Sums and products of whole numbers stay exact while everything is representable. Otherwise
the rules follow the unit roundoff model and the summation bounds of Higham, Accuracy and Stability of Numerical
Algorithms, chapters 2 to 4; the errors of operands are propagated by evaluating at the ends of their intervals.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from generators.dtypes import Array, is_float
from generators.operators.row import Rounding
from oracles.reference.errors import Unsupported
from oracles.reference.values import Tensor, round_to
from oracles.reference.work import Errors, Work, listed

_SIGNS = 3
"""Random sign patterns per perturbation."""
_SAFETY = 8.0
"""A deviation seen under random signs is taken to be at least an eighth of the worst that counts."""
_LIKELY = 2.0
"""The same factor where what is likely is asked for."""
_CORNERS = 16
"""Corners of the operands' error box that are evaluated at most: all of them for four inexact operands."""


def _exact(work: Work) -> Errors:
    return work.none()


def _move(work: Work) -> Errors:
    """Errors take the way of the elements: the same meaning applied to them."""
    if not work.inexact:
        return work.none()
    moved = work.values
    for i in work.floats:
        o = work.operands[i]
        moved[i] = np.zeros(o.shape) if o.error is None else o.error
    errors = listed(work.evaluate(moved))
    return [np.abs(e) if is_float(d) else None for e, d in zip(errors, work.dtypes, strict=True)]


def _ring(work: Work) -> Errors:
    """Sums and products: exact on whole numbers below 2**p, else first-order in the unit roundoff.

    Elementwise ones multiply each operand once, a single one twice: their results, and what a sum in them goes through,
    have no more places after the point than these products, and are exact as well while they have few bits.
    """
    if not work.gives_floats:
        return work.none()
    sizes, spread = _ring_sizes(work)
    places = work.places()
    if places and not work.row.elementwise:
        places = None
    errors: Errors = []
    for k, dtype in enumerate(work.dtypes):
        unit = work.unit(dtype)
        terms = 2.0 if work.row.elementwise else work.roundings + 2.0
        if places is not None and np.all(sizes[k] * unit < math.ldexp(0.5, -places)):
            errors.append(None)
        else:
            own = unit * sizes[k] * terms
            errors.append(own if spread is None else own + spread[k])
    return errors


def _ring_sizes(work: Work) -> tuple[list[Array], list[Array] | None]:
    """The size of the largest partial sum per element, and the effect of the operands' errors."""
    if work.row.elementwise:
        sizes = [np.maximum(size_of(r), _largest_operand(work, r.shape)) for r in work.results]
        return sizes, _furthest(_ends(work, work.errors), work.results) if work.inexact else None
    sizes = [np.abs(s) for s in listed(work.evaluate(_magnitudes(work)))]
    if not work.inexact:
        return sizes, None
    widened = listed(work.evaluate(_magnitudes(work, widened=True)))
    return sizes, [np.abs(w - s) for w, s in zip(widened, sizes, strict=True)]


def _smooth(work: Work) -> Errors:
    """Continuous functions: corners of the error box elementwise, random signs otherwise."""
    if not work.gives_floats:
        return work.none()
    if work.row.elementwise:
        return _smooth_elementwise(work)
    unit = max(work.unit(d) for d in work.dtypes)
    root = math.sqrt(work.count())
    if work.likely:
        spread, largest = _random_spread(work, unit * root, unit * (root + work.ulps)), 0.0
    else:
        spread, largest = (
            _random_spread(work, unit * root),
            max((_largest(work.operands[i].value) for i in work.floats), default=0.0),
        )
    # Intermediate numbers may be as large as the operands, or 1 (sums of exponentials), and are rounded too.
    inner = unit * (root + work.ulps) * (1.0 + largest)
    own, factor = work.roundings + work.ulps, _LIKELY if work.likely else _SAFETY
    return [
        factor * s + unit * own * size_of(v) + inner if is_float(d) else _steps(s)
        for s, v, d in zip(spread, work.results, work.dtypes, strict=True)
    ]


def _smooth_elementwise(work: Work) -> Errors:
    spread = _furthest(_ends(work, work.errors), work.results) if work.inexact else None
    errors: Errors = []
    for k, (value, dtype) in enumerate(zip(work.results, work.dtypes, strict=True)):
        if not is_float(dtype):
            errors.append(None)
            continue
        # The 1 is for functions such as expm1 that pass through exp: their error near 0 is absolute.
        scale = size_of(value) + _largest_operand(work, value.shape) + 1.0
        own = work.ulps * work.unit(dtype) * scale
        errors.append(own if spread is None else own + 2.0 * spread[k])
    return errors


def _step(work: Work) -> Errors:
    """Discontinuous functions: exact where neither a corner of the error box nor a coincidence changes the result."""
    widths = work.errors
    if work.row.ulps and work.places() != 0:
        for i in work.floats:
            o = work.operands[i]
            own = work.row.ulps * work.unit_of(o.dtype) * size_of(o.value)
            widths[i] = own if o.error is None else own + o.error
    if all(w is None for w in widths):
        return work.none()
    seen = [*_ends(work, widths), *_coincidences(work, widths)]
    spread = _furthest(seen, work.results)
    resized = any(a.shape != b.shape for corner in seen for a, b in zip(corner, work.results, strict=True))
    if work.row.sized_by_values and (resized or any(s.any() for s in spread)):
        raise Unsupported(f"{work.row.name} of undecided size")
    errors: Errors = []
    for k, (value, dtype) in enumerate(zip(work.results, work.dtypes, strict=True)):
        if work.row.ulps and is_float(dtype):
            # A remainder: continuous up to its jumps, which are as high as the divisor.
            fine = work.row.ulps * work.unit(dtype) * (size_of(value) + _largest_operand(work, value.shape))
            errors.append(np.where(spread[k] > 64 * fine, np.inf, spread[k] + fine))
        else:
            errors.append(_steps(spread[k]))
    return errors


def _steps(spread: Array) -> Array:
    return np.where(spread > 0, np.inf, 0.0)


def _cast(work: Work) -> Errors:
    """Conversions round exact values in the one right way; to integers and bool they are steps."""
    if not is_float(work.dtypes[0]):
        return _step(work)
    source = work.operands[-1]  # of full and full_like what fills comes last
    rounded = round_to(work.results[0], work.dtypes[0])
    if not isinstance(source, Tensor) or source.error is None or not is_float(source.dtype):
        work.results[0] = rounded
        return [None]
    # Exact elements round in one way; the others may round either way.
    exact = source.error == 0
    work.results[0] = np.where(exact, rounded, work.results[0])
    unit = work.unit_of(work.dtypes[0])
    return [np.where(exact, 0.0, source.error + unit * (size_of(work.results[0]) + source.error))]


def _order(work: Work) -> Errors:
    """Sorting and selection: values move by at most the largest error, positions only near ties."""
    if not work.inexact:
        return work.none()
    carried = [work.operands[i] for i in work.floats if work.operands[i].error is not None]
    largest = max(float(o.error.max(initial=0.0)) for o in carried)
    gaps = np.diff(np.sort(carried[0].value, axis=None))
    near = bool((gaps <= 2 * largest).any())
    if near and work.row.sized_by_values:
        raise Unsupported(f"{work.row.name} of undecided size")
    errors: Errors = []
    for value, dtype in zip(work.results, work.dtypes, strict=True):
        if is_float(dtype):
            errors.append(np.full(value.shape, largest))
        else:
            errors.append(np.full(value.shape, np.inf) if near else None)
    return errors


def _chosen(work: Work) -> Errors:
    """Sums of elements of the first float operand: nothing is known near ties among the others. Else the bounds of a
    sum hold, with the same elements chosen."""
    if not work.gives_floats:
        return work.none()
    first, *choosing = work.floats
    if any(_near_ties(work.operands[i]) for i in choosing):
        return [np.full(r.shape, np.inf) for r in work.results]
    summed = work.operands[first]
    error = np.zeros(summed.shape) if summed.error is None else summed.error
    widened, sizes = work.values, work.values
    sizes[first] = size_of(summed.value)
    widened[first] = sizes[first] + error
    errors: Errors = []
    for size, most, dtype in zip(
        listed(work.evaluate(sizes)), listed(work.evaluate(widened)), work.dtypes, strict=True
    ):
        unit = work.unit_of(dtype)
        if work.places_of(first) == 0 and np.all(size * unit < 0.5):
            errors.append(None)
        else:
            errors.append(np.abs(most - size) + unit * most * (work.roundings + 2.0))
    return errors


def _near_ties(operand: Tensor) -> bool:
    """Whether errors may change the order of an operand's elements. Equal exact ones keep it."""
    if operand.error is None or not operand.error.any():
        return False
    gaps = np.diff(np.sort(operand.value, axis=None))
    return bool((gaps <= 2 * float(operand.error.max())).any())


RULES: dict[Rounding, Callable[[Work], Errors]] = {
    Rounding.EXACT: _exact,
    Rounding.MOVE: _move,
    Rounding.RING: _ring,
    Rounding.SMOOTH: _smooth,
    Rounding.STEP: _step,
    Rounding.CAST: _cast,
    Rounding.ORDER: _order,
    Rounding.CHOSEN: _chosen,
}


def _ends(work: Work, widths: Sequence[Array | None]) -> list[list[Array]]:
    """Results at the corners of the box of half-widths `widths` around the operands."""
    moving = [(i, w) for i, w in enumerate(widths) if w is not None]
    corners = []
    for signs in itertools.islice(itertools.product((1.0, -1.0), repeat=len(moving)), _CORNERS):
        carriers = work.values
        for (i, width), sign in zip(moving, signs, strict=True):
            carriers[i] = carriers[i] + sign * width
        corners.append(listed(work.evaluate(carriers)))
    return corners


def _coincidences(work: Work, widths: Sequence[Array | None]) -> list[list[Array]]:
    """Results where operands are zero, or equal, as far as their half-widths allow: `equal`, `nonzero` and casts to
    bool differ there from everywhere around, so that no corner shows it."""
    zeroed = work.values
    for i, width in enumerate(widths):
        if width is not None:
            zeroed[i] = np.where(np.abs(zeroed[i]) <= width, 0.0, zeroed[i])
    seen = [listed(work.evaluate(zeroed))]
    if work.row.elementwise and len(work.floats) == 2:
        i, j = work.floats
        one, other = work.values[i], work.values[j]
        reach = np.zeros(np.broadcast_shapes(one.shape, other.shape))
        for width in (widths[i], widths[j]):
            reach = reach if width is None else reach + width
        met = work.values
        met[i] = np.where(np.abs(one - other) <= reach, other, one)
        seen.append(listed(work.evaluate(met)))
    return seen


def _furthest(corners: list[list[Array]], results: list[Array]) -> list[Array]:
    """The largest deviation from `results` over the corners; a changed class (nan, inf) counts as infinite."""
    spread: list[Array] = [np.zeros(r.shape) for r in results]
    for corner in corners:
        for k, (seen, value) in enumerate(zip(corner, results, strict=True)):
            if seen.shape != value.shape:
                spread[k] = np.full(value.shape, np.inf)
                continue
            with np.errstate(invalid="ignore"):
                gap = np.abs(seen.astype(np.float64) - value.astype(np.float64))
            same = (seen == value) | ((seen != seen) & (value != value))  # NaN twice
            gap = np.where(same, 0.0, np.nan_to_num(gap, nan=np.inf, posinf=np.inf))
            spread[k] = np.maximum(spread[k], gap)
    return spread


def _random_spread(work: Work, relative: float, of_largest: float = 0.0) -> list[Array]:
    """Deviations under random-sign perturbations by the operands' errors, `relative` of each element's size and
    `of_largest` of the largest one's: intermediate numbers of that size are rounded too."""
    random = np.random.default_rng(0)
    corners = []
    for _ in range(_SIGNS):
        carriers = work.values
        for i in work.floats:
            o = work.operands[i]
            width = relative * size_of(o.value) + (0.0 if o.error is None else o.error)
            if of_largest:
                width = width + of_largest * _largest(o.value)
            carriers[i] = o.value + random.choice((-1.0, 1.0), o.shape) * width
        corners.append(listed(work.evaluate(carriers)))
    return _furthest(corners, work.results)


def _largest(value: Array) -> float:
    return float(size_of(value).max(initial=0.0))


def size_of(value: Array) -> Array:
    """The absolute values; 0 for what is not finite, which no rounding makes another number."""
    size = np.abs(value)
    return np.where(np.isfinite(size), size, 0.0)


def _magnitudes(work: Work, widened: bool = False) -> list[Any]:
    """Carriers with float operands replaced by their absolute values, plus their errors where asked; what is not finite
    counts as 0: `errors_of_result` decides where such elements reach."""
    carriers = work.values
    for i in work.floats:
        error = work.operands[i].error
        carriers[i] = size_of(carriers[i]) + (error if widened and error is not None else 0.0)
    return carriers


def _largest_operand(work: Work, shape: tuple[int, ...]) -> Array:
    """Elementwise, the largest absolute value among the float operands, broadcast to the result."""
    largest: Array = np.zeros(shape)
    for i in work.floats:
        size = size_of(work.operands[i].value)
        try:
            largest = np.maximum(largest, np.broadcast_to(size, shape))
        except ValueError:
            largest = np.maximum(largest, size.max(initial=0.0))
    return largest
