"""Rows that read or write at positions (index, scatter, slice), by other formulas than their own."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tvm import relax, tirx

from generators import tvm_api
from generators.operators.table import OPERATORS
from generators.ranges import Range
from generators.relax.values import SymbolicDim, Value
from generators.source import SeededSource

# --- the same result by another formula ----------------------------------------------------------------------

X = np.random.default_rng(7).integers(-9, 10, (3, 4, 5)).astype(np.float64)


def meaning(name: str, *operands: Any, **attributes: Any) -> Any:
    return OPERATORS[f"relax.{name}"].meaning(*operands, **attributes)


@pytest.mark.parametrize(
    ("mode", "expected"), [("wrap", [2, 3, 0, 1, 2, 3, 0]), ("clip", [0, 0, 0, 1, 2, 3, 3]), ("nan", None)]
)
def test_take_treats_positions_out_of_range_as_its_mode_says(mode: str, expected: list[int] | None) -> None:
    result = meaning("take", X, np.arange(-2, 5), axis=-2, mode=mode)
    assert result.shape == (3, 7, 5)
    if expected is None:
        assert np.isnan(result[:, [0, 1, 6]]).all()
        np.testing.assert_array_equal(result[:, 2:6], X)
    else:
        np.testing.assert_array_equal(result, np.stack([X[:, i] for i in expected], 1))


def test_take_in_mode_fast_has_no_result_for_a_position_out_of_range() -> None:
    with pytest.raises(IndexError, match="mode fast"):
        meaning("take", np.arange(4), np.array([4]), axis=0, mode="fast")


def test_take_with_a_scalar_index_drops_the_axis() -> None:
    for index in (2, np.array(2, np.uint8)):
        np.testing.assert_array_equal(meaning("take", X, index, axis=0, mode="fast"), X[2])
    assert meaning("take", np.arange(4), np.array([[3, 0]]), axis=None, mode="fast").tolist() == [[3, 0]]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [2, [0, 2, 2], [[1, 0], [2, 2]]])
def test_the_gradient_of_take_is_its_adjoint(axis: int, indices: Any) -> None:
    where = np.array(indices)
    taken = meaning("take", X, where, axis=axis, mode="fast")
    g = np.random.default_rng(8).integers(-9, 10, taken.shape).astype(np.float64)
    back = meaning("grad.take_backward", g, X, where, axis=axis)
    assert (back * X).sum() == (g * taken).sum()


def test_the_gradient_of_take_has_no_result_for_a_wrong_position_or_shape() -> None:
    for index in (-1, 4):
        with pytest.raises(IndexError, match="out of range"):
            meaning("grad.take_backward", np.ones(1), np.arange(4.0), np.array([index]), axis=None)
    with pytest.raises(ValueError, match="of shape"):
        meaning("grad.take_backward", np.ones(1), np.arange(4.0), np.array([0, 1]), axis=None)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_elements_element_by_element(axis: int) -> None:
    indices = np.random.default_rng(1).integers(0, 3, (2, 4, 3))
    result = meaning("gather_elements", X, indices, axis=axis)
    for position in np.ndindex(indices.shape):
        source = list(position)
        source[axis] = indices[position]
        assert result[position] == X[tuple(source)]


def test_gathers_of_the_documentation() -> None:
    grid = np.array([[0, 1], [2, 3]])
    cube = np.array([[[0, 1], [2, 3]], [[4, 5], [6, 7]]])
    assert meaning("gather_nd", grid, np.array([[0, 0], [1, 1]]), batch_dims=0).tolist() == [0, 3]
    assert meaning("gather_nd", cube, np.array([[1], [0]]), batch_dims=1).tolist() == [[2, 3], [4, 5]]
    assert meaning("gather_nd", grid, np.array([1, 0]), batch_dims=0).shape == ()
    nine = np.arange(9).reshape(3, 3)
    assert meaning("index_tensor", nine, (np.array([0, 2]), np.array([1, 0]))).tolist() == [1, 6]
    assert meaning("index_tensor", nine, (np.array([[0], [1]]), np.array([[0, 1, 2]]))).shape == (2, 3)
    assert meaning("index_tensor", nine, (np.array(2),)).tolist() == [6, 7, 8]


SIGNS = np.array([[0, 3, -1], [2, 2, 0]])
FOLDS = {
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "min": min,
    "max": max,
    "update": lambda old, new: new,
    "mean": lambda old, new: (old + new) / 2,
}


@pytest.mark.parametrize("reduction", FOLDS)
def test_scatter_elements_folds_updates_one_after_another(reduction: str) -> None:
    data = np.arange(12, dtype=np.float64).reshape(3, 4)
    indices = np.array([[0, 3, -2], [2, 0, 1], [1, -1, 0]]) if reduction in ("update", "mean") else SIGNS
    updates = np.arange(indices.size, dtype=np.float64).reshape(indices.shape) - 2.5
    expected = data.copy()
    for row, column in np.ndindex(indices.shape):
        at = row, indices[row, column]
        expected[at] = FOLDS[reduction](expected[at], updates[row, column])
    result = meaning("scatter_elements", data, indices, updates, axis=1, reduction=reduction)
    np.testing.assert_array_equal(result, expected)
    assert data[0, 0] == 0.0


def test_scatter_nd_of_the_documentation_and_of_rows() -> None:
    result = meaning(
        "scatter_nd", np.arange(1, 9), np.array([[4], [3], [1], [7]]), np.arange(9, 13), reduction="update"
    )
    assert result.tolist() == [1, 11, 3, 10, 9, 6, 7, 12]
    rows = meaning("scatter_nd", np.zeros((2, 2)), np.array([[1], [1]]), np.array([[1, 2], [3, 4.0]]), reduction="add")
    assert rows.tolist() == [[0, 0], [4, 6]]


def test_index_put_of_the_documentation() -> None:
    where = (np.array([0, 2]), np.array([1, 1]))
    result = meaning("index_put", np.zeros((3, 3)), where, np.array([1.0, 2.0]), accumulate=False)
    assert result.tolist() == [[0, 1, 0], [0, 0, 0], [0, 2, 0]]
    twice = (np.array([2, -1]), np.array([1]))
    assert meaning("index_put", result, twice, np.array([1.0, 4.0]), accumulate=True)[2].tolist() == [0, 7, 0]
    assert meaning("index_put", np.zeros(3), np.array([-1]), np.array([5.0]), accumulate=False).tolist() == [0, 0, 5]


def test_strided_slice_undoes_slice_scatter() -> None:
    source = -np.ones((3, 2, 5))
    result = meaning("slice_scatter", X, source, 1, 4, 2, axis=-2)
    np.testing.assert_array_equal(meaning("strided_slice", result, (1,), (1,), (4,), (2,)), source)
    np.testing.assert_array_equal(result[:, 0::2], X[:, 0::2])


BOUNDS = [-9, -4, -3, -1, 0, 1, 3, 4, 9]


@pytest.mark.parametrize("stride", [1, 2, -1, -2])
def test_slices_follow_the_rule_of_canonical_bounds(stride: int) -> None:
    """The rule of topi's CanonicalizeIndex: add the extent to a negative number, then clip."""
    x = np.arange(4)
    first, last = (0, 4) if stride > 0 else (-1, 3)
    for begin, end in itertools.product(BOUNDS, BOUNDS):
        start, stop = (min(max(b + 4 if b < 0 else b, first), last) for b in (begin, end))
        expected = list(range(start, stop, stride))
        assert meaning("strided_slice", x, (0,), (begin,), (end,), (stride,)).tolist() == expected, (begin, end)
        bounds = (np.array([n]) for n in (begin, end, stride))
        assert meaning("dynamic_strided_slice", x, *bounds).tolist() == expected


