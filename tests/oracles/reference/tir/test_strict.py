"""What the TIR interpreter refuses: planted faults, each with the clean function next to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm.script import tirx as T

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir import run_prim_func, run_tracked

Array = np.ndarray[Any, Any]


@T.prim_func(s_tir=True)
def half_written(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    C = T.alloc_buffer((4,), "float32")
    for i in range(2):
        with T.sblock("partial"):
            v = T.axis.spatial(4, i)
            C[v] = A[v]
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            B[v] = C[v]


@T.prim_func(s_tir=True)
def guarded_read(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    C = T.alloc_buffer((4,), "float32")
    for i in range(2):
        with T.sblock("partial"):
            v = T.axis.spatial(4, i)
            C[v] = A[v]
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            B[v] = T.if_then_else(v < 2, C[v], T.float32(7))


@T.prim_func(s_tir=True)
def missing_init(A: T.Buffer((4, 3), "float32"), B: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 3):
        with T.sblock("sum"):
            v, r = T.axis.remap("SR", [i, k])
            B[v] = B[v] + A[v, r]


@T.prim_func(s_tir=True)
def shifted(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("shift"):
            v = T.axis.spatial(4, i)
            B[v] = A[v + 1]


@T.prim_func(s_tir=True)
def gathered(A: T.Buffer((4,), "float32"), P: T.Buffer((3,), "int32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.sblock("take"):
            v = T.axis.spatial(3, i)
            B[v] = A[P[v]]


@T.prim_func(s_tir=True)
def scattered(A: T.Buffer((3,), "float32"), P: T.Buffer((3,), "int32"), B: T.Buffer((4,), "float32")):
    for i in range(3):
        with T.sblock("put"):
            v = T.axis.opaque(3, i)
            B[P[v]] = A[v]


@T.prim_func(s_tir=True)
def divided(A: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock("div"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] // D[v]


@T.prim_func(s_tir=True)
def summed(A: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock("add"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] + D[v]


@T.prim_func(s_tir=True)
def multiplied_wide(A: T.Buffer((4,), "int64"), D: T.Buffer((4,), "int64"), B: T.Buffer((4,), "int64")):
    for i in range(4):
        with T.sblock("mul"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] * D[v]


@T.prim_func(s_tir=True)
def narrowed(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int8")):
    for i in range(4):
        with T.sblock("cast"):
            v = T.axis.spatial(4, i)
            B[v] = T.Cast("int8", A[v])


@T.prim_func(s_tir=True)
def truncated(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock("cast"):
            v = T.axis.spatial(4, i)
            B[v] = T.Cast("int32", A[v])


@T.prim_func(s_tir=True)
def folded(A: T.Buffer((4,), "int8"), B: T.Buffer((1,), "int8")):
    for k in range(4):
        with T.sblock("sum"):
            r = T.axis.reduce(4, k)
            with T.init():
                B[0] = T.int8(0)
            B[0] = B[0] + A[r]


@T.prim_func(s_tir=True)
def endless(A: T.Buffer((1,), "int32")):
    while A[0] < 1:
        A[0] = A[0] * 1


@T.prim_func(s_tir=True)
def external(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("call"):
            v = T.axis.spatial(4, i)
            B[v] = T.call_pure_extern("float32", "somebody_s", A[v])


def floats(*values: float) -> Array:
    """A float32 vector."""
    return np.array(values, np.float32)


def ints(*values: int, dtype: Any = np.int32) -> Array:
    """An integer vector."""
    return np.array(values, dtype)


ABCD = floats(1, 2, 3, 4)
FAULTS = {
    "alloc read before written": (half_written, [ABCD, np.zeros(4, np.float32)], "uninitialised", "copy: C"),
    "accumulator without init": (missing_init, [np.ones((4, 3), np.float32), ABCD * 0], "uninitialised", "sum: B"),
    "index one too far": (shifted, [ABCD, ABCD * 0], "out-of-bounds", "shift: A"),
    "gather beyond the end": (gathered, [ABCD, ints(0, 4, 1), floats(0, 0, 0)], "out-of-bounds", "take: A"),
    "gather before the start": (gathered, [ABCD, ints(0, -1, 1), floats(0, 0, 0)], "out-of-bounds", "take: A"),
    "scatter beyond the end": (scattered, [floats(1, 2, 3), ints(0, 4, 1), ABCD * 0], "out-of-bounds", "put: B"),
    "division by zero": (divided, [ints(1, 2, 3, 4), ints(1, 0, 1, 1), ints(0, 0, 0, 0)], "division-by-zero", "div"),
    "most negative by minus one": (
        divided,
        [ints(-(2**31), 2, 3, 4), ints(-1, 1, 1, 1), ints(0, 0, 0, 0)],
        "integer-overflow",
        "div",
    ),
    "int32 sum": (summed, [ints(2**31 - 1, 0, 0, 0), ints(1, 0, 0, 0), ints(0, 0, 0, 0)], "integer-overflow", "add"),
    "int64 product": (
        multiplied_wide,
        [ints(2**40, 0, 0, 0, dtype=np.int64), ints(2**23, 0, 0, 0, dtype=np.int64), np.zeros(4, np.int64)],
        "integer-overflow",
        "mul",
    ),
    "cast to int8": (narrowed, [ints(127, 128, 0, 0), np.zeros(4, np.int8)], "integer-overflow", "cast"),
    "NaN to int32": (truncated, [floats(1, np.nan, 0, 0), ints(0, 0, 0, 0)], "integer-overflow", "cast"),
    "2**31 to int32": (truncated, [floats(1, 2.0**31, 0, 0), ints(0, 0, 0, 0)], "integer-overflow", "cast"),
    "partial sum of int8": (
        folded,
        [ints(100, 100, -100, -100, dtype=np.int8), np.zeros(1, np.int8)],
        "integer-overflow",
        "sum",
    ),
    "endless loop": (endless, [ints(0)], "fuel", ""),
    "wrong shape": (shifted, [floats(1, 2, 3), ABCD * 0], "type", "A has shape (3,)"),
    "wrong dtype": (shifted, [ABCD.astype(np.float64), ABCD * 0], "type", "float64"),
    "missing argument": (shifted, [ABCD], "type", "1 arguments"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_traps(name: str) -> None:
    func, args, kind, where = FAULTS[name]
    copies = [arg.copy() for arg in args]
    ready = [True] * (len(args) - 1) + [func is endless]
    with pytest.raises(Trap) as caught:
        run_prim_func(func, copies, ready if len(args) > 1 else None, steps=10_000)
    assert caught.value.kind == kind
    assert where in caught.value.detail


CLEAN = {
    "a guard protects the read": (guarded_read, [ABCD, ABCD * 0], floats(1, 2, 7, 7)),
    "gather": (gathered, [ABCD, ints(3, 0, 3), floats(0, 0, 0)], floats(4, 1, 4)),
    "scatter": (scattered, [floats(5, 6, 7), ints(3, 0, 3), ABCD * 0], floats(6, 0, 0, 7)),
    "floor division": (divided, [ints(7, -7, 7, -7), ints(2, 2, -2, -2), ints(0, 0, 0, 0)], ints(3, -4, -4, 3)),
    "greatest int32": (
        summed,
        [ints(2**31 - 2, -(2**31), 0, 0), ints(1, 0, 0, 0), ints(0, 0, 0, 0)],
        ints(2**31 - 1, -(2**31), 0, 0),
    ),
    "int64 product": (
        multiplied_wide,
        [ints(2**31, -(2**31), 3, 0, dtype=np.int64), ints(2**31, 2**32, 5, 0, dtype=np.int64), np.zeros(4, np.int64)],
        ints(2**62, -(2**63), 15, 0, dtype=np.int64),
    ),
    "cast to int8": (narrowed, [ints(127, -128, 0, 5), np.zeros(4, np.int8)], ints(127, -128, 0, 5, dtype=np.int8)),
    "towards zero": (truncated, [floats(1.9, -1.9, 0.5, -0.5), ints(9, 9, 9, 9)], ints(1, -1, 0, 0)),
    "int8 sum": (folded, [ints(100, -100, 27, 100, dtype=np.int8), np.zeros(1, np.int8)], ints(127, dtype=np.int8)),
}


@pytest.mark.parametrize("name", CLEAN)
def test_a_defined_program_runs(name: str) -> None:
    func, args, expected = CLEAN[name]
    copies = [arg.copy() for arg in args]
    run_prim_func(func, copies)
    assert copies[-1].dtype == expected.dtype
    assert copies[-1].tolist() == expected.tolist()


def test_an_initialised_accumulator_may_be_read() -> None:
    out = floats(10, 20, 30, 40)
    run_prim_func(missing_init, [np.ones((4, 3), np.float32), out], [True, True])
    assert out.tolist() == [13, 23, 33, 43]


def test_an_unknown_construct_is_unsupported_by_name() -> None:
    with pytest.raises(Unsupported) as caught:
        run_prim_func(external, [ABCD.copy(), ABCD.copy()])
    assert caught.value.node == "tirx.call_pure_extern[somebody_s]"


@T.prim_func(s_tir=True)
def no_alias(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    T.func_attr({"tirx.noalias": True})
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            B[v] = A[v]


@T.prim_func(s_tir=True)
def backwards(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            B[v] = A[3 - v]


@T.prim_func(s_tir=True)
def lanes(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in T.vectorized(4):
        B[i] = A[3 - i]


def test_what_a_function_that_promises_no_aliases_does_with_some_is_left_open() -> None:
    """TVM's code may load what it has stored or not: but where that gives the same."""
    numbers = floats(1, 2, 3, 4)
    run_prim_func(no_alias, [numbers, numbers])
    assert numbers.tolist() == [1, 2, 3, 4]
    promising = backwards.with_attr("tirx.noalias", True)
    with pytest.raises(Unsupported, match="aliased arguments"):
        run_prim_func(promising, [numbers, numbers])
    run_prim_func(promising, [floats(1, 2, 3, 4), floats(0, 0, 0, 0)])


