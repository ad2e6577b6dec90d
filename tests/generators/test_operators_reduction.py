"""Reductions, scans and the median, by other formulas than their rows'."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from generators.operators.table import OPERATORS

X = np.random.default_rng(7).integers(-3, 4, (3, 4, 5)).astype(np.float64)


@pytest.mark.parametrize(
    ("axis", "keepdims"), [(None, False), ((0,), True), ((-1, 0), False), ((), False), ((1,), False)]
)
def test_moments_follow_from_sums(axis: Any, keepdims: bool) -> None:
    def of(name: str, x: Any) -> Any:
        return OPERATORS[f"relax.{name}"].meaning(x, axis=axis, keepdims=keepdims)

    count = of("sum", np.ones_like(X))
    mean = of("sum", X) / count
    np.testing.assert_allclose(of("mean", X), mean)
    np.testing.assert_allclose(of("variance", X), of("sum", X * X) / count - mean**2, atol=1e-12)
    np.testing.assert_allclose(of("std", X) ** 2, of("variance", X), atol=1e-12)
    np.testing.assert_array_equal(of("min", X), -of("max", -X))


def test_a_reduction_of_integers_stays_in_their_dtype() -> None:
    ones = np.ones((4, 100), np.int8)
    total = OPERATORS["relax.sum"].meaning(ones, axis=(1,), keepdims=False)
    assert total.dtype == np.int8
    assert total.tolist() == [100] * 4


@pytest.mark.parametrize("values", [[3, 1, 2], [4, 1, 3, 2], [2, 2, 1, 1], [5]])
def test_median_is_the_lower_middle_and_its_first_index(values: list[float]) -> None:
    value, index = OPERATORS["relax.median"].meaning(np.array(values, np.float64), axis=(0,), keepdims=False)
    assert value == sorted(values)[(len(values) - 1) // 2]
    assert values[int(index)] == value
    assert OPERATORS["relax.median"].meaning(np.array(values), axis=None, keepdims=True).shape == (1,)


@pytest.mark.parametrize("exclusive", [False, True])
def test_scans_are_folds(exclusive: bool) -> None:
    x = np.array([[2, 3, 5], [7, 1, 4]], np.int8)
    shift = 0 if exclusive else 1
    flat = x.reshape(-1).tolist()
    sums = OPERATORS["relax.cumsum"].meaning(x, axis=None, dtype=None, exclusive=exclusive)
    assert sums.tolist() == [sum(flat[: i + shift]) for i in range(6)]
    assert sums.dtype == np.int8
    products = OPERATORS["relax.cumprod"].meaning(x, axis=-1, dtype="int32", exclusive=exclusive)
    assert products.tolist() == [[math.prod(row[: i + shift]) for i in range(3)] for row in x.tolist()]
    assert products.dtype == np.int32
