"""Guards by an axis of threads that another axis would make needless, and loops over the same threads in one kernel."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tvm import s_tir, tirx

from generators.source import SeededSource
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.table import PRIM_RECIPES, draw_recipe
from oracles.ir.walk import nodes_of
from oracles.reference.tir import run_prim_func

SEEDS = 60


def drawn(name: str) -> list[PrimProgram]:
    programs = [draw_recipe(SeededSource(5, seed), PRIM_RECIPES[name]) for seed in range(SEEDS)]
    return [program for program in programs if program is not None]


def extents(program: PrimProgram, kind: str) -> dict[Any, int]:
    """By variable, the extents of the loops bound to axes of this kind."""
    loops = nodes_of(program.func.body, tirx.For)
    return {
        loop.loop_var: int(loop.extent)
        for loop in loops
        if loop.thread_binding is not None and str(loop.thread_binding.thread_tag).startswith(kind)
    }


@pytest.mark.parametrize("name", ["sibling_threads", "guards_of_threads", "guards_of_virtual_threads"])
def test_programs_are_well_formed_and_run(name: str) -> None:
    programs = drawn(name)
    assert len(programs) == SEEDS
    for program in programs:
        assert s_tir.analysis.verify_well_formed(program.func, assert_mode=False)
        run_prim_func(program.func, program.fresh_arguments(), program.initialised())  # raises where one may not


@pytest.mark.parametrize(
    ("name", "kind"), [("guards_of_threads", "threadIdx"), ("guards_of_virtual_threads", "vthread")]
)
def test_guards_hold_for_all_for_some_and_where_the_other_axis_would_make_them(name: str, kind: str) -> None:
    holds = Counter[str]()
    for program in drawn(name):
        axes = extents(program, kind)
        for guard in (one.condition for one in nodes_of(program.func.body, tirx.IfThenElse)):
            scale = int(guard.a.b) if isinstance(guard.a, tirx.Mul) else 1
            axis = guard.a.a if isinstance(guard.a, tirx.Mul) else guard.a
            tests = {tirx.LT: int.__lt__, tirx.LE: int.__le__, tirx.GE: int.__ge__}
            each = {
                var: [tests[type(guard)](at * scale, int(guard.b)) for at in range(extent)]
                for var, extent in axes.items()
            }
            (other,) = (var for var in axes if not var.same_as(axis))
            holds["all" if all(each[axis]) else "some" if any(each[axis]) else "none"] += 1
            holds["by the other axis"] += not all(each[axis]) and all(each[other])
    assert min(holds["all"], holds["some"], holds["by the other axis"]) > SEEDS // 10


def test_loops_over_the_same_threads_hold_blocks_for_some_threads() -> None:
    kinds = Counter[str]()
    for program in drawn("sibling_threads"):
        axes = extents(program, "threadIdx")
        assert len(axes) >= 2 and len(set(axes.values())) == 1
        blocks = [one for one in nodes_of(program.func.body, s_tir.SBlockRealize) if one.block.iter_vars]
        kinds["predicated"] += any(not isinstance(one.predicate, tirx.IntImm) for one in blocks)
        written = {str(region.source.name) for one in blocks for region in one.block.writes}
        kinds["of another"] += any(str(region.source.name) in written for one in blocks for region in one.block.reads)
    assert min(kinds["predicated"], kinds["of another"]) > SEEDS // 4
