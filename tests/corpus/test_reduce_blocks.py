"""Blocks and loops of PrimFuncs in the reducer: what is left is a program written by hand, names aside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tvm import s_tir, tirx

from corpus.reduce import Candidate, reduce
from corpus.reduce.draft import VAR
from corpus.reduce.steps.tir_blocks import REDUCE
from corpus.scripts.module_text import live_module, text_of
from generators import tvm_api as T
from generators.case import EntryCall, ModuleText
from oracles.ir.endless import endless_loops
from oracles.ir.regions import declares_what_it_does
from oracles.ir.walk import nodes_of, prim_funcs
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning
from oracles.reference.values import Tensor

HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"
CALLED = """
    @R.function
    def main(x: R.Tensor(({n},), "float32")) -> R.Tensor(({m},), "float32"):
        cls = Module
        a = R.call_tir(cls.own, (x,), out_ty=R.Tensor(({m},), "float32"))
        return a
"""

SUM = """
    @T.prim_func(private=True, s_tir=True)
    def own(A: T.Buffer((6,), "float32"), B: T.Buffer((1,), "float32")):
        for n, f, k, u in T.grid(1, 1, 3, 2):
            with T.sblock("sum"):
                v_n, v_f, v_k, v_u = T.axis.remap("SSRR", [n, f, k, u])
                with T.init():
                    B[v_n + v_f] = T.float32(0)
                B[v_n + v_f] = B[v_n + v_f] + A[v_k * 2 + v_u]
"""

SUM_STARTS = """
    @T.prim_func(private=True, s_tir=True)
    def own(B: T.Buffer((1,), "float32")):
        with T.sblock("sum"):
            T.reads()
            T.writes(B[0])
            with T.init():
                B[0] = T.float32(0)
            T.evaluate(0)

    @R.function
    def main() -> R.Tensor((1,), "float32"):
        cls = Module
        a = R.call_tir(cls.own, R.tuple(), out_ty=R.Tensor((1,), "float32"))
        return a
"""

SUM_REDUCES = """
    @T.prim_func(private=True, s_tir=True)
    def own(B: T.Buffer((1,), "float32")):
        for k in range(1):
            with T.sblock("sum"):
                v_k = T.axis.reduce(1, k)
                T.reads()
                T.writes(B[0])
                B[0] = T.float32(0)

    @R.function
    def main() -> R.Tensor((1,), "float32"):
        cls = Module
        a = R.call_tir(cls.own, R.tuple(), out_ty=R.Tensor((1,), "float32"))
        return a
"""


def has_a_meaning(candidate: Candidate) -> bool:
    calls = candidate.calls
    return bool(calls) and not isinstance(Numbers(candidate.module, calls).expected, NoMeaning)


def blocks(candidate: Candidate) -> list[s_tir.SBlock]:
    return [block for _, f in prim_funcs(candidate.module) for block in nodes_of(f.body, s_tir.SBlock)]


def starts_a_block(candidate: Candidate) -> bool:
    return has_a_meaning(candidate) and any(block.init is not None for block in blocks(candidate))


def reduces_over_a_loop(candidate: Candidate) -> bool:
    """A block that stores has an axis to reduce over that is the variable of a loop; all say what they do."""
    realizes = [r for _, f in prim_funcs(candidate.module) for r in nodes_of(f.body, s_tir.SBlockRealize)]
    storing = [realize for realize in realizes if nodes_of(realize, tirx.BufferStore)]
    pairs = [pair for realize in storing for pair in zip(realize.block.iter_vars, realize.iter_values, strict=True)]
    over = any(axis.iter_type == REDUCE and isinstance(value, VAR) for axis, value in pairs)
    return over and declares_what_it_does(candidate.module) and has_a_meaning(candidate)


@pytest.mark.parametrize(
    ("shows", "left"), [(starts_a_block, SUM_STARTS), (reduces_over_a_loop, SUM_REDUCES)], ids=["starts", "reduces"]
)
def test_axes_of_one_value_go_and_a_start_without_more_is_a_store(
    shows: Callable[[Candidate], bool], left: str
) -> None:
    calls = (EntryCall("main", (np.ones(6, np.float32),)),)
    start = Candidate(live_module(ModuleText(HEAD + SUM + CALLED.format(n=6, m=1))), (), (), calls)
    assert shows(start)
    small = reduce(start, shows, budget_s=600.0)
    assert T.structural_equal(small.candidate.module, live_module(ModuleText(HEAD + left))), (
        small.candidate.module.script()
    )
    assert small.finished and not small.faults


PADDED = """
    @T.prim_func(private=True, s_tir=True)
    def own(A: T.Buffer((10,), "float32"), B: T.Buffer((20,), "float32")):
        for i in range(20):
            B[i] = T.if_then_else(4 <= i and i < 14, A[i - 4], T.float32(0))
