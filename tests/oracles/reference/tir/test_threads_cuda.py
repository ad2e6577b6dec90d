"""TVM's own kernels on their way to CUDA: the numbers of NumPy after every step, and no trap."""

from __future__ import annotations

import os

from generators.passes.traits import Synchronises

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from generators import tvm_api
from generators.case import EntryCall
from generators.passes.row import EVERY_SCOPE, Phase
from generators.passes.table import PASSES, PIPELINES, TIR_PIPELINE, default_call
from generators.targets import TARGETS
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap
from oracles.reference.values import declared
from tests.quick import one_in

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(7)


def whole(*shape: int, dtype: str = "float32") -> Array:
    return RANDOM.integers(-3, 4, shape).astype(dtype)


def module_of(build: Any, *arguments: Array) -> Any:
    builder = relax.BlockBuilder()
    params = [relax.Var(f"p{n}", relax.TensorType(a.shape, str(a.dtype))) for n, a in enumerate(arguments)]
    with builder.function("main", params):
        with builder.dataflow():
            output = builder.emit_output(builder.emit(build(*params)))
        builder.emit_func_output(output)
    return builder.get()


def on_the_way(module: Any) -> Iterator[tuple[str, Any, frozenset[str]]]:
    """Every step's name and module, and the scopes in which barriers are explicit."""
    synchronised = frozenset[str]()
    with eval(TARGETS["cuda"].source, dict(tvm_api.PASS_NAMES)), tvm.transform.PassContext(opt_level=3):
        for name in (*PIPELINES["cuda"], *TIR_PIPELINE):
            module = eval(default_call(name).source, dict(tvm_api.PASS_NAMES))(module)
            synchronised |= set(PASSES[name].named(Synchronises))
            yield name, module, synchronised


def softmax(x: Array) -> Array:
    exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return exact / exact.sum(axis=1, keepdims=True)


KERNELS: dict[str, tuple[Any, tuple[Array, ...], Any]] = {
    "matmul": (relax.op.matmul, (whole(64, 48), whole(48, 40)), np.matmul),
    "gemv": (relax.op.matmul, (whole(1, 256), whole(256, 64)), np.matmul),
    "sum": (lambda x: relax.op.sum(x, axis=1), (whole(5, 300),), lambda x: x.sum(axis=1)),
    "sum of few": (lambda x: relax.op.sum(x, axis=1), (whole(40, 3),), lambda x: x.sum(axis=1)),
    "sum in front": (lambda x: relax.op.sum(x, axis=0), (whole(70, 6),), lambda x: x.sum(axis=0)),
    "argmax": (lambda x: relax.op.argmax(x, axis=1), (whole(4, 70),), lambda x: x.argmax(axis=1)),
    "softmax": (lambda x: relax.op.nn.softmax(x, axis=1), (whole(5, 300),), softmax),
    "elementwise": (lambda x: relax.op.nn.relu(x), (whole(3, 1000),), lambda x: np.maximum(x, 0)),
}


@pytest.mark.parametrize("name", one_in(3, reversed(KERNELS)))
def test_kernels_give_the_numbers_of_numpy_after_every_step(name: str) -> None:
    build, arguments, meaning = KERNELS[name]
    expected = meaning(*arguments)
    steps = []
    for step, module, synchronised in on_the_way(module_of(build, *arguments)):
        result = Interpreter(module, synchronised=synchronised).run(EntryCall("main", arguments))
        assert np.allclose(declared(result), expected, rtol=1e-5 if name == "softmax" else 0.0, atol=1e-12), step
        steps.append(step)
    assert len(steps) == len(PIPELINES["cuda"]) + len(TIR_PIPELINE)


BARRIER = "tvm_storage_sync"


@pytest.mark.parametrize("name", [pytest.param("matmul", marks=pytest.mark.deep), "softmax"])
def test_every_barrier_of_thread_sync_is_needed(name: str) -> None:
    """Each of them removed on its own, where TVM put it, is a race."""
    build, arguments, _ = KERNELS[name]
    synced = next(
        m for step, m, _ in on_the_way(module_of(build, *arguments)) if PASSES[step].place.gives is Phase.SYNCED
    )
    total = sum(str(f.script()).count(BARRIER) for f in synced.functions.values() if hasattr(f, "body"))
    assert total == 2
    for number in range(total):
        with pytest.raises(Trap) as caught:
            Interpreter(without_barrier(synced, number), synchronised=EVERY_SCOPE).run(EntryCall("main", arguments))
        assert caught.value.kind == "data-race"
        assert "_shared" in caught.value.detail


def without_barrier(module: Any, number: int) -> Any:
    """The module without the barrier of this number, in the order of the text."""
    import tvm_ffi

    seen = [0]

    def dropped(node: Any) -> Any:
        if tvm_api.op_name(node.value) != "tirx.tvm_storage_sync":
            return node
        seen[0] += 1
        return tvm.tirx.Evaluate(0) if seen[0] == number + 1 else node

    functions = {}
    for var, function in module.functions.items():
        if isinstance(function, tvm.tirx.PrimFunc):
            body = tvm_ffi.structural_map(function.body, (tvm.tirx.Evaluate, dropped))
            function = function.with_body(body)
        functions[var] = function
    return tvm.IRModule(functions, attrs=module.attrs)
