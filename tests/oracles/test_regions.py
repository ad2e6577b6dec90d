"""Blocks that say what they do, and blocks that do not."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import pytest
from tvm.script import ir as I
from tvm.script import tirx as T

from generators import tvm_api
from oracles.ir.regions import declares_what_it_does, divides_in_the_open, unguarded_divisions

HEAD = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
"""
ROW = """
        for i, j in T.grid(4, 4):
            with T.sblock("b"):
                v, w = T.axis.remap("SS", [i, j])
                T.reads({reads})
                T.writes({writes})
                {body}
"""


def module(text: str) -> Any:
    from tvm.script import from_source

    return from_source(HEAD + text, extra_vars={"I": I, "T": T})


@pytest.mark.parametrize(
    ("reads", "writes", "body", "honest"),
    [
        ("A[v, w]", "B[v, w]", "B[v, w] = A[v, w]", True),
        ("", "B[v, w]", "B[v, w] = T.float32(1)", True),
        ("A[v, w]", "B[v, w]", "B[v, w] = T.float32(1)", False),
        ("A[v, w]", "B[v, w]", "T.evaluate(0)", False),
        ("A[v, w]", "", "B[v, w] = A[v, w]", False),
        ("A[v, w]", "B[v, w]", "B[v, w] = A[v, 0]", False),
        ("A[v, w]", "B[v, w]", "B[0, w] = A[v, w]", False),
        ("A[v, 0]", "B[v, w]", "B[v, w] = A[v, 0]", True),
        ("A[v, 0:4]", "B[v, w]", "B[v, w] = A[v, 0]", True),
        ("A[v, w], A[v, 0]", "B[v, w]", "B[v, w] = A[v, w] + A[v, 0]", True),
    ],
)
def test_declared_buffers_are_those_of_the_body(reads: str, writes: str, body: str, honest: bool) -> None:
    assert declares_what_it_does(module(ROW.format(reads=reads, writes=writes, body=body))) is honest


@pytest.mark.parametrize(("loop", "binding", "honest"), [(4, "i", True), (2, "i", False), (4, "0", False)])
def test_axes_run_over_their_extent(loop: int, binding: str, honest: bool) -> None:
    text = f"""
        for i in range({loop}):
            with T.sblock("b"):
                v = T.axis.spatial(4, {binding})
                T.reads(A[v, 0])
                T.writes(B[v, 0])
                B[v, 0] = A[v, 0]
"""
    assert declares_what_it_does(module(text)) is honest


def test_matched_buffers_stand_for_their_source() -> None:
    text = """
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                T.reads(A[v, 0:4])
                T.writes(B[v, 0:4])
                C = T.match_buffer(B[v, 0:4], (1, 4), "float32", strides=("s", "t"), offset_factor=1)
                for j in range(4):
                    C[0, j] = A[v, j]
"""
    assert declares_what_it_does(module(text))


@pytest.mark.parametrize(
    ("value", "open_"),
    [
        ("T.if_then_else(i != 0, 8 // i, 1)", False),
        ("T.Select(i > 2, 8 // 3, i // 4)", False),
        ("T.Select(i != 0, 8 // i, 1)", True),
        ("T.Cast('int32', i != 0 and T.truncmod(8, i) == 2)", True),
        ("T.Cast('int32', i == 0 or i // 2 == 1)", False),
    ],
)
def test_divisions_that_nothing_but_and_or_or_select_guards_are_seen(value: str, open_: bool) -> None:
    text = f"""@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "int32")):
        for i in range(4):
            A[i] = {value}
"""
    assert divides_in_the_open(tvm_api.module_from_script(text)) == open_


@pytest.mark.parametrize(
    ("body", "open_ones"),
    [
        ('B[i, 0] = T.Cast("float32", 7 % i)', 1),
        ('B[i, 0] = T.Cast("float32", 7 % i + i // (i - 1))', 2),
        ('B[i, 0] = T.Cast("float32", T.if_then_else(i != 0, 7 % i, 0))', 0),
        ('B[i, 0] = T.Cast("float32", 7 % T.max(i, 1) + i // 4)', 0),
        ("B[i, 0] = A[i, 0] / A[0, i]", 0),
    ],
)
def test_integer_divisions_without_a_guard_are_counted(body: str, open_ones: int) -> None:
    assert unguarded_divisions(module(f"\n        for i in range(4):\n            {body}\n")) == open_ones


def test_a_guard_may_be_a_statement() -> None:
    guarded = (
        '\n        for i in range(4):\n            if i != 0:\n                B[i, 0] = T.Cast("float32", 7 % i)\n'
    )
    assert unguarded_divisions(module(guarded)) == 0