"""

PADDED_IN_A_BLOCK = """
    @T.prim_func(private=True, s_tir=True)
    def own(A: T.Buffer((10,), "float32"), B: T.Buffer((20,), "float32")):
        for i in range(20):
            with T.sblock("padded"):
                v_i = T.axis.spatial(20, i)
                B[v_i] = T.if_then_else(4 <= v_i and v_i < 14, A[v_i - 4], T.float32(0))
"""


def gives_the_seventh(candidate: Candidate) -> bool:
    """An element of the result is the seventh of the input, which is read; blocks say what they do."""
    if not candidate.calls or not all(call.arguments for call in candidate.calls):
        return False
    given = Numbers(candidate.module, candidate.calls).expected
    return (
        not isinstance(given, NoMeaning)
        and any(isinstance(value, Tensor) and bool((value.value == SEVENTH).any()) for value in given)
        and declares_what_it_does(candidate.module)
        and any(nodes_of(function.body, T.TensorLoad) for _, function in prim_funcs(candidate.module))
    )


SEVENTH = 107


@pytest.mark.parametrize("whole", [PADDED, PADDED_IN_A_BLOCK], ids=["loop", "block"])
def test_a_loop_of_which_only_the_middle_matters_becomes_an_iteration_that_a_script_says(whole: str) -> None:
    numbers = np.full(10, 5, np.float32)
    numbers[6] = SEVENTH
    calls = (EntryCall("main", (numbers,)),)
    start = Candidate(live_module(ModuleText(HEAD + whole + CALLED.format(n=10, m=20))), (), (), calls)
    assert gives_the_seventh(start)
    small = reduce(start, gives_the_seventh, budget_s=600.0)
    assert not any(nodes_of(f.body, tirx.For) for _, f in prim_funcs(small.candidate.module))
    assert text_of(small.candidate.module).json is None
    assert small.finished and not small.faults and small.oracle_calls < 100


COUNTED = """
    @T.prim_func(private=True, s_tir=True)
    def own(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        k = T.alloc_local((1,), "int32")
        k[0] = 0
        while k[0] < 8:
            B[k[0]] = A[k[0]]
            k[0] = k[0] + 1
"""


def loops_while(candidate: Candidate) -> bool:
    loops = [loop for _, f in prim_funcs(candidate.module) for loop in nodes_of(f.body, tirx.While)]
    return has_a_meaning(candidate) and any(nodes_of(loop, T.TensorLoad) for loop in loops)


def test_a_counter_that_becomes_a_parameter_is_one_that_a_script_says() -> None:
    calls = (EntryCall("main", (np.ones(8, np.float32),)),)
    start = Candidate(live_module(ModuleText(HEAD + COUNTED + CALLED.format(n=8, m=8))), (), (), calls)
    seen: list[str | None] = []

    def shows(candidate: Candidate) -> bool:
        if endless_loops(candidate.module) or not loops_while(candidate):
            return False
        seen.append(text_of(candidate.module).json)
        return True

    small = reduce(start, shows, budget_s=600.0, max_calls=60)
    assert len(seen) > 3 and set(seen) == {None}
    assert not small.faults and small.statements_after < small.statements_before
