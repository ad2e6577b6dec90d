"""The meaning of TIR constructs in the interpreter: small functions with results worked out by hand."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tvm.script import tirx as T

from oracles.reference.errors import Trap
from oracles.reference.tir import engine, run_prim_func

Array = np.ndarray[Any, Any]


def unary(dtype: str, out: str, make: Any, size: int) -> Any:
    """B[i] = make(A[i])."""

    @T.prim_func(s_tir=True)
    def func(A: T.Buffer((size,), dtype), B: T.Buffer((size,), out)):
        for i in range(size):
            with T.sblock("b"):
                v = T.axis.spatial(size, i)
                B[v] = make(A[v])

    return func


def binary(dtype: str, make: Any, size: int) -> Any:
    """C[i] = make(A[i], B[i])."""

    @T.prim_func(s_tir=True)
    def func(A: T.Buffer((size,), dtype), B: T.Buffer((size,), dtype), C: T.Buffer((size,), dtype)):
        for i in range(size):
            with T.sblock("b"):
                v = T.axis.spatial(size, i)
                C[v] = make(A[v], B[v])

    return func


def both_ways(func: Any, args: list[Any]) -> Array:
    """The last argument after a vectorised run, which must be what plain loops give."""
    plain = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    signature = engine.PrimFuncSignature(func)
    program = engine.compile_function(signature, func, signature.bind(plain), vectorise=False)
    engine.run_program(program, plain, [None] * len(plain))
    run_prim_func(func, args)
    np.testing.assert_array_equal(args[-1], plain[-1])
    result: Array = args[-1]
    return result


NAN = float("nan")
UNARY: dict[str, tuple[str, str, Any, list[Any], list[Any]]] = {
    "round is half to even": ("float32", "float32", T.round, [0.5, 1.5, -2.5, 2.6], [0, 2, -2, 3]),
    "nearbyint is half to even": ("float32", "float32", T.nearbyint, [0.5, 1.5, -2.5], [0, 2, -2]),
    "trunc": ("float32", "float32", T.trunc, [1.7, -1.7], [1, -1]),
    "float16 rounds": ("float16", "float16", lambda x: x + T.float16(1), [2048, 2050], [2048, 2052]),
    "bfloat16 rounds": ("bfloat16", "bfloat16", lambda x: x + T.bfloat16(1), [256, 128], [256, 129]),
    "int to bool": ("int32", "bool", lambda x: T.Cast("bool", x), [0, 2, -1], [False, True, True]),
    "NaN to bool": ("float32", "bool", lambda x: T.Cast("bool", x), [0.0, -0.0, NAN], [False, False, True]),
    "wraps to uint8": ("int32", "uint8", lambda x: T.Cast("uint8", x), [-1, 256, 5], [255, 0, 5]),
    "wraps, and is added to": (
        "int32",
        "uint8",
        lambda x: T.Cast("uint8", T.truncmod(x, 5) - 4) + T.uint8(9),
        [1, 8],
        [6, 8],
    ),
    "a shift drops bits": ("uint16", "uint16", lambda x: (x << T.uint16(1)) >> T.uint16(11), [0x8400, 0x7C00], [1, 31]),
    "int64 to float32 once": (
        "int64",
        "float32",
        lambda x: T.Cast("float32", x),
        [2**24 + 1, 2**62 + 1],
        [2.0**24, 2.0**62],
    ),
    "isnan": ("float32", "bool", T.isnan, [NAN, 1.0], [True, False]),
    "isfinite": ("float32", "bool", T.isfinite, [float("inf"), 1.0], [False, True]),
    "popcount": ("int32", "int32", T.popcount, [7, -1, 0], [3, 32, 0]),
    "clz": ("int32", "int32", T.clz, [7, -1, 1, 2**30], [29, 0, 31, 1]),
    "clz of 64 bits": ("int64", "int32", T.clz, [7, -1, 1, 2**40], [61, 0, 63, 23]),
    "bits of a float": ("float32", "int32", lambda x: T.reinterpret("int32", x), [1.0, -0.0], [0x3F800000, -(2**31)]),
    "not": ("int8", "int8", lambda x: ~x, [0, -1, 5], [-1, 0, -6]),
    "arithmetic shift": ("int32", "int32", lambda x: x >> T.int32(1), [-3, 3], [-2, 1]),
    "select skips": ("int32", "int32", lambda x: T.Select(x != 0, T.int32(12) // x, T.int32(-1)), [0, 5], [-1, 2]),
    "and skips": ("int32", "bool", lambda x: T.And(x != 0, T.int32(12) // x == 2), [0, 5, 1], [False, True, False]),
    "erf": ("float64", "float64", T.erf, [0.0], [0.0]),
    "let": ("float32", "float32", lambda x: T.exp(x) * T.float32(0) + x, [3.0], [3.0]),
}
BINARY: dict[str, tuple[str, Any, list[Any], list[Any], list[Any]]] = {
    "floordiv": ("int32", lambda a, b: a // b, [7, -7, 7, -7], [2, 2, -2, -2], [3, -4, -4, 3]),
    "floormod": ("int32", lambda a, b: a % b, [7, -7, 7, -7], [3, 3, -3, -3], [1, 2, -2, -1]),
    "truncdiv": ("int32", T.truncdiv, [7, -7, 7, -7], [2, 2, -2, -2], [3, -3, -3, 3]),
    "truncmod": ("int32", T.truncmod, [7, -7, 7, -7], [3, 3, -3, -3], [1, -1, 1, -1]),
    # select(a > b, a, b): a comparison with NaN is false, so the second operand is taken.
    "max of NaN": ("float32", T.max, [NAN, 1.0, 2.0], [1.0, NAN, 1.0], [1.0, NAN, 2.0]),
    "min of NaN": ("float32", T.min, [NAN, 1.0, 2.0], [1.0, NAN, 1.0], [1.0, NAN, 1.0]),
    "uint8 wraps": ("uint8", lambda a, b: a + b, [250, 3], [10, 4], [4, 7]),
    "uint8 wraps below": ("uint8", lambda a, b: a - b, [3, 4], [5, 1], [254, 3]),
    "float division by zero": ("float32", lambda a, b: a / b, [1, -1], [0, 0], [float("inf"), float("-inf")]),
    "xor": ("int32", lambda a, b: a ^ b, [6, -1], [3, 5], [5, -6]),
    "pow": ("float32", T.pow, [2, 3], [10, 2], [1024, 9]),
    "copysign": ("float32", T.copysign, [1, -2], [-1, 3], [-1, 2]),
    "fmod": ("float32", T.fmod, [7.5, -7.5], [2, 2], [1.5, -1.5]),
}


def array(values: list[Any], dtype: str) -> Array:
    """The values in a TVM dtype."""
    return np.array(values, dtype=ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    dtype, out, make, values, expected = UNARY[name]
    args = [array(values, dtype), array([0] * len(values), out)]
    np.testing.assert_array_equal(both_ways(unary(dtype, out, make, len(values)), args), array(expected, out))


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    dtype, make, left, right, expected = BINARY[name]
    args = [array(left, dtype), array(right, dtype), array([0] * len(left), dtype)]
    np.testing.assert_array_equal(both_ways(binary(dtype, make, len(left)), args), array(expected, dtype))


@T.prim_func(s_tir=True)
def fibonacci(F: T.Buffer((10,), "int32")):
    F[0] = 1
    F[1] = 1
    for i in range(8):
        F[i + 2] = F[i + 1] + F[i]


@T.prim_func(s_tir=True)
def collatz(A: T.Buffer((1,), "int32"), N: T.Buffer((1,), "int32")):
    N[0] = 0
    while A[0] != 1:
        if A[0] % 2 == 0:
            A[0] = A[0] // 2
        else:
            A[0] = A[0] * 3 + 1
        N[0] = N[0] + 1


@T.prim_func(s_tir=True)
def swapped(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("swap"):
            v = T.axis.spatial(4, i)
            old: T.let = A[v]
            A[v] = B[v]
            B[v] = old


@T.prim_func(s_tir=True)
def tiled(A: T.Buffer((10,), "float32"), B: T.Buffer((10,), "float32")):
    for i0, i1 in T.grid(3, 4):
        with T.sblock("tile"):
            v = T.axis.spatial(10, i0 * 4 + i1)
            T.where(i0 * 4 + i1 < 10)
            B[v] = A[v] * T.float32(2)


@T.prim_func(s_tir=True)
def reversed_in_place(A: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.sblock("reverse"):
            v = T.axis.opaque(6, i)
            A[v] = A[5 - v]


@T.prim_func(s_tir=True)
def histogram(A: T.Buffer((6,), "int32"), H: T.Buffer((3,), "int32")):
    for i in range(3):
        with T.sblock("zero"):
            v = T.axis.spatial(3, i)
            H[v] = 0
    for i in range(6):
        with T.sblock("count"):
            v = T.axis.opaque(6, i)
            H[A[v]] = H[A[v]] + 1


@T.prim_func(s_tir=True)
def last_wins(A: T.Buffer((4,), "float32"), P: T.Buffer((4,), "int32"), B: T.Buffer((2,), "float32")):
    for i in range(4):
        with T.sblock("put"):
            v = T.axis.opaque(4, i)
            B[P[v]] = A[v]


@T.prim_func(s_tir=True)
def matched(A: T.Buffer((4, 4), "float32"), B: T.Buffer((2, 2), "float32")):
    for i, j in T.grid(2, 2):
        with T.sblock("outer"):
            vi, vj = T.axis.remap("SS", [i, j])
            M = T.match_buffer(A[vi * 2 : vi * 2 + 2, vj * 2 : vj * 2 + 2], (2, 2), offset_factor=1)
            B[vi, vj] = M[0, 1] + M[1, 0]


@T.prim_func(s_tir=True)
def nested_local(A: T.Buffer((3, 4), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.sblock("row"):
            vi = T.axis.spatial(3, i)
            S = T.sblock_alloc_buffer((1,), "float32")
            S[0] = T.float32(0)
            for k in range(4):
                with T.sblock("add"):
                    vk = T.axis.reduce(4, k)
                    S[0] = S[0] + A[vi, vk]
            B[vi] = S[0]


@T.prim_func(s_tir=True)
def scaled(A: T.Buffer((3,), "float32"), s: T.float32, n: T.int64, B: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.sblock("scale"):
            v = T.axis.spatial(3, i)
            B[v] = A[v] * s + T.Cast("float32", n)


@T.prim_func(s_tir=True)
def until_five(A: T.Buffer((8,), "int32")):
    for i in range(8):
        for _ in range(1):
            if A[i] == 3:
                T.evaluate(T.break_loop())
            A[i] = A[i] + 10
        if A[i] == 5:
            T.evaluate(T.break_loop())


@T.prim_func(s_tir=True)
def let_bound(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    x = T.float32()
    for i in range(3):
        with T.sblock("let"):
            v = T.axis.spatial(3, i)
            B[v] = T.Let(x * x + x, where={x: A[v] + T.float32(1)})


@T.prim_func(s_tir=True)
def stepped(A: T.Buffer((10,), "int32")):
    for i in T.serial(1, 9, step=3):
        A[i] = T.Cast("int32", i)


@T.prim_func(s_tir=True)
def branches(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.sblock("branch"):
            v = T.axis.spatial(3, i)
            if A[v] > T.float32(1):
                B[v] = A[v]
            else:
                B[v] = T.float32(-1)


@T.prim_func(s_tir=True)
def ragged(A: T.Buffer((3,), "int32"), B: T.Buffer((3, 3), "int32")):
    for i in range(3):
        for j in range(A[i]):
            B[i, j] = i * 10 + j


def floats(*values: float) -> Array:
    """A float32 vector."""
    return np.array(values, np.float32)


GRID = np.arange(16, dtype=np.float32).reshape(4, 4)
PROGRAMS: dict[str, tuple[Any, list[Any], Any]] = {
    "recurrence": (fibonacci, [np.zeros(10, np.int32)], [1, 1, 2, 3, 5, 8, 13, 21, 34, 55]),
    "while and if": (collatz, [np.array([6], np.int32), np.zeros(1, np.int32)], [8]),
    "bound value before a store": (swapped, [floats(1, 2, 3, 4), floats(5, 6, 7, 8)], [1, 2, 3, 4]),
    "predicate": (tiled, [np.arange(10, dtype=np.float32), np.zeros(10, np.float32)], list(range(0, 20, 2))),
    "sequential reversal": (reversed_in_place, [floats(0, 1, 2, 3, 4, 5)], [5, 4, 3, 3, 4, 5]),
    "repeated targets": (histogram, [np.array([0, 2, 2, 1, 2, 0], np.int32), np.zeros(3, np.int32)], [2, 1, 3]),
    "the last store wins": (last_wins, [floats(1, 2, 3, 4), np.array([0, 1, 0, 1], np.int32), floats(0, 0)], [3, 4]),
    "matched region": (matched, [GRID, np.zeros((2, 2), np.float32)], [[1 + 4, 3 + 6], [9 + 12, 11 + 14]]),
    "buffer of one iteration": (nested_local, [GRID[:3].copy(), np.zeros(3, np.float32)], [6, 22, 38]),
    "jumps": (until_five, [np.array([1, 3, 2, -5, 3, 1, 5, 1], np.int32)], [11, 3, 12, 5, 3, 1, 5, 1]),
    "let": (let_bound, [floats(0, 1, 2), floats(0, 0, 0)], [2, 6, 12]),
    "step": (stepped, [np.zeros(10, np.int32)], [0, 1, 0, 0, 4, 0, 0, 7, 0, 0]),
    "branches": (branches, [floats(0, 1, 2), floats(0, 0, 0)], [-1, -1, 2]),
    "data-dependent extent": (
        ragged,
        [np.array([1, 0, 3], np.int32), np.zeros((3, 3), np.int32)],
        [[0, 0, 0], [0, 0, 0], [20, 21, 22]],
    ),
    "scalar parameters": (scaled, [floats(1, 2, 3), 0.5, 4, floats(0, 0, 0)], [4.5, 5, 5.5]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    func, args, expected = PROGRAMS[name]
    args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    assert both_ways(func, args).tolist() == expected


def dynamic() -> Any:
    """B[i, j] = A[j, i] with both extents unknown."""
    from tvm import relax
    from tvm.relax import op
    from tvm.tirx import Var

    n, m = Var("n", "int64"), Var("m", "int64")
    x = relax.Var("x", relax.TensorType((n, m), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            out = builder.emit_output(op.permute_dims(x))
        builder.emit_func_output(out)
    module = relax.transform.LegalizeOps()(builder.get())
    return next(f for f in module.functions.values() if type(f).__name__ == "PrimFunc")


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (1, 1), (0, 4)])
def test_symbolic_shapes_are_bound_by_the_arguments(shape: tuple[int, int]) -> None:
    source = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
    target = np.full(shape[::-1], -1, np.float32)
    run_prim_func(dynamic(), [source, target], [True, False])
    assert target.tolist() == source.T.tolist()


def test_arguments_that_disagree_on_a_symbolic_extent_trap() -> None:
    with pytest.raises(Trap) as caught:
        run_prim_func(dynamic(), [np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)])
    assert caught.value.kind == "type"


def test_float_sums_are_in_loop_order() -> None:
    values = np.array([1, 2.0**24, 1, -(2.0**24)] * 100, np.float32)
    out = np.zeros((), np.float32)

    @T.prim_func(s_tir=True)
    def total(A: T.Buffer((400,), "float32"), B: T.Buffer((), "float32")):
        for k in range(400):
            with T.sblock("sum"):
                v = T.axis.reduce(400, k)
                with T.init():
                    B[()] = T.float32(0)
                B[()] = B[()] + A[v]

    run_prim_func(total, [values, out], [True, False])
    expected = np.float32(0)
    for value in values:
        expected = np.float32(expected + value)
    assert float(out) == float(expected)


def test_equal_functions_share_one_compilation() -> None:
    first, second = unary("float32", "float32", T.exp, 3), unary("float32", "float32", T.exp, 3)
    other = unary("float32", "float32", T.exp, 4)
    assert not first.same_as(second)
    assert engine.compiled(first) is engine.compiled(second)
    assert engine.compiled(first) is not engine.compiled(other)


def test_signed_zero_constants_are_different_functions() -> None:
    plus, minus = (unary("float32", "float32", lambda x, z=z: x * T.float32(z), 1) for z in (0.0, -0.0))
    out = [np.zeros(1, np.float32) for _ in range(2)]
    for func, result in zip((plus, minus), out, strict=True):
        run_prim_func(func, [floats(1), result])
    assert [bool(np.signbit(result[0])) for result in out] == [False, True]
