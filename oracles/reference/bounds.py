"""Error bounds that follow a computation: what one operator does to values and their errors.

The bound of a result is what the operands' errors can do to it (found by evaluating the operator at their
ends) plus what its own rounding may do, in units of the narrowest float dtype involved. Sums and products
of whole numbers stay exact while everything is representable. Nothing here knows an operator by name: the
row's `Rounding` says which rule holds. Rules follow Higham, Accuracy and Stability of Numerical Algorithms,
chapters 2-4 (unit roundoff model, summation).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from generators.dtypes import float_facts, is_float
from generators.operators.row import Operator, Rounding
from oracles.reference.values import Array, Tensor, round_to

Evaluate = Callable[[Sequence[Any]], Any]
"""Runs the row's meaning on carriers given for its flattened operands."""

_SIGNS = 3
"""Random sign patterns per perturbation."""
_SAFETY = 8.0
"""A deviation seen under random signs is taken to be at least an eighth of the worst that counts."""


def bounded_result(
    row: Operator, operands: Sequence[Any], evaluate: Evaluate, dtype_of: Callable[[Array], str]
) -> list[Tensor]:
    """Results with bounds. `operands` are the flattened arguments: Tensors and plain values."""
    carriers = [o.value if isinstance(o, Tensor) else o for o in operands]
    results = _listed(evaluate(carriers))
    dtypes = [dtype_of(r) for r in results]
    if row.unjudged:
        return [Tensor(r, d, np.full(r.shape, np.inf)) for r, d in zip(results, dtypes, strict=True)]
    tainted = _taint(row, operands, results)
    finite = [_without_taint(o) for o in operands]
    errors = _RULES[row.rounding](row, finite, evaluate, results, dtypes)
    bounded = []
    for value, dtype, error, taint in zip(results, dtypes, errors, tainted, strict=True):
        bounded.append(Tensor(value, dtype, _merged(value, dtype, error, taint)))
    return bounded


def unit_of(operands: Sequence[Any], dtype: str) -> float:
    """The unit roundoff of the least precise float dtype among the operands and the result."""
    names = [o.dtype for o in operands if isinstance(o, Tensor)] + [dtype]
    units = [float_facts(d).unit for d in names if is_float(d)]
    return max(units, default=0.0)


def _listed(result: Any) -> list[Array]:
    if isinstance(result, (tuple, list)):
        return [np.asarray(r) for r in result]
    return [np.asarray(result)]


# --- taint: elements of which nothing is known ---------------------------------------------------------------


def _taint(row: Operator, operands: Sequence[Any], results: list[Array]) -> list[Array | None]:
    """Where an operand's infinite error reaches a result: everywhere, or elementwise. MOVE moves float taint itself."""
    masks = []
    for o in operands:
        if not isinstance(o, Tensor) or o.error is None or not np.isinf(o.error).any():
            continue
        if row.rounding is Rounding.MOVE and is_float(o.dtype) and not row.elementwise:
            continue
        masks.append(np.isinf(o.error))
    if not masks:
        return [None] * len(results)
    if not row.elementwise:
        return [np.ones(r.shape, bool) for r in results]
    return [_broadcast_any(masks, r.shape) for r in results]


def _broadcast_any(masks: list[Array], shape: tuple[int, ...]) -> Array:
    whole = np.zeros(shape, bool)
    for mask in masks:
        whole |= np.broadcast_to(mask, shape)
    return whole


def _without_taint(operand: Any) -> Any:
    if not isinstance(operand, Tensor) or operand.error is None:
        return operand
    infinite = np.isinf(operand.error)
    if not infinite.any():
        return operand
    return Tensor(operand.value, operand.dtype, np.where(infinite, 0.0, operand.error))


