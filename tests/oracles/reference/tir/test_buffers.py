"""Buffers that lie somewhere in others: matched twice, declared with strides, arguments that are vectors."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import tirx
from tvm.script import tirx as T

from oracles.reference.tir import Trap, Unsupported, run_prim_func

A = np.arange(64, dtype=np.float32).reshape(8, 8)


@T.prim_func(s_tir=True)
def matched_twice(A: T.Buffer((2, 8, 8), "float32")):
    for i, j in T.grid(2, 2):
        with T.sblock("outer"):
            outer = T.match_buffer(A[1, i * 4 : i * 4 + 4, j * 4 : j * 4 + 4], (4, 4), offset_factor=1)
            for k in T.serial(2):
                with T.sblock("inner"):
                    inner = T.match_buffer(outer[k * 2, 0:4], (4,), offset_factor=1)
                    for n in T.serial(4):
                        inner[n] = T.Cast("float32", i * 1000 + j * 100 + k * 10 + n)


@T.prim_func(s_tir=True)
def matched_beyond(A: T.Buffer((2, 8, 8), "float32")):
    with T.sblock("outer"):
        outer = T.match_buffer(A[1, 4:8, 4:8], (4, 4), offset_factor=1)
        with T.sblock("inner"):
            inner = T.match_buffer(outer[2:6, 0:4], (4, 4), offset_factor=1)
            for n in T.serial(4):
                inner[n, 0] = T.float32(1)


@T.prim_func(s_tir=True)
def with_gaps(A: T.Buffer((8, 8), "float32"), B: T.Buffer((4, 6), "float32"), C: T.Buffer((40,), "float32")):
    rows = T.decl_buffer((4, 6), "float32", data=C.data, strides=(10, 1))
    for i, j in T.grid(4, 6):
        rows[i, j] = A[i, j]
    for i, j in T.grid(4, 6):
        B[i, j] = rows[3 - i, j]


@T.prim_func(s_tir=True)
def three_dimensions(A: T.Buffer((8, 8), "float32"), C: T.Buffer((48,), "float32")):
    blocks = T.decl_buffer((2, 2, 4), "float32", data=C.data, strides=(24, 6, 1))
    for i, j, k in T.grid(2, 2, 4):
        blocks[i, j, k] = A[i * 2 + j, k]


@T.prim_func(s_tir=True)
def columns(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    T.func_attr({"global_symbol": "main"})
    turned = T.decl_buffer((8, 8), "float32", data=C.data, strides=(1, 8))
    for i, j in T.grid(8, 8):
        turned[i, j] = A[i, j]


@T.prim_func(s_tir=True)
def part_of_rows(A: T.Buffer((8, 8), "float32"), C: T.Buffer((38,), "float32")):
    T.func_attr({"global_symbol": "main"})
    part = T.decl_buffer((4, 3), "float32", data=C.data, strides=(7, 1), elem_offset=9)
    for i, j in T.grid(4, 3):
        part[i, j] = A[i, j]


@T.prim_func(s_tir=True)
def diagonal(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    T.func_attr({"global_symbol": "main"})
    line = T.decl_buffer((8,), "float32", data=C.data, strides=(9,))
    for i, j in T.grid(8, 8):
        C[i, j] = T.float32(0)
    for i in range(8):
        line[i] = A[i, 0]


@T.prim_func(s_tir=True)
def last_row_beyond(C: T.Buffer((35,), "float32")):
    rows = T.decl_buffer((4, 6), "float32", data=C.data, strides=(10, 1))
    for i, j in T.grid(4, 6):
        rows[i, j] = T.float32(0)


@T.prim_func(s_tir=True)
def no_gap_at_the_end(A: T.Buffer((8, 8), "float32"), C: T.Buffer((36,), "float32")):
    rows = T.decl_buffer((4, 6), "float32", data=C.data, strides=(10, 1))
    for i, j in T.grid(4, 6):
        rows[i, j] = A[i, j]


@T.prim_func(s_tir=True)
def longer_than_its_memory(A: T.Buffer((4,), "float32"), C: T.Buffer((1,), "float32"), at: T.int32):
    flat = T.decl_buffer((6,), "float32", data=A.data)
    C[0] = flat[at]


@T.prim_func(s_tir=True)
def lanes_beyond_its_memory(A: T.Buffer((4,), "float32"), C: T.Buffer((6,), "float32")):
    flat = T.decl_buffer((6,), "float32", data=A.data)
    for i in T.vectorized(6):
        C[i] = flat[i]


@T.prim_func(s_tir=True)
def matched_in_columns(A: T.Buffer((8, 8), "float32")):
    turned = T.decl_buffer((8, 8), "float32", data=A.data, strides=(1, 8))
    with T.sblock("part"):
        part = T.match_buffer(turned[2:4, 0:8], (2, 8), strides=(1, 8), elem_offset=2)
        part[0, 0] = T.float32(0)


@T.prim_func(s_tir=True)
def unused_address(A: T.Buffer((8, 8), "float32")):
    T.evaluate(T.tvm_access_ptr(T.type_annotation("float32"), A.data, 3, 8, 1))
    T.evaluate(T.address_of(A[1, 2]))
    A[0, 0] = T.float32(7)


def test_a_region_of_a_region_lies_where_both_offsets_say() -> None:
    out, expected = np.zeros((2, 8, 8), np.float32), np.zeros((2, 8, 8), np.float32)
    for i, j, k, n in np.ndindex(2, 2, 2, 4):
        expected[1, i * 4 + k * 2, j * 4 + n] = i * 1000 + j * 100 + k * 10 + n
    run_prim_func(matched_twice, [out])
    np.testing.assert_array_equal(out, expected)


def test_a_region_that_leaves_its_source_is_noticed() -> None:
    with pytest.raises(Trap) as caught:
        run_prim_func(matched_beyond, [np.zeros((2, 8, 8), np.float32)])
    assert caught.value.kind == "out-of-bounds"


def test_rows_with_gaps_leave_the_gaps_alone() -> None:
    rows, memory = np.zeros((4, 6), np.float32), np.full(40, -1, np.float32)
    run_prim_func(with_gaps, [A, rows, memory])
    expected = np.full((4, 10), -1, np.float32)
    expected[:, :6] = A[:4, :6]
    np.testing.assert_array_equal(memory.reshape(4, 10), expected)
    np.testing.assert_array_equal(rows, A[3::-1, :6])


def test_blocks_with_gaps_in_several_dimensions() -> None:
    memory = np.full(48, -1, np.float32)
    run_prim_func(three_dimensions, [A, memory])
    expected = np.full((2, 4, 6), -1, np.float32)
    expected[:, :2, :4] = A[:4, :4].reshape(2, 2, 4)
    np.testing.assert_array_equal(memory.reshape(2, 4, 6), expected)


def test_strides_may_turn_a_matrix() -> None:
    memory = np.zeros((8, 8), np.float32)
    run_prim_func(columns, [A, memory])
    np.testing.assert_array_equal(memory, A.T)


def test_the_last_row_of_a_part_needs_no_gap() -> None:
    memory = np.full(38, -1, np.float32)
    run_prim_func(part_of_rows, [A, memory])
    expected = np.full(42, -1, np.float32)
    expected.reshape(6, 7)[1:5, 2:5] = A[:4, :3]
    np.testing.assert_array_equal(memory, expected[:38])


def test_a_diagonal_is_a_view_with_one_stride() -> None:
    memory = np.zeros((8, 8), np.float32)
    run_prim_func(diagonal, [A, memory])
    np.testing.assert_array_equal(memory, np.diag(A[:, 0]))


def test_a_view_with_strides_that_reaches_beyond_its_memory_is_noticed() -> None:
    with pytest.raises(Trap, match="beyond") as caught:
        run_prim_func(last_row_beyond, [np.zeros(35, np.float32)])
    assert caught.value.kind == "out-of-bounds"


def test_the_flat_extent_of_rows_counts_a_gap_after_the_last_one() -> None:
    flat = tirx.transform.FlattenBuffer()(tvm.IRModule({"main": no_gap_at_the_end}))["main"]
    assert "(40,)" in flat.script() or "view(40)" in flat.script()
    for function in (no_gap_at_the_end, flat):
        memory = np.full(36, -1, np.float32)
        run_prim_func(function, [A, memory])
        expected = np.full((4, 10), -1, np.float32)
        expected[:, :6] = A[:4, :6]
        np.testing.assert_array_equal(memory, expected.reshape(-1)[:36])


def test_what_lies_beyond_the_memory_of_a_longer_view_is_out_of_bounds() -> None:
    rows, one = np.arange(4, dtype=np.float32), np.zeros(1, np.float32)
    run_prim_func(longer_than_its_memory, [rows, one, 3])
    assert one[0] == 3
    with pytest.raises(Trap) as caught:
        run_prim_func(longer_than_its_memory, [rows, one, 4])
    assert caught.value.kind == "out-of-bounds"
    with pytest.raises(Trap) as caught:
        run_prim_func(lanes_beyond_its_memory, [rows, np.zeros(6, np.float32)])
    assert caught.value.kind == "out-of-bounds"


@pytest.mark.parametrize("func", [columns, part_of_rows, diagonal])
def test_llvm_agrees_about_strides(func: Any) -> None:
    shape = (38,) if func is part_of_rows else (8, 8)
    ours, theirs = np.full(shape, -1, np.float32), np.full(shape, -1, np.float32)
    run_prim_func(func, [A, ours])
    arrays = [tvm.runtime.tensor(A), tvm.runtime.tensor(theirs)]
    tvm.compile(func, target="llvm")["main"](*arrays)
    np.testing.assert_array_equal(ours, arrays[1].numpy())


def test_a_region_of_a_view_with_strides_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="MatchBufferRegion"):
        run_prim_func(matched_in_columns, [np.zeros((8, 8), np.float32)])


def test_an_unused_address_does_nothing() -> None:
    out = np.zeros((8, 8), np.float32)
    run_prim_func(unused_address, [out])
    assert out.sum() == out[0, 0] == 7


def test_an_address_that_is_used_is_unsupported() -> None:
    pointer = tirx.call_intrin("handle", "tirx.tvm_access_ptr", tirx.call_intrin("float32", "tirx.type_annotation"))
    with pytest.raises(Unsupported):
        run_prim_func(tirx.PrimFunc([], tirx.Evaluate(tirx.call_extern("int32", "consume", pointer))), [])
