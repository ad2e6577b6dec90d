"""Which loop a jump belongs to, and passes that give it to another."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import pytest
import tvm
from tvm import s_tir, tirx

from generators import tvm_api
from oracles.ir.jumps import gives_jumps_to_other_loops

HEAD = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64, 4), "int32"), B: T.Buffer((64,), "int32")):
"""
LOOPS = """
        for i in range(64):
            {outer}
            for j in range(2):
                {inner}
                B[i] = 1
"""
LOOP = """
        for j in range(2):
            {inner}
            B[j] = 1
"""


def jump(kind: str, blanks: int) -> str:
    return f"if A[0, 0] > 0:\n{' ' * (blanks + 4)}T.{kind}_loop()"


def module(body: str, outer: str = "", inner: str = "") -> Any:
    return tvm_api.module_from_script(HEAD + body.format(outer=outer, inner=inner))


def unrolled(given: Any) -> Any:
    """The short loop alone is."""
    with tvm.transform.PassContext(config={"tirx.UnrollLoop": {"auto_max_step": 16}}):
        after = tirx.transform.UnrollLoop()(given)
    assert not tvm_api.structural_equal(given, after)
    return after


@pytest.mark.parametrize("kind", ["continue", "break"])
def test_a_jump_of_the_inner_loop_that_is_left_to_the_outer_one_is_seen(kind: str) -> None:
    given = module(LOOPS, inner=jump(kind, 16))
    assert gives_jumps_to_other_loops(given, unrolled(given))


@pytest.mark.parametrize("kind", ["continue", "break"])
def test_a_jump_of_the_outer_loop_keeps_its_loop(kind: str) -> None:
    given = module(LOOPS, outer=jump(kind, 12))
    assert not gives_jumps_to_other_loops(given, unrolled(given))


def test_a_module_without_jumps_gives_none_away() -> None:
    given = module(LOOPS)
    assert not gives_jumps_to_other_loops(given, unrolled(given))


def test_a_jump_that_no_loop_is_left_around_is_seen() -> None:
    given = module(LOOP, inner=jump("continue", 12))
    assert gives_jumps_to_other_loops(given, unrolled(given))


def test_a_loop_with_another_variable_is_the_same_loop() -> None:
    given = module(LOOPS, inner=jump("break", 16))
    renamed = tvm.IRModule({name: s_tir.renew_defs(function) for name, function in given.functions.items()})
    assert not gives_jumps_to_other_loops(given, renamed)
