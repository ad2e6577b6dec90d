"""PrimFuncs on their way through TVM's own TIR pipeline mean what they meant, and what lowering may get wrong traps."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tvm
from tvm.script import tirx as T

from generators import tvm_api
from generators.passes.table import PASSES, TIR_PIPELINE
from oracles.reference.tir import Trap, run_prim_func

Array = np.ndarray[Any, Any]
TARGET = tvm.target.Target("llvm")


@T.prim_func(s_tir=True)
def product(A: T.Buffer((3, 5), "float32"), B: T.Buffer((5, 4), "float32"), C: T.Buffer((3, 4), "float32")):
    for i, j, k in T.grid(3, 4, 5):
        with T.sblock("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


@T.prim_func(s_tir=True)
def in_two_steps(A: T.Buffer((4, 6), "float32"), B: T.Buffer((4, 6), "float32")):
    least = T.alloc_buffer((4,), "float32")
    total = T.alloc_buffer((4,), "float32")
    for i, k in T.grid(4, 6):
        with T.sblock("least"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                least[vi] = T.float32(1000)
            least[vi] = T.min(least[vi], A[vi, vk])
    for i, j in T.grid(4, 6):
        with T.sblock("above"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] - least[vi]
    for i, k in T.grid(4, 6):
        with T.sblock("total"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                total[vi] = T.float32(0)
            total[vi] = total[vi] + B[vi, vk]
    for i, j in T.grid(4, 6):
        with T.sblock("share"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = B[vi, vj] - total[vi]


@T.prim_func(s_tir=True)
def large(A: T.Buffer((40, 40), "float32"), B: T.Buffer((40, 40), "float32")):
    twice = T.alloc_buffer((40, 40), "float32")
    for i, j in T.grid(40, 40):
        with T.sblock("twice"):
            vi, vj = T.axis.remap("SS", [i, j])
            twice[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(40, 40):
        with T.sblock("turned"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = twice[vj, vi]


@T.prim_func(s_tir=True)
def halves(A: T.Buffer((4,), "bfloat16"), B: T.Buffer((4,), "bfloat16")):
    for i in range(4):
        with T.sblock("sum"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] + A[v] * A[v]


@T.prim_func(s_tir=True)
def positive(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "bool")):
    for i in range(5):
        with T.sblock("positive"):
            v = T.axis.spatial(5, i)
            B[v] = A[v] > T.float32(0)


@T.prim_func(s_tir=True)
def halved(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "int32")):
    for i in range(5):
        with T.sblock("halved"):
            v = T.axis.spatial(5, i)
            B[v] = T.floordiv(A[v], 3) * 10 + T.floormod(A[v], 3)


@T.prim_func(s_tir=True)
def scaled(a: T.handle, s: T.float32, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 2), "float32")
    B = T.match_buffer(b, (n, 2), "float32")
    for i, j in T.grid(n, 2):
        with T.sblock("scaled"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * s


@T.prim_func(s_tir=True)
def sorted_rows(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "int32")):
    T.evaluate(
        T.call_packed(
            "tvm.contrib.sort.argsort",
            T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(2, 3), 0, 2, T.float32(0), 0),
            T.tvm_stack_make_array(B.data, T.tvm_stack_make_shape(2, 3), 0, 2, T.int32(0), 0),
            1,
            T.bool(True),
        )
    )


@T.prim_func(s_tir=True)
def sorted_halves(A: T.Buffer((4,), "bfloat16"), B: T.Buffer((4,), "int32")):
    T.evaluate(
        T.call_packed(
            "tvm.contrib.sort.argsort",
            T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(4), 0, 1, T.bfloat16(0), 0),
            T.tvm_stack_make_array(B.data, T.tvm_stack_make_shape(4), 0, 1, T.int32(0), 0),
            0,
            T.bool(True),
        )
    )


def grid(*shape: int) -> Array:
    return (np.arange(np.prod(shape)).reshape(shape) * 7 % 11 - 5).astype(np.float32)


_A, _B, _LARGE = grid(3, 5), grid(5, 4), grid(40, 40)
_SIX = grid(4, 6)
_ABOVE = _SIX - _SIX.min(axis=1, keepdims=True)
_BF = np.array([1, -2, 3, 0.5], ml_dtypes.bfloat16)
_INTS = np.array([-7, -3, -1, 0, 8], np.int32)
_ROWS = np.array([[3, 1, 2], [0, 5, -5]], np.float32)
PROGRAMS: dict[str, tuple[Any, list[Any], Array]] = {
    "product": (product, [_A, _B, np.zeros((3, 4), np.float32)], _A @ _B),
    "in two steps": (in_two_steps, [_SIX, np.zeros((4, 6), np.float32)], _ABOVE - _ABOVE.sum(axis=1, keepdims=True)),
    "large": (large, [_LARGE, np.zeros((40, 40), np.float32)], 2 * _LARGE.T),
    "bfloat16": (halves, [_BF, np.zeros(4, ml_dtypes.bfloat16)], _BF + _BF * _BF),
    "bool": (positive, [grid(5), np.zeros(5, np.bool_)], grid(5) > 0),
    "division": (halved, [_INTS, np.zeros(5, np.int32)], _INTS // 3 * 10 + _INTS % 3),
    "symbolic": (scaled, [grid(3, 2), 2.0, np.zeros((3, 2), np.float32)], 2 * grid(3, 2)),
    "packed call": (sorted_rows, [_ROWS, np.zeros((2, 3), np.int32)], np.argsort(_ROWS, axis=1, kind="stable")),
}


def applied(name: str, module: Any) -> Any:
    with TARGET:
        return eval(PASSES[name].sources[0], dict(tvm_api.PASS_NAMES))(module)


def result(module: Any, args: list[Any]) -> Array:
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    (func,) = module.functions.values()
    run_prim_func(
        func, copies, [not isinstance(arg, np.ndarray) or number < len(args) - 1 for number, arg in enumerate(args)]
    )
    out: Array = copies[-1]
    return out


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_step_of_the_pipeline_gives_the_same(program: str) -> None:
    func, args, expected = PROGRAMS[program]
    module = tvm.IRModule({program.replace(" ", "_"): func})
    assert result(module, args).tolist() == expected.tolist()
    changes = 0
    for name in TIR_PIPELINE:
        lowered = applied(name, module)
        changes += not tvm_api.structural_equal(lowered, module)
        module = lowered
        assert result(module, args).tolist() == expected.tolist(), name
    assert changes >= 5


def test_an_array_that_is_said_to_be_of_another_type_traps_where_that_is_said() -> None:
    """BF16ComputeLegalize makes a float32 of the bfloat16 that says what the array is of, and leaves the array."""
    module, args = tvm.IRModule({"sorted_halves": sorted_halves}), [_BF, np.zeros(4, np.int32)]
    names = TIR_PIPELINE[: TIR_PIPELINE.index("tirx.BF16ComputeLegalize") + 1]
    for name in names[:-1]:
        module = applied(name, module)
        assert result(module, args).tolist() == [1, 3, 0, 2], name
    with pytest.raises(Trap) as caught:
        result(applied(names[-1], module), args)
    assert caught.value.kind == "type"


def packed(program: str) -> Any:
    module = tvm.IRModule({program.replace(" ", "_"): PROGRAMS[program][0]})
    for name in TIR_PIPELINE[: TIR_PIPELINE.index("tirx.MakePackedAPI") + 1]:
        module = applied(name, module)
    return module


@pytest.mark.parametrize(
    ("program", "args"),
    [
        ("product", [_A, _B]),
        ("product", [_A.T.copy(), _B, np.zeros((3, 4), np.float32)]),
        ("product", [_A.astype(np.float64), _B, np.zeros((3, 4), np.float32)]),
        ("product", [_A, 3, np.zeros((3, 4), np.float32)]),
        ("symbolic", [grid(3, 2), 2.0, np.zeros((4, 2), np.float32)]),
    ],
    ids=["count", "shape", "dtype", "number", "symbol"],
)
def test_a_packed_function_refuses_wrong_arguments(program: str, args: list[Any]) -> None:
    with pytest.raises(Trap) as caught:
        result(packed(program), args)
    assert caught.value.kind == "assertion"


@T.prim_func
def beyond(A: T.Buffer((4,), "float32"), B: T.Buffer((2,), "float32")):
    tail = T.decl_buffer((2,), "float32", data=A.data, elem_offset=3)
    for i in range(2):
        B[i] = tail[i]


@T.prim_func
def unwritten(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    memory = T.alloc_buffer((8,), "float32")
    first = T.decl_buffer((4,), "float32", data=memory.data)
    second = T.decl_buffer((4,), "float32", data=memory.data, elem_offset=4)
    for i in range(4):
        first[i] = A[i]
    for i in range(4):
        B[i] = second[i]


@T.prim_func
def mixed(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    memory = T.alloc_buffer((6,), "float32")
    first = T.decl_buffer((4,), "float32", data=memory.data)
    second = T.decl_buffer((4,), "float32", data=memory.data, elem_offset=2)
    for i in range(4):
        first[i] = A[i]
    for i in range(4):
        second[i] = A[i] * T.float32(10)
    for i in range(4):
        B[i] = first[i]


@pytest.mark.parametrize(("func", "kind"), [(beyond, "out-of-bounds"), (unwritten, "uninitialised")])
def test_views_are_held_to_their_memory(func: Any, kind: str) -> None:
    size = func.params[1].ty.shape[0].value
    with pytest.raises(Trap) as caught:
        run_prim_func(func, [grid(4), np.zeros(size, np.float32)])
    assert caught.value.kind == kind


def test_views_that_overlap_share_their_elements() -> None:
    out = np.zeros(4, np.float32)
    run_prim_func(mixed, [np.array([1, 2, 3, 4], np.float32), out])
    assert out.tolist() == [1, 2, 10, 20]


@T.prim_func
def shifted(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    memory = T.alloc_buffer((5,), "float32")
    first = T.decl_buffer((4,), "float32", data=memory.data)
    second = T.decl_buffer((4,), "float32", data=memory.data, elem_offset=1)
    first[0] = A[0]
    for i in range(4):
        second[i] = first[i] + A[i]
    for i in range(4):
        B[i] = second[i]


def test_a_loop_over_views_of_one_memory_keeps_its_order() -> None:
    out = np.zeros(4, np.float32)
    run_prim_func(shifted, [np.array([1, 2, 3, 4], np.float32), out])
    assert out.tolist() == [2, 4, 7, 11]
