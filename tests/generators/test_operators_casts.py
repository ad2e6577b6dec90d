"""Casts and quantisation, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from generators.operators.table import OPERATORS


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
