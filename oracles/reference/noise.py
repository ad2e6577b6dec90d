"""Sharper error bounds: what rounding does to a module's results is sampled where a worst-case bound has outgrown them.

A worst-case bound adds up as if every rounding error took the worst of all ways to the result, so that after one
block of a transformer it is wider than the value. Here each operation still makes its worst local error: that of
`error_rules` for operands that have next to none. How these errors travel on is seen in RUNS evaluations in which every
element of every result is off by its local error with a random sign (Monte Carlo arithmetic: Parker, UCLA CSD-970002,
1997; CESTAC: Vignes, Mathematics and Computers in Simulation 35, 1993). The bound of an element is the largest
deviation seen there, or the root mean square of those of its tensor where that is larger, times SAFETY.

Why a right pass stays within: each rounding of its result is one that the local errors cover, with other signs, and a
result follows its rounding errors linearly as long as they are small. By chance all runs may deviate little in one
element: the root mean square of the tensor stands in for it there. Not covered are errors of many results that all
point one way; so a difference by these bounds alone counts only where the operators in float64 differ, too
(`oracles.reference.numbers`).

What is discontinuous is not sampled: comparisons, casts to integers and orders ask, by the rules of `error_rules`,
whether an operand comes as near to a step as its sharpened bound allows, and are undecided there, with all that follows
from them. An infinite bound stays infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from generators.dtypes import NARROW, Array, float_facts, is_float
from oracles.reference.sampling import NEXT_TO_NONE, SAFETY, Bounded, Recompute, apart, random_signs
from oracles.reference.values import Runtime, Tensor

RUNS = 8
"""Evaluations with random signs."""


@dataclass(frozen=True, slots=True)
class Sampled(Tensor):
    """A tensor with its values in each of the runs. `error` is the sharpened bound."""

    samples: tuple[Array, ...] = ()


class Noise:
    """The random signs of all runs of one entry call; the same seed gives the same ones.

    once: floats of 16 bits are computed exactly and each result is rounded once, which is all that two evaluations in
    float64 of right modules may differ by. absent: nothing rounds at all, so that no step is in doubt; an infinite
    bound is then left for what is open whatever rounding does.
    """

    by_itself = False

    def __init__(self, seed: int = 0, once: bool = False, absent: bool = False) -> None:
        self._random = np.random.default_rng(seed)
        self.once = once
        self.absent = absent

    def sharpened(
        self, operands: Sequence[Runtime], worst: Bounded, evaluate: Recompute, likely: Bounded
    ) -> list[Tensor]:
        """The results of an operation with the smaller of their worst-case bounds and those of the runs."""
        results = list(worst(operands))
        if self.once:
            exact = [np.asarray(value) for value in evaluate([_held(o) for o in operands])]
            results = [_rounding(r, value) for r, value in zip(results, exact, strict=True)]
        if not any(is_float(r.dtype) and r.error is not None for r in results):
            return results
        own = [r.error for r in likely([_nearly_exact(o) for o in operands])]
        if self.once:
            own = [_one_rounding(r) if r.dtype in NARROW else error for r, error in zip(results, own, strict=True)]
        seen = [evaluate([self._drawn(o, run) for o in operands]) for run in range(RUNS)]
        return [
            self._one(result, own[place], [np.asarray(run[place]) for run in seen])
            for place, result in enumerate(results)
        ]

    def _one(self, result: Tensor, own: Array | None, seen: list[Array]) -> Tensor:
        error = result.error
        if error is None or not is_float(result.dtype) or result.memory is not None:
            return result
        if any(s.shape != result.shape for s in seen):
            return result
        if own is not None:
            finite = np.where(np.isinf(own), 0.0, own)
            seen = [s + self._signs(s.shape) * finite for s in seen]
        samples = tuple(np.where(error == 0, result.value, s) for s in seen)
        spread = np.zeros(result.shape)
        for sample in samples:
            spread = np.maximum(spread, apart(sample, result.value))
        judged = spread[np.isfinite(spread) & np.isfinite(error)]
        typical = float(np.sqrt(np.mean(judged**2))) if judged.size else 0.0
        sharp = np.minimum(error, SAFETY * np.maximum(spread, typical))
        silent = np.isinf(error) | np.isinf(spread)  # of another class in one of the runs: NaN, an infinity
        return Sampled(result.value, result.dtype, np.where(silent, np.inf, sharp), samples=samples)

    def _drawn(self, operand: Runtime, run: int) -> Any:
        """The carrier of an operand in one run. One without runs of its own is anywhere within its bound."""
        if isinstance(operand, Sampled):
            return operand.samples[run]
        if not isinstance(operand, Tensor):
            return operand
        if operand.error is None or not is_float(operand.dtype):
            return operand.value
        width = np.where(np.isinf(operand.error), 0.0, operand.error)
        return operand.value + self._signs(operand.shape) * width

    def _signs(self, shape: tuple[int, ...]) -> Array:
        return random_signs(self._random, shape)


def _held(operand: Runtime) -> Any:
    return operand.value if isinstance(operand, Tensor) else operand


def _one_rounding(result: Tensor) -> Array:
    """By how much one rounding of a result may change it."""
    facts = float_facts(result.dtype)
    error: Array = facts.unit * np.maximum(np.where(np.isfinite(result.value), np.abs(result.value), 0.0), facts.tiny)
    return error


def _rounding(result: Tensor, exact: Array) -> Tensor:
    """A result of 16 bits with the error of one rounding where it was rounded, in whatever one right way."""
    if result.dtype not in NARROW or exact.shape != result.shape:
        return result
    rounded = (result.value != exact) & np.isfinite(result.value)
    if not rounded.any():
        return result
    error = np.zeros(result.shape) if result.error is None else result.error
    return replace(result, error=np.maximum(error, np.where(rounded, _one_rounding(result), 0.0)))


def _nearly_exact(operand: Runtime) -> Runtime:
    """The operand without the size of its errors: elements are exact, or next to it."""
    if not isinstance(operand, Tensor) or operand.error is None:
        return operand
    size = np.where(np.isinf(operand.error), np.inf, np.where(operand.error > 0, NEXT_TO_NONE, 0.0))
    return replace(operand, error=size)