def test_strided_slice_without_strides_takes_every_element_of_named_axes() -> None:
    result = meaning("strided_slice", X, (-1, 0), (1, 0), (3, 2), assume_inbound=True)
    np.testing.assert_array_equal(result, X[:2, :, 1:3])


def test_a_slice_in_bounds_of_an_expression_of_symbols_begins_at_0() -> None:
    """(n + 1) // 3 is 0 for n = 1, where a slice from 1 on would have an extent of -1."""
    n = tvm_api.symbol("n")
    dims = [SymbolicDim(tirx.floordiv(n + 1, 3), 1, "(n + 1) // 3"), SymbolicDim(n, 4, "n")]
    begins: dict[str, set[int]] = {dim.text: set() for dim in dims}
    for seed in range(300):
        dim = dims[seed % 2]
        expr = relax.Var("x", tvm_api.tensor_type([dim.expr], "float32"))
        value = Value(expr, (dim,), (dim.extent,), "float32", Range(0, 1))
        scope = SimpleNamespace(source=SeededSource(seed), tensor=lambda *_, value=value, **__: value)
        call = OPERATORS["relax.strided_slice"].draw(scope).call
        if call.attrs.assume_inbound:
            begins[dim.text].add(int(call.args[2].fields[0]))
    assert begins == {"(n + 1) // 3": {0}, "n": {0, 1}}
