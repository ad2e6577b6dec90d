"""Calls of PrimFuncs by PrimFuncs: pointers, buffers and numbers as arguments, numbers as results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm.script import ir as I
from tvm.script import tirx as T

from oracles.reference.tir import Context, Trap, run_tracked

Array = np.ndarray[Any, Any]


def run(module: Any, *args: Any) -> None:
    """Runs main on the arguments, in place."""
    functions = {variable.name_hint: function for variable, function in module.functions.items()}
    run_tracked(functions["main"], args, [None] * len(args), context=Context(functions=functions))


@I.ir_module
class Rows:
    @T.prim_func(private=True, s_tir=True)
    def scale(row: T.handle("float32"), by: T.float32):
        A = T.decl_buffer((4,), "float32", data=row)
        for i in range(4):
            A[i] = A[i] * by

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for _ in range(2):
            Rows.scale(A.data, T.float32(3))
        Rows.scale(B.data, A[1])


def test_pointers_and_numbers_are_passed() -> None:
    a, b = np.arange(4, dtype="float32"), np.arange(4, dtype="float32") + 1
    run(Rows, a, b)
    np.testing.assert_array_equal(a, [0, 9, 18, 27])
    np.testing.assert_array_equal(b, [9, 18, 27, 36])


@I.ir_module
class Sums:
    @T.prim_func(private=True, s_tir=True)
    def upto(data: T.handle("int32"), last: T.int32):
        A = T.decl_buffer((6,), "int32", data=data)
        if last > 0:
            Sums.upto(data, last - 1)
            A[last] = A[last] + A[last - 1]

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((6,), "int32")):
        Sums.upto(A.data, 5)


def test_a_call_of_itself_has_variables_of_its_own() -> None:
    a = np.arange(6, dtype="int32")
    run(Sums, a)
    np.testing.assert_array_equal(a, np.cumsum(np.arange(6)))


@I.ir_module
class Squares:
    @T.prim_func(private=True, s_tir=True)
    def square(x: T.int32) -> T.int32:
        return x * x

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "int32")):
        for i in range(4):
            found: T.let[T.int32] = Squares.square(A[i])
            A[i] = found + i


def test_the_number_that_a_function_returns_is_bound() -> None:
    a = np.array([3, -2, 0, 5], "int32")
    run(Squares, a)
    np.testing.assert_array_equal(a, [9, 5, 2, 28])


@I.ir_module
class Buffers:
    @T.prim_func(private=True, s_tir=True)
    def fill(A: T.Buffer((2, 3), "int32")):
        for i, j in T.grid(2, 3):
            A[i, j] = i * 10 + j

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((6,), "int32")):
        Buffers.fill(A.data)


def test_a_buffer_is_the_memory_that_a_pointer_points_at() -> None:
    a = np.zeros(6, "int32")
    run(Buffers, a)
    np.testing.assert_array_equal(a, [0, 1, 2, 10, 11, 12])


@I.ir_module
class TooLarge:
    @T.prim_func(private=True, s_tir=True)
    def fill(A: T.Buffer((7,), "int32")):
        A[0] = 1

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((6,), "int32")):
        TooLarge.fill(A.data)


def test_a_buffer_larger_than_its_memory_is_a_trap() -> None:
    with pytest.raises(Trap, match="A is larger than") as caught:
        run(TooLarge, np.zeros(6, "int32"))
    assert caught.value.kind == "out-of-bounds"


def test_a_function_that_is_not_there_is_a_trap() -> None:
    with pytest.raises(Trap, match="no PrimFunc scale") as caught:
        run_tracked(Rows["main"], [np.zeros(4, "float32"), np.zeros(4, "float32")], [None, None])
    assert caught.value.kind == "undefined-variable"


def test_another_callee_is_another_program() -> None:
    def with_scale(body: Any) -> Context:
        return Context(functions={"scale": body})

    args = [np.ones(4, "float32"), np.ones(4, "float32")]
    run_tracked(Rows["main"], args, [None, None], context=with_scale(Rows["scale"]))
    np.testing.assert_array_equal(args[0], np.full(4, 9))

    @T.prim_func(private=True, s_tir=True)
    def add(row: T.handle("float32"), by: T.float32) -> None:
        A = T.decl_buffer((4,), "float32", data=row)
        A[0] = A[0] + by

    again = [np.ones(4, "float32"), np.ones(4, "float32")]
    run_tracked(Rows["main"], again, [None, None], context=with_scale(add))
    np.testing.assert_array_equal(again[0], [7, 1, 1, 1])


@I.ir_module
class Elements:
    @T.prim_func(private=True, s_tir=True)
    def double(row: T.handle("float32")):
        A = T.decl_buffer((2, 2), "float32", data=row)
        for i, j in T.grid(2, 2):
            A[i, j] = A[i, j] * T.float32(2)

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((3, 4), "float32"), first: T.Buffer((1,), "int32")):
        for i in range(2):
            Elements.double(T.address_of(A[i + first[0], 0]))
        Elements.double(T.address_of(A[0, 0]))


def test_addresses_of_computed_elements_are_passed() -> None:
    a = np.ones((3, 4), dtype="float32")
    run(Elements, a, np.array([1], dtype="int32"))
    np.testing.assert_array_equal(a, 2 * np.ones((3, 4)))
    a = np.ones((3, 4), dtype="float32")
    run(Elements, a, np.array([0], dtype="int32"))
    np.testing.assert_array_equal(a, [[4] * 4, [2] * 4, [1] * 4])


def test_an_address_from_which_a_callee_reaches_beyond_the_end_traps() -> None:
    with pytest.raises(Trap, match="out-of-bounds"):
        run(Elements, np.ones((3, 4), dtype="float32"), np.array([2], dtype="int32"))
