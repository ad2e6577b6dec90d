"""Hints on drawn PrimFuncs: most programs get each, and no number changes by one."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

import numpy as np
import pytest

from generators import tvm_api
from generators.program import Program
from generators.source import SeededSource
from generators.tir.hints import HINTS, with_hints
from generators.tir.relax_caller import draw_prim_program
from oracles.reference.engine import Interpreter
from tests.generators.tir.test_prim_recipes import tensors
from tests.quick import one_in

PROGRAMS = 8


def results(program: Program) -> list[np.ndarray]:
    return tensors(Interpreter(program.module).run(program.calls[0]))


@pytest.mark.parametrize("name", one_in(3, HINTS))
def test_a_hint_stands_in_most_programs_and_changes_no_number(name: str) -> None:
    held = 0
    for seed in range(PROGRAMS):
        source = SeededSource(61, seed)
        plain = draw_prim_program(source, for_schedules=True, parts=True, threads=False, barriers=False)
        hinted = with_hints(source, plain, [name])
        held += f'"{name}"' in tvm_api.script_of(hinted.module)
        for one, other in zip(results(plain), results(hinted), strict=True):
            np.testing.assert_array_equal(one, other)
    assert held > PROGRAMS // 2


def test_an_unknown_hint_is_refused() -> None:
    source = SeededSource(61, 0)
    program = draw_prim_program(source, for_schedules=True, parts=False, threads=False, barriers=False)
    with pytest.raises(KeyError):
        with_hints(source, program, ["no_such_hint"])
