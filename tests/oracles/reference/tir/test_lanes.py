"""Vectors mean what their lanes mean: against NumPy, after every pass of the pipeline, and against the LLVM build."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import tirx

from generators import tvm_api
from generators.passes.table import PASSES, TIR_PIPELINE
from oracles.reference.tir import Trap, Unsupported, run_prim_func
from tests.needs import file_needs

file_needs("tvm.tirx.script.masked_store")

from tests.oracles.reference.tir.vector_programs import PROGRAMS  # noqa: E402 - does not parse without

Array = np.ndarray[Any, Any]
TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})
PREDICATION = "tirx.enable_buffer_level_predication"
VECTOR_NODES = ("Ramp", "Broadcast", "Shuffle")
WITHOUT_VECTORS = ("scalarised", "stored_where_it_holds")
"""VectorizeLoop leaves a loop where a condition varies by lane."""


def values(dtype: str, *shape: int) -> Array:
    """Small numbers of both signs (none below zero in unsigned types), all exact in float16."""
    numbers = np.arange(np.prod(shape)).reshape(shape) * 5 % 17
    return (numbers if dtype.startswith("u") else numbers - 6).astype(dtype)


F8, F16, F44 = values("float32", 8), values("float32", 16), values("float32", 4, 4)
I16, I32 = values("int32", 16), values("int8", 32)
H = values("float16", 4, 8)
LANES = np.arange(16)
WORDS = np.array([0x04030201, 0xF0E0D0C0], np.uint32)
HALVES = np.array([0x0000, 0x3F80, 0x1234, 0x4049], np.uint16)
MASK = np.array([1, 0, 1, 1, 0, 0, 1, 1], np.bool_)
WHERE = np.array([3, 0, 15, 7, 7, 1, 12, 8], np.int32)


def _in_place(a: Array) -> Array:
    b = a
    for _ in range(3):
        b = b * b - a
    return b


def _chosen() -> Array:
    i = LANES // 4
    return np.where(i < 2, np.where(F16 > 0, F16, -1), i + LANES % 4).astype(np.float32)


# Inputs, what the last argument holds before the call, and what it holds after it.
CASES: dict[str, tuple[list[Any], Array, Array]] = {
    "elementwise": ([F16], np.zeros(16, np.float32), F16 * 2 + np.sqrt(np.maximum(F16, 0))),
    "strided": ([I32], np.zeros(16, np.int32), (I32[1::2].astype(np.int32) * 3 + (LANES & 3))[::-1]),
    "broadcast": ([H], np.zeros((4, 8), np.float16), H[:, :1] - H[:1] * np.float16(0.5)),
    "transposed": ([F44], np.zeros((4, 4), np.float32), F44.T),
    "gathered": ([F16, WHERE], np.zeros(8, np.float32), F16[WHERE]),
    "small_integers": ([values("uint8", 16) * 15], np.zeros(16, np.uint8), values("uint8", 16) * 15 + np.uint8(200)),
    "chosen": ([F16], np.zeros(16, np.float32), _chosen()),
    "selected_by_lane": (
        [I16],
        np.zeros(16, np.int32),
        np.where((I16 > 0) & (LANES % 3 != 0), I16 // 2, np.where(LANES >= 8, -LANES, I16[15])),
    ),
    "stored_where_it_holds": ([F16], np.full(16, 9, np.float32), np.where(LANES < 14, F16 + 1, 9)),
    "scalarised": ([F16], np.zeros(16, np.float32), np.where(F16 > 0, F16 * F16, np.where(LANES < 7, 7, F16))),
    "in_place": ([F16 / 8], np.zeros(16, np.float32), _in_place(F16 / 8)),
    "accumulated": ([values("float32", 8, 4)], np.zeros(4, np.float32), values("float32", 8, 4).sum(axis=0)[::-1]),
    "shuffled": ([F8], np.zeros(9, np.float32), F8[[7, 0, 5, 2, 2, 3, 2, 3, 6]]),
    "packed_lanes": ([I16[:4]], np.zeros(4, np.int32), I16[[1, 0, 3, 2]]),
    "bound": ([F8], np.zeros(8, np.float32), np.concatenate([F8[::2] ** 2, F8[::2] - F8[1]])),
    "let_in_an_expression": ([F8], np.zeros(4, np.float32), F8[1::2] ** 2 + F8[1::2]),
    "vector_elements": ([F8], np.zeros(8, np.float32), np.concatenate([F8[4:], F8[:4]]) + np.tile(F8[:4], 2)),
    "seen_as_vectors": ([F8], np.zeros(8, np.float32), F8[[2, 3, 0, 1, 6, 7, 4, 5]]),
    "turned_in_place": ([], F8, F8[::-1]),
    "moved_up": ([], F8, F8[[0, 0, 1, 2, 3, 4, 5, 6]]),
    "moved_through_an_index": ([], np.array([2, 0, 3, 1], np.int32), np.array([20, 40, 10, 30], np.int32)),
    "all_to_one": ([I16[:4]], np.array([5], np.int32), np.array([5 + I16[3]], np.int32)),
    "bytes_of_words": ([WORDS], np.zeros(8, np.uint8), np.array([1, 2, 3, 4, 0xC0, 0xD0, 0xE0, 0xF0], np.uint8)),
    "floats_of_halves": ([HALVES], np.zeros(2, np.float32), HALVES.view("<f4")),
    "word_of_bytes": ([values("uint8", 4)], np.zeros(1, np.uint32), values("uint8", 4).view("<u4")),
    "some_lanes": ([F8, MASK], np.full(8, 9, np.float32), np.where(MASK, F8 * 3, 9)),
}
REFUSED = ("seen_as_vectors",)
"""StorageRewrite of TVM 0.27 fails on a parameter that is declared a second time, with vector elements."""


def applied(name: str, module: Any) -> Any:
    """One pass of the TIR pipeline."""
    with TARGET:
        return eval(PASSES[name].sources[0], dict(tvm_api.PASS_NAMES))(module)


def module_of(name: str) -> Any:
    """A module with that program."""
    return tvm.IRModule({name: PROGRAMS[name].with_attr("global_symbol", name)})


def result(module: Any, args: list[Any]) -> Array:
    """The last array after the call."""
    (func,) = module.functions.values()
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    run_prim_func(func, copies)
    out: Array = [arg for arg in copies if isinstance(arg, np.ndarray)][-1]
    return out


def has_vectors(module: Any) -> bool:
    """Whether a Ramp, a Broadcast or a Shuffle is in it."""
    found: list[str] = []

    def note(node: Any) -> Any:
        found.append(type(node).__name__)
        return node

    tvm_ffi.structural_map(module, note)
    return any(name in VECTOR_NODES for name in found)


def vectorised(name: str, predication: bool = False) -> Any:
    """The program after FlattenBuffer and VectorizeLoop."""
    with tvm.transform.PassContext(config={PREDICATION: predication}):
        return tirx.transform.VectorizeLoop(True)(tirx.transform.FlattenBuffer()(module_of(name)))


@pytest.mark.parametrize("name", CASES)
def test_a_program_gives_what_numpy_gives(name: str) -> None:
    inputs, before, expected = CASES[name]
    assert result(module_of(name), [*inputs, before]).tolist() == expected.tolist()


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_every_step_of_the_pipeline_gives_the_same(name: str) -> None:
    inputs, before, expected = CASES[name]
    module = module_of(name)
    seen = False
    for step in TIR_PIPELINE:
        module = applied(step, module)
        seen |= has_vectors(module)
        assert result(module, [*inputs, before]).tolist() == expected.tolist(), step
    assert seen == (name not in WITHOUT_VECTORS)


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_the_llvm_build_gives_the_same(name: str) -> None:
    inputs, before, expected = CASES[name]
    arrays = [tvm.runtime.tensor(array) for array in (*inputs, before)]
    tvm.compile(module_of(name), target=TARGET)[name](*arrays)
    assert arrays[-1].numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("limit", [0, 1, 5, 14, 16])
def test_predicated_stores_touch_only_the_lanes_below_the_limit(limit: int) -> None:
    module = vectorised("sum_to_a_limit", True)
    assert "masked_store" in module.script()
    before = np.full(16, 99, np.int32)
    (func,) = module.functions.values()
    run_prim_func(func, [I16, before, limit])
    assert before.tolist() == np.where(limit > LANES, I16 + limit, 99).tolist()


def test_a_limit_below_zero_counts_as_unsigned() -> None:
    """LLVM's get.active.lane.mask compares unsigned numbers: the predicated function is another one than the loop."""
    for predication, expected in ((False, np.full(16, 99)), (True, I16 - 1)):
        before = np.full(16, 99, np.int32)
        (func,) = vectorised("sum_to_a_limit", predication).functions.values()
        run_prim_func(func, [I16, before, -1])
        assert before.tolist() == expected.tolist()


