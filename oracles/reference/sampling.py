"""How a run samples what rounding does to its results: what `oracles.reference.noise` and `oracles.reference.shaken`
have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from generators.dtypes import Array
from oracles.reference.values import Runtime, Tensor

SAFETY = 4.0
"""By how much a deviation may be larger than what the runs show."""
NEXT_TO_NONE = 1e-300
"""The error of an operand that is inexact, for the local error of an operation: no more than that it is inexact."""

Recompute: TypeAlias = Callable[[Sequence[Any]], Sequence[Array]]
"""The results of an operation for the carriers of its flattened operands."""
Bounded: TypeAlias = Callable[[Sequence[Runtime]], Sequence[Tensor]]
"""The results of an operation with bounds for these operands."""


class Sampling(Protocol):
    """What happens to the bounds of each operation in a run.

    absent: nothing rounds at all. by_itself: a PrimFunc has its own error alone, as if its inputs were exact.
    """

    absent: bool
    by_itself: bool

    def sharpened(
        self, operands: Sequence[Runtime], worst: Bounded, evaluate: Recompute, likely: Bounded
    ) -> list[Tensor]:
        """The results of an operation with other bounds than the worst-case ones of `worst`.

        operands: flattened. likely: the same for errors as they are likely to be, where it is not known which of them
        are the worst.
        """
        ...


def random_signs(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """1.0 or -1.0 for each element."""
    signs: Array = random.integers(0, 2, shape) * 2.0 - 1.0
    return signs


def apart(one: Array, other: Array) -> Array:
    """Elementwise distance: 0 for two of a kind (NaN, the same infinity), infinite for two of different kinds."""
    with np.errstate(invalid="ignore"):
        gap = np.abs(one - other)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return np.where(same, 0.0, np.nan_to_num(gap, nan=np.inf, posinf=np.inf))
