"""Windows, diagonals, ranges, fills and one-hot tensors, by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from generators.operators.table import OPERATORS
from tests import operator_harness as harness


def test_windows_and_diagonals() -> None:
    window = OPERATORS["relax.hamming_window"].meaning(7, False, 0.54, 0.46, dtype="float32")
    np.testing.assert_allclose(window, np.hamming(7))
    periodic = OPERATORS["relax.hamming_window"].meaning(6, True, 0.54, 0.46, dtype="float32")
    np.testing.assert_allclose(periodic, np.hamming(7)[:-1])
    square = np.arange(9.0).reshape(3, 3)
    lower = OPERATORS["relax.tril"].meaning(square, -1)
    np.testing.assert_array_equal(lower + OPERATORS["relax.triu"].meaning(square, 0), square)
    assert OPERATORS["relax.eye"].meaning(2, 3, 1, dtype="int8").tolist() == [[0, 1, 0], [0, 0, 1]]


def test_a_range_ends_before_its_stop() -> None:
    assert OPERATORS["relax.arange"].meaning(1, 8, 3, dtype="int32").tolist() == [1, 4, 7]
    assert OPERATORS["relax.arange"].meaning(1.0, -0.5, -0.5, dtype="float32").tolist() == [1.0, 0.5, 0.0]


def test_one_hot_puts_the_new_axis_where_it_is_asked_for() -> None:
    got = OPERATORS["relax.one_hot"].meaning(np.array([0, 2], np.uint8), 5, -1, depth=3, axis=0)
    assert got.tolist() == [[5, -1], [-1, -1], [-1, 5]]


def test_fills_are_cast_to_the_result() -> None:
    full_like = OPERATORS["relax.full_like"].meaning
    assert full_like(np.zeros(2, np.int8), np.array(2.75), dtype=None).tolist() == [2, 2]
    assert full_like(np.zeros(1), np.array(2.75), dtype="bool").dtype == np.bool_
    assert harness.carried(np.array([1.5], ml_dtypes.bfloat16)).dtype == np.float64
