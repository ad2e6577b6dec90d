"""Floats of 8 bits: rounded as the formats say, and used only where all implementations agree on them."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import tirx
from tvm.script import tirx as T

from corpus.encoding import decode, encode
from fuzzer.trial.subject.entries import with_entries_in_place
from generators.case import EntryCall
from generators.dtypes import FLOAT8, float_facts, is_float, numpy_dtype
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure, Wrong
from oracles.reference.tir import Trap, Unsupported, run_prim_func

E4M3, E5M2 = FLOAT8


def elementwise(dtype: str, value: Any, result: str = "", extent: int = 4) -> Any:
    """B[i] = value(A[i])."""
    source = tirx.decl_buffer((extent,), dtype, "A")
    target = tirx.decl_buffer((extent,), result or dtype, "B")
    i = tirx.Var("i", "int32")
    store = tirx.BufferStore(target, value(tirx.BufferLoad(source, [i])), [i])
    func = tirx.PrimFunc([source, target], tirx.For(i, 0, extent, tirx.ForKind.SERIAL, store))
    return func.with_attr("global_symbol", "main")


def sum_of(dtype: str) -> Any:
    """B[0] = B[0] + A[0] + A[1] + A[2] + A[3]."""
    source, target = (tirx.decl_buffer((n,), dtype, name) for n, name in ((4, "A"), (1, "B")))
    k = tirx.Var("k", "int32")
    total = tirx.BufferLoad(target, [0]) + tirx.BufferLoad(source, [k])
    loop = tirx.For(k, 0, 4, tirx.ForKind.SERIAL, tirx.BufferStore(target, total, [0]))
    return tirx.PrimFunc([source, target], loop)


def plus(number: float) -> Any:
    return lambda x: x + tirx.FloatImm(x.ty, number)


# 3 bits after the point: 17 lies between 16 and 18 and goes to the even one, 19 to 20. With 2 bits: 9 to 8, 11 to 12.
CASES: dict[str, tuple[Any, str, list[float], str, list[float]]] = {
    "e4m3fn rounds": (plus(16), E4M3, [1, 3, -1, 2], E4M3, [16, 20, 15, 18]),
    "e5m2 rounds": (plus(8), E5M2, [1, 3, -1, 2], E5M2, [8, 12, 7, 10]),
    "to float32": (lambda x: T.Cast("float32", x), E4M3, [0, 448, 0.015625, -240], "float32", [0, 448, 0.015625, -240]),
    "from float32": (lambda x: T.Cast(E5M2, x), "float32", [1.1, 1.4, 57344, -0.3], E5M2, [1, 1.5, 57344, -0.3125]),
    "exp": (T.exp, E4M3, [0, 1, 2, -1], E4M3, [1, 2.75, 7.5, 0.375]),
    "floor": (T.floor, E4M3, [1.5, -1.5, 0.25, 13], E4M3, [1, -2, 0, 13]),
    "bits": (lambda x: T.reinterpret("uint8", x), E4M3, [1, -2, 448, 0], "uint8", [0x38, 0xC0, 0x7E, 0]),
    "of bits": (lambda x: T.reinterpret(E5M2, x), "uint8", [0x3C, 0xC0, 0x7B, 0], E5M2, [1, -2, 57344, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_an_operation_rounds_once(name: str) -> None:
    value, dtype, numbers, result, expected = CASES[name]
    out = np.zeros(4, numpy_dtype(result))
    run_prim_func(elementwise(dtype, value, result), [np.array(numbers, numpy_dtype(dtype)), out])
    assert out.astype(np.float64).tolist() == expected


@pytest.mark.parametrize("dtype", FLOAT8)
def test_every_partial_sum_is_rounded(dtype: str) -> None:
    out = np.ones(1, numpy_dtype(dtype))
    step = {E4M3: 9, E5M2: 5}[dtype]
    run_prim_func(sum_of(dtype), [np.full(4, step, numpy_dtype(dtype)), out])
    # e4m3fn: 10, 19 -> 20, 29 -> 28, 37 -> 36; e5m2: 6, 11 -> 12, 17 -> 16, 21 -> 20.
    assert float(out[0]) == {E4M3: 36, E5M2: 20}[dtype]


@pytest.mark.parametrize(
    ("value", "dtype", "number"),
    [
        (lambda x: x * x, E4M3, 32),
        (lambda x: x + x, E5M2, 57344),
        (lambda x: T.Cast(E4M3, x), "float32", 480),
        (lambda x: T.Cast(E4M3, x), "float32", 0.01),
        (lambda x: x * x, E4M3, 0.0625),
        (T.exp, E4M3, 8),
    ],
)
def test_what_implementations_do_not_agree_on_is_a_trap(value: Any, dtype: str, number: float) -> None:
    result = dtype if dtype in FLOAT8 else E4M3
    for extent in (1, 4):
        args = [np.full(extent, number, numpy_dtype(dtype)), np.zeros(extent, numpy_dtype(result))]
        with pytest.raises(Trap) as caught:
            run_prim_func(elementwise(dtype, value, result, extent), args)
        assert caught.value.kind == "float8-range"


def test_a_branch_that_is_not_taken_may_overflow() -> None:
    out = np.zeros(4, numpy_dtype(E4M3))
    guarded = elementwise(E4M3, lambda x: tirx.Select(x < tirx.FloatImm(E4M3, 16), x * x, x))
    run_prim_func(guarded, [np.array([2, 3, 32, 448], numpy_dtype(E4M3)), out])
    assert out.astype(np.float64).tolist() == [4, 9, 32, 448]


def test_other_formats_are_unsupported_by_name() -> None:
    with pytest.raises(Unsupported, match="float8_e4m3fnuz"):
        run_prim_func(elementwise("float8_e4m3fnuz", plus(1)), [np.zeros(4, np.uint8), np.zeros(4, np.uint8)])


def called(dtype: str) -> Any:
    module = tvm.IRModule({"main": elementwise(dtype, lambda x: tirx.exp(x) + x)})
    return with_entries_in_place(module)


@pytest.mark.parametrize("dtype", FLOAT8)
@pytest.mark.parametrize("promoted", ["float16", "float32"])
def test_legalisation_keeps_the_numbers(dtype: str, promoted: str) -> None:
    module = called(dtype)
    inputs = np.array([1, -1, 2, 0.5], numpy_dtype(dtype))
    numbers = Numbers(module, (EntryCall("call_main", (inputs, np.zeros_like(inputs))),))
    legal = tirx.transform.FP8ComputeLegalize(promoted)(module)
    assert "reinterpret" in legal.script()
    # In float8 the bounds of most elements are wider than the values, which is no verdict against the pass.
    assert not isinstance(numbers.judge_module(legal), Wrong)
    wrong = legal.script().replace(
        "T.exp(", "T.float32(-100) * T.exp(" if promoted == "float32" else "T.float16(-100) * T.exp("
    )
    assert isinstance(numbers.judge_module(tvm.script.from_source(wrong)), Wrong)


def test_inputs_that_overflow_say_nothing() -> None:
    inputs = np.array([8, 8, 8, 8], numpy_dtype(E4M3))
    numbers = Numbers(called(E4M3), (EntryCall("call_main", (inputs, inputs)),))
    assert isinstance(numbers.expected, NoMeaning)
    assert numbers.expected.reason == "reference trap: float8-range"
    calm = Numbers(called(E4M3), (EntryCall("call_main", (inputs / 4, inputs)),))
    overflowing = with_entries_in_place(
        tvm.IRModule({"main": elementwise(E4M3, lambda x: x * tirx.FloatImm(E4M3, 448))})
    )
    assert calm.judge_module(overflowing) == Unsure("discarded: float8-range")


@pytest.mark.parametrize("dtype", FLOAT8)
def test_the_facts_are_those_of_the_format(dtype: str) -> None:
    facts, kind = float_facts(dtype), numpy_dtype(dtype)
    every = np.arange(256, dtype=np.uint8).view(kind).astype(np.float64)
    finite = np.sort(every[np.isfinite(every) & (every > 0)])
    assert is_float(dtype)
    assert facts.largest == finite[-1]
    above_one = finite[finite > 1][0]
    assert facts.unit == (above_one - 1) / 2
    # From the smallest normal number on, steps grow with the numbers.
    steps = np.diff(finite)
    assert facts.tiny == finite[np.argmax(steps > steps[0]) - round(0.5 / facts.unit)]


@pytest.mark.parametrize("dtype", FLOAT8)
def test_arrays_are_kept_bit_by_bit(dtype: str) -> None:
    for size in (4, 200):
        array = np.arange(size, dtype=np.uint8).view(numpy_dtype(dtype))
        arrays: dict[str, Any] = {}
        back = decode(encode(array, arrays), arrays)
        assert isinstance(back, np.ndarray)
        assert back.dtype == array.dtype
        same = (back.view(np.uint8) == array.view(np.uint8)) | np.isnan(array.astype(np.float32))
        assert same.all()
