"""Times the TIR interpreter: first compilation, cached runs, growth with size. Prints figures; it is no test.

Run: python -m benchmarks.bench_tir
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax import op

from oracles.reference.tir import engine, run_prim_func
from oracles.reference.tir.decode.prim_func import decode_function
from oracles.reference.tir.signature import PrimFuncSignature

Build = Callable[..., Any]


def prim_func(shapes: list[tuple[int, ...]], build: Build, dtype: str = "float32") -> Any:
    """The PrimFunc of a legalised one-operator module."""
    params = [relax.Var(f"a{i}", relax.TensorType(shape, dtype)) for i, shape in enumerate(shapes)]
    builder = relax.BlockBuilder()
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(build(*params)))
        builder.emit_func_output(result)
    module = relax.transform.LegalizeOps()(builder.get())
    return next(f for f in module.functions.values() if isinstance(f, tvm.tirx.PrimFunc))


def arguments(func: Any) -> list[Any]:
    """Random arrays for the buffers of a function with constant shapes."""
    rng = np.random.default_rng(0)
    shapes = [tuple(int(e.value) for e in p.ty.shape) for p in func.params]
    return [rng.uniform(0.5, 1.5, shape).astype(str(p.ty.dtype)) for shape, p in zip(shapes, func.params, strict=True)]


def best(run: Callable[[], object], budget: float = 0.2) -> float:
    """The shortest time of a call, in milliseconds."""
    shortest, spent = float("inf"), 0.0
    while spent < budget:
        start = time.perf_counter()
        run()
        took = time.perf_counter() - start
        shortest, spent = min(shortest, took), spent + took
    return shortest * 1e3


def row(name: str, func: Any) -> None:
    """One line: decoding and compiling, then a cached run."""
    args = arguments(func)
    signature = PrimFuncSignature(func)
    first = best(lambda: engine.compile_function(signature, func, ()))
    decode = best(lambda: decode_function(signature, func, ()), 0.05)
    cached = best(lambda: run_prim_func(func, args))
    print(f"{name:28} compile {first:7.3f} ms (decode {decode:6.3f})   run {cached:8.3f} ms")


def main() -> None:
    """All rows."""
    row("add 4x5", prim_func([(4, 5), (4, 5)], op.add))
    for size in (64, 256, 1024):
        row(f"add {size}x{size}", prim_func([(size, size), (size, size)], op.add))
    row("gelu 32x32", prim_func([(32, 32)], op.nn.gelu))
    row("softmax 64x64", prim_func([(64, 64)], op.nn.softmax))
    row("layer_norm 64x64", prim_func([(64, 64), (64,), (64,)], lambda x, g, b: op.nn.layer_norm(x, g, b, axes=[-1])))
    row("sum-all 256x256", prim_func([(256, 256)], op.sum))
    row("argmax-all 32x32", prim_func([(32, 32)], op.argmax))
    for size in (16, 64, 128):
        row(f"matmul {size}", prim_func([(size, size), (size, size)], op.matmul))
    row("conv2d 3x32x32", prim_func([(1, 3, 32, 32), (8, 3, 3, 3)], lambda x, w: op.nn.conv2d(x, w, padding=1)))
    row("max_pool2d 8x32x32", prim_func([(1, 8, 32, 32)], lambda x: op.nn.max_pool2d(x, (2, 2), (2, 2))))
    row("pad 64x64", prim_func([(64, 64)], lambda x: op.nn.pad(x, (1, 1, 1, 1))))
    row("reshape 64x64", prim_func([(64, 64)], lambda x: op.reshape(x, (32, 128))))
    row("transpose 64x64", prim_func([(64, 64)], op.permute_dims))


if __name__ == "__main__":
    main()
