"""Rows that move whole tensors (shapes, axes, joining, splitting), by other formulas than their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import tirx

from generators import tvm_api
from generators.operators.row import Operator, Rounding
from generators.operators.table import OPERATORS
from tests import operator_harness as harness

EXACT_BUT_NEW = {
    "relax.negative": "flips signs",
    "relax.nn.dropout": "gives a mask with the data",
    "relax.tril": "writes zeros",
    "relax.triu": "writes zeros",
}
"""Rows that never round and still give numbers that are not among their inputs."""
MOVES = [r for r in OPERATORS.values() if r.rounding is Rounding.MOVE and r.name not in EXACT_BUT_NEW]


@pytest.mark.parametrize("row", MOVES, ids=lambda row: row.name)
def test_rows_that_move_make_no_new_numbers(row: Operator) -> None:
    for seed in range(20):
        sample = harness.draw_row(row, seed)
        leaves = [f for a in sample.call.args for f in getattr(a, "fields", [a])]
        constants = [tvm_api.constant_array(f) for f in leaves if isinstance(f, tvm_api.Constant)]
        known = [np.ravel(harness.carried(v)) for v in (*sample.inputs.values(), *constants)]
        pad = harness.attributes_of(row, sample.call)["pad_value"] if "pad_value" in row.attributes else None
        known.append(np.array([] if pad is None else [pad]))
        for result in sample.expected if isinstance(sample.expected, tuple) else (sample.expected,):
            assert np.isin(result, np.concatenate(known)).all(), seed


# --- the same result by another formula ----------------------------------------------------------------------

X = np.random.default_rng(7).integers(-3, 4, (2, 3, 4)).astype(np.float64)


def meaning(name: str, *operands: Any, **attributes: Any) -> Any:
    return OPERATORS[f"relax.{name}"].meaning(*operands, **attributes)


def test_reshape_and_flatten_keep_the_row_major_order() -> None:
    assert meaning("reshape", X, (4, 6)).ravel().tolist() == X.ravel().tolist()
    assert meaning("flatten", np.float64(3).reshape(())).tolist() == [3.0]
    assert meaning("nn.batch_flatten", np.zeros((0, 2, 3))).shape == (0, 6)


@pytest.mark.parametrize("axes", [(1, 2, 0), (-1, 0, -2), (0, 1, 2)])
def test_permute_dims_element_by_element(axes: tuple[int, ...]) -> None:
    result = meaning("permute_dims", X, axes=axes)
    for position in np.ndindex(result.shape):
        source = [0, 0, 0]
        for axis, index in zip(axes, position, strict=True):
            source[axis] = index
        assert result[position] == X[tuple(source)]


def test_permute_dims_without_axes_reverses_them() -> None:
    np.testing.assert_array_equal(meaning("permute_dims", X, axes=None), meaning("permute_dims", X, axes=(2, 1, 0)))


def test_squeeze_undoes_expand_dims_and_keeps_other_extents() -> None:
    wide = meaning("expand_dims", X, axis=(0, -1))
    assert wide.shape == (1, 2, 3, 4, 1)
    for axis in (None, (0, 4), (-5, -1), (0, 1, 4)):
        assert meaning("squeeze", wide, axis=axis).shape == X.shape


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 4), (3, 1), (), (1, 1, 1)])
def test_collapse_sum_is_the_adjoint_of_broadcast_to(shape: tuple[int, ...]) -> None:
    y = np.random.default_rng(1).integers(-3, 4, shape).astype(np.float64)
    left = (meaning("broadcast_to", y, X.shape) * X).sum()
    assert left == (y * meaning("collapse_sum_to", X, shape)).sum()
    np.testing.assert_array_equal(meaning("collapse_sum_like", X, y), meaning("collapse_sum_to", X, shape))


def test_collapsed_integers_keep_their_dtype() -> None:
    assert meaning("collapse_sum_to", np.ones((2, 3), np.int8), (1,)).dtype == np.int8


def test_pixel_shuffle_element_by_element() -> None:
    x = np.arange(2 * 8 * 3 * 2, dtype=np.float64).reshape(2, 8, 3, 2)
    result = meaning("nn.pixel_shuffle", x, upscale_factor=2)
    assert result.shape == (2, 2, 6, 4)
    for n, c, h, w in np.ndindex(result.shape):
        assert result[n, c, h, w] == x[n, c * 4 + h % 2 * 2 + w % 2, h // 2, w // 2]


def test_layout_transform_pads_what_the_map_does_not_reach() -> None:
    i, j = (tirx.Var(name, "int64") for name in "ij")
    x = np.arange(10, dtype=np.float64).reshape(2, 5)
    result = meaning("layout_transform", x, index_map=tirx.IndexMap([i, j], [j // 4, i, j % 4], None), pad_value=9.0)
    assert result.tolist() == [[[0, 1, 2, 3], [5, 6, 7, 8]], [[4, 9, 9, 9], [9, 9, 9, 9]]]


@pytest.mark.parametrize(("shape", "to"), [((0, 5), (2, 0, 4)), ((2, 0), (0, 2, 4))])
def test_layout_transform_of_no_elements(shape: tuple[int, ...], to: tuple[int, ...]) -> None:
    i, j = (tirx.Var(name, "int64") for name in "ij")
    moved = tirx.IndexMap([i, j], [j // 4, i, j % 4], None)
    result = meaning("layout_transform", np.zeros(shape), index_map=moved, pad_value=None)
    assert (result.shape, result.size) == (to, 0)


@pytest.mark.parametrize(("where", "axis"), [(2, 0), (3, -1), ((1, 3), 2), ((1,), -2), ((0, 2), 1), ((2, 9), 1)])
def test_concat_undoes_split(where: Any, axis: int) -> None:
    parts = meaning("split", X, indices_or_sections=where, axis=axis)
    assert len(parts) == (where if isinstance(where, int) else len(where) + 1)
    np.testing.assert_array_equal(meaning("concat", parts, axis=axis), X)


def test_sections_are_of_the_rounded_up_length_but_the_last() -> None:
    parts = meaning("split", np.arange(7), indices_or_sections=3, axis=0)
    assert [p.tolist() for p in parts] == [[0, 1, 2], [3, 4, 5], [6]]
    assert meaning("split", X, indices_or_sections=1, axis=0) is X


def test_stack_puts_operands_at_positions_of_a_new_axis() -> None:
    result = meaning("stack", (X, -X), axis=-2)
    np.testing.assert_array_equal(result[:, :, 0], X)
    np.testing.assert_array_equal(result[:, :, 1], -X)


def test_meshgrid_varies_each_result_along_its_own_axis() -> None:
    a, b, c = np.arange(2), np.arange(3), np.arange(4)
    rows, columns, depths = meaning("meshgrid", (a, b, c), indexing="ij")
    for i, j, k in np.ndindex(2, 3, 4):
        assert (rows[i, j, k], columns[i, j, k], depths[i, j, k]) == (i, j, k)
    swapped = meaning("meshgrid", (a, a), indexing="xy")
    assert swapped[0].tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("repeats", [(2,), (2, 1, 3), (2, 1, 1, 2)])
def test_tile_reads_modulo_the_extent(repeats: tuple[int, ...]) -> None:
    result = meaning("tile", X, repeats=repeats)
    for position in np.ndindex(result.shape):
        assert result[position] == X[tuple(p % n for p, n in zip(position[-3:], X.shape, strict=True))]


def test_repeat_divides_positions() -> None:
    result = meaning("repeat", X, repeats=3, axis=-1)
    assert all(result[p] == X[p[0], p[1], p[2] // 3] for p in np.ndindex(result.shape))
    assert meaning("repeat", np.array([[1, 2], [3, 4]]), repeats=2, axis=None).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]


def test_flip_and_whole_reversed_sequences_agree() -> None:
    np.testing.assert_array_equal(meaning("flip", X, axis=-1), X[:, :, ::-1])
    whole = meaning("reverse_sequence", X, np.array([4, 9]), seq_axis=2, batch_axis=0)
    np.testing.assert_array_equal(whole, meaning("flip", X, axis=2))


def test_reverse_sequence_turns_only_the_first_elements() -> None:
    x = np.arange(12).reshape(3, 4)
    result = meaning("reverse_sequence", x, np.array([0, 1, 3]), seq_axis=-1, batch_axis=-2)
    assert result.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [10, 9, 8, 11]]
    columns = meaning("reverse_sequence", x.T, np.array([-2, 2, 4]), seq_axis=0, batch_axis=1)
    assert columns.T.tolist() == [[0, 1, 2, 3], [5, 4, 6, 7], [11, 10, 9, 8]]


def test_shapes_and_tensors_of_shapes() -> None:
    assert meaning("shape_of", X) == (2, 3, 4)
    assert meaning("size", X).tolist() == 24
    assert meaning("size", np.zeros(())).dtype == np.int64
    assert meaning("shape_to_tensor", (2, 0)).tolist() == [2, 0]
    assert meaning("shape_to_tensor", ()).dtype == np.int64
    assert meaning("tensor_to_shape", np.array([5, 1])) == (5, 1)
