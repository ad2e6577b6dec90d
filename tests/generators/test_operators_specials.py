"""Every row that takes special floats: drawn calls with NaN, infinities and subnormal numbers against LLVM code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from generators.case import EntryCall
from generators.dtypes import is_float
from generators.operators.specials import FLOATS, Special
from generators.operators.table import OPERATORS
from generators.relax.special_values import Allowed
from generators.unavailable import Unavailable
from oracles.reference.compare import Agreement, compare
from oracles.reference.engine import Interpreter
from oracles.reference.values import Runtime, Tensor, carried, flattened
from tests import operator_harness as harness
from tests.generators.refused_by_llvm import UNBUILDABLE, is_refused
from tests.quick import one_in

TAKING = [name for name, row in OPERATORS.items() if row.specials.takes & FLOATS and name not in UNBUILDABLE]
SAMPLES = 3
"""Calls of a row in one module."""
MOST = 60
"""Draws in which these must be found."""
NUMBERS = {
    Special.NAN: (np.nan,),
    Special.INFINITY: (np.inf, -np.inf),
    Special.SUBNORMAL: (2.0**-130,),
}


def special_calls(name: str) -> Iterator[tuple[harness.Sample, EntryCall]]:
    """Drawn calls some of whose inputs hold a special number in about half of their elements."""
    for seed in range(MOST):
        try:
            sample = harness.draw_row(OPERATORS[name], seed)
        except Unavailable:
            continue
        if is_refused(sample):
            continue
        allowed, found = Allowed({}), False
        allowed.returned(sample.function)
        random = np.random.default_rng(seed)
        for var in sample.function.params:
            array = sample.inputs[var.name]
            if isinstance(array, tuple) or array.dtype.name not in ("float32", "float64") or not array.size:
                continue
            numbers = [x for kind, some in NUMBERS.items() if kind in allowed.of(var) for x in some]
            if numbers:
                there = random.random(array.shape) < 0.5
                picked = np.asarray(numbers)[random.integers(len(numbers), size=array.shape)]
                sample.inputs[var.name] = np.where(there, picked.astype(array.dtype), array)
                found = found or bool(np.any(there))
        if found:
            yield sample, EntryCall("main", sample.given)


def decided(result: Runtime) -> int:
    """How many elements of a result are bounded."""
    leaves = [leaf for leaf in flattened(result) if isinstance(leaf, Tensor)]
    return sum(leaf.value.size - (0 if leaf.error is None else int(np.isinf(leaf.error).sum())) for leaf in leaves)


@pytest.mark.parametrize("name", one_in(2, TAKING))
def test_llvm_code_does_with_specials_what_the_reference_says(name: str) -> None:
    calls = [call for call, _ in zip(special_calls(name), range(SAMPLES), strict=False)]
    assert calls
    machine = harness.compiled([sample for sample, _ in calls], {"kind": "llvm", "opt-level": 0})
    elements = 0
    for place, (sample, call) in enumerate(calls):
        expected = Interpreter(sample.module, bounded=True).run(call)
        given = harness.run(machine, place, sample)
        actual = tuple(map(_carried, given)) if isinstance(given, tuple) else _carried(given)
        assert isinstance(compare(expected, actual), Agreement), (sample.seed, call.arguments)
        elements += decided(expected)
    assert elements


def _carried(array: np.ndarray) -> Tensor:  # type: ignore[type-arg]
    return carried(array, array.dtype.name)


def test_no_other_row_is_given_special_floats() -> None:
    drawn = 0
    for name in set(OPERATORS) - set(TAKING) - set(UNBUILDABLE):
        sample = harness.draw_row(OPERATORS[name], 1)
        allowed = Allowed({})
        allowed.returned(sample.function)
        for var in sample.call.args:
            values = sample.inputs.get(getattr(var, "name", ""))
            if isinstance(values, np.ndarray) and is_float(values.dtype.name):
                assert not allowed.of(var) & FLOATS, name
                drawn += 1
    assert drawn
