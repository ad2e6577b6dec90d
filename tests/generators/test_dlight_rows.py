"""The rules of dlight, one row each: they fire on the shapes that their rows name, and leave their input alone."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")


import pytest
import tvm

from generators import tvm_api
from generators.passes.dlight import PREFIX, ROWS
from generators.passes.row import PassRow
from generators.passes.sequences import draw_names
from generators.passes.table import PASSES, TIR_PASSES
from generators.source import SeededSource
from generators.targets import TARGETS
from tests.generators.shaped_programs import construct, legalised
from tests.quick import one_in

SEEDS = 14
GOAL = 0.2
BY_RULE = {
    "gpu": {"Matmul", "GEMV", "LowBatchGEMV", "Reduction", "GeneralReduction", "RMSNorm", "Transpose", "Fallback"},
    "cpu": {"GEMV", "Reduction"},
}
"""What dlight 0.27 documents, by the module of the rule."""


REFUSALS = (ValueError, TypeError, AttributeError, AssertionError, tvm.error.InternalError, tvm.s_tir.ScheduleError)
"""What passes die of on some programs; that is for the oracles to say."""


def target_of(row: PassRow) -> str:
    return "cuda" if row.name.startswith(f"{PREFIX}.gpu") else "llvm"


def test_each_rule_has_a_row_of_its_own() -> None:
    assert {row.name for row in ROWS} == {
        f"{PREFIX}.{kind}.{rule}" for kind, rules in BY_RULE.items() for rule in rules
    }
    assert {row.name for row in ROWS} <= set(PASSES) & set(TIR_PASSES)


@pytest.mark.parametrize("row", one_in(6, ROWS), ids=lambda row: row.name)
def test_a_rule_fires_on_its_shapes_and_gets_a_copy(row: PassRow) -> None:
    changed = 0
    with tvm.target.Target(eval(TARGETS[target_of(row)].source)):
        for index in range(SEEDS):
            try:
                module = legalised(row, index)
                before = tvm_api.structural_hash(module)
                after = construct(row.sources[0])(module)
            except REFUSALS:
                continue
            assert tvm_api.structural_hash(module) == before
            changed += not tvm_api.structural_equal(module, after, map_free_vars=True)
    assert changed >= GOAL * SEEDS


def test_rules_for_gpus_are_drawn_for_targets_with_threads_alone() -> None:
    drawn = {name: set[str]() for name in ("llvm", "cuda")}
    for name, found in drawn.items():
        for index in range(600):
            steps = draw_names(SeededSource(5, index), PASSES, kinds=("single",), target=TARGETS[name])
            found |= {step.name for step in steps if step.name.startswith(PREFIX)}
    assert not any(name.startswith(f"{PREFIX}.gpu") for name in drawn["llvm"])
    assert any(name.startswith(f"{PREFIX}.cpu") for name in drawn["llvm"])
    assert any(name.startswith(f"{PREFIX}.gpu") for name in drawn["cuda"])
