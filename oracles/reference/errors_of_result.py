"""The error bounds of one operator's results.

A bound has two parts: the effect of the operands' errors (found by evaluating the operator at the ends of their
intervals), and the operator's own rounding. The rules for both are in `error_rules.py`; what is left open of NaN and
infinities is in `left_open.py`. This file handles elements with an infinite error, overflow and underflow, and puts the
final bound together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from generators.dtypes import Array, FloatFacts, is_float
from generators.operators.row import Operator, Rounding
from oracles.reference.error_rules import RULES
from oracles.reference.errors import Unsupported
from oracles.reference.left_open import left_open
from oracles.reference.values import Runtime, Tensor, round_to
from oracles.reference.work import Evaluate, Result, Work, listed, precision


def bounded_result(
    row: Operator,
    operands: Sequence[Runtime],
    result: Result,
    evaluate: Evaluate,
    dtype_of: Callable[[Array], str],
    terms: float | None,
    floor: str | None = None,
    likely: bool = False,
    rounds: bool = True,
) -> list[Tensor]:
    """Results with bounds. `operands` are the flattened arguments, Tensors and plain values; `result` is the
    result of `evaluate` for their carriers; `terms` how many numbers meet in one element, None to estimate it;
    `floor` the dtype that operands may be rounded to, and results computed in, instead of their own; `likely` as in
    `work.Work`; `rounds` whether rounding is bounded: else the bounds are those of what is open, and of overflow.
    Raises Unsupported if the size of a result depends on operands with an error."""
    operands = operands if floor is None else [_rounded_to(o, floor) for o in operands]
    results = listed(result)
    dtypes = [dtype_of(r) for r in results]
    if row.unjudged:
        return [Tensor(r, d, np.full(r.shape, np.inf)) for r, d in zip(results, dtypes, strict=True)]
    opened = left_open(row, operands, evaluate, results)
    tainted = [_either(t, o) for t, o in zip(_taint(row, operands, results), opened, strict=True)]
    if row.sized_by_values and any(t is not None for t in tainted):
        raise Unsupported(f"{row.name} of undecided size")
    finite = list(operands) if _moves(row) else [_without_taint(o) for o in operands]
    work = Work(row, finite, evaluate, results, dtypes, terms, floor, likely)
    errors = RULES[row.rounding](work) if rounds else work.none()
    bounded = []
    for value, dtype, error, taint in zip(results, dtypes, errors, tainted, strict=True):
        bounded.append(Tensor(value, dtype, _merged(value, precision(dtype, floor), error, taint)))
    return bounded


def _rounded_to(operand: Runtime, dtype: str) -> Runtime:
    """A float operand with the error of rounding it to `dtype`."""
    if not isinstance(operand, Tensor) or not is_float(operand.dtype):
        return operand
    facts = precision(operand.dtype, dtype)
    assert facts is not None
    inexact = round_to(operand.value, dtype) != operand.value
    if operand.error is not None:
        inexact |= operand.error != 0
    inexact &= np.isfinite(operand.value)
    if not inexact.any():
        return operand
    error = 0.0 if operand.error is None else operand.error
    own = np.where(inexact, facts.unit * (np.abs(operand.value) + error) + facts.tiny, 0.0)
    beyond = inexact & (np.abs(operand.value) + error > 0.5 * facts.largest)
    return Tensor(operand.value, operand.dtype, np.where(beyond, np.inf, error + own))


# --- taint: elements of which nothing is known ---------------------------------------------------------------


def _moves(row: Operator) -> bool:
    """Whether the row's rule carries infinite errors of floats to where their elements go."""
    return row.rounding is Rounding.MOVE and not row.elementwise


def _taint(row: Operator, operands: Sequence[Runtime], results: list[Array]) -> list[Array | None]:
    """Where infinite errors of operands reach a result: everywhere, or elementwise; None where the rule sees to it."""
    masks = []
    for o in operands:
        if not isinstance(o, Tensor) or not o.left_open.any():
            continue
        if _moves(row) and is_float(o.dtype):
            continue
        masks.append(o.left_open)
    if not masks:
        return [None] * len(results)
    if not row.elementwise:
        return [np.ones(r.shape, bool) for r in results]
    return [_broadcast_any(masks, r.shape) for r in results]


def _either(one: Array | None, other: Array | None) -> Array | None:
    if one is None or other is None:
        return other if one is None else one
    return one | other


def _broadcast_any(masks: list[Array], shape: tuple[int, ...]) -> Array:
    whole = np.zeros(shape, bool)
    for mask in masks:
        whole |= np.broadcast_to(mask, shape)
    return whole


def _without_taint(operand: Runtime) -> Runtime:
    if not isinstance(operand, Tensor) or operand.error is None:
        return operand
    infinite = np.isinf(operand.error)
    if not infinite.any():
        return operand
    return Tensor(operand.value, operand.dtype, np.where(infinite, 0.0, operand.error))


def _merged(value: Array, facts: FloatFacts | None, error: Array | None, taint: Array | None) -> Array | None:
    """The final bound: taint, overflow and underflow of a float dtype included; None when all is exact."""
    if facts is not None and value.size:
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
