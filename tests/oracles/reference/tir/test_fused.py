"""The TIR interpreter on fused and scheduled functions: the same result as the functions they were made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, tirx
from tvm.relax import op
from tvm.relax import transform as rt
from tvm.s_tir import Schedule

from oracles.reference.tir import run_prim_func
from tests.oracles.reference.tir.legalized_call import Interpreter
from tests.oracles.reference.tir.relax_nn_rows import all_rows
from tests.oracles.reference.tir.relax_op_rows import OpRow, draw_operand, legalize

ROWS = {row.name: row for row in all_rows()}
NN = op.nn
GRAPHS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "conv bias relu": (
        ("1x3x6x6:float32", "4x3x3x3:float32", "4x1x1:float32"),
        lambda x, w, b: NN.relu(op.add(NN.conv2d(x, w, padding=1), b)),
    ),
    "matmul gelu": (("4x8:float32", "8x5:float32", "5:float32"), lambda x, w, b: NN.gelu(op.add(op.matmul(x, w), b))),
    "chain": (("4x5:float32",), lambda x: op.tanh(op.multiply(op.exp(x), relax.const(0.5, "float32")))),
    "into a reduction": (("4x5:float32",), lambda x: op.sum(op.exp(op.permute_dims(x)), axis=0)),
    "shape changes": (("4x6:float32",), lambda x: op.permute_dims(op.reshape(op.negative(x), (2, 3, 4)), [2, 0, 1])),
    "symbolic": (("nxm:float32", "m:float32"), lambda x, b: NN.relu(op.add(x, b))),
    "softmax": (("4x5:float32",), lambda x: NN.softmax(op.multiply(x, x), axis=-1)),
    "cast": (("4x5:float32",), lambda x: op.astype(op.floor(op.multiply(x, relax.const(3, "float32"))), "int32")),
}


def legalized(operands: tuple[str, ...], build: Callable[..., Any]) -> Any:
    """A module whose operators are emitted one by one, legalised."""
    row = OpRow("graph", operands, build)
    module = legalize(row)
    return rt.CanonicalizeBindings()(module)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_fused_module_is_the_unfused_one(name: str) -> None:
    operands, build = GRAPHS[name]
    module = legalized(operands, build)
    fused = rt.FuseTIR()(rt.FuseOps()(rt.AnnotateTIROpPattern()(module)))
    calls = [len([f for f in m.functions.values() if isinstance(f, tirx.PrimFunc)]) for m in (module, fused)]
    args = [draw_operand(spec, np.random.default_rng(n)) for n, spec in enumerate(operands)]
    expected = Interpreter(module).main(args)
    got = Interpreter(fused).main(args)
    assert calls[1] <= calls[0]
    np.testing.assert_array_equal(got, expected)


def split(schedule: Any, block: Any) -> None:
    """Every loop in tiles that do not divide it."""
    for loop in schedule.get_loops(block):
        schedule.split(loop, [None, 3])


def fuse(schedule: Any, block: Any) -> None:
    """All loops as one."""
    schedule.fuse(*schedule.get_loops(block))


def reverse(schedule: Any, block: Any) -> None:
    """The loops inside out."""
    schedule.reorder(*reversed(schedule.get_loops(block)))


def annotate(schedule: Any, block: Any) -> None:
    """Parallel outside, vectorised inside."""
    loops = schedule.get_loops(block)
    schedule.parallel(loops[0])
    schedule.vectorize(loops[1])


def bind(schedule: Any, block: Any) -> None:
    """On threads."""
    loops = schedule.get_loops(block)
    schedule.bind(loops[0], "blockIdx.x")
    schedule.bind(loops[1], "threadIdx.x")


def cache(schedule: Any, block: Any) -> None:
    """Through local buffers, computed where they are used."""
    copy = schedule.cache_write(block, 0, "local")
    schedule.reverse_compute_at(copy, schedule.get_loops(block)[0])


def decompose(schedule: Any, block: Any) -> None:
    """The initialisation as a block of its own."""
    schedule.decompose_reduction(block, schedule.get_loops(block)[0])


def blockize(schedule: Any, block: Any) -> None:
    """A block around the inner loops."""
    schedule.blockize(schedule.get_loops(block)[1])


SCHEDULES = (split, fuse, reverse, annotate, bind, cache, blockize)
TARGETS = ("add-float32-4x5-4x5", "matmul", "permute_dims", "reshape", "sum-axis", "take")
CASES = [(t, s) for t in TARGETS for s in SCHEDULES] + [("matmul", decompose), ("sum-axis", decompose)]


@pytest.mark.parametrize(("target", "step"), CASES, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_a_scheduled_function_is_the_original(target: str, step: Callable[[Any, Any], None]) -> None:
    row = ROWS[target]
    func = next(f for f in legalize(row).functions.values() if isinstance(f, tirx.PrimFunc))
    schedule = Schedule(tvm.IRModule({"main": func}))
    step(schedule, schedule.get_child_blocks(schedule.get_sblock("root"))[-1])
    inputs = [draw_operand(spec, np.random.default_rng(n)) for n, spec in enumerate(row.operands)]
    shape = [int(extent.value) for extent in func.params[-1].ty.shape]
    outputs = [np.zeros(shape, np.float32) for _ in range(2)]
    ready = [True] * len(inputs) + [False]
    run_prim_func(func, [*inputs, outputs[0]], ready)
    run_prim_func(schedule.mod["main"], [*inputs, outputs[1]], ready)
    np.testing.assert_allclose(outputs[1], outputs[0], 1e-6)
