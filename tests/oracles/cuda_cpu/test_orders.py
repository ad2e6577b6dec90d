"""Threads in every order: barriers and shuffles are kept, and what has no meaning is a fault with a name."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from oracles.builds.cuda_cpu import ORDERS, CompiledSource, CompileError, Fault, Order, available, compile_source
from tests.oracles.cuda_cpu.kernels import BLOCK, REVERSED, REVERSED_DYNAMIC, SUMMED, reversed_by, without_barrier

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))

compiled = cache(compile_source)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("source", "shared"), [(REVERSED, 0), (REVERSED_DYNAMIC, 4 * BLOCK)])
def test_a_barrier_holds_in_every_order(source: str, shared: int, order: Order) -> None:
    out, expected = reversed_by(compiled(source), order, shared)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("source", "shared"), [(REVERSED, 0), (REVERSED_DYNAMIC, 4 * BLOCK)])
def test_a_missing_barrier_is_seen_in_some_order(source: str, shared: int) -> None:
    program = compiled(without_barrier(source, 0))
    results = [reversed_by(program, order, shared) for order in ORDERS]
    assert any(not np.array_equal(out, expected) for out, expected in results)


def _sums(program: CompiledSource, order: Order) -> np.ndarray:
    given = np.arange(2 * BLOCK, dtype=np.float32)
    out = np.zeros(2, np.float32)
    program.launch("summed", [out, given], [2], [BLOCK], order=order)
    return out


SUMS = np.arange(2 * BLOCK).reshape(2, BLOCK).sum(axis=1) + 64
"""What `summed` gives: whole numbers, exact in any order."""


@pytest.mark.parametrize("order", ORDERS)
def test_a_reduction_is_right_in_every_order(order: Order) -> None:
    np.testing.assert_array_equal(_sums(compiled(SUMMED), order), SUMS)


@pytest.mark.parametrize("number", [0, 1])
def test_a_reduction_without_a_barrier_depends_on_the_order(number: int) -> None:
    program = compiled(without_barrier(SUMMED, number))
    assert any(not np.array_equal(_sums(program, order), SUMS) for order in ORDERS)


WARPS = """
extern "C" __global__ void shuffled(int* down, int* up, int* across, int* from, int* segment) {
  int t = threadIdx.x;
  down[t] = __shfl_down_sync(0xffffffff, t, 5, 32);
  up[t] = __shfl_up_sync(0xffffffff, t, 5);
  across[t] = __shfl_xor_sync(0xffffffff, t, 3, 32);
  from[t] = __shfl_sync(0xffffffff, t, 7, 32);
  segment[t] = __shfl_down_sync(0xffffffff, t, 2, 8);
}
extern "C" __global__ void voted(unsigned* ballot, int* all, int* any, unsigned* active) {
  int t = threadIdx.x;
  ballot[t] = __ballot_sync(0xffffffff, t % 3 == 0);
  all[t] = __all_sync(0xffffffff, t < 32);
  any[t] = __any_sync(0xffffffff, t == 40);
  unsigned here = 0;
  if (t % 32 < 8) { here = __activemask(); }
  __syncwarp();
  active[t] = here;
}
extern "C" __global__ void added(int* sum, int* last, float* most) {
  atomicAdd(sum, (int)threadIdx.x);
  atomicMax(last, (int)threadIdx.x);
  atomicMin(most, -(float)threadIdx.x);
  if (threadIdx.x == 0) { atomicCAS(last + 1, 5, 9); }
}
extern "C" __global__ void three(int* out) {
  int at = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * 24 + at] = block * 24 + at;
}
"""


@pytest.mark.parametrize("order", ORDERS)
def test_shuffles_move_values_between_lanes(order: Order) -> None:
    outs = [np.zeros(64, np.int32) for _ in range(5)]
    compiled(WARPS).launch("shuffled", outs, [1], [64], order=order)
    lane, thread = np.arange(64) % 32, np.arange(64)
    first = thread - lane
    np.testing.assert_array_equal(outs[0], np.where(lane + 5 < 32, thread + 5, thread))
    np.testing.assert_array_equal(outs[1], np.where(lane >= 5, thread - 5, thread))
    np.testing.assert_array_equal(outs[2], first + (lane ^ 3))
    np.testing.assert_array_equal(outs[3], first + 7)
    np.testing.assert_array_equal(outs[4], np.where(lane % 8 < 6, thread + 2, thread))


@pytest.mark.parametrize("order", ORDERS)
def test_votes_are_of_a_warp(order: Order) -> None:
    ballot, active = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    every, some = np.zeros(64, np.int32), np.zeros(64, np.int32)
    compiled(WARPS).launch("voted", [ballot, every, some, active], [1], [64], order=order)
    ballots = [sum(1 << (t % 32) for t in range(first, first + 32) if t % 3 == 0) for first in (0, 32)]
    np.testing.assert_array_equal(ballot, np.repeat(ballots, 32))
    np.testing.assert_array_equal(every, np.repeat([1, 0], 32))
    np.testing.assert_array_equal(some, np.repeat([0, 1], 32))
    np.testing.assert_array_equal(active, np.tile(np.where(np.arange(32) < 8, 0xFF, 0), 2))


@pytest.mark.parametrize("order", ORDERS)
def test_atomics_add_up(order: Order) -> None:
    total, last, most = np.zeros(1, np.int32), np.array([0, 5], np.int32), np.zeros(1, np.float32)
    compiled(WARPS).launch("added", [total, last, most], [3], [50], order=order)
    assert (total[0], *last, most[0]) == (3 * sum(range(50)), 49, 9, -49.0)


@pytest.mark.parametrize("order", ORDERS)
def test_every_thread_of_every_block_runs(order: Order) -> None:
    out = np.full(2 * 3 * 5 * 24, -1, np.int32)
    compiled(WARPS).launch("three", [out], [2, 3, 5], [4, 3, 2], order=order)
    np.testing.assert_array_equal(out, np.arange(out.size))


SCANNED = """
extern "C" __global__ void scanned(int* out) {
  __shared__ alignas(64) int held[64];
  int t = threadIdx.x;
  held[t] = 1;
  __syncwarp();
  for (int width = 1; width < 32; width <<= 1) {
    if (t % 32 >= width) {
      held[t] = (held[t] + held[(t - width)]);
    }
    __syncwarp();
  }
  out[t] = held[t];
}
"""


@pytest.mark.parametrize("order", ORDERS)
def test_lanes_of_a_warp_load_before_any_of_them_stores(order: Order) -> None:
    out = np.zeros(64, np.int32)
    compiled(SCANNED).launch("scanned", [out], [1], [64], order=order)
    np.testing.assert_array_equal(out, np.tile(np.arange(1, 33), 2))


MULTIPLIED = """
#include <cuda_fp16.h>
#include <mma.h>
extern "C" __global__ void multiplied(float* out, half* a, half* b, float* c) {
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> left[1];
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::col_major> right[1];
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum[2];
  nvcuda::wmma::load_matrix_sync(left[0], a, 20);
  nvcuda::wmma::load_matrix_sync(right[0], b, 16);
  nvcuda::wmma::load_matrix_sync(sum[0], c, 16, nvcuda::wmma::mem_row_major);
  nvcuda::wmma::fill_fragment(sum[1], 2.0f);
  nvcuda::wmma::mma_sync(sum[0], left[0], right[0], sum[0]);
  nvcuda::wmma::mma_sync(sum[1], left[0], right[0], sum[1]);
  nvcuda::wmma::store_matrix_sync(out, sum[0], 16, nvcuda::wmma::mem_row_major);
  nvcuda::wmma::store_matrix_sync(out + 256, sum[1], 16, nvcuda::wmma::mem_col_major);
}
"""


@pytest.mark.parametrize("order", ORDERS)
def test_matrices_are_multiplied_by_a_warp(order: Order) -> None:
    random = np.random.default_rng(2)
    a = random.integers(-3, 4, (16, 20)).astype(np.float16)
    b, c = random.integers(-3, 4, (16, 16)).astype(np.float16), random.integers(-3, 4, (16, 16)).astype(np.float32)
    out = np.zeros((2, 16, 16), np.float32)
    compiled(MULTIPLIED).launch("multiplied", [out, a, b, c], [1], [32], order=order)
    product = a[:, :16].astype(np.float32) @ b.T.astype(np.float32)
    np.testing.assert_array_equal(out[0], product + c)
    np.testing.assert_array_equal(out[1], (product + 2).T)


FAULTY = """
#include <cuda_fp16.h>
extern "C" __global__ void ended(float* out) {
  if (threadIdx.x < 40) { return; }
  __syncthreads();
  out[threadIdx.x] = 1.0f;
}
extern "C" __global__ void apart(float* out) {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = 1.0f;
}
extern "C" __global__ void absent(int* out) {
  if (threadIdx.x < 16) { out[threadIdx.x] = __shfl_xor_sync(0xffffffff, 1, 1); } else { __syncthreads(); }
}
extern "C" __global__ void endless(volatile int* out) {
  while (out[0] == 0) { out[1] = out[1] + 1; }
}
extern "C" __global__ void waiting(int* out) {
  while (true) { __syncthreads(); }
}
extern "C" __global__ void past_end(float* out) { out[64 + threadIdx.x] = 1.0f; }
extern "C" __global__ void before_start(float* out, float* in) { out[threadIdx.x] = in[(int)threadIdx.x - 1]; }
extern "C" __global__ void past_shared(float* out) {
  __shared__ alignas(64) float held[64];
  float* place = held;
  place[threadIdx.x + 1] = 1.0f;
  __syncthreads();
  out[threadIdx.x] = held[threadIdx.x];
}
extern "C" __global__ void misaligned(float* out) { *(float4*)(out + 1) = make_float4(1, 2, 3, 4); }
extern "C" __global__ void divided(int* out) { out[1] = out[1] / out[0]; }
extern "C" __global__ void asserted(int* out) { assert(out[0] == 1); }
extern "C" __global__ void __launch_bounds__(32) bounded(int* out) { out[0] = 1; }
extern "C" __global__ void greedy(int* out) {
  __shared__ alignas(64) int held[16384];
  held[threadIdx.x] = 1;
  out[0] = held[threadIdx.x];
}
"""
FAULTS = {
    "ended": "divergent barrier",
    "apart": "divergent barrier",
    "absent": "divergent warp",
    "endless": "deadline",
    "waiting": "deadline",
    "past_end": "out of bounds",
    "before_start": "out of bounds",
    "past_shared": "out of bounds",
    "misaligned": "bad access",
    "divided": "division by zero",
    "asserted": "assertion",
    "bounded": "launch",
    "greedy": "launch",
}


@pytest.mark.parametrize("kernel", FAULTS)
def test_a_fault_has_its_name(kernel: str) -> None:
    kinds = set()
    for order in ORDERS:
        out = [
            np.zeros(64, np.float32 if kernel[:4] != "divi" else np.int32)
            for _ in range(1 + (kernel == "before_start"))
        ]
        try:
            compiled(FAULTY).launch(kernel, out, [1], [64], order=order, deadline_s=0.05)
        except Fault as fault:
            kinds.add(fault.kind)
    assert kinds == {FAULTS[kernel]}


def test_a_fault_leaves_the_next_launch_alone() -> None:
    with pytest.raises(Fault, match="divergent barrier"):
        compiled(FAULTY).launch("ended", [np.zeros(64, np.float32)], [1], [64])
    out = np.zeros(64, np.float32)
    compiled(FAULTY).launch("ended", [out], [1], [32])
    np.testing.assert_array_equal(out, 0)


UNWRITTEN = """
extern "C" __global__ void unwritten(int* out) {
  __shared__ alignas(64) int held[64];
  if (threadIdx.x < 63) { held[threadIdx.x] = 1; }
  __syncthreads();
  out[threadIdx.x] = held[threadIdx.x];
}
"""


def test_unwritten_shared_memory_differs_from_order_to_order() -> None:
    outs = [np.zeros(64, np.int32) for _ in ORDERS]
    for order, out in zip(ORDERS, outs, strict=True):
        compiled(UNWRITTEN).launch("unwritten", [out], [1], [64], order=order)
    assert len({int(out[63]) for out in outs}) == len(ORDERS)
    assert all((out[:63] == 1).all() for out in outs)


@pytest.mark.parametrize("arguments", [[], [1, 2]])
def test_a_wrong_number_of_arguments_is_a_fault(arguments: list[int]) -> None:
    with pytest.raises(Fault, match="launch: .* parameters"):
        compiled(UNWRITTEN).launch("unwritten", arguments, [1], [64])


@pytest.mark.parametrize(
    ("cuda", "said"),
    [
        ('extern "C" __global__ void k(int* p) { p[0] = no_such_function(1); }', "no_such_function"),
        ('extern "C" __global__ void k(int* p) { __shared__ int a, b; p[0] = a; }', "__shared__ int a, b"),
    ],
)
def test_what_is_no_cuda_is_not_compiled(cuda: str, said: str) -> None:
    with pytest.raises(CompileError, match=said):
        compile_source(cuda)
