"""Every row of the operator table: drawn calls against LLVM code that TVM builds, and against their declared range.

Parametrised over the whole table, so a new row is tested without a change here. What TVM itself gets wrong is in
refused_by_llvm.py; comparisons with other libraries are in test_operators_independent.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from generators.dtypes import integer_limits
from generators.operators.table import OPERATORS
from generators.ranges import NARROW
from generators.relax.knobs import DEFAULT, Knobs
from tests import operator_harness as harness
from tests.generators.refused_by_llvm import RULES, UNBUILDABLE, is_refused
from tests.quick import one_in

COMPILED = [name for name in OPERATORS if name not in UNBUILDABLE]
MOST_REFUSED = 60
"""A row whose calls are nearly all refused must show an accepted one within this many draws."""
MANY = {"relax.vision": 200}
"""How many calls of an operator the slow test draws, by namespace; 31 of the others."""
TARGET = {"kind": "llvm", "opt-level": 0}
PER_MODULE = 25
"""Samples in one module: one build serves them all."""


UP_TO_THE_ENDS = replace(
    DEFAULT, ends_share=1.0, dtypes=(*((dtype, 2) for dtype in NARROW), ("int64", 1), ("float32", 1), ("bool", 1))
)
"""New tensors of integers reach the ends of their dtype, where the operator takes such."""


def accepted(name: str, seeds: Iterable[int], knobs: Knobs = DEFAULT) -> list[harness.Sample]:
    """The drawn calls that this TVM compiles as documented."""
    drawn = (harness.draw_row(OPERATORS[name], seed, knobs=knobs) for seed in seeds)
    return [sample for sample in drawn if not is_refused(sample)]


def wrong(samples: list[harness.Sample]) -> dict[int, str]:
    """What LLVM code of the samples gets wrong, by seed."""
    found = {}
    for start in range(0, len(samples), PER_MODULE):
        together = samples[start : start + PER_MODULE]
        machine = harness.compiled(together, TARGET)
        for index, sample in enumerate(together):
            found[sample.seed] = harness.difference(sample, harness.run(machine, index, sample))
    return {seed: difference for seed, difference in found.items() if difference is not None}


@pytest.mark.parametrize("name", one_in(2, COMPILED))
def test_llvm_code_computes_the_meaning(name: str) -> None:
    samples = accepted(name, range(2))
    if not samples:
        assert name in RULES
        samples = accepted(name, range(2, MOST_REFUSED))[:1]
    assert samples
    assert not wrong(samples)


@pytest.mark.deep
@pytest.mark.parametrize("name", COMPILED)
def test_llvm_code_computes_the_meaning_of_many_calls(name: str) -> None:
    samples = accepted(name, range(2, 2 + MANY.get(name.rpartition(".")[0], 31)))
    assert samples
    assert not wrong(samples)


@pytest.mark.deep
@pytest.mark.parametrize("name", COMPILED)
def test_llvm_code_computes_the_meaning_up_to_the_ends_of_integers(name: str) -> None:
    samples = accepted(name, range(1000, 1000 + MOST_REFUSED), UP_TO_THE_ENDS)[:PER_MODULE]
    assert samples
    assert not wrong(samples)


def test_a_zero_point_is_subtracted_within_int32() -> None:
    """LegalizeOps subtracts in int32 what is dequantized."""
    seen = 0
    for sample in accepted("relax.dequantize", range(60), UP_TO_THE_ENDS):
        data, _, zero = sample.arguments
        if data.dtype.kind in "iu":
            low, high = integer_limits("int32")
            seen += data.dtype.name == "int32" and data.size > 0
            reach = np.abs(zero.astype(np.int64)).max(initial=0)
            assert low + reach <= data.min(initial=0) and data.max(initial=0) <= high - reach, sample.seed
    assert seen


@pytest.mark.parametrize("name", ["divide", "floor_divide", "floor_mod", "mod"])
def test_the_smallest_integer_is_not_divided_by_minus_one(name: str) -> None:
    met: set[int] = set()
    for seed in range(MOST_REFUSED):
        a, b = harness.draw_row(OPERATORS[f"relax.{name}"], seed, knobs=UP_TO_THE_ENDS).arguments
        if a.dtype.kind == "i" and a.size and b.size:
            smallest = a.min() == np.iinfo(a.dtype).min
            assert not (smallest and b.min() < 0), seed
            met.add(2 * bool(smallest) + bool(b.min() < 0))
    assert met >= {0, 1, 2}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("knobs", [DEFAULT, UP_TO_THE_ENDS], ids=["usual", "up to the ends"])
def test_results_lie_in_the_declared_range(name: str, knobs: Knobs) -> None:
    for seed in range(20):
        assert harness.outside(harness.draw_row(OPERATORS[name], seed, knobs=knobs)) is None, seed


def test_every_exception_is_of_a_row() -> None:
    assert set(RULES) | set(UNBUILDABLE) <= set(OPERATORS)
    assert set(RULES).isdisjoint(UNBUILDABLE)
