"""The rows of MetaSchedule: they give a schedule of what they get, the same one each time, and leave their input alone."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

import subprocess
import sys
from typing import Any

import pytest
import tvm

from generators import tvm_api
from generators.passes.row import PassRow, Phase
from generators.passes.sequences import draw_names
from generators.passes.table import PASSES, SETUP, TIR_PASSES
from generators.passes.tuning import PREFIX, ROWS
from generators.recipes.table import patterns_for
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from generators.targets import TARGETS

SEEDS = 10
GOAL = 0.5
MARKS = {"llvm": ("T.parallel", "T.vectorized", "pragma_auto_unroll"), "cuda": ('"threadIdx.x"', '"blockIdx.x"')}
"""What the rules of each set write into some of the functions."""

REFUSALS = (ValueError, TypeError, tvm.error.InternalError, tvm.s_tir.ScheduleError)
"""What passes die of on some programs; that is for the oracles to say."""


def target_of(row: PassRow) -> str:
    return row.name.partition("[")[2].rstrip("]")


def construct(text: str) -> Any:
    return eval(text, dict(tvm_api.PASS_NAMES))


def legalised(row: PassRow, index: int) -> Any:
    """A program with one of the row's shapes, where the pass may stand first."""
    source = SeededSource(31, index)
    program = draw_program(source, patterns=patterns_for([source.pick(row.fires.recipes)]))
    module = program.module
    for call in SETUP[Phase.LEGAL]:
        module = construct(call.source)(module)
    return module


def test_each_search_has_a_row_for_each_set_of_rules() -> None:
    assert {row.name for row in ROWS} == {
        f"{PREFIX}.{search}[{kind}]" for search in ("ReplayTrace", "EvolutionarySearch") for kind in ("llvm", "cuda")
    }
    assert {row.name for row in ROWS} <= set(PASSES) & set(TIR_PASSES)
    assert all(len(set(row.sources)) == len(row.sources) >= 6 for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_search_schedules_a_copy(row: PassRow) -> None:
    changed, texts = 0, ""
    for index in range(SEEDS):
        made = construct(row.sources[index % len(row.sources)])
        with tvm.target.Target(eval(TARGETS[target_of(row)].source)):
            module = legalised(row, index)
            before = tvm_api.structural_hash(module)
            try:
                after, again = made(module), made(module)
            except REFUSALS:
                continue
        assert tvm_api.structural_hash(module) == before
        assert tvm_api.structural_equal(after, again, map_free_vars=True)
        changed += not tvm_api.structural_equal(module, after, map_free_vars=True)
        texts += after.script()
    assert changed >= GOAL * SEEDS
    assert all(mark in texts for mark in MARKS[target_of(row)])


ANOTHER_PROCESS = """
import sys
sys.path.insert(0, {root!r})
from generators import tvm_api
from tests.generators.test_tuning_rows import REFUSALS, ROWS, TARGETS, construct, legalised, target_of, tvm
for row in ROWS:
    with tvm.target.Target(eval(TARGETS[target_of(row)].source)):
        for index in range(4):
            try:
                made = construct(row.sources[-1])(legalised(row, index))
            except REFUSALS as error:
                print(type(error).__name__)
            else:
                print(tvm_api.structural_hash(made))
"""


@pytest.mark.deep
def test_a_candidate_follows_from_its_seed() -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    script = ANOTHER_PROCESS.format(root=root)
    told = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert sum(word.lstrip("-").isdigit() for word in told[0].split()) >= 3 * len(ROWS)


def test_threads_are_bound_for_targets_that_have_them() -> None:
    for index in range(600):
        for step in draw_names(SeededSource(5, index), PASSES, kinds=("single",), target=TARGETS["llvm"]):
            assert not (step.name.startswith(PREFIX) and step.name.endswith("[cuda]"))