def _merged(value: Array, dtype: str, error: Array | None, taint: Array | None) -> Array | None:
    """The final bound: taint, overflow and underflow of the dtype included; None when all is exact."""
    if is_float(dtype) and value.size:
        facts = float_facts(dtype)
        with np.errstate(invalid="ignore"):
            risky = np.isfinite(value) & (np.abs(value) > 0.5 * facts.largest)
            tiny = (value != 0) & (np.abs(value) < facts.tiny)
        if risky.any() or tiny.any():
            error = np.zeros(value.shape) if error is None else error
            error = np.where(risky, np.inf, error + np.where(tiny, facts.tiny, 0.0))
    if taint is not None and taint.any():
        error = np.where(taint, np.inf, 0.0 if error is None else error)
    if error is None or not np.any(error):
        return None
    return np.nan_to_num(error, nan=np.inf, posinf=np.inf)


# --- rules ---------------------------------------------------------------------------------------------------


def _errors_of(operands: Sequence[Any]) -> list[int]:
    """Positions of float operands that carry an error."""
    return [i for i, o in enumerate(operands) if isinstance(o, Tensor) and is_float(o.dtype) and o.error is not None]


def _floats_of(operands: Sequence[Any]) -> list[int]:
    return [i for i, o in enumerate(operands) if isinstance(o, Tensor) and is_float(o.dtype)]


def _values(operands: Sequence[Any]) -> list[Any]:
    return [o.value if isinstance(o, Tensor) else o for o in operands]


def _ends(operands: Sequence[Any], evaluate: Evaluate, extra: Sequence[Array | None]) -> list[list[Array]]:
    """Results at every corner of the operands' error boxes (widened by `extra`), for up to four float operands."""
    moving = [i for i, e in enumerate(extra) if e is not None]
    corners = []
    for signs in itertools.islice(itertools.product((1.0, -1.0), repeat=len(moving)), 16):
        carriers = _values(operands)
        for i, sign in zip(moving, signs, strict=True):
            carriers[i] = carriers[i] + sign * extra[i]
        corners.append(_listed(evaluate(carriers)))
    return corners


def _own_errors(operands: Sequence[Any]) -> list[Array | None]:
    return [
        o.error if isinstance(o, Tensor) and is_float(o.dtype) and o.error is not None else None for o in operands
    ]


def _furthest(corners: list[list[Array]], results: list[Array]) -> list[Array]:
    """The largest deviation from `results` over the corners; a changed class (nan, inf) counts as infinite."""
    spread = [np.zeros(r.shape) for r in results]
    for corner in corners:
        for k, (seen, value) in enumerate(zip(corner, results, strict=True)):
            if seen.shape != value.shape:
                spread[k] = np.full(value.shape, np.inf)
                continue
            with np.errstate(invalid="ignore"):
                gap = np.abs(seen.astype(np.float64) - value.astype(np.float64))
            gap[seen == value] = 0.0
            spread[k] = np.maximum(spread[k], np.nan_to_num(gap, nan=np.inf, posinf=np.inf))
    return spread


def _exact(row: Operator, operands: Sequence[Any], evaluate: Evaluate, results: list[Array], dtypes: list[str]) -> Any:
    return [None] * len(results)


def _move(row: Operator, operands: Sequence[Any], evaluate: Evaluate, results: list[Array], dtypes: list[str]) -> Any:
    """Errors take the way of the elements: the same meaning applied to them."""
    if not any(isinstance(o, Tensor) and o.error is not None and is_float(o.dtype) for o in operands):
        return [None] * len(results)
    moved = []
    for o in operands:
        if isinstance(o, Tensor) and is_float(o.dtype):
            moved.append(np.zeros(o.shape) if o.error is None else o.error)
        else:
            moved.append(o.value if isinstance(o, Tensor) else o)
    return [
        np.abs(e) if is_float(d) else None for e, d in zip(_listed(evaluate(moved)), dtypes, strict=True)
    ]