@pytest.mark.parametrize(("name", "kind"), [("lanes_left_out", "uninitialised"), ("beyond_the_end", "out-of-bounds")])
def test_lanes_that_hold_nothing_trap(name: str, kind: str) -> None:
    with pytest.raises(Trap) as caught:
        result(module_of(name), [F8, np.zeros(8, np.float32)])
    assert caught.value.kind == kind


def _rewritten(module: Any, kind: Any, change: Callable[[Any], Any]) -> Any:
    (name, func), *_ = module.functions.items()
    return tvm.IRModule({name: tvm_ffi.structural_map(func, [(kind, change)])})


def _stride(node: Any) -> Any:
    return tirx.Ramp(node.base, node.stride + 1, node.lanes)


def _base(node: Any) -> Any:
    return tirx.Ramp(node.base + 1, node.stride, node.lanes)


def _other_lane(node: Any) -> Any:
    return tirx.Shuffle(node.vectors, [*list(node.indices)[1:], node.indices[0]])


def _next_value(node: Any) -> Any:
    return tirx.Broadcast(node.value + tirx.const(1, node.value.ty.dtype), node.lanes)


@pytest.mark.parametrize(
    ("name", "kind", "change"),
    [
        ("elementwise", tirx.Ramp, _stride),
        ("strided", tirx.Ramp, _stride),
        ("transposed", tirx.Ramp, _base),
        ("accumulated", tirx.Ramp, _stride),
        ("broadcast", tirx.Broadcast, _next_value),
        ("shuffled", tirx.Shuffle, _other_lane),
    ],
)
def test_a_planted_fault_is_noticed(name: str, kind: Any, change: Callable[[Any], Any]) -> None:
    inputs, before, expected = CASES[name]
    module = vectorised(name)
    assert result(module, [*inputs, before]).tolist() == expected.tolist()
    wrong = _rewritten(module, kind, change)
    assert not tvm_api.structural_equal(wrong, module)
    try:
        assert result(wrong, [*inputs, before]).tolist() != expected.tolist()
    except Trap as trap:
        assert trap.kind == "out-of-bounds"


