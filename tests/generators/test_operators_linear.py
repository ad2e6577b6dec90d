"""Products of matrices and einsum, as sums over their letters."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from generators.operators import linear
from generators.operators.table import OPERATORS


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
    np.testing.assert_array_equal(OPERATORS["relax.einsum"].meaning(tuple(operands), subscripts=equation), wanted)
