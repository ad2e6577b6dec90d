"""Rows for reductions, products, casts, order and creation: drawn calls against LLVM code and other formulas."""

from __future__ import annotations

import itertools
import math
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from generators.operators import casts, creation, linear, reduction, search
from generators.operators.row import Operator
from generators.operators.table import OPERATORS
from tests import operator_harness as harness

FAMILIES = (reduction, linear, casts, search, creation)
ROWS = [row for family in FAMILIES for row in family.OPERATORS]
SEEDS = range(6)
UNBUILDABLE = {"relax.wrap_param"}
"""Operators that no pipeline of TVM turns into code."""


def _compiled_otherwise(sample: harness.Sample) -> bool:
    """Calls that this TVM refuses or compiles to something else than documented; the corpus holds them as cases."""
    operand = next((np.asarray(v) for v in sample.inputs.values() if not isinstance(v, tuple)), np.zeros(1))
    attributes = harness.attributes_of(sample.row, sample.call)
    text = str(sample.call.args[0].ty)
    match sample.row.name:
        case "relax.argmax" | "relax.argmin":
            return "R.Tensor((), " in text or "bfloat16" in text or "uint8" in text
        case "relax.sort" | "relax.argsort" | "relax.topk" | "relax.median":
            keepdims = attributes.get("axis") is None and attributes.get("keepdims", False)
            shape = sample.call.args[0].ty.shape
            long = attributes.get("k", 0) > int(shape[attributes["axis"]]) if "k" in attributes else False
            return "bfloat16" in text or keepdims or long
        case "relax.unique":
            return bool(harness.plain(sample.call.args[3]))
        case "relax.eye_like":
            return attributes["dtype"] is not None
        case "relax.one_hot":
            return bool(attributes["axis"] < -1)
        case "relax.bucketize" | "relax.einsum":
            return operand.size == 0 or "(0" in text or " 0" in text
    return False


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_llvm_code_computes_the_meaning(family: ModuleType) -> None:
    rows = [row for row in family.OPERATORS if row.name not in UNBUILDABLE]
    drawn = [harness.draw_row(row, seed) for row, seed in itertools.product(rows, SEEDS)]
    samples = [sample for sample in drawn if not _compiled_otherwise(sample)]
    assert {sample.row.name for sample in samples} == {row.name for row in rows}
    machine = harness.compiled(samples, {"kind": "llvm", "opt-level": 0})
    wrong = {
        (sample.row.name, sample.seed): found
        for index, sample in enumerate(samples)
        if (found := harness.difference(sample, harness.run(machine, index, sample))) is not None
    }
    assert not wrong


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_results_lie_in_the_declared_range(row: Operator) -> None:
    for seed in range(20):
        assert harness.outside(harness.draw_row(row, seed)) is None, seed


# --- the same number by another formula ------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("left", "right"), [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4, 5)), ((1, 3, 4), (2, 4, 5))]
)
def test_matmul_sums_products(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    a, b = random.integers(-9, 9, left).astype(np.int8), random.integers(-9, 9, right).astype(np.int8)
    wide_b = b[:, None] if b.ndim == 1 else b
    products = np.expand_dims(a.astype(np.int32), -1) * np.expand_dims(wide_b.astype(np.int32), -3)
    wanted = products.sum(axis=-2)
    got = OPERATORS["relax.matmul"].meaning(a, b, out_dtype="int32")
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got.reshape(wanted.shape), wanted)


@pytest.mark.parametrize("equation", linear.EQUATIONS)
def test_every_einsum_is_one_sum_over_its_letters(equation: str) -> None:
    terms, arrow, output = equation.replace("...", "Z").partition("->")
    letters = sorted(set(terms) - {","})
    extents = {letter: 2 + i % 3 for i, letter in enumerate(letters)}
    if not arrow:
        output = "".join(c for c in letters if terms.count(c) == 1)
    random = np.random.default_rng(3)
    operands = [random.integers(-3, 4, [extents[c] for c in term]) for term in terms.split(",")]
    wanted = np.zeros([extents[c] for c in output], np.int64)
    for point in itertools.product(*(range(extents[c]) for c in letters)):
        at = dict(zip(letters, point, strict=True))
        product = math.prod(int(o[tuple(at[c] for c in t)]) for o, t in zip(operands, terms.split(","), strict=True))
        wanted[tuple(at[c] for c in output)] += product
    np.testing.assert_array_equal(linear._einsum(tuple(operands), equation), wanted)


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (-2.9, "int32", -2),
        (2.9, "int8", 2),
        (-0.5, "uint8", 0),
        (0.25, "bool", True),
        (0.0, "bool", False),
        (7.5, "float16", 7.5),
    ],
)
def test_casts_truncate(value: float, dtype: str, wanted: Any) -> None:
    got = OPERATORS["relax.astype"].meaning(np.array(value), dtype=dtype)
    assert got == wanted
    assert got.dtype == (np.float64 if dtype == "float16" else np.dtype(dtype))


def test_dequantize_undoes_quantize_to_half_a_step() -> None:
    scale, zero = np.array([0.25, 0.5, 1.0, 2.0]), np.array([0, -3, 2, 1], np.int8)
    data = np.random.default_rng(2).uniform(-5, 5, (6, 4))
    level = OPERATORS["relax.quantize"].meaning(data, scale, zero, axis=-1, out_dtype="int8")
    back = OPERATORS["relax.dequantize"].meaning(level, scale, zero, axis=1, out_dtype="float32")
    assert level.dtype == np.int8
    assert (np.abs(back - data) <= scale / 2 + 1e-12).all()


def test_quantize_rounds_ties_to_even_and_clamps() -> None:
    data = np.array([0.5, 1.5, -0.5, 1000.0, -1000.0])
    level = OPERATORS["relax.quantize"].meaning(data, np.array(1.0), np.array(0, np.int32), axis=-1, out_dtype="uint8")
    assert level.tolist() == [0, 2, 0, 255, 0]


def test_quantize_has_no_result_for_a_scale_of_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        OPERATORS["relax.quantize"].meaning(
            np.zeros(2), np.array([1.0, 0.0]), np.array(0, np.int32), axis=0, out_dtype="int8"
        )


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


def test_clip_of_an_empty_interval_gives_its_lower_end() -> None:
    """As tvm.topi.clip writes it: max(min(x, a_max), a_min)."""
    got = OPERATORS["relax.clip"].meaning(np.array([-5.0, 1.0, 5.0]), 2, 0)
    assert got.tolist() == [2.0, 2.0, 2.0]
