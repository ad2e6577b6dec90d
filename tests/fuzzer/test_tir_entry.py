"""PrimFuncs that nobody calls get a Relax function that does, or stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from corpus.module_text import live_module
from fuzzer.errand.inputs import drawn_calls
from fuzzer.errand.tir_entry import with_entries
from generators.case import EntryCall, ModuleText
from oracles.reference.numbers import Numbers
from oracles.reference.values import Tensor
from oracles.type_soundness import contradictions
from oracles.well_formed import complaint

HEAD = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main({parameters}):
"""
BODY = """        for i in T.{loop}:
            with T.sblock("s"):
                vi = T.axis.spatial(4, i)
                {statement}
"""
FLOATS = 'x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")'


def module_of(parameters: str, statement: str, loop: str = "serial(4)") -> tvm.ir.IRModule:
    text = HEAD.format(parameters=parameters) + BODY.format(loop=loop, statement=statement)
    return live_module(ModuleText(text))


def test_the_last_buffer_is_what_comes_out() -> None:
    module = with_entries(module_of(FLOATS, "y[vi] = x[vi] + T.float32(1)"))
    assert not complaint(module)
    (call,) = drawn_calls(module, 0)
    assert call.function == "call_main"
    given = np.array([1, 2, 3, 4], "float32")
    (result,) = Numbers(module, (EntryCall("call_main", (given,)),)).expected
    assert isinstance(result, Tensor)
    assert result.value.tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("parameters", "statement", "loop"),
    [
        (FLOATS, "x[vi] = y[vi]", "serial(4)"),
        (FLOATS, "T.evaluate(0)", "serial(4)"),
        (FLOATS + ", n: T.int64", "y[vi] = x[vi]", "serial(4)"),
        (FLOATS, "y[vi] = x[vi]", 'thread_binding(4, thread="threadIdx.x")'),
    ],
    ids=["writes the first", "writes nothing", "takes a number", "for a GPU"],
)
def test_what_call_tir_cannot_call_stays_alone(parameters: str, statement: str, loop: str) -> None:
    module = module_of(parameters, statement, loop)
    assert with_entries(module).same_as(module)


def test_a_module_with_relax_functions_stays_as_it_is() -> None:
    script = (
        "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((2,), 'float32')):\n        return x\n"
    )
    module = live_module(ModuleText(script))
    assert with_entries(module).same_as(module)


NARROW = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.handle, b: T.handle):
        n = T.int32()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.sblock("s"):
                vi = T.axis.spatial(n, i)
                y[vi] = x[vi] + x[vi]
"""


def test_extents_in_int32_are_symbols_of_relax() -> None:
    module = with_entries(live_module(ModuleText(NARROW)))
    (result,) = Numbers(module, (EntryCall("call_main", (np.array([1, 2, 3], "float32"),)),)).expected
    assert isinstance(result, Tensor)
    assert result.value.tolist() == [2, 4, 6]
    assert not contradictions(module)


def test_names_without_a_type_get_one() -> None:
    module = module_of(FLOATS, "y[vi] = x[vi]")
    untyped = tvm.ir.IRModule({tvm.ir.GlobalVar("main"): module["main"]})
    assert {gvar.name_hint for gvar in with_entries(untyped).functions} == {"main", "call_main"}