def _ring(row: Operator, operands: Sequence[Any], evaluate: Evaluate, results: list[Array], dtypes: list[str]) -> Any:
    """Sums and products: exact on whole numbers below 2**p, else first-order in the unit roundoff."""
    if not any(is_float(d) for d in dtypes):
        return [None] * len(results)
    inexact = _errors_of(operands)
    sizes = results if row.elementwise else _listed(evaluate([_magnitude(o) for o in operands]))
    terms = _terms(row, operands, results)
    bounds: list[Array | None] = []
    corners = _ends(operands, evaluate, _own_errors(operands)) if inexact and row.elementwise else []
    spread = _furthest(corners, results) if corners else None
    if inexact and not row.elementwise:
        widened = _listed(evaluate([_magnitude(o, widened=True) for o in operands]))
        spread = [np.abs(w - s) for w, s in zip(widened, sizes, strict=True)]
    for k, (value, dtype) in enumerate(zip(results, dtypes, strict=True)):
        unit = unit_of(operands, dtype)
        size = np.abs(sizes[k])
        if row.elementwise:
            size = np.maximum(size, _largest_operand(operands, value.shape))
        if not inexact and _whole(operands) and np.all(size * unit < 0.5):
            bounds.append(None)
            continue
        own = unit * size * (2.0 if row.elementwise else terms + 2.0)
        bounds.append(own if spread is None else own + spread[k])
    return bounds


def _smooth(row: Operator, operands: Sequence[Any], evaluate: Evaluate, results: list[Array], dtypes: list[str]) -> Any:
    """Continuous functions: corners of the error box elementwise, random signs otherwise."""
    if not any(is_float(d) for d in dtypes):
        return [None] * len(results)
    if row.elementwise:
        return _smooth_elementwise(row, operands, evaluate, results, dtypes)
    unit = max(unit_of(operands, d) for d in dtypes)
    terms = _terms(row, operands, results)
    spread = _random_spread(operands, evaluate, results, unit * math.sqrt(terms))
    return [
        _SAFETY * s + unit * (terms + row.ulps) * np.abs(v) if is_float(d) else _steps(s)
        for s, v, d in zip(spread, results, dtypes, strict=True)
    ]


def _smooth_elementwise(
    row: Operator, operands: Sequence[Any], evaluate: Evaluate, results: list[Array], dtypes: list[str]
) -> list[Array | None]:
    own_errors = _own_errors(operands)
    spread = _furthest(_ends(operands, evaluate, own_errors), results) if any(e is not None for e in own_errors) else None
    bounds: list[Array | None] = []
    for k, (value, dtype) in enumerate(zip(results, dtypes, strict=True)):
        if not is_float(dtype):
            bounds.append(None)
            continue
        unit = unit_of(operands, dtype)
        scale = np.abs(value) + _largest_operand(operands, value.shape)
        own = row.ulps * unit * scale
        bounds.append(own if spread is None else own + 2.0 * spread[k])
    return bounds


def _step(row: Operator, operands: Sequence[Any], evaluate: Evaluate, results: list[Array], dtypes: list[str]) -> Any:
    """Discontinuous elementwise functions: exact where no corner of the error box changes the result."""
    errors = _own_errors(operands)
    if row.ulps and not _whole(operands):
        errors = [
            (0.0 if e is None else e) + row.ulps * unit_of([o], "bool") * np.abs(o.value)
            if isinstance(o, Tensor) and is_float(o.dtype)
            else None
            for o, e in zip(operands, errors, strict=True)
        ]
    if all(e is None for e in errors):
        return [None] * len(results)
    spread = _furthest(_ends(operands, evaluate, errors), results)
    bounds: list[Array | None] = []
    for k, (value, dtype) in enumerate(zip(results, dtypes, strict=True)):
        if row.ulps and is_float(dtype):
            # A remainder: continuous up to its jumps, which are as high as the divisor.
            unit = unit_of(operands, dtype)
            scale = np.abs(value) + _largest_operand(operands, value.shape)
            jump = spread[k] > 64 * row.ulps * unit * scale
            bounds.append(np.where(jump, np.inf, spread[k] + row.ulps * unit * scale))
        else:
            bounds.append(_steps(spread[k]))
    return bounds


def _steps(spread: Array) -> Array:
    return np.where(spread > 0, np.inf, 0.0)


