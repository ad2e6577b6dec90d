"""Modules that bind the same in another order, and what the oracle of dead bindings makes of them."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax

from generators import tvm_api
from oracles.checks import dead_binding
from oracles.ir.any_order import same_in_any_order
from oracles.verdict import Skipped
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, step_of


def test_an_order_that_dead_bindings_change_is_no_fault() -> None:
    def of(*names: str, last: str = "negative") -> Any:
        builder, x = relax.BlockBuilder(), relax.Var("x", relax.TensorType([2], "float32"))
        with builder.function("main", [x]):
            made = {name: builder.emit(getattr(relax.op, name)(x)) for name in names}
            twice = builder.emit(getattr(relax.op, last)(made["exp"]))
            builder.emit_func_output(builder.emit(relax.op.subtract(twice, made["tanh"])))
        return builder.get()

    given = of("exp", "tanh")
    assert same_in_any_order(given, of("tanh", "exp"), ["main"])
    for other in (of("exp", "tanh", last="abs"), of("exp", "tanh", "sin"), tvm.IRModule({"other": given["main"]})):
        assert not same_in_any_order(given, other, ["main"])


CALLS = """@I.ir_module
class Module:
    @R.function(private=True)
    def one(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = R.exp(x)
        return y
    @R.function(private=True)
    def other(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = R.tanh(x)
        return y
    @R.function
    def main(x: R.Tensor((2,), "float32"), s: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        FIRST
        SECOND
        z = R.zeros((SIZE, 2), "float32")
        return (a, b, z)
"""


@pytest.mark.parametrize(
    ("first", "second", "size", "same"),
    [
        ("b = Module.other(x)", "a = Module.one(x)", "n", True),
        ("b = Module.one(x)", "a = Module.other(x)", "n", False),
        ("a = Module.one(x)", "b = Module.other(x)", "m", False),
    ],
    ids=["turned", "exchanged", "another symbol"],
)
def test_what_is_called_counts_in_any_order(first: str, second: str, size: str, same: bool) -> None:
    def of(first: str, second: str, size: str) -> Any:
        return module_of(CALLS.replace("FIRST", first).replace("SECOND", second).replace("SIZE", size))

    given = of("a = Module.one(x)", "b = Module.other(x)", "n")
    assert same_in_any_order(given, of(first, second, size), ["main"]) == same


def test_a_dead_binding_that_changes_an_order_alone_is_no_answer() -> None:
    def sorts(module: Any) -> Any:
        main = module["main"]
        blocks = main.body.blocks
        if "unused_value" not in str(main) or len(blocks[0].bindings) < 3:
            return module
        first, *rest = [one for one in blocks[0].bindings if one.var.name != "unused_value"]
        turned = type(blocks[0])([rest[0], first, *rest[1:]])
        body = relax.SeqExpr([turned, *blocks[1:]], main.body.body)
        tvm_api.set_type(body, main.ret_ty)
        return tvm.IRModule({"main": relax.Function(main.params, body, main.ret_ty, main.is_pure, main.attrs)})

    module = module_of("""@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        a = R.exp(x)
        b = R.tanh(x)
        return (a, b)
""")
    bench = RealBench()
    verdict = dead_binding.judge(step_of(module_pass(sorts), module, bench), bench)
    assert isinstance(verdict, Skipped)
