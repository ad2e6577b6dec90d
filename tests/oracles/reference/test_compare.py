"""Comparison with a bounded reference: NaN as a class, types before values, and what cannot be judged."""

from __future__ import annotations

import numpy as np
import pytest

from generators.case import Shape
from oracles.reference.compare import Agreement, Difference, compare
from oracles.reference.values import UNIT, Runtime, Tensor

NAN, INF = float("nan"), float("inf")


def floats(*values: float, dtype: str = "float32", error: tuple[float, ...] | None = None) -> Tensor:
    return Tensor(np.array(values, np.float64), dtype, None if error is None else np.array(error))


def ints(*values: int, dtype: str = "int32", error: tuple[float, ...] | None = None) -> Tensor:
    return Tensor(np.array(values, dtype), dtype, None if error is None else np.array(error))


AGREE: dict[str, tuple[Runtime, Runtime, float]] = {
    "equal": (floats(1, 2), floats(1, 2), 0.0),
    "nan is a class": (floats(NAN, 1), floats(-NAN, 1), 0.0),
    "infinities of one sign": (floats(INF, -INF), floats(INF, -INF), 0.0),
    "zeros of either sign": (floats(0.0), floats(-0.0), 0.0),
    "within the bound": (floats(1, 2, error=(0.25, 0)), floats(1.25, 2), 0.0),
    "exact after rounding to the dtype": (floats(1 / 3), floats(float(np.float32(1 / 3))), 0.0),
    "rounded to infinity": (floats(1e6, dtype="float16"), floats(INF, dtype="float16"), 0.0),
    "an element without a bound": (floats(1, 2, error=(INF, 0)), floats(99, 2), 0.5),
    "an integer without a bound": (ints(1, 2, error=(INF, INF)), ints(5, 7), 1.0),
    "nan where nothing is known": (floats(1, error=(INF,)), floats(NAN), 1.0),
    "nested tuples": ((floats(1), (ints(2), Shape((3,)))), (floats(1), (ints(2), Shape((3,)))), 0.0),
    "no elements": (floats(), floats(), 0.0),
    "a result of no value": (UNIT, UNIT, 0.0),
}


@pytest.mark.parametrize(("want", "got", "undecided"), AGREE.values(), ids=AGREE)
def test_faithful_results_agree(want: Runtime, got: Runtime, undecided: float) -> None:
    said = compare(want, got)
    assert isinstance(said, Agreement) and said.undecided == undecided


DIFFER: dict[str, tuple[Runtime, Runtime, str]] = {
    "outside the bound": (floats(1, error=(0.1,)), floats(1.2), "value"),
    "off by one unit where exact": (floats(3), floats(float(np.nextafter(np.float32(3), np.float32(4)))), "value"),
    "nan for a number": (floats(1, error=(0.5,)), floats(NAN), "value"),
    "a number for nan": (floats(NAN, error=(0.5,)), floats(0), "value"),
    "infinity of the other sign": (floats(INF), floats(-INF), "value"),
    "infinity within a finite bound": (
        floats(1e300, dtype="float64", error=(1e299,)),
        floats(INF, dtype="float64"),
        "value",
    ),
    "another integer": (ints(1), ints(2), "value"),
    "another dtype": (ints(1), ints(1, dtype="int64"), "dtype"),
    "another float dtype": (floats(1), floats(1, dtype="float16"), "dtype"),
    "another shape": (floats(1, 1), floats(1), "shape"),
    "another shape where nothing is known": (floats(1, error=(INF,)), floats(1, 1), "shape"),
    "fewer outputs": ((floats(1), floats(1)), floats(1), "structure"),
    "a shape for a tensor": (floats(1), Shape((1,)), "structure"),
    "another shape value": (Shape((1, 2)), Shape((2, 1)), "value"),
    "another scalar": (3, 4, "value"),
}


@pytest.mark.parametrize(("want", "got", "kind"), DIFFER.values(), ids=DIFFER)
def test_unfaithful_results_differ(want: Runtime, got: Runtime, kind: str) -> None:
    difference = compare(want, got)
    assert isinstance(difference, Difference) and difference.kind == kind


def test_sentence_names_the_element_both_values_and_the_bound() -> None:
    difference = compare((floats(0), floats(1, 2, error=(0, 0.25))), (floats(0), floats(1, 7)))
    assert isinstance(difference, Difference)
    for fact in ("output 1[1]", "7.0", "2.0", "0.25", "1 of 2", "float32"):
        assert fact in difference.sentence


@pytest.mark.filterwarnings("error")
def test_an_unknown_infinity_beside_numbers_has_a_width() -> None:
    agreement = compare(floats(INF, 1, 2, error=(INF, INF, INF)), floats(INF, 1, 2))
    assert isinstance(agreement, Agreement) and agreement.widths == (INF,)
