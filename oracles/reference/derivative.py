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
from oracles.reference.values import Runtime

DISTANCES = tuple(0.00191 / part for part in (1, 2, 4))
"""No multiples of a power of two, which periods may be."""
SMOOTH = 1e-3
"""How far differences may be from those of a smooth function, as a part of the numbers that they are of."""
NEAR = 1e-5
"""How far a right number may be from the derivative, as a part of what it is the sum of."""
LITERAL = 2e-6
"""How far by the numbers of float32 that a derivative is computed with, as a part of the largest value on the way."""


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

    def fit(self, given: float, size: float = 0.0, largest: float = 0.0) -> Fit:
        """Whether this number is the derivative. size: of the terms that it is a sum of; largest: value on the way to
        it."""
        scale = max(abs(self.value), abs(given), size)
        if not np.isfinite(scale) or not self.rough <= SMOOTH * max(scale, 1.0):
            return Fit.UNKNOWN
        bound = 4 * self.rough + NEAR * scale + LITERAL * max(largest, abs(self.at))
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


def unrounded(
    module: IRModule, function: str, inputs: Sequence[Runtime], met: Callable[[Runtime], None] | None = None
) -> Runtime:
    """What a function gives, where no operator but a cast rounds. met: is given every value on the way. Raises Trap and
    Unsupported."""
    watch = None if met is None else lambda _function, _variable, value: met(value)
    machine = Interpreter(module, bounded=True, watch=watch)
    with np.errstate(all="ignore"):
        return machine.apply(machine.function(function), list(inputs), function)