def test_an_output_that_is_an_input_holds_what_each_turn_of_a_loop_leaves() -> None:
    numbers = floats(1, 2, 3, 4)
    run_prim_func(no_alias, [numbers, numbers])
    assert numbers.tolist() == [1, 2, 3, 4]
    run_prim_func(backwards, [numbers, numbers])
    assert numbers.tolist() == [4, 3, 3, 4]
    run_prim_func(backwards, [numbers, floats(0, 0, 0, 0)])
    assert numbers.tolist() == [4, 3, 3, 4]


def test_an_output_that_is_a_part_of_an_input() -> None:
    storage = floats(1, 2, 3, 4, 5, 6)
    run_prim_func(no_alias.without_attr("tirx.noalias"), [storage[:4], storage[2:]])
    assert storage.tolist() == [1, 2, 1, 2, 1, 2]


def test_lanes_and_elements_that_nobody_has_written_are_left_open_where_memory_is_shared() -> None:
    numbers = floats(1, 2, 3, 4)
    with pytest.raises(Unsupported, match="aliased arguments of vectors"):
        run_prim_func(lanes, [numbers, numbers])
    with pytest.raises(Unsupported, match="aliased arguments that are not initialised"):
        run_prim_func(no_alias, [numbers, numbers], [False, True])
    run_prim_func(lanes, [numbers, floats(0, 0, 0, 0)])


