"""Values after VMShapeLower and ComputePrimValue: the shape heap means what the symbolic shapes meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax, tirx

from corpus.scripts.module_text import live_module
from generators.case import EntryCall, ModuleText, Shape
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.reference.values import Tensor

SHAPES = """@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 4), dtype="float32"),
        t: R.Tuple(R.Tensor((4,), dtype="float32"), R.Shape(["n", "m"])),
        q: R.Tensor(ndim=2),
    ):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        with R.dataflow():
            a = R.add(x, t[0])
            b = R.reshape(a, (n * 4,))
            s = R.shape_of(q)
            c = R.match_cast(q, R.Tensor((k, 2), dtype="float32"))
            z = R.ones(R.shape([n * 2 + m, k]), "float32")
            R.output(b, z, c, s)
        return (b, z, c, s)
"""
CHOICE = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), dtype="float32")):
        n = T.int64()
        if R.prim_value(n > 3):
            b = R.add(x, x)
        else:
            b = R.multiply(x, x)
        return b
"""
X = np.arange(12, dtype=np.float32).reshape(3, 4)
CALL = EntryCall("main", (X, (np.ones(4, np.float32), Shape((3, 2))), np.ones((5, 2), np.float32)))
LOWERING = (
    relax.transform.LegalizeOps,
    relax.transform.RewriteDataflowReshape,
    relax.transform.ToNonDataflow,
    relax.transform.RemovePurityChecking,
    relax.transform.CallTIRRewrite,
    relax.transform.StaticPlanBlockMemory,
    relax.transform.LowerAllocTensor,
    relax.transform.KillAfterLastUse,
    relax.transform.LowerRuntimeBuiltin,
    relax.transform.ComputePrimValue,
    relax.transform.VMShapeLower,
)


def lowered() -> tuple[Any, Any]:
    start = live_module(ModuleText(SHAPES))
    module = start
    for make in LOWERING:
        module = make()(module)
    return start, module


def with_calls(module: Any, name: str, change: Callable[[Any], Any]) -> Any:
    """The module with every call of the packed function `name` replaced."""

    def rewritten(call: Any) -> Any:
        packed = isinstance(call.op, relax.ExternFunc) and str(call.op.global_symbol) == name
        return change(call) if packed else call

    broken = module.clone()
    broken["main"] = tvm_ffi.structural_map(module["main"], [(tvm.ir.Call, rewritten)])
    return broken


def with_number(call: Any, index: int, old: int, new: int) -> Any:
    arguments = list(call.args)
    if int(arguments[index]) == old:
        arguments[index] = tirx.IntImm("int64", new)
    fresh = tvm.ir.Call(call.op, arguments, call.attrs, call.ty_args)
    relax.expr._update_type(fresh, call.ty)
    return fresh


def test_lowered_shapes_give_the_same_numbers() -> None:
    start, module = lowered()
    assert "vm.builtin.make_shape" in module.script()
    assert Numbers(start, [CALL]).judge_module(module) is None


@pytest.mark.parametrize(
    ("function", "index", "old", "new", "symptom"),
    [
        ("vm.builtin.match_shape", 4, 0, 6, "reference trap: uninitialised"),
        ("vm.builtin.match_shape", 4, 0, 99, "reference trap: out-of-bounds"),
        ("vm.builtin.check_tensor_info", 1, 2, 3, "reference trap: type"),
        ("vm.builtin.make_shape", 2, 1, 0, "wrong"),
    ],
)
def test_wrong_use_of_the_shape_heap_is_seen(function: str, index: int, old: int, new: int, symptom: str) -> None:
    start, module = lowered()
    broken = with_calls(module, function, lambda call: with_number(call, index, old, new))
    verdict = Numbers(start, [CALL]).judge_module(broken)
    assert isinstance(verdict, Wrong)
    assert symptom == "wrong" or verdict.symptom == symptom, verdict


@pytest.mark.parametrize("extent", [3, 4])
def test_computed_condition_takes_the_same_branch(extent: int) -> None:
    start = live_module(ModuleText(CHOICE))
    module = relax.transform.ComputePrimValue()(start)
    assert "compute_symbolic_expr" in module.script()
    numbers = Numbers(start, [EntryCall("main", (np.full((extent, 4), 3.0, np.float32),))])
    assert numbers.judge_module(module) is None
    (result,) = numbers.expected  # type: ignore[misc]
    assert (result.value == (6.0 if extent > 3 else 9.0)).all()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('R.call_pure_packed("relax.run.shape_to_tensor", R.shape([5, 7]), ty_args=R.Tensor((2,), "int64"))', [5, 7]),
        ('R.call_pure_packed("vm.builtin.tuple_reset_item", (x, x), R.prim_value(1), ty_args=R.Tensor)', [1, 2]),
        ("R.grad.end_checkpoint(R.grad.start_checkpoint(x))", [1, 2]),
        ("R.grad.no_grad(x)", [1, 2]),
    ],
)
def test_values_that_builtins_hand_on(call: str, expected: list[int]) -> None:
    head = '@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,), "float32")):\n'
    script = f"{head}        return {call}\n"
    numbers = Numbers(live_module(ModuleText(script)), (EntryCall("main", (np.array([1, 2], np.float32),)),))
    assert isinstance(numbers.expected, tuple)
    assert [leaf.value.tolist() for leaf in numbers.expected if isinstance(leaf, Tensor)] == [expected]


def test_a_destination_that_an_unknown_function_fills_is_not_read_before() -> None:
    script = (
        '@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,), "float32")):\n'
        '        return R.call_dps_packed("nobody", (x,), out_ty=R.Tensor((2,), "float32"))\n'
    )
    numbers = Numbers(live_module(ModuleText(script)), (EntryCall("main", (np.zeros(2, np.float32),)),))
    assert getattr(numbers.expected, "reason", "") == "reference: packed function nobody"
