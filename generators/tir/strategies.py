"""Hypothesis strategies of PrimFuncs and of schedules of them, for property tests of any passes.

@given(prim_funcs())
def test_my_pass_keeps_functions_well_formed(program):
    assert tvm.s_tir.analysis.verify_well_formed(MyPass()(program.module), assert_mode=False)
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from generators.source import HypothesisSource
from generators.tir.functions import draw_prim_func, draw_schedulable
from generators.tir.integers import draw_integer_func
from generators.tir.knobs import DEFAULT, INTEGERS, TirKnobs
from generators.tir.prim_program import PrimProgram
from generators.tir.schedules import Scheduled, draw_schedule

SMALL = replace(DEFAULT, stages=(1, 3), statements=(1, 3), depths=((2, 1),))
"""Smaller than a campaign's: an example should fit Hypothesis' buffer and be read at a glance."""


def prim_funcs(knobs: TirKnobs = SMALL) -> st.SearchStrategy[PrimProgram]:
    """PrimFuncs with exact arguments: well-formed, in bounds, without undefined results."""
    return _prim_funcs(knobs)


def integer_funcs(knobs: TirKnobs = INTEGERS) -> st.SearchStrategy[PrimProgram]:
    """PrimFuncs of integer expressions that go exhaustively through small ranges; for rewrites of such expressions."""
    return _integer_funcs(knobs)


def scheduled_prim_funcs(
    knobs: TirKnobs = SMALL, *, steps: int = 4, threads: bool = False
) -> st.SearchStrategy[Scheduled]:
    """PrimFuncs of blocks scheduled by up to `steps` primitives; `threads` as for `draw_schedule`.

    A bug of a TVM primitive shows in the result.
    """
    return _scheduled(replace(knobs, block_loops=replace(knobs.block_loops, step=0.0)), steps, threads)


@st.composite
def _prim_funcs(draw: st.DrawFn, knobs: TirKnobs) -> PrimProgram:
    return draw_prim_func(HypothesisSource(draw), knobs)


@st.composite
def _integer_funcs(draw: st.DrawFn, knobs: TirKnobs) -> PrimProgram:
    return draw_integer_func(HypothesisSource(draw), knobs)


@st.composite
def _scheduled(draw: st.DrawFn, knobs: TirKnobs, steps: int, threads: bool) -> Scheduled:
    source = HypothesisSource(draw)
    return draw_schedule(source, draw_schedulable(source, knobs), steps, threads=threads)
