"""Vectors whose number of lanes the processor knows: as VectorizeLoop makes them for SVE, and written by hand."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import tirx
from tvm.script import tirx as T

from generators import tvm_api
from oracles.reference.tir import Trap, run_prim_func
from oracles.reference.tir.decode.tvm_objects import VSCALE
from tests.needs import needs

Array = np.ndarray[Any, Any]
SVE = tvm.target.Target(
    {"kind": "llvm", "device": "arm_cpu", "mtriple": "aarch64-linux-gnu", "mattr": ["+v8.2a", "+sve"]}
)
LANES = 4 * VSCALE
A = np.arange(32, dtype=np.float32) * 3 - 20


@T.prim_func
def rounds(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "int32"), n: T.int32):
    for i in T.vectorized(T.vscale() * 4):
        B[i] = T.Cast("int32", A[i] * T.float32(2)) + n


@T.prim_func
def selected(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "int32"), n: T.int32):
    for i in T.vectorized(T.vscale() * 4):
        B[i] = T.Select(A[i] > T.float32(-10), T.reinterpret("int32", A[i]), T.Cast("int32", i) * n)


@T.prim_func
def some(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "int32"), n: T.int32):
    for i in T.vectorized(T.vscale() * 4):
        if i < n:
            B[i] = T.Cast("int32", A[i])


@T.prim_func
def strided(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "int32"), n: T.int32):
    for i in T.vectorized(T.vscale() * 4):
        B[i * 2 + 1] = T.Cast("int32", A[0]) + T.vscale()


@T.prim_func
def beyond(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "int32"), n: T.int32):
    for i in T.vectorized(T.vscale() * 32):
        B[i] = T.Cast("int32", A[i])


def _placed(where: Any, what: Any) -> Array:
    out = np.full(32, -1, np.int32)
    out[where] = what
    return out


NUMBERS = np.arange(LANES)
CASES: dict[str, tuple[Any, Array]] = {
    "casts": (rounds, _placed(slice(LANES), (A[:LANES] * 2).astype(np.int32) + 3)),
    "select": (selected, _placed(slice(LANES), np.where(A > -10, A.view(np.int32), np.arange(32) * 3)[:LANES])),
    "masked": (some, _placed(slice(3), A[:3].astype(np.int32))),
    "strided": (strided, _placed(NUMBERS * 2 + 1, int(A[0]) + VSCALE)),
}


def vectorised(func: Any) -> Any:
    """The function after VectorizeLoop for a processor with SVE."""
    with SVE:
        return tirx.transform.VectorizeLoop()(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}))["main"]


def after(func: Any) -> Array:
    out = np.full(32, -1, np.int32)
    run_prim_func(func, [A.copy(), out, 3])
    return out


MASKED = needs("tvm.tirx.script.masked_store")
"""Before, a mask is a field of loads and stores, which the reference refuses."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=MASKED if name == "masked" else ()) for name in CASES])
def test_loops_and_scalable_vectors_mean_the_same(name: str) -> None:
    func, expected = CASES[name]
    vectors = vectorised(func)
    assert "xvscalex" in tvm_api.json_of(tvm.IRModule({"main": vectors}))
    np.testing.assert_array_equal(after(func), expected)
    np.testing.assert_array_equal(after(vectors), expected)


def test_a_vector_that_reaches_out_of_its_buffer_is_noticed() -> None:
    for func in (beyond, vectorised(beyond)):
        with pytest.raises(Trap) as caught:
            after(func)
        assert caught.value.kind == "out-of-bounds"


def test_a_forgotten_factor_is_noticed() -> None:
    four = tirx.Ramp(0, 1, 4)
    source, target = (tirx.decl_buffer((32,), dtype, name) for dtype, name in (("float32", "A"), ("int32", "B")))
    value = tirx.Cast("int32x4", tirx.BufferLoad(source, [four]))
    func = tirx.PrimFunc([source, target, tirx.Var("n", "int32")], tirx.BufferStore(target, value, [four]))
    assert after(func).tolist() == _placed(slice(4), A[:4].astype(np.int32)).tolist()
    assert VSCALE > 1
