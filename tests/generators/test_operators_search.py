"""Sorting, top-k, buckets, unique elements and drawn indices, by other formulas than their rows'."""

from __future__ import annotations

import numpy as np
import pytest

from generators.operators.table import OPERATORS

X = np.random.default_rng(7).integers(-3, 4, (3, 4, 5)).astype(np.float64)


@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_stable_in_both_directions(descending: bool) -> None:
    keys = np.array([2, 0, 2, 1, 0, 2])
    order = OPERATORS["relax.argsort"].meaning(keys, axis=0, descending=descending, dtype="int32").tolist()
    assert order == sorted(range(6), key=lambda i: (-keys[i] if descending else keys[i], i))


@pytest.mark.parametrize(("k", "count"), [(2, 2), (0, 4), (-1, 4), (9, 4)])
@pytest.mark.parametrize("largest", [False, True])
def test_topk_gives_the_head_of_the_order(k: int, count: int, largest: bool) -> None:
    x = np.array([[3, 1, 3, 2], [0, 0, 5, -5]], np.float64)
    values, indices = OPERATORS["relax.topk"].meaning(x, k=k, axis=-1, ret_type="both", largest=largest, dtype="int64")
    assert values.shape == indices.shape == (2, count)
    for row, got in zip(x, values, strict=True):
        assert got.tolist() == sorted(row, reverse=largest)[:count]
    np.testing.assert_array_equal(np.take_along_axis(x, indices, 1), values)


@pytest.mark.parametrize("right", [False, True])
def test_buckets_are_counts_of_smaller_boundaries(right: bool) -> None:
    boundaries = np.array([-2.0, 0.0, 1.0])
    got = OPERATORS["relax.bucketize"].meaning(X, boundaries, out_int32=True, right=right)
    below = boundaries <= X[..., None] if right else boundaries < X[..., None]
    np.testing.assert_array_equal(got, below.sum(-1))


@pytest.mark.parametrize("ordered", [False, True])
def test_unique_elements_rebuild_the_tensor(ordered: bool) -> None:
    x = np.array([[3, 1], [3, 2]])
    values, first, inverse, counts = OPERATORS["relax.unique"].meaning(x, ordered, True, True, True)
    assert values.tolist() == ([1, 2, 3] if ordered else [3, 1, 2])
    np.testing.assert_array_equal(values[inverse], x.reshape(-1))
    np.testing.assert_array_equal(x.reshape(-1)[first], values)
    assert counts.tolist() == [x.reshape(-1).tolist().count(v) for v in values]


def test_multinomial_walks_the_cumulative_weights() -> None:
    weights = np.array([[0.25, 0.0, 0.75], [0.0, 1.0, 0.0]])
    sample = np.array([[0.1], [0.3], [0.9]])
    got = OPERATORS["relax.multinomial_from_uniform"].meaning(weights, sample, np.array([[0], [0], [1]]), dtype="int64")
    assert got.tolist() == [[0], [2], [1]]


def test_multinomial_takes_the_last_where_no_sum_is_above_the_sample() -> None:
    """`get_sample_index` of TVM (python/tvm/relax/backend/dispatch_sampling.py, legalize_ops) asks for the last one."""
    weights = np.array([[0.25, 0.5, 0.25]])
    meaning = OPERATORS["relax.multinomial_from_uniform"].meaning
    assert meaning(weights, np.array([[1.0]]), np.array([[0]]), dtype="int64").tolist() == [[2]]
    short = np.nextafter(weights.astype(np.float32), 0)  # the sum is below 1
    assert meaning(short, np.array([[1 - 1e-7]], np.float32), np.array([[0]]), dtype="int64").tolist() == [[2]]
