"""Roundings of LLVM and of the C library: half away from zero, and to integers."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
from tvm import tirx
from tvm.script import tirx as T

from oracles.reference.tir import Trap, Unsupported, run_prim_func

BELOW_HALF = np.nextafter(np.float32(0.5), np.float32(0))
NUMBERS = [0.5, 1.5, 2.5, -0.5, -2.5, float(BELOW_HALF), 7.0, -2.75]
AWAY = [1, 2, 3, -1, -3, 0, 7, -3]
EVEN = [0, 2, 2, 0, -2, 0, 7, -3]


def calling(call: Any, result: str, extent: int) -> Any:
    """B[i] = call(A[i])."""
    source, target = tirx.decl_buffer((extent,), "float32", "A"), tirx.decl_buffer((extent,), result, "B")
    i = tirx.Var("i", "int32")
    store = tirx.BufferStore(target, call(tirx.BufferLoad(source, [i])), [i])
    return tirx.PrimFunc([source, target], tirx.For(i, 0, extent, tirx.ForKind.SERIAL, store))


def llvm(name: str, result: str) -> Any:
    return lambda x: T.call_llvm_pure_intrin(result, name, x)


CASES: dict[str, tuple[Any, str, list[int]]] = {
    "lround to int32": (llvm("llvm.lround", "int32"), "int32", AWAY),
    "llround to int64": (llvm("llvm.llround", "int64"), "int64", AWAY),
    "lrint": (llvm("llvm.lrint", "int64"), "int64", EVEN),
    "round of LLVM": (llvm("llvm.round", "float32"), "float32", AWAY),
    "round of C": (lambda x: T.call_pure_extern("float32", "roundf", x), "float32", AWAY),
    "round of TIR": (T.round, "float32", EVEN),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("extent", [1, 8])
def test_halves_go_where_the_library_says(name: str, extent: int) -> None:
    call, result, expected = CASES[name]
    out = np.zeros(extent, result)
    for first in range(0, 8, extent):
        run_prim_func(calling(call, result, extent), [np.array(NUMBERS, np.float32)[first : first + extent], out])
        assert out.tolist() == expected[first : first + extent]


@pytest.mark.parametrize("number", [2.0**31, float("nan"), float("-inf")])
def test_what_fits_no_integer_is_a_trap(number: float) -> None:
    for extent in (1, 8):
        args = [np.full(extent, number, np.float32), np.zeros(extent, np.int32)]
        with pytest.raises(Trap) as caught:
            run_prim_func(calling(llvm("llvm.lround", "int32"), "int32", extent), args)
        assert caught.value.kind == "integer-overflow"


def test_other_intrinsics_are_unsupported_by_name() -> None:
    func = calling(llvm("llvm.sqrt", "float32"), "float32", 1)
    out = np.zeros(1, np.float32)
    run_prim_func(func, [np.full(1, 9, np.float32), out])
    assert out[0] == 3
    with pytest.raises(Unsupported, match=r"llvm\.bitreverse"):
        run_prim_func(calling(llvm("llvm.bitreverse", "float32"), "float32", 1), [out, out.copy()])
