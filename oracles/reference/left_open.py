"""Elements of which nothing can be said because operands hold NaN or infinities that their operator has no meaning for.

The rows of the operator table say what is left open (`generators.operators.specials`). Where a row takes what its
operands hold, the class of a result (NaN, one of the infinities, a number) follows from those of the operands alone,
and the rules of `error_rules` bound the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from generators.dtypes import Array, is_float
from generators.operators.row import Operator, Rounding
from generators.operators.specials import Set, Special
from oracles.reference.values import Runtime, Tensor
from oracles.reference.work import Evaluate, listed


def left_open(
    row: Operator, operands: Sequence[Runtime], evaluate: Evaluate, results: Sequence[Array]
) -> list[Array | None]:
    """For each result the elements that are open, None for none. operands: flattened."""
    floats = [o for o in operands if isinstance(o, Tensor) and is_float(o.dtype)]
    special = [o for o in floats if not np.isfinite(o.value).all()]
    if row.elementwise:
        return _of_elements(row, operands, floats, special, results)
    if row.rounding is Rounding.RING:
        return _of_sums(row, operands, floats, special, evaluate, results)
    if row.rounding in (Rounding.SMOOTH, Rounding.CHOSEN):
        return _of_functions(row, floats, results, special)
    nan = row.rounding in (Rounding.STEP, Rounding.ORDER) and any(np.isnan(o.value).any() for o in special)
    return [np.ones(r.shape, np.bool_) if nan else None for r in results]


def _not_finite(result: Array) -> Array | None:
    if result.dtype.kind != "f":
        return None
    wrong = ~np.isfinite(result)
    return wrong if wrong.any() else None


def _takes(taken: Set, special: Sequence[Tensor]) -> bool:
    return not any(_refused(taken, o.value).any() for o in special)


def _refused(taken: Set, value: Array) -> Array:
    """Where a value holds what is not taken."""
    wrong = np.zeros(value.shape, np.bool_)
    if Special.NAN not in taken:
        wrong |= np.isnan(value)
    if Special.INFINITY not in taken:
        wrong |= np.isinf(value)
    return wrong


def _of_elements(
    row: Operator,
    operands: Sequence[Runtime],
    floats: Sequence[Tensor],
    special: Sequence[Tensor],
    results: Sequence[Array],
) -> list[Array | None]:
    masks: list[Array | None] = []
    for result in results:
        whole = np.zeros(result.shape, np.bool_)
        taken = row.specials.takes if result.dtype.kind not in "iu" else frozenset[Special]()
        for o in special:
            whole |= np.broadcast_to(_refused(taken, o.value), result.shape)
        if special and row.specials.left_open is not None:
            carriers = [o.value if isinstance(o, Tensor) else o for o in operands]
            whole |= np.broadcast_to(row.specials.left_open(*carriers), result.shape)
        if result.dtype.kind == "f" and row.rounding in (Rounding.RING, Rounding.SMOOTH):
            whole |= ~np.isfinite(result) & _all_finite(floats, result.shape)
        masks.append(whole if whole.any() else None)
    return masks


def _all_finite(floats: Sequence[Tensor], shape: tuple[int, ...]) -> Array:
    """Where no operand is special: a result that is, has overflowed or left the domain."""
    finite = np.ones(shape, np.bool_)
    for o in floats:
        finite &= np.broadcast_to(np.isfinite(o.value), shape)
    return finite


def _of_functions(
    row: Operator, floats: Sequence[Tensor], results: Sequence[Array], special: Sequence[Tensor]
) -> list[Array | None]:
    """Continuous functions of many elements: all is open, unless the row takes it and every operand is exact."""
    if special and not _takes(row.specials.takes, special):
        return [np.ones(r.shape, np.bool_) for r in results]
    exact = bool(special) and all(o.error is None for o in floats)
    return [None if exact else _not_finite(r) for r in results]


def _of_sums(
    row: Operator,
    operands: Sequence[Runtime],
    floats: Sequence[Tensor],
    special: Sequence[Tensor],
    evaluate: Evaluate,
    results: Sequence[Array],
) -> list[Array | None]:
    """Sums and products of many elements: open is what a special one goes into, unless the row takes it and every
    operand is exact, so that no sign is in doubt."""
    exact = all(o.error is None for o in floats)
    if special and exact and _takes(row.specials.takes, special):
        return [None] * len(results)
    if not special:
        return [_not_finite(r) for r in results]
    carriers: list[Any] = [o.value if isinstance(o, Tensor) else o for o in operands]
    for place, o in enumerate(operands):
        if isinstance(o, Tensor) and is_float(o.dtype):
            carriers[place] = np.abs(o.value)
    return [_not_finite(s) for s in listed(evaluate(carriers))]
