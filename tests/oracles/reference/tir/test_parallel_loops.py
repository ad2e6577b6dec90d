"""Parallel loops: their iterations come in no order, and may not change one element together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import tirx

from oracles.reference.errors import Trap
from oracles.reference.tir import engine, run_prim_func
from tests.oracles.oracle_bench import module_of

LENGTH = 8


def number(value: int) -> Any:
    return tirx.IntImm("int32", value)


def loop(kind: Any, body: Any, length: int = LENGTH) -> Any:
    """A loop around what `body` makes of its variable."""
    var = tirx.Var("i", "int32")
    return tirx.For(var, number(0), number(length), kind, body(var))


def run(kind: Any, body: Any, length: int = LENGTH) -> np.ndarray[Any, Any]:
    """What a loop leaves of nine zeros; `body` gets the buffer and the loop's variable."""
    buffer = tirx.decl_buffer((LENGTH + 1,), "int32", "B")
    function = tirx.PrimFunc([buffer], loop(kind, lambda var: body(buffer, var), length))
    array = np.zeros(LENGTH + 1, "int32")
    run_prim_func(function.with_attr("global_symbol", "f"), [array])
    return array


def running_count(buffer: Any, i: Any) -> Any:
    return tirx.BufferStore(buffer, tirx.BufferLoad(buffer, [i]) + number(1), [i + number(1)])


def count(buffer: Any, _i: Any) -> Any:
    return tirx.BufferStore(buffer, tirx.BufferLoad(buffer, [number(3)]) + number(1), [number(3)])


def nested_count(buffer: Any, i: Any) -> Any:
    return loop(tirx.ForKind.SERIAL, lambda _: count(buffer, i), 2)


def own_count(buffer: Any, i: Any) -> Any:
    """A number of the iteration's own, counted up and stored."""
    own = tirx.decl_buffer((1,), "int32", "own", scope="local")
    now = tirx.BufferLoad(own, [number(0)])
    begun, more = (tirx.BufferStore(own, value, [number(0)]) for value in (number(4), now + number(1)))
    return tirx.SeqStmt([tirx.AllocBuffer(own), begun, more, tirx.BufferStore(buffer, now + i, [i])])


def test_a_serial_loop_goes_forward() -> None:
    assert run(tirx.ForKind.SERIAL, running_count).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert run(tirx.ForKind.SERIAL, count)[3] == LENGTH


def test_a_parallel_loop_that_needs_an_order_gives_something_else() -> None:
    assert run(tirx.ForKind.PARALLEL, running_count).tolist() == [0, 1, 1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("body", [count, nested_count])
@pytest.mark.parametrize("vectorise", [True, False])
def test_iterations_that_change_one_element_race(body: Any, vectorise: bool, monkeypatch: Any) -> None:
    uncached = SimpleNamespace(of=lambda one: engine.program_of(one[0], vectorise, one[1]))
    monkeypatch.setattr(engine, "_PROGRAMS", uncached)
    with pytest.raises(Trap, match="iterations of a parallel loop change one element of B") as caught:
        run(tirx.ForKind.PARALLEL, body)
    assert caught.value.kind == "data-race"
    assert run(tirx.ForKind.PARALLEL, count, 1)[3] == 1, "a single iteration is alone"


def test_what_is_an_iterations_own_is_no_race() -> None:
    assert run(tirx.ForKind.PARALLEL, own_count).tolist() == [5, 6, 7, 8, 9, 10, 11, 12, 0]


SUMS = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,)), B: T.Buffer((3,))):
        total = T.sblock_alloc_buffer((1,))
        for i in {kind}(3):
            with T.sblock("zero"):
                T.writes(total[0])
                total[0] = T.float32(0)
            for k in range(4):
                with T.sblock("sum"):
                    v = T.axis.reduce(4, {over})
                    T.reads(total[0], A[v])
                    T.writes(total[0])
                    total[0] = total[0] + A[v]
            with T.sblock("copy"):
                v = T.axis.spatial(3, i)
                T.reads(total[0])
                T.writes(B[v])
                B[v] = total[0]
{after}
"""
READ_AFTERWARDS = """
        for j in range(1):
            with T.sblock("again"):
                v = T.axis.spatial(1, j)
                T.reads(total[0])
                T.writes(B[v])
                B[v] = total[0]
"""


def sums(kind: str = "T.parallel", over: str = "k", after: str = "") -> Any:
    return module_of(SUMS.format(kind=kind, over=over, after=after))


def summed(module: Any) -> list[float]:
    arrays = [np.arange(4, dtype="float32"), np.zeros(3, "float32")]
    run_prim_func(module["main"], arrays)
    return list(arrays[1].tolist())


def test_iterations_that_alone_use_memory_of_the_block_around_them_have_it_each() -> None:
    """TVM allocates it inside of the loop, whatever sblock holds it before that."""
    assert summed(sums()) == summed(sums("range")) == [6, 6, 6]
    planned = tvm.s_tir.transform.PlanAndUpdateBufferAllocationLocation()(sums())
    assert summed(planned) == [6, 6, 6]
    tensors = [tvm.runtime.tensor(np.arange(4, dtype="float32")), tvm.runtime.tensor(np.zeros(3, "float32"))]
    tvm.compile(sums(), "llvm")(*tensors)
    assert tensors[1].numpy().tolist() == [6, 6, 6]


@pytest.mark.parametrize("module", [sums(over="i"), sums(after=READ_AFTERWARDS)], ids=["reduction", "read afterwards"])
def test_iterations_that_share_memory_of_the_block_around_them_race(module: Any) -> None:
    with pytest.raises(Trap, match="iterations of a parallel loop change one element of total"):
        summed(module)
    planned = tvm.s_tir.transform.PlanAndUpdateBufferAllocationLocation()(module)
    with pytest.raises(Trap, match="iterations of a parallel loop change one element of total"):
        summed(planned)
