"""Every row's meaning against an implementation that is not ours, over drawn calls.

The implementations are ONNX's reference evaluator, SciPy, Python's own arithmetic, and NumPy where the meaning does not
call the same function; the `independent_*` files map rows to them. Integers and shapes must agree exactly, floats to
1e-6 of the largest: the meaning computes in float64, and some of ONNX's steps in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from generators.operators.table import OPERATORS
from tests import operator_harness as harness
from tests.generators import (
    independent_elementwise,
    independent_image,
    independent_layout,
    independent_nn,
    independent_numbers,
)
from tests.generators.onnx_reference import Beyond

FAMILIES = (
    independent_elementwise,
    independent_image,
    independent_layout,
    independent_nn,
    independent_numbers,
)
INDEPENDENT = {name: function for family in FAMILIES for name, function in family.INDEPENDENT.items()}
SEEDS = 24
DEEP_SEEDS = 250
TOLERANCE = 1e-6
ROUGH = {"relax.nn.group_norm": 1e-4}
"""ONNX computes its difference from the mean in float32, which loses more than the tolerance where they are close."""
LEAST = 4
"""So many of the calls at least must be within what the other implementation can do."""

ALONE = {
    "relax.tensor_to_shape": "the numbers of a tensor as a shape: nothing is computed",
    "relax.vision.get_valid_counts": "TVM's own operator; test_operators_vision.py compares it with LLVM code",
    "relax.vision.multibox_transform_loc": "TVM's own operator; test_operators_vision.py compares it with LLVM code",
    "relax.vision.roi_pool": "ONNX has no reference of MaxRoiPool; test_operators_vision.py compares it with LLVM code",
}
"""Rows without an implementation from elsewhere, and why."""


def _compared(name: str, seeds: range) -> tuple[int, dict[int, str]]:
    """How many drawn calls were compared, and what differed by seed."""
    row, compared, wrong = OPERATORS[name], 0, {}
    for seed in seeds:
        sample = harness.draw_row(row, seed)
        try:
            other = INDEPENDENT[name](*sample.arguments, **harness.attributes_of(row, sample.call))
        except Beyond:
            continue
        compared += 1
        difference = _difference(sample.expected, other, ROUGH.get(name, TOLERANCE))
        if difference is not None:
            wrong[seed] = difference
    return compared, wrong


def _difference(ours: Any, other: Any, tolerance: float) -> str | None:
    if isinstance(ours, tuple):
        if not isinstance(other, tuple) or len(ours) != len(other):
            return f"{ours} against {other}"
        pairs = zip(ours, other, strict=True)
        return next((found for a, b in pairs if (found := _difference(a, b, tolerance))), None)
    mine, theirs = np.asarray(ours), np.asarray(other)
    if mine.shape != theirs.shape:
        return f"shape {mine.shape} against {theirs.shape}"
    if mine.dtype.kind != "f":
        same = np.array_equal(mine, theirs)
    else:
        scale = np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)
        same = np.allclose(mine, theirs, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    if same:
        return None
    return f"{mine.reshape(-1)[:6]} against {theirs.reshape(-1)[:6]}"


@pytest.mark.parametrize("name", INDEPENDENT)
def test_the_meaning_is_what_others_compute(name: str) -> None:
    compared, wrong = _compared(name, range(SEEDS))
    assert not wrong
    assert compared >= LEAST


@pytest.mark.deep
@pytest.mark.parametrize("name", INDEPENDENT)
def test_the_meaning_is_what_others_compute_over_many_calls(name: str) -> None:
    _, wrong = _compared(name, range(SEEDS, DEEP_SEEDS))
    assert not wrong


def test_every_row_is_compared_or_has_a_reason() -> None:
    assert set(INDEPENDENT).isdisjoint(ALONE)
    assert sum(len(family.INDEPENDENT) for family in FAMILIES) == len(INDEPENDENT)
    assert set(OPERATORS) == set(INDEPENDENT) | set(ALONE)
