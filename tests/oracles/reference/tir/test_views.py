"""One memory seen as elements of several sizes: what is read is what the bytes say, what is initialised follows byte
by byte, and loops over such views keep their order.
"""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import tirx
from tvm.script import tirx as T

from generators import tvm_api
from generators.passes.table import PASSES, TIR_PIPELINE
from oracles.reference.tir import Trap, run_prim_func, run_tracked
from oracles.reference.tir.engine import compile_function, compiled

Array = np.ndarray[Any, Any]
TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})


@T.prim_func
def pool(A: T.Buffer((4,), "float32"), B: T.Buffer((6,), "float16"), C: T.Buffer((4,), "float32")):
    memory = T.alloc_buffer((28,), "uint8")
    floats = T.decl_buffer((4,), "float32", data=memory.data)
    halves = T.decl_buffer((6,), "float16", data=memory.data, elem_offset=8)
    for i in range(4):
        floats[i] = A[i] * T.float32(2)
    for i in range(6):
        halves[i] = B[i] + T.float16(1)
    for i in range(4):
        C[i] = floats[i] + T.Cast("float32", halves[i])


@T.prim_func
def used_again(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    memory = T.alloc_buffer((32,), "uint8")
    floats = T.decl_buffer((4,), "float32", data=memory.data)
    doubles = T.decl_buffer((4,), "float64", data=memory.data)
    for i in range(4):
        floats[i] = A[i] * T.float32(3)
    for i in range(4):
        C[i] = floats[3 - i]
    for i in range(4):
        doubles[i] = T.Cast("float64", C[i]) + T.float64(1)
    for i in range(4):
        C[i] = T.Cast("float32", doubles[i])


@T.prim_func
def bytes_of_floats(A: T.Buffer((2,), "float32"), C: T.Buffer((8,), "uint8")):
    octets = T.decl_buffer((8,), "uint8", data=A.data)
    for i in range(8):
        C[i] = octets[7 - i]


@T.prim_func
def sign_changed(A: T.Buffer((4,), "float32")):
    octets = T.decl_buffer((16,), "uint8", data=A.data)
    for i in range(4):
        octets[i * 4 + 3] = T.bitwise_xor(octets[i * 4 + 3], T.uint8(128))


@T.prim_func
def one_by_one(A: T.Buffer((8,), "uint8")):
    """Each word is made from bytes that the one before it has just written."""
    words = T.decl_buffer((4,), "uint16", data=A.data)
    for i in range(3):
        words[i + 1] = T.Cast("uint16", A[2 * i]) * T.uint16(2) + T.uint16(256)


@T.prim_func
def three_of_four(A: T.Buffer((4,), "uint8"), C: T.Buffer((1,), "float32")):
    memory = T.alloc_buffer((4,), "uint8")
    whole = T.decl_buffer((1,), "float32", data=memory.data)
    for i in range(3):
        memory[i] = A[i]
    C[0] = whole[0]


@T.prim_func
def all_four(A: T.Buffer((4,), "uint8"), C: T.Buffer((1,), "float32")):
    memory = T.alloc_buffer((4,), "uint8")
    whole = T.decl_buffer((1,), "float32", data=memory.data)
    for i in range(4):
        memory[i] = A[i]
    C[0] = whole[0]


@T.prim_func
def too_long(A: T.Buffer((8,), "uint8"), C: T.Buffer((3,), "float32")):
    floats = T.decl_buffer((3,), "float32", data=A.data)
    for i in range(3):
        C[i] = floats[i]


@T.prim_func
def half_of_a_word(A: T.Buffer((4,), "uint32"), C: T.Buffer((4,), "uint16")):
    """The low halves of A are written, then all that was written is read."""
    halves = T.decl_buffer((8,), "uint16", data=A.data)
    for i in range(4):
        halves[2 * i] = T.Cast("uint16", i)
    for i in range(4):
        C[i] = halves[2 * i]


FLOATS = np.array([1.5, -2, 0.25, 7], np.float32)
HALVES = np.array([1, 2, -3, 4, 0.5, 6], np.float16)
OCTETS = np.array([3, 250, 7, 9, 11, 13, 200, 1], np.uint8)


def _pool() -> Array:
    memory = np.zeros(28, np.uint8)
    memory[:16] = (FLOATS * 2).view(np.uint8)
    memory[16:28] = (HALVES + np.float16(1)).view(np.uint8)
    return memory[:16].view(np.float32) + memory[16:24].view(np.float16).astype(np.float32)


def _one_by_one() -> Array:
    octets = OCTETS.copy()
    for i in range(3):
        octets[2 * i + 2 : 2 * i + 4] = np.array([int(octets[2 * i]) * 2 + 256], np.uint16).view(np.uint8)
    return octets


CASES: dict[str, tuple[Any, list[Array], Array]] = {
    "pool": (pool, [FLOATS, HALVES, np.zeros(4, np.float32)], _pool()),
    "used again": (used_again, [FLOATS, np.zeros(4, np.float32)], FLOATS[::-1] * 3 + 1),
    "bytes of floats": (bytes_of_floats, [FLOATS[:2], np.zeros(8, np.uint8)], FLOATS[:2].view(np.uint8)[::-1]),
    "sign changed": (sign_changed, [FLOATS], -FLOATS),
    "one by one": (one_by_one, [OCTETS], _one_by_one()),
    "all four": (all_four, [FLOATS.view(np.uint8)[:4], np.zeros(1, np.float32)], FLOATS[:1]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_view_reads_the_bytes(name: str) -> None:
    func, args, expected = CASES[name]
    copies = [arg.copy() for arg in args]
    run_prim_func(func, copies)
    assert copies[-1].tolist() == expected.tolist()


@pytest.mark.parametrize("name", CASES)
def test_the_llvm_build_reads_the_same(name: str) -> None:
    func, args, expected = CASES[name]
    arrays = [tvm.runtime.tensor(arg) for arg in args]
    tvm.compile(tvm.IRModule({"f": func.with_attr("global_symbol", "f")}), target=TARGET)["f"](*arrays)
    assert arrays[-1].numpy().tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("func", "size", "floats", "kind"), [(three_of_four, 4, 1, "uninitialised"), (too_long, 8, 3, "out-of-bounds")]
)
def test_what_lies_outside_or_holds_nothing_traps(func: Any, size: int, floats: int, kind: str) -> None:
    with pytest.raises(Trap) as caught:
        run_prim_func(func, [OCTETS[:size], np.zeros(floats, np.float32)])
    assert caught.value.kind == kind


def test_a_parameter_is_initialised_when_all_its_bytes_are() -> None:
    words, halves = np.zeros(4, np.uint32), np.zeros(4, np.uint16)
    known = np.array([True, False, False, True])
    left = run_tracked(half_of_a_word, [words, halves], [known, np.zeros(4, np.bool_)])
    assert halves.tolist() == [0, 1, 2, 3]
    assert left[0] is known
    assert known.tolist() == [True, False, False, True]
    assert left[1] is None


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    st.tuples(st.sampled_from(["uint8", "uint16", "uint32"]), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.sampled_from(["uint8", "uint16", "uint32"]), st.integers(0, 3), st.integers(0, 3)),
    st.integers(1, 4),
)
def test_loops_over_views_of_one_memory_keep_their_order(
    to: tuple[str, int, int], source: tuple[str, int, int], times: int
) -> None:
    """to[a + i * b] = source[c + i * d] + 1 in two views of one parameter: as plain loops, and as NumPy does it."""
    memory = tirx.decl_buffer((64,), "uint8", "memory")
    views = [tirx.decl_buffer((64 // np.dtype(t).itemsize,), t, f"view_{t}") for t, _, _ in (to, source)]
    var = tirx.Var("i", "int32")
    places = [start + var * step for _, start, step in (to, source)]
    value = tirx.Cast(to[0], tirx.bitwise_and(tirx.BufferLoad(views[1], [places[1]]), tirx.const(63, source[0])))
    loop = tirx.For(
        var, 0, times, tirx.ForKind.SERIAL, tirx.BufferStore(views[0], value + tirx.const(1, to[0]), [places[0]])
    )
    declared = [tirx.DeclBuffer(view, data=memory.data) for view in views]
    func = tirx.PrimFunc([memory], tirx.SeqStmt([*declared, loop]))
    start = (np.arange(64) * 37 % 251).astype(np.uint8)
    expected = start.copy()
    for i in range(times):
        read = expected.view(source[0])[source[1] + i * source[2]]
        expected.view(to[0])[to[1] + i * to[2]] = (int(read) & 63) + 1
    for vectorise in (True, False):
        signature = compiled(func).signature
        program = compile_function(signature, func, signature.bind([start]), vectorise)
        array = start.copy()
        program.run(array, None)
        assert array.tolist() == expected.tolist()


@T.prim_func
def two_kinds(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
    block = T.launch_thread("blockIdx.x", 2)
    thread = T.launch_thread("threadIdx.x", 8)
    floats = T.alloc_buffer((8,), "float32", scope="shared.dyn")
    halves = T.alloc_buffer((8,), "float16", scope="shared.dyn")
    floats[thread] = A[block, thread]
    T.evaluate(T.tvm_storage_sync("shared.dyn"))
    halves[thread] = T.Cast("float16", floats[7 - thread])
    T.evaluate(T.tvm_storage_sync("shared.dyn"))
    B[block, thread] = T.Cast("float32", halves[(thread + 1) % 8]) + floats[thread]


@T.prim_func
def half_over_half(A: T.Buffer((2, 8), "float32"), B: T.Buffer((2, 8), "float32")):
    """Threads store floats where others still read halves: byte 4 * thread meets byte 2 * (7 - thread)."""
    block = T.launch_thread("blockIdx.x", 2)
    thread = T.launch_thread("threadIdx.x", 8)
    pool = T.alloc_buffer((32,), "uint8", scope="shared.dyn")
    floats = T.decl_buffer((8,), "float32", data=pool.data, scope="shared.dyn")
    halves = T.decl_buffer((8,), "float16", data=pool.data, scope="shared.dyn")
    halves[thread] = T.Cast("float16", A[block, thread])
    T.evaluate(T.tvm_storage_sync("shared.dyn"))
    B[block, thread] = T.Cast("float32", halves[7 - thread])
    floats[thread] = A[block, thread]


GRID = (np.arange(16) % 11 - 3).reshape(2, 8).astype(np.float32)
CUDA = tvm.target.Target({"kind": "cuda", "arch": "sm_80"}, host="llvm")


def test_shared_memory_of_several_types_is_one_pool() -> None:
    module = tvm.IRModule({"f": two_kinds.with_attr("global_symbol", "f")})
    expected = np.roll(GRID[:, ::-1], -1, axis=1) + GRID
    pooled = False
    for step in TIR_PIPELINE[: TIR_PIPELINE.index("tirx.SplitHostDevice")]:
        with CUDA:
            module = eval(PASSES[step].sources[0], dict(tvm_api.PASS_NAMES))(module)
        out = np.zeros((2, 8), np.float32)
        run_prim_func(module["f"], [GRID, out])
        assert out.tolist() == expected.tolist(), step
        pooled |= '"uint8", scope="shared.dyn"' in module.script()
    assert pooled


def test_a_race_of_elements_of_two_sizes_is_seen() -> None:
    with pytest.raises(Trap) as caught:
        run_prim_func(half_over_half, [GRID, np.zeros((2, 8), np.float32)])
    assert caught.value.kind == "data-race"


def _place_in_place(A: Any) -> Any:
    """The address 1 element after the one that is 2 after the first."""
    place = A.access_ptr("rw", ptr_type="float32", offset=2)
    dtype, _, _, extent, mask = place.args
    return tvm_api.Call(place.op, [dtype, place, tirx.IntImm("int32", 1), extent, mask], ret_ty=place.ty)


@pytest.mark.parametrize(("count", "kept"), [(5, True), (6, False)])
def test_a_view_at_an_address_reaches_to_the_end_of_its_memory(count: int, kept: bool) -> None:
    buffer = tirx.decl_buffer((8,), "float32", "A", layout=None)
    view = tirx.decl_buffer((count,), "float32", "V", layout=None)
    i = tirx.Var("i", "int32")
    store = tirx.BufferStore(view, tirx.Cast("float32", i), [i])
    loop = tirx.For(i, tirx.IntImm("int32", 0), tirx.IntImm("int32", count), tirx.ForKind.SERIAL, store)
    declared = tirx.DeclBuffer(view, data=_place_in_place(buffer))
    function = tirx.PrimFunc([buffer], tirx.SeqStmt([declared, loop]))
    memory = np.full(8, 9, "float32")
    if not kept:
        with pytest.raises(Trap, match="out-of-bounds"):
            run_prim_func(function, [memory])
        return
    run_prim_func(function, [memory])
    np.testing.assert_array_equal(memory, [9, 9, 9, 0, 1, 2, 3, 4])


def _stored_at(data: Any) -> list[Any]:
    """Statements that store 5 to the first element of a new buffer at this address."""
    view = tirx.decl_buffer((1,), "float32", "W", layout=None)
    store = tirx.BufferStore(view, tirx.FloatImm("float32", 5.0), [tirx.IntImm("int32", 0)])
    return [tirx.DeclBuffer(view, data=data), store]


def test_the_address_of_the_first_element_of_a_view_at_a_computed_place_is_that_place() -> None:
    buffer = tirx.decl_buffer((8,), "float32", "A", layout=None)
    number = tirx.decl_buffer((1,), "int32", "N", layout=None)
    zero = tirx.IntImm("int32", 0)
    view = tirx.decl_buffer((3,), "float32", "V", layout=None)
    place = buffer.access_ptr("rw", ptr_type="float32", offset=tirx.BufferLoad(number, [zero]))
    address = tirx.address_of(tirx.BufferLoad(view, [zero]))
    body = [tirx.DeclBuffer(view, data=place), *_stored_at(address)]
    memory = np.zeros(8, "float32")
    run_prim_func(tirx.PrimFunc([buffer, number], tirx.SeqStmt(body)), [memory, np.array([2], "int32")])
    np.testing.assert_array_equal(memory, [0, 0, 5, 0, 0, 0, 0, 0])


@T.prim_func(s_tir=True)
def address_in_matched(A: T.Buffer((4, 8), "float32")):
    with T.sblock("outer"):
        part = T.match_buffer(A[2, 4:8], (4,), offset_factor=1)
        inner = T.decl_buffer((1,), "float32", data=T.address_of(part[0]))
        inner[0] = T.float32(5)


def test_the_address_of_the_first_element_of_a_matched_region_is_in_the_region() -> None:
    memory = np.zeros((4, 8), "float32")
    run_prim_func(address_in_matched, [memory])
    assert np.argwhere(memory).tolist() == [[2, 4]]
