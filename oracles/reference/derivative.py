"""Derivatives of what a function computes, from what it gives beside a point: in float64, without rounding.

Central differences at three distances are extrapolated to no distance (Richardson, Phil. Trans. R. Soc. A 210, 1911).
Near a kink there is no derivative: the extrapolations differ, or second differences do not vanish with the distance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from generators.dtypes import Array
from generators.tvm_api import IRModule
from oracles.reference.engine import Interpreter
from oracles.reference.values import Runtime, Tensor

DISTANCES = (2.0**-7, 2.0**-8, 2.0**-9)
SMOOTH = 1e-3
"""How far differences may be from those of a smooth function, as a part of the numbers that they are of."""


class Fit(Enum):
    """Whether a number is the derivative."""

    RIGHT = auto()
    WRONG = auto()
    UNKNOWN = auto()
    """There is none as far as can be seen."""


@dataclass(frozen=True, slots=True)
class Slope:
    """A derivative. rough: how far the differences that it is made of are from those of a smooth function; at: the
    value there."""

    value: float
    rough: float
    at: float

    def fit(self, given: float, size: float = 0.0) -> Fit:
        """Whether this number is the derivative. size: of the terms that it is a sum of."""
        scale = max(abs(self.value), abs(given), size)
        if not np.isfinite(scale) or not self.rough <= SMOOTH * max(scale, abs(self.at), 1.0):
            return Fit.UNKNOWN
        bound = SMOOTH * max(scale, abs(self.at), 1.0)
        return Fit.RIGHT if abs(given - self.value) <= bound else Fit.WRONG


def slopes(values: Callable[[float], Array]) -> list[Slope]:
    """The derivatives at zero of what a function of a number gives, an array of one dim."""
    here = values(0.0)
    sides = [(values(distance), values(-distance)) for distance in DISTANCES]
    central = [(ahead - behind) / (2 * h) for (ahead, behind), h in zip(sides, DISTANCES, strict=True)]
    bends = [(ahead + behind - 2 * here) / h for (ahead, behind), h in zip(sides, DISTANCES, strict=True)]
    first, last = ((4 * b - a) / 3 for a, b in ((central[0], central[1]), (central[1], central[2])))
    kink = (4 * bends[2] - bends[0]) / 3  # What second differences come to at no distance; the last is a quarter of it.
    rough = np.abs(last - first) + np.abs(kink)
    return [Slope(float(s), float(r), float(v)) for s, r, v in zip(last, rough, here, strict=True)]


def unrounded(module: IRModule, function: str, inputs: Sequence[Tensor]) -> Runtime:
    """What a function gives without rounding. Raises Trap and Unsupported."""
    machine = Interpreter(module, bounded=True)
    with np.errstate(all="ignore"):
        return machine.apply(machine.function(function), list(inputs), function)
