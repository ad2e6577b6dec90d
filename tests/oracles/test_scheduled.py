"""What a primitive did that none may do: the same for whatever stands in the blocks, another for another fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tvm import s_tir

from corpus.scripts.module_text import live_module
from generators.case import ModuleText
from oracles.ir.scheduled import Misdone, misdone

CHAIN = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer(({n},), "float32"), C: T.Buffer(({m},), "float32")):
        B = T.sblock_alloc_buffer(({n},), "float32")
        for i in range({n}):
            with T.sblock("b"):
                v = T.axis.spatial({n}, i)
                B[v] = {first}
        for i in range({m}):
            with T.sblock("c"):
                v = T.axis.spatial({m}, i)
                C[v] = {second}
"""
REDUCTION = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((3,), "float32"), V: T.Buffer((), "float32"), C: T.Buffer((), "float32")):
        B = T.sblock_alloc_buffer((), "float32")
        for i in range(3):
            with T.sblock("r"):
                k = T.axis.reduce(3, i)
                with T.init():
                    B[()] = T.float32(1)
                B[()] = {combined}
        with T.sblock("bias"):
            C[()] = {biased}
"""
VALUES = ("A[v]", "T.exp(A[v] + T.float32(1))")


def chain(first: str, second: str, n: int = 4, m: int = 4) -> Any:
    return live_module(ModuleText(CHAIN.format(first=first, second=second, n=n, m=m)))


def after(module: Any, apply: Callable[[Any], object]) -> Misdone | None:
    schedule = s_tir.Schedule(module)
    apply(schedule)
    return misdone(module, schedule.mod)


def loop(schedule: Any, block: str) -> Any:
    return schedule.get_loops(schedule.get_sblock(block))[0]


@pytest.mark.parametrize("first", VALUES)
@pytest.mark.parametrize("second", ["B[3 - v]", "T.max(B[3 - v], T.float32(0))"])
def test_a_consumer_that_is_merged_runs_in_another_order(first: str, second: str) -> None:
    module = chain(first, second)
    assert after(module, lambda sch: sch.merge(loop(sch, "b"), loop(sch, "c"))) == Misdone.OTHER_ORDER


@pytest.mark.parametrize("first", VALUES)
def test_padding_that_is_not_computed_leaves_out_iterations(first: str) -> None:
    module = chain(first, "T.if_then_else(1 <= v and v < 5, B[v - 1], T.float32(0))", m=6)
    found = after(module, lambda sch: sch.reverse_compute_at(sch.get_sblock("c"), loop(sch, "b")))
    assert found == Misdone.LOSES_ITERATION


def test_a_reduction_that_is_padded_gets_iterations() -> None:
    for combined in ("T.max(B[()], A[k])", "B[()] * A[k]"):
        module = live_module(ModuleText(REDUCTION.format(combined=combined, biased="B[()]")))
        assert after(module, lambda sch: sch.pad_einsum(sch.get_sblock("r"), [4])) == Misdone.ADDS_ITERATION


def test_an_epilogue_in_a_product_gives_it_another_init() -> None:
    module = live_module(ModuleText(REDUCTION.format(combined="B[()] * A[k]", biased="B[()] + V[()]")))
    found = after(module, lambda sch: sch.fuse_reduction_epilogue(sch.get_sblock("r"), sch.get_sblock("bias")))
    assert found == Misdone.OTHER_INIT


def test_a_copy_before_its_producer_reads_first() -> None:
    module = chain("A[v]", "B[v]")
    merged = s_tir.Schedule(module)
    merged.merge(loop(merged, "b"), loop(merged, "c"))
    found = after(merged.mod, lambda sch: sch.reindex(sch.get_sblock("c"), ("read", 0)))
    assert found == Misdone.READS_FIRST


def test_a_store_that_is_gone_is_lost() -> None:
    text = CHAIN.format(first="A[v]", second="T.float32(1)", n=4, m=4)
    lost = text[: text.index('        for i in range(4):\n            with T.sblock("c")')]
    assert misdone(live_module(ModuleText(text)), live_module(ModuleText(lost))) == Misdone.LOSES_STATEMENT


def test_what_is_right_by_every_rule_is_told_by_its_blocks_or_its_values() -> None:
    module = chain("A[v]", "B[v]")
    assert misdone(module, chain("A[v]", "B[0]")) == Misdone.OTHER_VALUES
    assert after(module, lambda sch: sch.cache_read(sch.get_sblock("c"), 0, "local")) == Misdone.OTHER_BLOCKS
    assert misdone(module, module) is None


def test_extents_that_a_program_is_given_may_be_zero() -> None:
    """A block that runs once is lost by a loop around it that does not run."""
    text = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(n: T.int32, C: T.Buffer((n + 1,), "float32")):
        {loop}
            with T.sblock("c"):
                v = T.axis.spatial(1, 0)
                C[v] = T.float32(1)
"""
    once, within = (live_module(ModuleText(text.format(loop=f"for i in range({n}):"))) for n in ("1", "n"))
    assert misdone(once, within) == Misdone.LOSES_ITERATION


WINDOW = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), C: T.Buffer((2,), "float32"), R: T.Buffer((), "float32")):
        B = T.sblock_alloc_buffer((4,), "float32")
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                B[v] = A[v]
        for i, j in T.grid(2, 2):
            with T.sblock("c"):
                v, k = T.axis.remap("SR", [i, j])
                C[v] = B[v + k]
        for i in range(2):
            with T.sblock("r"):
                k = T.axis.reduce(2, i)
                with T.init():
                    R[()] = T.float32(2)
                R[()] = R[()] + T.float32(1)
"""


def test_a_reduction_whose_axis_becomes_opaque_has_another_axis() -> None:
    moved = s_tir.Schedule(live_module(ModuleText(WINDOW)))
    moved.compute_at(moved.get_sblock("b"), loop(moved, "c"))
    assert after(moved.mod, lambda sch: sch.rolling_buffer(sch.get_sblock("b"), 0)) == Misdone.OTHER_AXIS
