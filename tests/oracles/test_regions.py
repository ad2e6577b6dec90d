"""Blocks that say what they do, and blocks that do not."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import pytest
from tvm import s_tir, tirx
from tvm.script import ir as I
from tvm.script import tirx as T

from generators import tvm_api
from oracles.ir.regions import (
    declares_what_it_does,
    divides_in_the_open,
    inputs_stored,
    regions_outside,
    shared_by_virtual_threads,
    unguarded_divisions,
)
from oracles.ir.walk import nodes_of

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


COPIED = """
        for k in T.serial(1):
            with T.sblock("copy"):
                v = T.axis.spatial(1, k)
                T.reads(A[{rows}, 0:4])
                T.writes(B[{rows}, 0:4])
                {mark}
                for i in range(4):
                    B[{row}, i] = A[{row}, {column}]
"""
MARK = 'T.sblock_attr({"auto_copy": True})'


@pytest.mark.parametrize(
    ("rows", "row", "column", "mark", "honest"),
    [
        ("v", "v", "i", MARK, True),
        ("0", "0", "3 - i", MARK, True),
        ("v", "v", "0", MARK, False),
        ("0:4", "0", "i", MARK, False),
        ("v", "v", "0", "", True),
    ],
)
def test_a_block_that_is_marked_as_a_copy_copies_all_of_its_region(
    rows: str, row: str, column: str, mark: str, honest: bool
) -> None:
    text = COPIED.format(rows=rows, row=row, column=column, mark=mark)
    assert declares_what_it_does(module(text)) is honest


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


@pytest.mark.parametrize(
    ("reads", "matched", "outside"),
    [
        ("A[v, w]", "A[v, 0:4]", 0),
        ("A[v, w]", "A[v, 1:5]", 1),
        ("A[v, w]", "A[v + 1, 0:4]", 1),
        ("A[v, w + 1]", "A[v, 0:4]", 1),
        ("A[v - 1, w + 1]", "A[v, 0:4]", 2),
        ("A[v // 2 + 2, w]", "A[v, 0:4]", 0),
    ],
)
def test_regions_that_may_leave_their_buffers_are_counted(reads: str, matched: str, outside: int) -> None:
    body = f'C = T.match_buffer({matched}, (1, 4), "float32", offset_factor=1)\n                B[v, w] = C[0, w]'
    assert regions_outside(module(ROW.format(reads=reads, writes="B[v, w]", body=body))) == outside


@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("B[i, 0] = A[i, 0]", 0),
        ("B[0, 0] = A[i, 0]", 1),
        ("B[0, 0] = B[0, 0] + A[i, 0]", 2),
        ("B[i, 0] = B[0, 0]", 1),
        ("for j in range(2):\n                B[j, i // 2] = A[0, 0]", 0),
        ('C = T.alloc_buffer((1,), "float32")\n            C[0] = A[i, 0]\n            B[i, 0] = C[0]', 0),
        ("k: T.let[T.int32] = i + 1\n            B[k - 1, 0] = A[0, 0]", 0),
    ],
)
def test_what_virtual_threads_share_is_counted(body: str, shared: int) -> None:
    for count, tag in ((4, "vthread.x"), (1, "vthread.x"), (4, "threadIdx.x")):
        text = f'\n        for i in T.thread_binding({count}, thread="{tag}"):\n            {body}\n'
        assert shared_by_virtual_threads(module(text)) == (shared if (count, tag) == (4, "vthread.x") else 0)


def test_axes_of_blocks_stand_for_their_virtual_threads() -> None:
    block = """
        for i in T.thread_binding(4, thread="vthread.x"):
            with T.sblock("b"):
                v = T.axis.spatial(4, {binding})
                T.reads(A[v, 0])
                T.writes(B[v, 0])
                B[v, 0] = A[v, 0]
"""
    assert shared_by_virtual_threads(module(block.format(binding="i"))) == 0
    assert shared_by_virtual_threads(module(block.format(binding="0"))) == 1


def test_lowered_virtual_threads_are_seen_too() -> None:
    shared = module('\n        for i in T.thread_binding(4, thread="vthread.x"):\n            B[0, 0] = A[i, 0]\n')
    lowered = s_tir.transform.LowerOpaqueBlock()(shared)
    assert not [loop for loop in nodes_of(lowered["main"].body, tirx.For) if loop.thread_binding is not None]
    assert shared_by_virtual_threads(lowered) == 1


CALLED = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        for i in range(4):
            {body}

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            a = {call}
            R.output(a)
        return a
"""
BLOCK = """
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                T.reads(A[v])
                T.writes(B[v], C[v])
                M = T.match_buffer(B[v : v + 1], (1,), "float32", offset_factor=1)
                M[0] = A[v]
                C[v] = A[v]
"""


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        ("C[i] = A[i] + B[i]", 0),
        ("B[i] = A[i]; C[i] = B[i]", 1),
        ("A[i] = B[i]; B[i] = A[i]; C[i] = B[i]", 2),
        (BLOCK.strip(), 1),
    ],
)
def test_stores_into_inputs_of_call_tir_are_counted(body: str, stored: int) -> None:
    call = 'R.call_tir(cls.f, (x, y), R.Tensor((4,), "float32"))'
    text = CALLED.format(body=body.replace("; ", "\n            "), call=call)
    assert inputs_stored(tvm_api.module_from_script(text)) == stored


def test_a_call_that_says_that_it_overwrites_an_input_may() -> None:
    call = 'R.call_tir_inplace(cls.f, (x, y), [1], R.Tensor((4,), "float32"))'
    text = CALLED.format(body="B[i] = A[i]", call=call).replace(', C: T.Buffer((4,), "float32")', "")
    assert inputs_stored(tvm_api.module_from_script(text)) == 0
