"""CUDA sources that several tests run, and how."""

from __future__ import annotations

from typing import Any

import numpy as np

from oracles.builds.cuda_cpu import CompiledSource, Order

BLOCK = 96
"""Three warps."""

REVERSED = """
extern "C" __global__ void __launch_bounds__(96) reversed(float* out, float* in) {
  __shared__ alignas(64) float held[96];
  held[threadIdx.x] = in[blockIdx.x * 96 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 96 + threadIdx.x] = held[95 - threadIdx.x];
}
"""
REVERSED_DYNAMIC = REVERSED.replace(
    "__shared__ alignas(64) float held[96]", "extern __shared__ alignas(64) float held[]"
)

SUMMED = """
extern "C" __global__ void __launch_bounds__(96) summed(float* out, float* in) {
  __shared__ alignas(64) float held[96];
  int t = (int)threadIdx.x;
  held[t] = in[blockIdx.x * 96 + t] + (t < 32 ? 0.0f : 1.0f);
  __syncthreads();
  for (int width = 64; width > 0; width >>= 1) {
    if (t < width && t + width < 96) {
      ((volatile float*)held)[t] = ((volatile float*)held)[t] + ((volatile float*)held)[t + width];
    }
    __syncthreads();
  }
  if (t == 0) { out[blockIdx.x] = held[0]; }
}
"""


def reversed_by(program: CompiledSource, order: Order, shared: int = 0) -> tuple[Any, Any]:
    """What `reversed` gives for four blocks, and what it should."""
    given = np.arange(4 * BLOCK, dtype=np.float32)
    out = np.zeros_like(given)
    program.launch(
        "reversed",
        [
            out,
            given,
        ],
        [4],
        [BLOCK],
        shared=shared,
        order=order,
    )
    return out, given.reshape(4, BLOCK)[:, ::-1].reshape(-1)


def without_barrier(cuda: str, number: int) -> str:
    """The source without its n-th barrier."""
    parts = cuda.split("__syncthreads();")
    assert number < len(parts) - 1
    return "__syncthreads();".join(parts[: number + 1]) + "__syncthreads();".join(
        ["", *parts[number + 1 :]]
    ).removeprefix("__syncthreads();")
