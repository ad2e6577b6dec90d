"""Fragments of tensor cores as plain matrices, memory of a shape by a call, and bits of a type of another width."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import tirx

from oracles.reference.errors import Trap
from oracles.reference.tir import run_prim_func
from oracles.reference.tir.arithmetic import Roundings

SIDE = 16


def product(layout: str, stride: int) -> Any:
    """T = A @ B + 2, or A @ B.T where B is loaded by columns; rows of B are `stride` elements apart."""
    a, b = (tirx.decl_buffer(shape, "float16", name) for shape, name in (((SIDE, SIDE), "A"), ((SIDE, stride), "B")))
    t = tirx.decl_buffer((SIDE, SIDE), "float32", "T")
    fa, fb, fc = (
        tirx.decl_buffer((SIDE, SIDE), dtype, name, scope=scope)
        for dtype, name, scope in (
            ("float16", "a", "wmma.matrix_a"),
            ("float16", "b", "wmma.matrix_b"),
            ("float32", "c", "wmma.accumulator"),
        )
    )

    def moved(call: Any, fragment: Any, memory: Any, mode: str, lead: int, order: str) -> Any:
        where = memory.access_ptr(mode)
        return tirx.Evaluate(call(fragment.data, SIDE, SIDE, SIDE, 0, where, lead, order))

    steps = [
        *(tirx.AllocBuffer(fragment) for fragment in (fa, fb, fc)),
        moved(tirx.tvm_load_matrix_sync, fa, a, "r", SIDE, "row_major"),
        moved(tirx.tvm_load_matrix_sync, fb, b, "r", stride, layout),
        tirx.Evaluate(tirx.tvm_fill_fragment(fc.data, SIDE, SIDE, SIDE, 0, tirx.FloatImm("float32", 2.0))),
        tirx.Evaluate(tirx.tvm_mma_sync(fc.data, 0, fa.data, 0, fb.data, 0, fc.data, 0)),
        moved(tirx.tvm_store_matrix_sync, fc, t, "w", SIDE, "row_major"),
    ]
    return tirx.PrimFunc([a, b, t], tirx.SeqStmt(steps)).with_attr("global_symbol", "main")


@pytest.mark.parametrize("layout", ["row_major", "col_major"])
@pytest.mark.parametrize("stride", [16, 24])
def test_a_product_of_fragments(layout: str, stride: int) -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-3, 4, shape).astype("float16") for shape in ((SIDE, SIDE), (SIDE, stride)))
    out = np.zeros((SIDE, SIDE), "float32")
    run_prim_func(product(layout, stride), [a, b, out])
    factor = b[:, :SIDE].astype("float32")
    assert np.array_equal(out, a.astype("float32") @ (factor.T if layout == "col_major" else factor) + 2)


def test_bits_as_a_type_of_another_width_trap() -> None:
    a, b = (tirx.decl_buffer((1,), dtype, name) for dtype, name in (("float32", "A"), ("uint8", "B")))
    bits = tirx.call_intrin("uint8", "tirx.reinterpret", tirx.BufferLoad(a, [0]))
    func = tirx.PrimFunc([a, b], tirx.BufferStore(b, bits, [0])).with_attr("global_symbol", "main")
    with pytest.raises(Trap) as trap:
        run_prim_func(func, [np.ones(1, "float32"), np.zeros(1, "uint8")])
    assert trap.value.kind == "type"


@pytest.mark.parametrize(("number", "rounds"), [(1.0, False), (16.0, True)])
def test_roundings_of_floats_of_8_bits_are_noted(number: float, rounds: bool) -> None:
    dtype = "float8_e4m3fn"
    a, b = (tirx.decl_buffer((1,), dtype, name) for name in "AB")
    total = tirx.Add(tirx.BufferLoad(a, [0]), tirx.FloatImm(dtype, number))
    func = tirx.PrimFunc([a, b], tirx.BufferStore(b, total, [0])).with_attr("global_symbol", "main")
    arrays = [tvm.runtime.empty((1,), dtype).numpy(), tvm.runtime.empty((1,), dtype).numpy()]
    arrays[0][:] = 1.0
    before = Roundings.count
    run_prim_func(func, arrays)
    assert (Roundings.count != before) is rounds
