"""The phase of a module, read off the module: after each stretch of an official pipeline."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from corpus.scripts.module_text import live_module
from fuzzer.trial.subject.phase import phase_of
from generators.case import ModuleText
from generators.passes.row import Phase
from generators.passes.table import PASSES, SETUP
from generators.source import SeededSource
from oracles.reference.numbers import Numbers
from oracles.workbench import Workbench

HIGH = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((2, 4), "float32"):
        with R.dataflow():
            a = R.multiply(x, y)
            b = R.nn.relu(a)
            R.output(b)
        return b
"""
UNMARKED = {
    **dict.fromkeys((Phase.FUSED, Phase.NONDATAFLOW), Phase.LEGAL),
    Phase.PLANNED: Phase.LOWERED,
    **dict.fromkeys((Phase.INIT, Phase.PLACED), Phase.BOUND),
    Phase.COMPACT: Phase.OPAQUE,
    **dict.fromkeys((Phase.FLAT, Phase.VECTORS, Phase.STORAGE, Phase.SYNCED, Phase.SPLIT), Phase.LOOPS),
    **dict.fromkeys((Phase.STORED, Phase.BUILTINS, Phase.INTRINSICS), Phase.PACKED),
}
"""Phases that leave no mark, or none on this module: the earliest phase that it could stand in."""


def lowered(phase: Phase) -> Any:
    module = live_module(ModuleText(HIGH))
    bench = Workbench(SeededSource(0), Numbers(module, ()), {}, "llvm")
    for call in SETUP[phase]:
        module = bench.apply(call, module)
        assert isinstance(module, tvm.ir.IRModule), (call, module)
    return module


@pytest.mark.parametrize("phase", SETUP, ids=lambda phase: phase.name)
def test_the_phase_of_a_module(phase: Phase) -> None:
    assert phase_of(lowered(phase)) is UNMARKED.get(phase, phase)


def test_one_operator_that_is_left_makes_a_module_high() -> None:
    script = lowered(Phase.LEGAL).script().replace("return b", "c = R.exp(b)\n        return c")
    assert phase_of(live_module(ModuleText(script))) is Phase.HIGH


def test_prim_funcs_alone_are_what_legalize_ops_gives() -> None:
    legal = lowered(Phase.LEGAL)
    alone = {var: f for var, f in legal.functions.items() if isinstance(f, tvm.tirx.PrimFunc)}
    assert phase_of(tvm.ir.IRModule(alone)) is Phase.LEGAL
    assert len(alone) == 2


def test_every_phase_has_a_pass_that_leads_to_it() -> None:
    assert {row.place.gives for row in PASSES.values()} >= set(SETUP) - {Phase.HIGH}