def test_vectors_of_unknown_scalars_are_unsupported_by_name() -> None:
    ramp = tirx.Ramp(0, 1, 4)
    source, target = (tirx.decl_buffer((64,), "float8_e8m0fnu", name) for name in "AB")
    func = tirx.PrimFunc([source, target], tirx.BufferStore(target, tirx.BufferLoad(source, [ramp]), [ramp]))
    with pytest.raises(Unsupported, match="float8_e8m0fnu"):
        run_prim_func(func, [np.zeros(64, np.uint8), np.zeros(64, np.uint8)])


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 2)), min_size=3, max_size=3),
    st.integers(2, 4),
    st.integers(1, 3),
    st.booleans(),
)
def test_all_lanes_are_loaded_before_one_is_stored(
    ramps: list[tuple[int, int]], lanes: int, times: int, other: bool
) -> None:
    """A[to] = A[first] + (A or B)[second] in a loop, with Ramps that may meet; the last of equal lanes counts."""
    buffers = [tirx.decl_buffer((40,), "int32", name) for name in "AB"]
    var = tirx.Var("i", "int32")
    to, first, second = (tirx.Ramp(16 + var * shift, stride, lanes) for shift, stride in ramps)
    value = tirx.BufferLoad(buffers[0], [first]) + tirx.BufferLoad(buffers[other], [second])
    store = tirx.BufferStore(buffers[0], value, [to])
    func = tirx.PrimFunc(buffers, tirx.For(var, 0, times, tirx.ForKind.SERIAL, store))
    arrays = [np.arange(40, dtype=np.int32), np.arange(40, dtype=np.int32)[::-1] * 100]
    expected = arrays[0].copy()
    for i in range(times):
        at = [16 + i * shift + stride * np.arange(lanes) for shift, stride in ramps]
        total = expected[at[1]] + (arrays[1] if other else expected)[at[2]]
        for place, number in zip(at[0], total, strict=True):
            expected[place] = number
    run_prim_func(func, arrays)
    assert arrays[0].tolist() == expected.tolist()


CARRIED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((5,), "float32")):
    for i in T.{kind}(4):
        A[{to}] = {value}
"""


@pytest.mark.parametrize(
    ("to", "value", "same"),
    [
        ("i + 1", "A[i] + T.float32(1)", False),
        ("i", "A[i + 1] * T.float32(2)", True),
        ("i", "A[i] + T.float32(1)", True),
        ("i + 1", "T.if_then_else(i > 1, A[i], T.float32(7))", True),
    ],
)
def test_the_lanes_of_a_vectorised_loop_over_one_store_load_before_they_store(to: str, value: str, same: bool) -> None:
    """As after VectorizeLoop, which makes a plain loop of one with a condition that differs between the lanes."""
    found = []
    for kind, passes in (("serial", ()), ("vectorized", ()), ("vectorized", (tirx.transform.VectorizeLoop(),))):
        module = tvm.IRModule({"main": tvm.script.from_source(CARRIED.format(kind=kind, to=to, value=value))})
        with TARGET:
            module = tvm.transform.Sequential(passes)(tirx.transform.BindTarget(TARGET)(module))
        array = np.arange(5, dtype="float32") * 10
        run_prim_func(module["main"], [array])
        found.append(array.tolist())
    plain, lanes, lowered = found
    assert lanes == lowered
    assert (plain == lanes) is same
