"""Hints on drawn PrimFuncs: most programs get each, and what TVM builds of them computes the same."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import pytest

from generators import tvm_api
from generators.passes.row import Phase
from generators.program import Program
from generators.source import SeededSource
from generators.tir.hints import HINTS, with_hints
from generators.tir.relax_caller import draw_prim_program
from oracles.builds.build import Built, NotBuilt, build
from oracles.reference.numbers import Numbers
from tests.oracles.oracle_bench import RealBench
from tests.quick import one_in

PROGRAMS = 8
TVM_BUGS = {("buffer_dim_align", 6)}
"""The annotation names a buffer by its place among the writes of a block, which
PlanAndUpdateBufferAllocationLocation empties (corpus/known.toml)."""


def judged(program: Program, module: Any) -> Any:
    """What the reference says of a build of the module."""
    made = build(module, Phase.HIGH, RealBench(target="llvm"), 0)
    return Numbers(program.module, program.calls).judge_run(made.run) if isinstance(made, Built) else type(made)


@pytest.mark.parametrize("name", one_in(3, HINTS))
def test_a_hint_stands_in_most_programs_and_changes_no_number(name: str) -> None:
    held = built = 0
    for seed in range(PROGRAMS):
        source = SeededSource(61, seed)
        plain = draw_prim_program(source, for_schedules=True, parts=True, threads=False, barriers=False)
        hinted = with_hints(source, plain, [name])
        held += f'"{name}"' in tvm_api.script_of(hinted.module)
        of_plain, of_hinted = (judged(plain, program.module) for program in (plain, hinted))
        if (name, seed) in TVM_BUGS and of_hinted is NotBuilt:
            continue
        assert of_plain == of_hinted, seed  # LLVM's code for some comparisons is wrong with hints and without
        built += of_plain is None
    assert held > PROGRAMS // 2 and built >= PROGRAMS // 2


def test_an_unknown_hint_is_refused() -> None:
    source = SeededSource(61, 0)
    program = draw_prim_program(source, for_schedules=True, parts=False, threads=False, barriers=False)
    with pytest.raises(KeyError):
        with_hints(source, program, ["no_such_hint"])
