"""The adjoint that a pass adds is the derivative: wrong ones, right ones, kinks, and what TVM has no gradient by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from generators.case import EntryCall, PassCall
from oracles.checks.gradient import CUT, NO_DERIVATIVE, ORACLE, OTHER_FORM
from oracles.evidence import WrongGradient
from oracles.reference.numbers import Numbers
from oracles.verdict import PASSED, WRONG_GRADIENT, Failed, Inconclusive, Skipped, Verdict
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, step_of

GRADIENT = PassCall("Gradient", "relax.transform.Gradient('main')")
X = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -1.0]], np.float32)
Y = np.array([[2.0, 1.0, -1.0], [0.5, 4.0, 1.0]], np.float32)


def function(*bindings: str, gives: str = "loss", parameters: str = "", returns: str = "") -> Any:
    """A module with a function of two matrices that ends in a loss."""
    tensor = 'R.Tensor((2, 3), dtype="float32")'
    lines = "\n".join(f"            {line}" for line in bindings)
    names = ", ".join(line.split(" = ")[0] for line in bindings)
    return module_of(
        f"""
@I.ir_module
class Module:
    @R.function
    def main(x: {tensor}, y: {tensor}{parameters}){returns}:
        with R.dataflow():
{lines}
            R.output({names})
        return {gives}
"""
    )


def judged(module: Any, call: PassCall = GRADIENT, *more: Any, x: Any = X, y: Any = Y) -> Verdict:
    bench = RealBench()
    bench.numbers = Numbers(module, [EntryCall("main", (x, y, *more))])
    return ORACLE.judge(step_of(call, module, bench), bench)


def spoilt(name: str, change: Any) -> PassCall:
    """Gradient, and then a change of each call in the adjoint."""

    @relax.expr_functor.mutator
    class Changed(relax.PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            return change(self.visit_expr_post_order(call))

    def run(module: Any) -> Any:
        out = relax.transform.Gradient("main")(module)
        adjoint = out.get_global_var("main_adjoint")
        out.update_func(adjoint, Changed(out).visit_expr(out[adjoint]))
        return out

    return module_pass(run, name)


SMOOTH = {
    "a product": function("a = R.multiply(x, y)", "loss = R.sum(a)"),
    "functions of one": function("a = R.sin(x)", "b = R.tanh(y)", "c = R.divide(a, R.exp(b))", "loss = R.mean(c)"),
    "rows": function("a = R.nn.softmax(x, axis=1)", "b = R.multiply(a, y)", "loss = R.sum(b)"),
    "a matrix product": function("a = R.permute_dims(y)", "b = R.matmul(x, a)", "loss = R.mean(b)"),
    "parts": function("a = R.split(x, 3, axis=1)", "b = R.multiply(a[0], a[2])", "loss = R.sum(b)"),
    "a power": function("a = R.multiply(x, x)", "b = R.multiply(a, x)", "c = R.add(b, y)", "loss = R.sum(c)"),
    "one that is not used": function("a = R.exp(x)", "loss = R.sum(a)"),
    "a running sum": function("a = R.cumsum(x, axis=1)", "b = R.multiply(a, y)", "loss = R.sum(b)"),
}


@pytest.mark.parametrize("module", SMOOTH.values(), ids=SMOOTH)
def test_right_gradients_pass(module: Any) -> None:
    assert judged(module) == PASSED


def zero(call: Any) -> Any:
    return relax.op.zeros(call.args[0], "float32") if call.op.name == "relax.ones" else call


def once(call: Any) -> Any:
    """What two uses add up to is that of one."""
    return call.args[0] if call.op.name == "relax.add" else call


def turned(call: Any) -> Any:
    """The derivative of sin without cos."""
    return relax.op.sin(call.args[0]) if call.op.name == "relax.cos" else call


def positive(call: Any) -> Any:
    return call.args[0] if call.op.name == "relax.negative" else call


WRONG = {
    "none": (zero, "a product"),
    "of one of two uses": (once, "a power"),
    "of another function": (turned, "functions of one"),
    "with another sign": (positive, "functions of one"),
}


@pytest.mark.parametrize(("change", "name"), WRONG.values(), ids=WRONG)
def test_a_wrong_gradient_is_found_with_an_element(change: Any, name: str) -> None:
    found = judged(SMOOTH[name], spoilt(f"Spoilt{change.__name__}", change))
    assert isinstance(found, Failed) and found.symptom == WRONG_GRADIENT
    assert isinstance(found.evidence, WrongGradient)
    assert (found.evidence.function, found.evidence.result, found.evidence.shifted) == ("main", None, True)
    assert len(found.evidence.element) == 2


def test_the_element_is_one_whose_gradient_is_wrong() -> None:
    """Of x alone the gradient is wrong, and of its last column."""

    def column(call: Any) -> Any:
        mask = relax.const(np.array([[1.0, 1.0, 3.0]], np.float32))
        return relax.op.multiply(call, mask) if call.op.name == "relax.cos" else call

    module = function("a = R.sin(x)", "b = R.add(a, y)", "loss = R.sum(b)")
    found = judged(module, spoilt("Column", column))
    assert isinstance(found, Failed) and isinstance(found.evidence, WrongGradient)
    assert (found.evidence.parameter, found.evidence.element[1]) == (0, 2)


KINKS = {
    "relu": function("a = R.nn.relu(x)", "loss = R.sum(a)"),
    "abs": function("a = R.abs(x)", "b = R.multiply(a, y)", "loss = R.sum(b)"),
    "the larger one": function("a = R.maximum(x, R.const(0, 'float32'))", "loss = R.sum(a)"),
}


@pytest.mark.parametrize("module", KINKS.values(), ids=KINKS)
def test_beside_a_kink_gradients_pass(module: Any) -> None:
    """Inputs on the kink are moved off it."""
    assert judged(module, x=np.zeros((2, 3), np.float32)) == PASSED


def test_where_all_is_kinks_nothing_is_said() -> None:
    """The loss changes in steps that are closer than any inputs are apart."""
    module = function("a = R.multiply(x, R.const(4096, 'float32'))", "b = R.abs(R.sin(a))", "loss = R.sum(b)")
    assert judged(module) == Inconclusive(NO_DERIVATIVE)


def test_one_of_several_results_is_derived() -> None:
    module = function("a = R.exp(x)", "b = R.sum(a)", "loss = R.mean(R.multiply(x, y))", gives="(b, loss)")
    for target in (0, 1):
        assert (
            judged(module, PassCall("Gradient", f"relax.transform.Gradient('main', target_index={target})")) == PASSED
        )
    found = judged(module, module_pass(lambda m: zeroed(m, 1), "ZeroOfTheSecond"))
    assert isinstance(found, Failed) and isinstance(found.evidence, WrongGradient)
    assert found.evidence.result in (0, 1)


def zeroed(module: Any, target: int) -> Any:
    out = relax.transform.Gradient("main", target_index=target)(module)
    adjoint = out.get_global_var("main_adjoint")

    @relax.expr_functor.mutator
    class Zero(relax.PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            return zero(self.visit_expr_post_order(call))

    out.update_func(adjoint, Zero(out).visit_expr(out[adjoint]))
    return out


def test_the_gradient_by_one_parameter() -> None:
    for parameter in (0, 1):
        call = PassCall(
            "Gradient",
            "tvm.transform.module_pass(lambda mod, ctx: relax.transform.Gradient("
            f"'main', mod['main'].params[{parameter}])(mod), opt_level=0, name='Gradient')",
        )
        assert judged(SMOOTH["rows"], call) == PASSED


def test_what_tvm_has_no_gradient_by_is_left_out() -> None:
    whole = function("a = R.astype(x, 'int32')", "b = R.astype(a, 'float32')", "loss = R.sum(b)")
    weights = function(
        "a = R.ones(R.shape([2]), dtype='int64')",
        "b = R.nn.nll_loss(x, a, w)",
        "loss = R.sum(b)",
        parameters=', w: R.Tensor((3,), dtype="float32")',
    )
    reason = Skipped(CUT)
    assert judged(whole) == reason
    assert judged(weights, GRADIENT, np.array([1.0, 2.0, 3.0], np.float32)) == reason


def by(*parameters: int) -> Any:
    def run(module: Any) -> Any:
        asked = [module["main"].params[place] for place in parameters]
        return relax.transform.Gradient("main", require_grads=asked)(module)

    return run


def test_gradients_are_by_what_their_names_say() -> None:
    """In any order, and by values on the way, of which nothing is said."""
    module = SMOOTH["rows"]
    assert judged(module, module_pass(by(1, 0), "ByTheOtherFirst")) == PASSED

    def inside(given: Any) -> Any:
        value = given["main"].body.blocks[0].bindings[0].var
        return relax.transform.Gradient("main", require_grads=[value])(given)

    assert judged(module, module_pass(inside, "ByAValueOnTheWay")) == Skipped(OTHER_FORM)


def test_one_wrong_element_among_many_is_found() -> None:
    def last(call: Any) -> Any:
        mask = np.ones((1, 400), np.float32)
        mask[0, 399] = 0
        return relax.op.multiply(call, relax.const(mask)) if call.op.name == "relax.cos" else call

    module = module_of(
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 400), dtype="float32")):
        with R.dataflow():
            a = R.sin(x)
            loss = R.sum(a)
            R.output(loss)
        return loss
"""
    )
    bench = RealBench()
    bench.numbers = Numbers(module, [EntryCall("main", (np.ones((1, 400), np.float32),))])
    found = ORACLE.judge(step_of(spoilt("Last", last), module, bench), bench)
    assert isinstance(found, Failed) and isinstance(found.evidence, WrongGradient)
    assert found.evidence.element == (0, 399)


