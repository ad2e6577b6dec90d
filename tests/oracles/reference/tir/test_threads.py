"""What GPU threads compute: kernels by hand against NumPy, shuffles, reductions over threads, memory of each scope."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T

from generators.passes.row import EVERY_SCOPE
from oracles.reference.tir import Context, Trap, Unsupported, kernels_of, run_prim_func, run_tracked

Array = np.ndarray[Any, Any]
A = np.arange(4 * 64, dtype=np.float32).reshape(4, 64) % 23 - 11


@T.prim_func(s_tir=True)
def turned(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    S[thread] = A[block, thread]
    T.tvm_storage_sync("shared")
    B[block, thread] = S[63 - thread]


@T.prim_func(s_tir=True)
def in_rounds(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4,), "float32")):
    """A tree of sums: loops and conditions around barriers, values of other threads."""
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    S[thread] = A[block, thread]
    T.tvm_storage_sync("shared")
    for step in range(6):
        if thread < T.shift_right(32, step):
            S[thread] = S[thread] + S[thread + T.shift_right(32, step)]
        T.tvm_storage_sync("shared")
    if thread == 0:
        B[block] = S[0]


@T.prim_func(s_tir=True)
def moved_along(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    """Barriers are implied before ThreadSync: all threads load before one stores."""
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    S[thread] = A[block, thread]
    S[(thread + 1) % 64] = S[thread]
    B[block, thread] = S[thread]


@T.prim_func(s_tir=True)
def own_memory(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    """What a thread keeps for itself while another statement needs all threads."""
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    L = T.alloc_local((2,), "float32")
    L[0] = A[block, thread]
    kept: T.let[T.float32] = A[block, 63 - thread] * T.float32(2)
    S[thread] = L[0] * T.float32(10)
    T.tvm_storage_sync("shared")
    L[1] = S[thread ^ 1]
    B[block, thread] = L[0] + L[1] + kept


@T.prim_func(s_tir=True)
def uneven(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    """Loops that threads make a different number of times, around shared memory."""
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    S[thread] = T.float32(0)
    for i in range(thread % 4 + 1):
        S[thread] = S[thread] + A[block, (thread + i) % 64]
    T.tvm_storage_sync("shared")
    B[block, thread] = S[63 - thread]


@T.prim_func(s_tir=True)
def reduced(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 8), "float32")):
    """Groups of eight threads, some of which do not count."""
    block = T.launch_thread("blockIdx.x", 4)
    group = T.launch_thread("threadIdx.y", 8)
    thread = T.launch_thread("threadIdx.x", 8)
    L = T.alloc_local((1,), "float32")
    with T.attr(T.comm_reducer(lambda x, y: T.max(x, y), [T.float32(-1000)]), "reduce_scope", T.int32(0)):
        T.tvm_thread_allreduce(T.uint32(1), A[block, group * 8 + thread], thread != 3, L[0], thread)
    if thread == 5:
        B[block, group] = L[0]


def _uneven() -> Array:
    sums = np.zeros((4, 64), np.float32)
    for thread in range(64):
        for i in range(thread % 4 + 1):
            sums[:, thread] += A[:, (thread + i) % 64]
    return sums[:, ::-1]


def _own_memory() -> Array:
    swapped = (A * 10).reshape(4, 32, 2)[:, :, ::-1].reshape(4, 64)
    return A + swapped + 2 * A[:, ::-1]


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (turned, A[:, ::-1]),
        (in_rounds, A.sum(axis=1)),
        (moved_along, np.roll(A, 1, axis=1)),
        (own_memory, _own_memory()),
        (uneven, _uneven()),
        (reduced, np.delete(A.reshape(4, 8, 8), 3, axis=2).max(axis=2)),
    ],
    ids=lambda value: str(value.attrs["global_symbol"]) if hasattr(value, "attrs") else "",
)
def test_kernels_compute_what_numpy_does(kernel: Any, expected: Array) -> None:
    out = np.zeros(expected.shape, np.float32)
    run_prim_func(kernel, [A.copy(), out], [True, False])
    assert np.array_equal(out, expected)


SHUFFLED = {
    "tvm_warp_shuffle": lambda lane, by, width: lane // width * width + by % width,
    "tvm_warp_shuffle_up": lambda lane, by, width: lane - by if lane % width >= by else lane,
    "tvm_warp_shuffle_down": lambda lane, by, width: lane + by if lane % width + by < width else lane,
}


@pytest.mark.parametrize("width", [32, 8])
@pytest.mark.parametrize("by", [1, 5])
@pytest.mark.parametrize("name", sorted(SHUFFLED))
def test_shuffles_give_what_cuda_says(name: str, by: int, width: int) -> None:
    shuffle = getattr(T, name)

    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        thread = T.launch_thread("threadIdx.x", 64)
        L = T.alloc_local((1,), "float32")
        L[0] = A[thread]
        B[thread] = shuffle(T.uint32(0xFFFFFFFF), L[0], by, width, 32)

    out = np.zeros(64, np.float32)
    run_prim_func(kernel, [A[0].copy(), out])
    assert np.array_equal(out, A[0][[SHUFFLED[name](lane, by, width) for lane in range(64)]])


@T.prim_func(s_tir=True)
def short_warp(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
    """Half of what lanes 32 to 39 shuffle comes from threads that are not there."""
    thread = T.launch_thread("threadIdx.x", 40)
    L = T.alloc_local((1,), "float32")
    M = T.alloc_local((1,), "float32")
    L[0] = A[thread]
    M[0] = T.tvm_warp_shuffle_down(T.uint32(0xFFFFFFFF), L[0], 4, 32, 32)
    L[0] = L[0] + M[0]
    if thread < 36:
        B[thread] = L[0]


@T.prim_func(s_tir=True)
def short_warp_used(A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
    thread = T.launch_thread("threadIdx.x", 40)
    L = T.alloc_local((1,), "float32")
    M = T.alloc_local((1,), "float32")
    L[0] = A[thread]
    M[0] = T.tvm_warp_shuffle_down(T.uint32(0xFFFFFFFF), L[0], 4, 32, 32)
    L[0] = L[0] + M[0]
    B[thread] = L[0]


def test_the_value_of_no_thread_harms_only_who_uses_it() -> None:
    out = np.zeros(40, np.float32)
    run_prim_func(short_warp, [A[0, :40].copy(), out])
    assert np.array_equal(out[:28], A[0, :28] + A[0, 4:32])
    assert np.array_equal(out[28:32], 2 * A[0, 28:32])  # beyond the warp: the own value
    with pytest.raises(Trap) as caught:
        run_prim_func(short_warp_used, [A[0, :40].copy(), out])
    assert caught.value.kind == "uninitialised"


@T.prim_func(s_tir=True)
def too_far(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    S[thread] = A[block, thread]
    T.tvm_storage_sync("shared")
    B[block, thread] = S[thread + 1]


@T.prim_func(s_tir=True)
def half_filled(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    if thread < 32:
        S[thread] = A[block, thread]
    T.tvm_storage_sync("shared")
    B[block, thread] = S[63 - thread]


@pytest.mark.parametrize(("kernel", "kind"), [(too_far, "out-of-bounds"), (half_filled, "uninitialised")])
def test_shared_memory_is_strict(kernel: Any, kind: str) -> None:
    with pytest.raises(Trap) as caught:
        run_prim_func(kernel, [A.copy(), np.zeros_like(A)])
    assert caught.value.kind == kind
    assert caught.value.detail.endswith("S") or "S, dimension" in caught.value.detail


@pytest.mark.parametrize("kernel", [turned, in_rounds, own_memory, uneven, reduced])
@pytest.mark.parametrize("limit", [1, 1 << 22])
def test_blocks_one_by_one_are_blocks_side_by_side(kernel: Any, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from oracles.reference.tir import engine, threads_to_loops

    shape = tuple(int(extent) for extent in kernel.params[1].ty.shape)
    whole, out = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    run_prim_func(kernel, [A.copy(), whole])
    monkeypatch.setattr(threads_to_loops, "SIDE_BY_SIDE", limit)
    program = engine.Compiled(kernel).program([A, out])
    assert ("empty((4, " in program.source) == (limit != 1)
    engine.run_program(program, [A.copy(), out], [None, None])
    assert np.array_equal(out, whole)


@T.prim_func(s_tir=True)
def tile_of_all_blocks(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    """A tile that a schedule has allocated outside of its loops: each thread block fills it anew."""
    S = T.sblock_alloc_buffer((64,), "float32", scope="shared")
    for block in T.thread_binding(4, thread="blockIdx.x"):
        for thread in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("fill"):
                v, w = T.axis.remap("SS", [block, thread])
                S[w] = A[v, w]
            with T.sblock("use"):
                v, w = T.axis.remap("SS", [block, thread])
                B[v, w] = S[63 - w]


def test_a_tile_outside_of_the_loops_is_each_block_s_in_turn() -> None:
    out = np.zeros_like(A)
    run_prim_func(tile_of_all_blocks, [A.copy(), out])
    assert np.array_equal(out, A[:, ::-1])


@I.ir_module(s_tir=True)
class Launched:
    @T.prim_func(s_tir=True)
    def host(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
        T.func_attr({"target": T.target({"kind": "cuda", "host": "llvm"})})
        for thread in T.thread_binding(64, thread="threadIdx.x"):
            for i in range(4):
                B[i, thread] = A[i, 63 - thread] + T.float32(1)


def test_a_kernel_runs_in_the_place_of_its_call() -> None:
    lowered = tvm.s_tir.transform.LowerOpaqueBlock()(Launched)
    split = tvm.tirx.transform.SplitHostDevice()(tvm.tirx.transform.AnnotateEntryFunc()(lowered))
    functions = {g.name_hint: f for g, f in split.functions.items()}
    kernels = kernels_of(functions.items())
    assert list(kernels) == ["host_kernel"]
    out = np.zeros_like(A)
    run_tracked(functions["host"], [A.copy(), out], [None, None], context=Context(kernels))
    assert np.array_equal(out, A[:, ::-1] + 1)
    with pytest.raises(Trap) as caught:
        run_tracked(functions["host"], [A.copy(), out], [None, None])
    assert caught.value.kind == "undefined-variable"


@T.prim_func(s_tir=True)
def searched(A: T.Buffer((4, 64), "int32"), B: T.Buffer((4, 64), "int32")):
    """Loops that threads leave at different times, through memory of the block."""
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "int32")
    S[thread] = A[block, thread]
    T.tvm_storage_sync("shared")
    L = T.alloc_local((1,), "int32")
    L[0] = 0
    while S[L[0]] < thread:
        L[0] = L[0] + 1
    B[block, thread] = L[0]


def test_threads_leave_loops_one_by_one() -> None:
    steps = np.sort(np.random.default_rng(1).integers(0, 63, (4, 64)), axis=1).astype(np.int32)
    steps[:, -1] = 63
    out = np.zeros_like(steps)
    run_prim_func(searched, [steps.copy(), out])
    assert np.array_equal(out, [np.searchsorted(row, np.arange(64)) for row in steps])


@T.prim_func(s_tir=True)
def together(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    """A loop around barriers, as long as values that each block computes for itself say."""
    block = T.launch_thread("blockIdx.x", 4)
    thread = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    L = T.alloc_local((1,), "int32")
    S[thread] = A[block, thread]
    L[0] = 0
    while T.tvm_thread_invariant(L[0] <= block):
        M = T.alloc_local((1,), "float32")
        T.tvm_storage_sync("shared")
        M[0] = S[(thread + 1) % 64]
        T.tvm_storage_sync("shared")
        S[thread] = M[0]
        L[0] = L[0] + 1
    B[block, thread] = S[thread]


def test_threads_go_round_together() -> None:
    out = np.zeros_like(A)
    run_tracked(together, [A.copy(), out], [None, None], context=Context(synchronised=EVERY_SCOPE))
    assert np.array_equal(out, [np.roll(row, -1 - block) for block, row in enumerate(A)])


@T.prim_func(s_tir=True)
def in_a_schedule(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    """Threads as loops of a schedule: a statement that is no reduction loads for all of them before it stores."""
    for block in T.thread_binding(4, thread="blockIdx.x"):
        for thread in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("scan"):
                S = T.sblock_alloc_buffer((64,), scope="shared")
                S[thread] = A[block, thread]
                if thread > 0:
                    S[thread] = S[thread] + S[thread - 1]
                B[block, thread] = S[thread]


def test_threads_of_a_schedule_are_threads() -> None:
    out = np.zeros_like(A)
    run_prim_func(in_a_schedule, [A.copy(), out])
    assert np.array_equal(out[:, 1:], A[:, 1:] + A[:, :-1])


@T.prim_func(s_tir=True)
def widening(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    """A launch of another size in every turn of a loop of the host."""
    for turn in range(4):
        with T.launch_thread("threadIdx.x", T.shift_left(2, turn)) as thread:
            B[thread] = B[thread] + A[thread]


def test_every_turn_of_a_loop_may_launch_another_number_of_threads() -> None:
    out = np.zeros(16, np.float32)
    run_prim_func(widening, [A[0, :16].copy(), out])
    turns = [sum(thread < 2 << turn for turn in range(4)) for thread in range(16)]
    assert np.array_equal(out, A[0, :16] * turns)


def test_what_is_not_known_is_named() -> None:
    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        thread = T.launch_thread("threadIdx.x", 64)
        mask = T.uint32(0xFFFFFFFF)
        B[thread] = T.tvm_warp_shuffle(mask, T.tvm_warp_shuffle(mask, A[thread], 1, 32, 32), 2, 32, 32)

    with pytest.raises(Unsupported, match="shuffle of a shuffle"):
        run_prim_func(kernel, [A[0].copy(), np.zeros(64, np.float32)])
