"""Bounds for what follows from a step that rounding decides: a number that is quantised, a comparison, an `If`.

Neither the worst case nor `oracles.reference.noise` follows a step: they leave open whatever comes after one that
rounding may decide, which is nearly all of a quantised model. Here the starting module runs RUNS times with every
result off by many times its local error, with random signs, and each step goes the way that this sends it. The bound of
an element that was left open is SAFETY times the largest deviation of any such element of its tensor in any of these
runs.

Why a right pass stays within: it sends a step another way with a probability in proportion to its rounding errors. What
it does in one case of a thousand, these runs do in nearly every one. What a step changes is as large in one element as
in others, so the largest change stands for all of them. A difference by these bounds alone counts only where the
module differs with its operators in float64 as well (`oracles.reference.numbers`), where hardly any step is in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from generators.dtypes import NARROW, is_float
from oracles.reference.sampling import NEXT_TO_NONE, SAFETY, Bounded, Recompute, apart, random_signs
from oracles.reference.values import Runtime, Tensor

RUNS = 8
"""Evaluations with errors that are larger than those of any right module."""
LARGER = 64.0
"""How many times as large as a local error they are."""
LARGER_IN_16_BITS = 8.0
"""The same for floats of 16 bits, of which more would change what is computed."""


class Shaken:
    """The random signs of one run. Each result is off by its enlarged local error and taken for exact after that."""

    absent = False
    by_itself = True

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def sharpened(
        self, operands: Sequence[Runtime], worst: Bounded, evaluate: Recompute, likely: Bounded
    ) -> list[Tensor]:
        """The results of an operation, off by their enlarged local errors."""
        return [self._moved(result) for result in likely(operands)]

    def _moved(self, result: Tensor) -> Tensor:
        """A result, off by its enlarged error. What is open stays so."""
        if result.error is None or not is_float(result.dtype) or result.memory is not None:
            return result
        finite = np.where(result.left_open, 0.0, result.error)
        times = LARGER_IN_16_BITS if result.dtype in NARROW else LARGER
        value = result.value + random_signs(self._random, result.shape) * (times * finite)
        return replace(result, value=value, error=np.where(result.left_open, np.inf, NEXT_TO_NONE * (finite > 0)))


def with_steps(result: Runtime, unrounded: Runtime, runs: Sequence[Runtime]) -> Runtime:
    """A result with bounds for the elements that steps have left open, from these runs.

    unrounded: the same result where nothing rounds. What is infinite there is left open whatever rounding does, and
    stays so, as does what is of another class in one of the runs.
    """
    if isinstance(result, tuple):
        wholes = [whole if isinstance(whole, tuple) else () for whole in (unrounded, *runs)]
        if any(len(whole) != len(result) for whole in wholes):
            return result
        fields = zip(result, *wholes, strict=True)
        return tuple(with_steps(field, open_, others) for field, open_, *others in fields)
    return _leaf(result, unrounded, runs)


def _leaf(result: Runtime, unrounded: Runtime, runs: Sequence[Runtime]) -> Runtime:
    tensors = [one for one in (unrounded, *runs) if isinstance(one, Tensor)]
    if not isinstance(result, Tensor) or result.error is None or len(tensors) <= len(runs):
        return result
    if any(one.shape != result.shape for one in tensors):
        return result
    spread = np.zeros(result.shape)
    for run in tensors[1:]:
        spread = np.maximum(spread, apart(run.value.astype(np.float64), result.value.astype(np.float64)))
    open_ = np.isinf(spread)
    for one in tensors:
        open_ |= one.left_open
    by_steps = result.left_open & ~open_
    if not by_steps.any():
        return result
    return replace(result, error=np.where(by_steps, SAFETY * spread[by_steps].max(), result.error))
