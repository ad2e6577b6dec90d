"""What RewriteCUDAGraph lifts is run as what it stands for, and a graph that captures what may move is refused."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
import tvm

from generators import tvm_api
from generators.case import EntryCall
from generators.passes.row import Phase
from generators.passes.table import SETUP
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap
from oracles.workbench import constructed

CHAIN = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.negative(x)
            b = R.abs(a)
            c = R.add(b, a)
            d = R.negative(c)
            R.output(d)
        return d
"""
WEIGHT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.negative(w)
            b = R.abs(a)
            c = R.add(b, x)
            R.output(c)
        return c
"""
BY_HAND = """
@I.ir_module
class Module:
    @R.function(private=True)
    def captured(v: R.Tensor((2,), "float32")) -> R.Tuple(R.Tensor((2,), "float32")):
        R.func_attr({"relax.force_pure": True})
        w = R.negative(v)
        t = (w,)
        return t

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        R.func_attr({"num_input": 1})
        g = R.call_builtin_with_ctx(
            "vm.builtin.cuda_graph.run_or_capture",
            (Module.captured, (%s,), R.prim_value(0)),
            ty_args=(R.Tuple(R.Tensor((2,), "float32")),),
        )
        y = g[0]
        return y
"""


def planned(text: str) -> Any:
    module = tvm_api.module_from_script(text)
    with tvm.target.Target("llvm"):
        for call in SETUP[Phase.PLANNED]:
            module = constructed(call.source)(module)
    return module


def rewritten(module: Any) -> Any:
    with tvm.transform.PassContext(config={"relax.backend.use_cuda_graph": True}):
        return tvm.relax.transform.RewriteCUDAGraph()(module)


def result(module: Any, *arguments: Any) -> Any:
    return Interpreter(module).run(EntryCall("main", arguments)).value  # type: ignore[union-attr]


@pytest.mark.parametrize("text, count", [(CHAIN, 1), (WEIGHT, 2)])
def test_what_is_lifted_gives_the_same_numbers(text: str, count: int) -> None:
    before = planned(text)
    after = rewritten(before)
    assert any("cuda_graph_capture" in name.name_hint for name in after.functions)
    shape = (2, 3) if text is CHAIN else (2,)
    arguments = [np.arange(1 - k, 1 - k + np.prod(shape), dtype="float32").reshape(shape) for k in range(count)]
    expected = -(np.abs(-arguments[0]) - arguments[0]) if text is CHAIN else np.abs(arguments[1]) + arguments[0]
    assert np.array_equal(result(before, *arguments), expected)
    assert np.array_equal(result(after, *arguments), expected)


def test_a_graph_may_capture_a_weight_and_no_input() -> None:
    x, w = np.array([1, 2], "float32"), np.array([3, 4], "float32")
    module = tvm_api.module_from_script(BY_HAND % "w")
    assert np.array_equal(result(module, x, w), -w)
    with pytest.raises(Trap, match="an input of its function"):
        result(tvm_api.module_from_script(BY_HAND % "x"), x, w)


ENDLESS = """
@I.ir_module
class Module:
    @R.function(private=True)
    def again(v: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        w: R.Tensor((2,), "float32") = Module.again(v)
        return w

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y: R.Tensor((2,), "float32") = Module.again(x)
        return y
"""


def test_calls_without_end_are_a_trap() -> None:
    with pytest.raises(Trap, match="calls without end"):
        result(tvm_api.module_from_script(ENDLESS), np.array([1, 2], "float32"))


ALLOCATED = BY_HAND.replace(
    "        g = ", '        v = R.builtin.alloc_tensor(R.shape([2]), "float32", 0)\n        g = '
)


def test_a_graph_may_not_capture_what_each_call_allocates() -> None:
    x = np.array([1, 2], "float32")
    with pytest.raises(Trap, match="which each call allocates"):
        result(tvm_api.module_from_script(ALLOCATED % "v"), x, x)


SHAPED = """
@I.ir_module
class Module:
    @R.function(private=True)
    def captured(s: R.Shape(["n"])) -> R.Tuple(R.Shape(["n"])):
        n = T.int64()
        R.func_attr({"relax.force_pure": True})
        t = (s,)
        return t

    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        g = R.call_builtin_with_ctx(
            "vm.builtin.cuda_graph.run_or_capture",
            (Module.captured, (R.shape([m]),), R.prim_value(0)%s),
            ty_args=(R.Tuple(R.Shape([m])),),
        )
        return x
"""


def test_a_graph_that_captures_a_shape_has_it_in_its_key() -> None:
    x = np.array([1, 2], "float32")
    assert np.array_equal(result(tvm_api.module_from_script(SHAPED % ", R.shape([m])"), x), x)
    with pytest.raises(Trap, match="which is not in its key"):
        result(tvm_api.module_from_script(SHAPED % ""), x)
