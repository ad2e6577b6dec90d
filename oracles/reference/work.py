"""One application of an operator, as the error rules see it: operands with errors, results, dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from generators.case import Shape
from generators.dtypes import Array, FloatFacts, Scalar, float_facts, is_float
from generators.operators.row import Operator
from oracles.reference.values import Tensor

Carrier: TypeAlias = Array | Scalar | Shape
"""What an operand is for the meaning of an operator."""
Result: TypeAlias = Array | Scalar | Sequence[Array | Scalar]
Evaluate: TypeAlias = Callable[[Sequence[Carrier]], Result]
"""Runs the row's meaning on carriers given for its flattened operands."""
Errors: TypeAlias = "list[Array | None]"
"""One error array per result, None where it is exact."""

_MOST_PLACES = 12
"""Binary places after the point that are looked for: numbers with more are taken for rounded ones."""


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
        numbers. Usually it is the root of that (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), but rounding errors of
        equal terms all point one way."""
        return self.count()

    def places(self) -> int | None:
        """The binary places after the point of the products of all float operands, where these are exact: 0 for whole
        numbers. None where one is inexact, or has too many places."""
        found = [_places_of(self.operands[i]) for i in self.floats]
        known = [places for places in found if places is not None]
        if len(known) < len(found):
            return None
        return 2 * known[0] if len(known) == 1 else sum(known)

    def places_of(self, place: int) -> int | None:
        """The same of one operand alone."""
        return _places_of(self.operands[place])

    def none(self) -> Errors:
        """No error in any result."""
        return [None] * len(self.results)


def _places_of(operand: Tensor) -> int | None:
    """The binary places after the point of an exact operand's finite elements; None if there are too many."""
    if operand.error is not None:
        return None
    finite = operand.value[np.isfinite(operand.value)]
    if not _whole(np.ldexp(finite, _MOST_PLACES)):
        return None
    return next(places for places in range(_MOST_PLACES + 1) if _whole(np.ldexp(finite, places)))


def _whole(value: Array) -> bool:
    return np.array_equal(value, np.trunc(value))


def listed(result: Result) -> list[Array]:
    """The arrays of a result, one or several."""
    if isinstance(result, (tuple, list)):
        return [np.asarray(r) for r in result]
    return [np.asarray(result)]