def test_a_read_only_output_traps() -> None:
    target = np.zeros(4, np.float32)
    target.flags.writeable = False
    with pytest.raises(Trap) as caught:
        run_prim_func(no_alias, [target, target])
    assert caught.value.kind == "type"


def test_tracking_says_which_elements_were_written() -> None:
    mask = np.zeros(4, bool)
    (_, left) = run_tracked(scattered_two, [floats(1, 2), np.zeros(4, np.float32)], [None, mask])
    assert left is not None
    assert left.tolist() == [True, False, True, False]
    (_, whole) = run_tracked(no_alias, [ABCD.copy(), np.zeros(4, np.float32)], [None, np.zeros(4, bool)])
    assert whole is None


@T.prim_func(s_tir=True)
def scattered_two(A: T.Buffer((2,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(2):
        with T.sblock("even"):
            v = T.axis.spatial(2, i)
            B[v * 2] = A[v]


def test_a_division_that_is_bound_before_its_guard_traps() -> None:
    """What is bound is computed there, whether or not anything comes of it."""
    text = """@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((3,), "int32")):
        for i in range(3):
            GUARDED
"""
    guarded = "A[i] = T.if_then_else(i != 0, 8 // i, 1)"
    hoisted = "x: T.let[T.int32] = 8 // i\n            A[i] = T.if_then_else(i != 0, x, 1)"
    results = np.zeros(3, dtype=np.int32)
    run_prim_func(tvm_api.module_from_script(text.replace("GUARDED", guarded))["main"], [results])
    assert results.tolist() == [1, 8, 4]
    with pytest.raises(Trap, match="division-by-zero"):
        run_prim_func(tvm_api.module_from_script(text.replace("GUARDED", hoisted))["main"], [results])


def test_a_jump_outside_of_a_loop_traps() -> None:
    """TVM's code generators refuse it: "should be inserted under at least one For or While stmts"."""
    text = """@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((3,), "int32")):
        LOOP
            if A[0] > 2:
                T.continue_loop()
            A[0] = 5
"""
    given = np.array([3, 0, 0], np.int32)
    in_loop = tvm_api.module_from_script(text.replace("LOOP", "for i in range(1):"))["main"]
    run_prim_func(in_loop, [given])
    assert given.tolist() == [3, 0, 0]
    stray = tvm_api.module_from_script(text.replace("LOOP", "if A[1] == 0:"))["main"]
    with pytest.raises(Trap, match="continue outside of a loop"):
        run_prim_func(stray, [given])


def test_loops_deeper_than_python_nests_them_are_unsupported() -> None:
    lines = [f"{'    ' * (depth + 2)}for i{depth} in range(1 + A[0]):" for depth in range(24)]
    script = "\n".join(
        (
            *("@I.ir_module", "class Module:", "    @T.prim_func", '    def main(A: T.Buffer((1,), "int32")):'),
            *(*lines, f"{'    ' * 26}A[0] = A[0] * 2"),
        )
    )
    with pytest.raises(Unsupported) as caught:
        run_prim_func(tvm_api.module_from_script(script)["main"], [ints(0)])
    assert caught.value.node == "loops too deep"