def _cast(row: Operator, operands: Sequence[Any], evaluate: Evaluate, results: list[Array], dtypes: list[str]) -> Any:
    """Conversions round exact values in the one right way; to integers and bool they are steps."""
    if not is_float(dtypes[0]):
        return _step(row, operands, evaluate, results, dtypes)
    source = operands[0]
    rounded = round_to(results[0], dtypes[0])
    if not isinstance(source, Tensor) or source.error is None or not is_float(source.dtype):
        results[0] = rounded
        return [None]
    # Exact elements round in one way; the others may round either way.
    exact = source.error == 0
    results[0] = np.where(exact, rounded, results[0])
    unit = float_facts(dtypes[0]).unit
    return [np.where(exact, 0.0, source.error + unit * (np.abs(results[0]) + source.error))]


def _order(row: Operator, operands: Sequence[Any], evaluate: Evaluate, results: list[Array], dtypes: list[str]) -> Any:
    """Sorting and selection: values move by at most the largest error, positions not at all unless there are near-ties."""
    inexact = _errors_of(operands)
    if not inexact:
        return [None] * len(results)
    largest = max(float(operands[i].error.max(initial=0.0)) for i in inexact)
    ordered = np.sort(operands[inexact[0]].value, axis=None)
    gaps = np.diff(ordered)
    near = bool(gaps.size) and bool((gaps <= 2 * largest).any())
    bounds: list[Array | None] = []
    for value, dtype in zip(results, dtypes, strict=True):
        if is_float(dtype):
            bounds.append(np.full(value.shape, largest))
        else:
            bounds.append(np.full(value.shape, np.inf) if near else None)
    return bounds


# --- shared quantities ---------------------------------------------------------------------------------------


def _magnitude(operand: Any, widened: bool = False) -> Any:
    if not isinstance(operand, Tensor):
        return operand
    if not is_float(operand.dtype):
        return operand.value
    size = np.abs(operand.value)
    return size + operand.error if widened and operand.error is not None else size


def _whole(operands: Sequence[Any]) -> bool:
    """Whether all float operands are exact whole numbers."""
    for i in _floats_of(operands):
        o = operands[i]
        if o.error is not None or not np.all(np.isfinite(o.value)) or np.any(o.value != np.trunc(o.value)):
            return False
    return True


def _largest_operand(operands: Sequence[Any], shape: tuple[int, ...]) -> Array:
    """Elementwise, the largest absolute value among the float operands, broadcast to the result."""
    whole = np.zeros(shape)
    for i in _floats_of(operands):
        size = np.abs(operands[i].value)
        try:
            whole = np.maximum(whole, np.broadcast_to(size, shape))
        except ValueError:
            whole = np.maximum(whole, size.max(initial=0.0))
    return whole


def _terms(row: Operator, operands: Sequence[Any], results: list[Array]) -> float:
    """How many numbers meet in one element of the result."""
    if row.terms is not None:
        return float(row.terms(*_values(operands)))
    return float(max((operands[i].value.size for i in _floats_of(operands)), default=1))


def _random_spread(operands: Sequence[Any], evaluate: Evaluate, results: list[Array], relative: float) -> list[Array]:
    """Deviations under random-sign perturbations by the operands' errors and `relative` of their size."""
    random = np.random.default_rng(0)
    moving = _floats_of(operands)
    corners = []
    for _ in range(_SIGNS):
        carriers = _values(operands)
        for i in moving:
            o = operands[i]
            width = relative * np.abs(o.value) + (0.0 if o.error is None else o.error)
            carriers[i] = o.value + random.choice((-1.0, 1.0), o.shape) * width
        corners.append(_listed(evaluate(carriers)))
    return _furthest(corners, results)


_RULES: dict[Rounding, Callable[..., Any]] = {
    Rounding.EXACT: _exact,
    Rounding.MOVE: _move,
    Rounding.RING: _ring,
    Rounding.SMOOTH: _smooth,
    Rounding.STEP: _step,
    Rounding.CAST: _cast,
    Rounding.ORDER: _order,
}
