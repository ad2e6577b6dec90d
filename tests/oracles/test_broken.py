"""What is broken in the result of a pass, as kinds: by the use of what is gone, by what defines it, by its scope."""

from __future__ import annotations

import pytest
import tvm

from corpus.scripts.module_text import live_module
from generators import tvm_api as T
from generators.case import ModuleText
from oracles.broken import IN_TIR, MUTATOR, Broken, broken, retyped, types_of
from tests.oracles.oracle_bench import module_of
from tests.oracles.test_rewrite import relax

LOST = (
    ("a = R.abs(x)", "b = R.add(a, a)", "b", "a value is gone and still used"),
    ("a = R.permute_dims(x)", "b = R.add(a, a)", "b", "a value is gone and still used"),
    ("a = R.abs(x)", "b = R.add(x, x)", "a", "a value is gone and still returned"),
)


@pytest.mark.parametrize(("lost", "kept", "result", "kind"), LOST)
def test_a_lost_value_is_told_by_its_use_and_not_by_its_operator(lost: str, kept: str, result: str, kind: str) -> None:
    before = relax(lost, kept, result=result)
    function = before["main"]
    blocks = [tvm.relax.BindingBlock(function.body.blocks[0].bindings[1:])]
    body = tvm.relax.SeqExpr(blocks, function.body.body)
    after = tvm.IRModule({"main": tvm.relax.Function(function.params, body, T.return_type(function))})
    assert broken(before, after) == Broken(kind)


OF_A_TUPLE = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((), "float32")):
        a = (x, R.const(1, "float32"))
        b = (a,)
        R.print(x, format=R.str("{}"))
        c = b[0]
        d = c[1]
        return d
"""
RENAMED_IF = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((), "bool")):
        if y:
            b = R.negative(x)
        else:
            b = R.nn.relu(x)
        d = b
        return d
"""


def test_a_value_that_is_made_anew_as_a_dataflow_variable_is_out_of_its_scope() -> None:
    before = module_of(OF_A_TUPLE)
    assert broken(before, tvm.relax.transform.ConvertToDataflow(min_size=1)(before)) == Broken(
        "a value is out of its scope"
    )


def test_the_result_of_an_if_that_is_made_anew_is_known_by_its_other_name() -> None:
    before = module_of(RENAMED_IF)
    function = before["main"]
    old = function.body.blocks[0].bindings[0]
    new = tvm.relax.VarBinding(tvm.relax.Var("b", old.var.ty), old.value)
    body = tvm.relax.SeqExpr([tvm.relax.BindingBlock([new])], function.body.body)
    after = tvm.IRModule({"main": tvm.relax.Function(function.params, body, T.return_type(function))})
    assert broken(before, after) == Broken(
        "the result of an If is made anew, and its uses keep the old variable", MUTATOR
    )


def test_an_effect_is_told_by_its_kind_and_not_by_its_place() -> None:
    plain = relax("a = R.abs(x)", "b = R.exp(a)")
    kills = [relax("b = R.abs(x)", f"c = R.{kill}(b)", result="x") for kill in ("memory.kill_tensor", "vm.kill_object")]
    found = {broken(plain, module) for module in kills}
    assert found == {Broken("an effect where none may be: the end of a life")}


def test_another_type_of_a_binding_is_told_by_its_operator() -> None:
    before, after = relax("b = R.sum(x, axis=[0])"), relax("b = R.sum(x, axis=[0], keepdims=True)")
    assert retyped(types_of(before), types_of(after)) == "another type is given to the result of a reduction: two ranks"
    assert retyped(types_of(before), types_of(before)) == ""


KNOWN_EXTENT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,), "float32"), y: R.Tensor(("n",), "float32")):
        n, m = T.int64(), T.int64()
        a = R.match_cast(x, R.Tensor((SYMBOL,), "float32"))
        b = VALUE
        c = R.full(R.shape([SYMBOL // 2 + 1]), R.const(1, "int64"))
        return (a, b, c)
"""


@pytest.mark.parametrize(
    ("symbol", "value", "kind"),
    [("n", "R.add(y, y)", "a parameter"), ("m", "R.reshape(a, R.shape([m]))", "a match_cast")],
)
def test_a_number_for_a_symbol_that_an_argument_keeps_is_told_by_what_defines_it(
    symbol: str, value: str, kind: str
) -> None:
    """TVM's verifier refuses the call, whichever pass has put the number there."""
    before = tvm.relax.transform.LegalizeOps()(
        module_of(KNOWN_EXTENT.replace("VALUE", value).replace("SYMBOL", symbol))
    )
    after = tvm.relax.transform.CanonicalizeBindings()(before)
    assert broken(before, after) == Broken(f"a number stands for a dimension of {kind}, which an argument keeps")


def test_of_a_prim_func_that_is_ill_formed_its_callers_do_not_count() -> None:
    text = """
@I.ir_module(check_well_formed=False)
class Module:
    @T.prim_func(private=True)
    def prim(A: T.Buffer((2,), "float32"), B: T.Buffer({shape}, "float32")):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.call_tir(Module.prim, (x,), out_ty=R.Tensor((2,), "float32"))
"""
    before, after = (live_module(ModuleText(text.format(shape=shape))) for shape in ("(2,)", "(1, 2)"))
    assert broken(before, after) == Broken("two types: a tensor given to call_tir and the PrimFunc's buffer")
    assert broken(before, after, first=IN_TIR) is None


def test_a_sound_module_is_not_broken() -> None:
    assert broken(relax("b = R.abs(x)"), relax("b = R.exp(x)")) is None
