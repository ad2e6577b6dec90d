"""The error rules: one function per `Rounding`, which gives the errors of an operator's results.

No rule names an operator. Sums and products of whole numbers stay exact while everything is representable. Otherwise
the rules follow the unit roundoff model and the summation bounds of Higham, Accuracy and Stability of Numerical
Algorithms, chapters 2 to 4; the errors of operands are propagated by evaluating at the ends of their intervals.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from generators.case import Shape
from generators.dtypes import Array, FloatFacts, Scalar, float_facts, is_float
from generators.operators.row import Operator, Rounding
from oracles.reference.errors import Unsupported
from oracles.reference.values import Tensor, round_to

Carrier: TypeAlias = Array | Scalar | Shape
"""What an operand is for the meaning of an operator."""
Result: TypeAlias = Array | Scalar | Sequence[Array | Scalar]
Evaluate: TypeAlias = Callable[[Sequence[Carrier]], Result]
"""Runs the row's meaning on carriers given for its flattened operands."""
Errors: TypeAlias = "list[Array | None]"
"""One error array per result, None where it is exact."""

_SIGNS = 3
"""Random sign patterns per perturbation."""
_SAFETY = 8.0
"""A deviation seen under random signs is taken to be at least an eighth of the worst that counts."""
_LIKELY = 2.0
"""The same factor where what is likely is asked for."""
_CORNERS = 16
"""Corners of the operands' error box that are evaluated at most: all of them for four inexact operands."""


def precision(dtype: str, floor: str | None) -> FloatFacts | None:
    """Precision and range of a float dtype, or of `floor` where that is coarser; None for other dtypes."""
    if not is_float(dtype):
        return None
    own = float_facts(dtype)
    if floor is None:
        return own
    low = float_facts(floor)
    return FloatFacts(max(own.unit, low.unit), min(own.largest, low.largest), max(own.tiny, low.tiny))


@dataclass(frozen=True, slots=True)
class Work:
    """One application of a row: flattened operands without infinite errors, results, their dtypes.

    terms: how many numbers meet in one element, None to estimate it from the operands' sizes. floor: the dtype that
    it may be carried out in instead of its own. likely: what rounding of its own is likely to do is asked for, and not
    the most that it can do: `oracles.reference.noise` multiplies it.
    """

    row: Operator
    operands: list[Any]
    evaluate: Evaluate
    results: list[Array]
    dtypes: list[str]
    terms: float | None
    floor: str | None = None
    likely: bool = False

    @property
    def floats(self) -> list[int]:
        """Positions of the float operands."""
        return [i for i, o in enumerate(self.operands) if isinstance(o, Tensor) and is_float(o.dtype)]

    @property
    def values(self) -> list[Any]:
        """The carriers."""
        return [o.value if isinstance(o, Tensor) else o for o in self.operands]

    @property
    def errors(self) -> Errors:
        """The operands' errors by position, None for exact and for non-float ones."""
        return [o.error if isinstance(o, Tensor) and is_float(o.dtype) else None for o in self.operands]

    @property
    def inexact(self) -> bool:
        """Whether a float operand carries an error."""
        return any(e is not None for e in self.errors)

    @property
    def gives_floats(self) -> bool:
        """Whether a result is of a float dtype."""
        return any(is_float(d) for d in self.dtypes)

    def unit(self, dtype: str) -> float:
        """The unit roundoff of the least precise float dtype among the operands and a result of `dtype`."""
        names = [self.operands[i].dtype for i in self.floats] + [dtype]
        return max(map(self.unit_of, names))

    def unit_of(self, dtype: str) -> float:
        """The unit roundoff of `dtype`, 0 for other dtypes than floats."""
        facts = precision(dtype, self.floor)
        return 0.0 if facts is None else facts.unit

    def count(self) -> float:
        """How many numbers meet in one element of the result."""
        if self.terms is not None:
            return float(self.terms)
        return float(max((self.operands[i].value.size for i in self.floats), default=1))

    @property
    def ulps(self) -> float:
        """The row's allowance in units in the last place: an allowance of many is a generous one."""
        return max(self.row.ulps / 4, min(self.row.ulps, 4.0)) if self.likely else self.row.ulps

    @property
    def roundings(self) -> float:
        """How many units a sum of `count` numbers may be off by, over the sum of their sizes: as many as there are
        numbers. Mostly it is the root of that (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), but rounding errors of
        equal terms all point one way."""
        return self.count()

    def whole(self) -> bool:
        """Whether all float operands are exact whole numbers, or not finite."""
        for i in self.floats:
            o = self.operands[i]
            if o.error is not None or np.any(np.isfinite(o.value) & (o.value != np.trunc(o.value))):
                return False
        return True

    def none(self) -> Errors:
        """No error in any result."""
        return [None] * len(self.results)


def listed(result: Result) -> list[Array]:
    """The arrays of a result, one or several."""
    if isinstance(result, (tuple, list)):
        return [np.asarray(r) for r in result]
    return [np.asarray(result)]


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
    """Sums and products: exact on whole numbers below 2**p, else first-order in the unit roundoff."""
    if not work.gives_floats:
        return work.none()
    sizes, spread = _ring_sizes(work)
    whole = work.whole()
    errors: Errors = []
    for k, dtype in enumerate(work.dtypes):
        unit = work.unit(dtype)
        terms = 2.0 if work.row.elementwise else work.roundings + 2.0
        if whole and np.all(sizes[k] * unit < 0.5):
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
    if work.row.ulps and not work.whole():
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
    source = work.operands[0]
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


RULES: dict[Rounding, Callable[[Work], Errors]] = {
    Rounding.EXACT: _exact,
    Rounding.MOVE: _move,
    Rounding.RING: _ring,
    Rounding.SMOOTH: _smooth,
    Rounding.STEP: _step,
    Rounding.CAST: _cast,
    Rounding.ORDER: _order,
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
