"""Asynchronous copies: what they store is there after a wait for their group, and no sooner."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
from tvm.script import tirx as T
from tvm.tirx import PrimFunc

from oracles.reference.tir import Trap, Unsupported, run_prim_func

A = np.arange(16, dtype=np.float32).reshape(2, 8) - 5


def two_groups(first_left: int, second_left: int) -> PrimFunc:
    """Two copies, each a group of queue 0, and their uses, before which all groups but so many are waited for."""

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
        S = T.alloc_buffer((8,), "float32")
        R = T.alloc_buffer((8,), "float32")
        with T.attr(0, "async_commit_queue_scope", 0), T.attr(0, "async_scope", 1):
            for i in range(8):
                S[i] = A[0, i]
        with T.attr(0, "async_commit_queue_scope", 0), T.attr(0, "async_scope", 1):
            for i in range(8):
                R[i] = A[1, i]
        with T.attr(0, "async_wait_queue_scope", 0), T.attr(0, "async_wait_inflight_count", first_left):
            for i in range(8):
                B[0, i] = S[7 - i]
        with T.attr(0, "async_wait_queue_scope", 0), T.attr(0, "async_wait_inflight_count", second_left):
            for i in range(8):
                B[1, i] = R[7 - i]

    return main


def ring(ahead: int) -> PrimFunc:
    """Copies into two elements in turn, in a loop; the wait leaves so many groups."""

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        S = T.alloc_buffer((2,), "float32")
        for i in range(8):
            with T.attr(0, "async_commit_queue_scope", 0), T.attr(0, "async_scope", 1):
                S[i % 2] = A[i]
            with T.attr(0, "async_wait_queue_scope", 0), T.attr(0, "async_wait_inflight_count", ahead):
                B[i] = S[(i + ahead) % 2] if i >= ahead else T.float32(0)

    return main


@T.prim_func(s_tir=True)
def unawaited(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
    S = T.alloc_buffer((8,), "float32")
    with T.attr(0, "async_scope", 1):
        for i in range(8):
            S[i] = A[0, i]
    for i in range(8):
        B[0, i] = S[i]
        B[1, i] = S[i]


@T.prim_func(s_tir=True)
def overwritten(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
    S = T.alloc_buffer((8,), "float32")
    with T.attr(0, "async_commit_queue_scope", 0), T.attr(0, "async_scope", 1):
        for i in range(8):
            S[i] = A[0, i]
    S[3] = T.float32(1)
    for i in range(8):
        B[0, i] = A[0, i]
        B[1, i] = A[1, i]


@T.prim_func(s_tir=True)
def in_threads(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
    """By 4 threads of 2 blocks, two elements each; no wait for the others' is needed beyond one's own and a barrier."""
    block = T.launch_thread("blockIdx.x", 2)
    thread = T.launch_thread("threadIdx.x", 4)
    S = T.alloc_shared((8,), "float32")
    with T.attr(0, "async_commit_queue_scope", 0):
        T.evaluate(T.s_tir.cp_async_raw("float32", S.data, thread * 2, A.data, block * 8 + thread * 2, 8))
    with T.attr(0, "async_wait_queue_scope", 0), T.attr(0, "async_wait_inflight_count", 0):
        T.tvm_storage_sync("shared")
        B[block, thread * 2] = S[7 - thread * 2]
        B[block, thread * 2 + 1] = S[6 - thread * 2]


@T.prim_func(s_tir=True)
def some_of_it(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
    """Where the condition does not hold, zeros."""
    block = T.launch_thread("blockIdx.x", 2)
    thread = T.launch_thread("threadIdx.x", 8)
    S = T.alloc_shared((8,), "float32")
    T.evaluate(
        T.call_intrin("float32", "tirx.s_tir.cp_async_raw", S.data, thread, A.data, block * 8 + thread, 4, thread < 3)
    )
    with T.attr(0, "async_commit_queue_scope", 0):
        T.evaluate(0)
    with T.attr(0, "async_wait_queue_scope", 0), T.attr(0, "async_wait_inflight_count", 0):
        B[block, thread] = S[thread]


@T.prim_func(s_tir=True)
def waited_by_some(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
    block = T.launch_thread("blockIdx.x", 2)
    thread = T.launch_thread("threadIdx.x", 8)
    S = T.alloc_shared((8,), "float32")
    if thread < 4:
        with T.attr(0, "async_commit_queue_scope", 0), T.attr(0, "async_scope", 1):
            S[thread] = A[block, thread]
    B[block, thread] = A[block, thread]


def run(function: PrimFunc, given: Any = A) -> np.ndarray[Any, Any]:
    """What the function makes of an input of the output's shape."""
    result = np.zeros_like(given)
    run_prim_func(function, [given, result], [True, False])
    return result


def test_what_was_waited_for_is_there() -> None:
    assert (run(two_groups(1, 0)) == A[:, ::-1]).all()
    assert (run(two_groups(0, 0)) == A[:, ::-1]).all()


@pytest.mark.parametrize("left", [(2, 0), (1, 1), (-1, 0)], ids=str)
def test_a_wait_for_too_few_groups_is_a_race(left: tuple[int, int]) -> None:
    with pytest.raises(Trap, match="loaded while an asynchronous copy") as trap:
        run(two_groups(*left))
    assert trap.value.kind == "data-race"


def test_each_element_waits_for_its_own_group() -> None:
    given = A[0].copy()
    assert (run(ring(0), given) == given).all()
    assert (run(ring(1), given)[1:] == given[:-1]).all()


@pytest.mark.parametrize(("function", "does"), [(unawaited, "loaded"), (overwritten, "stored to")])
def test_no_wait_at_all_is_a_race(function: PrimFunc, does: str) -> None:
    with pytest.raises(Trap, match=f"{does} while an asynchronous copy"):
        run(function)


def test_raw_copies_of_threads() -> None:
    assert (run(in_threads) == A[:, ::-1]).all()
    assert (run(some_of_it) == np.where(np.arange(8) < 3, A, 0)).all()


def test_threads_that_wait_at_different_times_are_not_interpreted() -> None:
    with pytest.raises(Unsupported, match="threads wait for at different times"):
        run(waited_by_some)
