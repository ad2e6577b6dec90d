"""Data races and divergent barriers: each planted fault next to the kernel that is right."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
from tvm.script import tirx as T

from generators.passes.row import EVERY_SCOPE
from oracles.reference.tir import Context, Trap, run_tracked

A = np.arange(4 * 64, dtype=np.float32).reshape(4, 64) % 23 - 11
AFTER_THREAD_SYNC = Context(synchronised=EVERY_SCOPE)


def kernel_with(before_loop: bool, before_store: bool, warps_only: bool = False) -> Any:
    """Sums of neighbours, twice over one shared buffer; the arguments say which barriers stand."""
    scope = "warp" if warps_only else "shared"

    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
        block = T.launch_thread("blockIdx.x", 4)
        thread = T.launch_thread("threadIdx.x", 64)
        S = T.alloc_shared((64,), "float32")
        L = T.alloc_local((1,), "float32")
        L[0] = T.float32(0)
        for turn in range(2):
            if before_store:
                T.tvm_storage_sync("shared")
            S[thread] = A[(block + turn) % 4, thread]
            if before_loop:
                T.tvm_storage_sync(scope)
            for i in range(3):
                L[0] = L[0] + S[(thread + i) % 64]
        B[block, thread] = L[0]

    return kernel


def run(kernel: Any, context: Context = AFTER_THREAD_SYNC) -> np.ndarray[Any, Any]:
    out = np.zeros_like(A)
    run_tracked(kernel, [A.copy(), out], [None, None], context=context)
    return out


def neighbours() -> np.ndarray[Any, Any]:
    twice = A + np.roll(A, -1, axis=0)
    return sum(np.roll(twice, -i, axis=1) for i in range(3))


def test_a_synchronised_kernel_is_clean() -> None:
    assert np.array_equal(run(kernel_with(True, True)), neighbours())


@pytest.mark.parametrize(("before_loop", "before_store"), [(False, True), (True, False), (False, False)])
def test_a_missing_barrier_is_a_race(before_loop: bool, before_store: bool) -> None:
    with pytest.raises(Trap) as caught:
        run(kernel_with(before_loop, before_store))
    assert caught.value.kind == "data-race"
    assert "kernel, block root: S: element" in caught.value.detail


def test_a_barrier_of_warps_does_not_order_blocks() -> None:
    with pytest.raises(Trap) as caught:
        run(kernel_with(True, True, warps_only=True))
    assert caught.value.kind == "data-race"
    detail = caught.value.detail
    threads = [int(part.split()[0]) for part in detail.split("thread ")[1:]]
    assert len({thread // 32 for thread in threads}) == 2


def test_barriers_are_implied_before_thread_sync() -> None:
    assert np.array_equal(run(kernel_with(False, False), Context()), neighbours())


def test_a_function_with_barriers_is_taken_for_synchronised() -> None:
    with pytest.raises(Trap) as caught:
        run(kernel_with(True, False), Context())
    assert caught.value.kind == "data-race"


def test_the_same_value_of_all_threads_is_no_race() -> None:
    @T.prim_func(s_tir=True)
    def same(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4,), "float32")):
        block = T.launch_thread("blockIdx.x", 4)
        T.launch_thread("threadIdx.x", 64)
        B[block] = A[block, 7]

    @T.prim_func(s_tir=True)
    def other(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4,), "float32")):
        block = T.launch_thread("blockIdx.x", 4)
        thread = T.launch_thread("threadIdx.x", 64)
        B[block] = A[block, thread]

    out = np.zeros(4, np.float32)
    run_tracked(same, [A.copy(), out], [None, None], context=AFTER_THREAD_SYNC)
    assert np.array_equal(out, A[:, 7])
    with pytest.raises(Trap) as caught:
        run_tracked(other, [A.copy(), out], [None, None], context=AFTER_THREAD_SYNC)
    assert caught.value.kind == "data-race"


def test_threads_of_one_warp_are_ordered_by_its_barrier() -> None:
    def within(synced: bool) -> Any:
        @T.prim_func(s_tir=True)
        def kernel(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
            block = T.launch_thread("blockIdx.x", 4)
            thread = T.launch_thread("threadIdx.x", 64)
            S = T.alloc_shared((64,), "float32")
            S[thread] = A[block, thread]
            if synced:
                T.tvm_storage_sync("warp")
            B[block, thread] = S[thread ^ 1]

        return kernel

    assert np.array_equal(run(within(True)), A.reshape(4, 32, 2)[:, :, ::-1].reshape(4, 64))
    with pytest.raises(Trap) as caught:
        run(within(False))
    assert caught.value.kind == "data-race"


def guarded(limit: int) -> Any:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
        block = T.launch_thread("blockIdx.x", 4)
        thread = T.launch_thread("threadIdx.x", 64)
        S = T.alloc_shared((64,), "float32")
        S[thread] = A[block, thread]
        if thread < limit:
            T.tvm_storage_sync("shared")
        B[block, thread] = S[thread]

    return kernel


def test_a_barrier_that_some_threads_do_not_reach_traps() -> None:
    with pytest.raises(Trap) as caught:
        run(guarded(8))
    assert caught.value.kind == "divergent-barrier"
    assert "tvm_storage_sync('shared'): reached by thread 0 of block 0, not by thread 8" in caught.value.detail
    assert np.array_equal(run(guarded(64)), A)


def test_blocks_may_differ_at_a_barrier() -> None:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
        block = T.launch_thread("blockIdx.x", 4)
        thread = T.launch_thread("threadIdx.x", 64)
        S = T.alloc_shared((64,), "float32")
        S[thread] = A[block, thread]
        if block < 2:
            T.tvm_storage_sync("shared")
        B[block, thread] = T.if_then_else(block < 2, S[63 - thread], S[thread])

    expected = A.copy()
    expected[:2] = A[:2, ::-1]
    assert np.array_equal(run(kernel), expected)


def test_within_a_statement_a_warp_loads_before_it_stores() -> None:
    """As TVM's cumsum for GPUs scans; a second statement, or a second warp, needs a barrier."""

    def scan(threads: int, split: bool) -> Any:
        @T.prim_func(s_tir=True)
        def kernel(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
            thread = T.launch_thread("threadIdx.x", threads)
            S = T.alloc_shared((64,), "float32")
            L = T.alloc_local((1,), "float32")
            S[thread] = A[0, thread]
            T.tvm_storage_sync("shared")
            if thread > 0:
                if split:
                    L[0] = S[thread - 1]
                    S[thread] = S[thread] + L[0]
                else:
                    S[thread] = S[thread] + S[thread - 1]
            B[0, thread] = S[thread]

        return kernel

    out = run(scan(32, False))
    assert np.array_equal(out[0, 1:32], A[0, 1:32] + A[0, :31])
    for threads, split in ((64, False), (32, True)):
        with pytest.raises(Trap) as caught:
            run(scan(threads, split))
        assert caught.value.kind == "data-race"


@pytest.mark.parametrize("guarded", [False, True])
def test_a_store_to_nothing_is_out_of_bounds_and_no_fault_of_ours(guarded: bool) -> None:
    extent = 0 if guarded else 4

    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((4, 64), "float32"), B: T.Buffer((0,), "float32")):
        thread = T.launch_thread("threadIdx.x", 4)
        if thread + T.Cast("int32", A[0, 0]) < extent + T.Cast("int32", A[0, 0]):
            B[thread] = A[0, thread]

    out = np.zeros(0, np.float32)
    known = [None, np.zeros(0, np.bool_)]
    if guarded:
        run_tracked(kernel, [A.copy(), out], known, context=AFTER_THREAD_SYNC)
    else:
        with pytest.raises(Trap) as caught:
            run_tracked(kernel, [A.copy(), out], known, context=AFTER_THREAD_SYNC)
        assert caught.value.kind == "out-of-bounds"
