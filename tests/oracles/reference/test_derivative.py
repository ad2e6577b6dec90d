"""Derivatives by differences: of smooth functions, and none at a kink or a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from oracles.reference.derivative import Fit, slopes


@pytest.mark.parametrize(
    ("function", "derivative"),
    [
        (lambda x: 3 * x - 1, 3.0),
        (lambda x: (x + 2) ** 3, 12.0),
        (lambda x: np.sin(5 * x + 1), 5 * np.cos(1)),
        (lambda x: np.exp(-x) / (x + 0.5), -6.0),
        (lambda x: 1e6 * x**2, 0.0),
        (lambda x: np.floor(x + 0.5), 0.0),
    ],
)
def test_the_derivative_of_a_smooth_function(function: Callable[[float], float], derivative: float) -> None:
    (found,) = slopes(lambda x: np.array([function(x)]))
    assert found.value == pytest.approx(derivative, rel=1e-5, abs=1e-6)
    assert found.fit(derivative) is Fit.RIGHT
    assert found.fit(derivative + 0.02 * max(abs(derivative), abs(found.at), 1)) is Fit.WRONG


ROUGH: dict[str, Callable[[float], float]] = {
    "a kink": abs,
    "two slopes": lambda x: max(x, 2 * x),
    "a kink beside": lambda x: abs(x - 0.001),
    "a kink on the other side": lambda x: abs(x + 0.0007) + x,
    "a step": lambda x: np.floor(x),
    "a step beside": lambda x: float(x > 0.001),
    "no number below": lambda x: np.sqrt(x),
    "no number there": lambda x: np.log(x),
    "a pole": lambda x: 1 / (x - 0.0015),
}


@pytest.mark.parametrize("function", ROUGH.values(), ids=ROUGH)
def test_there_is_none_at_a_kink_or_a_step(function: Callable[[float], float]) -> None:
    with np.errstate(all="ignore"):
        (found,) = slopes(lambda x: np.array([function(np.float64(x))]))
    assert {found.fit(number) for number in (-1.0, 0.0, 0.5, 1.0, 1.5)} == {Fit.UNKNOWN}


def test_each_result_has_its_own() -> None:
    first, second = slopes(lambda x: np.array([x, abs(x)]))
    assert (first.fit(1.0), second.fit(1.0)) == (Fit.RIGHT, Fit.UNKNOWN)


def test_terms_that_cancel_count_with_their_size() -> None:
    (found,) = slopes(lambda x: np.array([0.0 * x]))
    assert (found.fit(0.01), found.fit(0.01, size=1e3)) == (Fit.WRONG, Fit.RIGHT)
