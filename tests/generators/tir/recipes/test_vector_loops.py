"""Vectorized loops: the lanes of one vector that are divided do not all give one quotient."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
from tvm import tirx

from generators.source import SeededSource
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.table import PRIM_RECIPES, draw_recipe
from oracles.ir.walk import nodes_of
from oracles.reference.tir import run_prim_func

DRAWS = 60


def quotients() -> list[PrimProgram]:
    drawn = [draw_recipe(SeededSource(23, seed), PRIM_RECIPES["lane_quotients"]) for seed in range(DRAWS)]
    return [program for program in drawn if program is not None]


def divided_lanes(program: PrimProgram) -> list[tuple[Any, Any]]:
    """Vectorized loops whose one statement loads at a quotient or a remainder, with that index."""
    found = []
    for loop in nodes_of(program.func.body, tirx.For):
        if loop.kind == tirx.ForKind.VECTORIZED:
            divided = [n for kind in (tirx.FloorDiv, tirx.FloorMod) for n in nodes_of(loop.body, kind)]
            found += [(loop, node) for node in divided]
    return found


def of_lanes(loop: Any, node: Any) -> set[int]:
    """What the node gives for the lanes, where loops around are in their first turn."""

    def number(expr: Any, lane: int) -> int:
        match expr:
            case tirx.Var():
                return lane if expr.same_as(loop.loop_var) else 0
            case tirx.IntImm():
                return int(expr)
            case tirx.Add():
                return number(expr.a, lane) + number(expr.b, lane)
            case tirx.Mul():
                return number(expr.a, lane) * number(expr.b, lane)
            case tirx.FloorDiv():
                return number(expr.a, lane) // number(expr.b, lane)
        assert isinstance(expr, tirx.FloorMod)
        return number(expr.a, lane) % number(expr.b, lane)

    return {number(node, lane) for lane in range(int(loop.extent))}


def test_lanes_of_one_vector_fall_to_both_sides_of_a_multiple() -> None:
    drawn = [divided_lanes(program) for program in quotients()]
    assert all(drawn) and len(drawn) > DRAWS - 5
    apart = one = 0
    for loop, node in (pair for pairs in drawn for pair in pairs if isinstance(pair[1], tirx.FloorDiv)):
        lanes = of_lanes(loop, node)
        apart += len(lanes) > 1 and int(loop.extent) <= int(node.b)
        one += len(lanes) == 1
    assert apart > 5 and one > 1


def test_each_lane_reads_in_bounds() -> None:
    for program in quotients():
        arguments = program.fresh_arguments()
        run_prim_func(program.func, arguments, program.initialised())
        assert any(np.asarray(arguments[number]).size for number in program.outputs)
