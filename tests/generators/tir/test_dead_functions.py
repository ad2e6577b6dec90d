"""Functions without callers: of every kind that is drawn, well-formed, and without effect on the program."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections import Counter
from typing import Any

import tvm_ffi
from tvm import s_tir, tirx

from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from generators.tir.dead_prim_func import with_dead_prim_func
from generators.tir.functions import draw_dead_function, draw_prim_func
from generators.tir.prim_program import PrimProgram
from oracles.checks.well_formed import complaint
from oracles.reference.tir import run_prim_func

SEEDS = 150


def nodes(function: Any, kind: Any) -> list[Any]:
    found: list[Any] = []
    tvm_ffi.structural_walk(function.body, (kind, found.append), order="post")
    return found


def kinds_of(function: Any) -> set[str]:
    """Which kinds of function it is, by its statements."""
    blocks = nodes(function, s_tir.SBlock)
    if not blocks:
        return {"loops alone"} | ({"while"} if nodes(function, tirx.While) else set())
    root = function.body.block.body
    inner = [block for block in blocks if block.name_hint != "root"]
    kinds = {"blocks"} if inner else {"loops in the root block"}
    if not inner and isinstance(root, tirx.For):
        kinds.add("one loop in the root block")
    if any(block.name_hint.startswith("loops") for block in inner):
        kinds.add("loops in a block")
    return kinds


def test_all_kinds_are_drawn_and_well_formed() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(SEEDS):
        function = draw_dead_function(SeededSource(9, seed))
        assert "global_symbol" not in function.attrs
        s_tir.analysis.verify_well_formed(function)
        kinds.update(kinds_of(function))
    in_blocks = {"loops in the root block", "one loop in the root block", "loops in a block"}
    assert set(kinds) == {"blocks", "loops alone", "while"} | in_blocks


def loops_in_a_block() -> list[PrimProgram]:
    drawn = (draw_prim_func(SeededSource(4, seed)) for seed in range(SEEDS))
    return [program for program in drawn if "loops_in_a_block" in program.features]


def test_loops_in_a_block_run_and_write_every_output() -> None:
    programs = loops_in_a_block()
    assert programs
    for program in programs:
        arguments = program.fresh_arguments()
        run_prim_func(program.func, arguments, program.initialised())


def test_a_dead_function_does_not_change_the_program() -> None:
    for seed in range(10):
        program = draw_program(SeededSource(2, seed))
        beside = with_dead_prim_func(SeededSource(3, seed), program)
        new = set(beside.module.functions) - set(program.module.functions)
        assert len(new) == 1 and beside.calls is program.calls
        for gvar, function in program.module.functions.items():
            assert beside.module[gvar].same_as(function)
        assert not complaint(beside.module)
