"""Every row of the operator table: drawn calls against LLVM code that TVM builds, and against their declared range.

Parametrised over the whole table, so a new row is tested without a change here. What TVM itself gets wrong is in
refused_by_llvm.py; comparisons with other libraries are in test_operators_independent.py.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from generators.operators.table import OPERATORS
from tests import operator_harness as harness
from tests.generators.refused_by_llvm import RULES, UNBUILDABLE, is_refused

COMPILED = [name for name in OPERATORS if name not in UNBUILDABLE]
MOST_REFUSED = 60
"""A row whose calls are nearly all refused must show an accepted one within this many draws."""
MANY = {"relax.vision": 200}
"""How many calls of an operator the slow test draws, by namespace; 31 of the others."""
TARGET = {"kind": "llvm", "opt-level": 0}
PER_MODULE = 25
"""Samples in one module: one build serves them all."""


def accepted(name: str, seeds: Iterable[int]) -> list[harness.Sample]:
    """The drawn calls that this TVM compiles as documented."""
    drawn = (harness.draw_row(OPERATORS[name], seed) for seed in seeds)
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


@pytest.mark.parametrize("name", COMPILED)
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


@pytest.mark.parametrize("name", OPERATORS)
def test_results_lie_in_the_declared_range(name: str) -> None:
    for seed in range(20):
        assert harness.outside(harness.draw_row(OPERATORS[name], seed)) is None, seed


def test_every_exception_is_of_a_row() -> None:
    assert set(RULES) | set(UNBUILDABLE) <= set(OPERATORS)
    assert set(RULES).isdisjoint(UNBUILDABLE)