def test_equal_operands_are_moved_apart() -> None:
    module = function("a = R.maximum(x, y)", "loss = R.sum(a)")
    assert judged(module, x=X, y=X) == PASSED


def test_other_passes_and_floats_of_16_bits_are_left_alone() -> None:
    copy = module_pass(lambda module: tvm.IRModule(module.functions), "Copy")
    assert judged(SMOOTH["rows"], copy) == Skipped("gradient: no adjoint is added", applies=False)
    module = module_of(
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float16")):
        with R.dataflow():
            loss = R.sum(R.exp(x))
            R.output(loss)
        return loss
"""
    )
    bench = RealBench()
    bench.numbers = Numbers(module, [EntryCall("main", (np.array([1, 2], np.float16),))])
    verdict = ORACLE.judge(step_of(GRADIENT, module, bench), bench)
    assert verdict == Skipped("gradient: not all inputs are arrays without floats of 16 bits")


def test_exclusive_running_sums_have_the_gradient_of_inclusive_ones() -> None:
    """A bug of TVM: python/tvm/relax/op/_op_gradient.py, cumsum_grad, does not ask for `exclusive`."""
    module = function("a = R.cumsum(x, axis=1, exclusive=True)", "b = R.multiply(a, y)", "loss = R.sum(b)")
    assert isinstance(judged(module), Failed)
