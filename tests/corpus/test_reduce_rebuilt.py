"""Modules are taken apart and built anew before their functions are made smaller: what cannot be built stays large."""

from __future__ import annotations

from collections import Counter

import pytest

from corpus.reduce import Candidate, reduce
from corpus.reduce.callees import refers_to
from corpus.reduce.candidate import count_statements
from corpus.reduce.draft import lift, module_binds
from corpus.reduce.realise import realise
from corpus.scripts.module_text import live_module
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.worker.draw import draw_experiment
from generators import tvm_api as T
from generators.case import ModuleText
from generators.unavailable import Unavailable

HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"


def operators(module: T.IRModule) -> Counter[str]:
    """How often each operator of Relax is bound."""
    return Counter(str(name) for _, bind in module_binds(lift(module)) if (name := T.op_name(bind.value)) is not None)


def references(module: T.IRModule) -> dict[str, set[str]]:
    """What each function refers to, of what is in the module."""
    there = lift(module).functions
    return {name: refers_to(function) & there.keys() for name, function in there.items()}


CAMPAIGN = Plan(seed=29, targets=("llvm", "cuda"))


@pytest.mark.parametrize("index", range(80))
def test_what_a_campaign_draws_survives_being_rebuilt(index: int) -> None:
    """Recipes draw more than single functions: recursion, closures, PrimFuncs that call PrimFuncs. Types of results may
    be said in another way, kinds of values may not."""
    try:
        module = draw_experiment(CAMPAIGN, repertoire_of(CAMPAIGN), index).experiment.module
    except Unavailable:
        pytest.skip("no pass has anything to do in this program")
    rebuilt = realise(lift(module)).module
    assert operators(rebuilt) == operators(module)
    assert count_statements(rebuilt) == count_statements(module)
    assert references(rebuilt) == references(module)


def referred_to(module: T.IRModule) -> set[str]:
    return {name for names in references(module).values() for name in names}


RECURSION = """
    @R.function(private=True)
    def even(n: R.Tensor((), "int64"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        go = R.greater(n, R.const(0, "int64"))
        if go:
            m = R.subtract(n, R.const(1, "int64"))
            y = cls.odd(m, x)
            z = R.exp(y)
            out = R.negative(z)
        else:
            out = R.abs(x)
        return out

    @R.function(private=True)
    def odd(n: R.Tensor((), "int64"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        m = R.subtract(n, R.const(1, "int64"))
        a = R.sin(x)
        y = cls.even(m, a)
        return y

    @R.function
    def main(n: R.Tensor((), "int64"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        a = R.cos(x)
        y = cls.even(n, a)
        return y
"""


def test_functions_that_call_one_another_get_small() -> None:
    """The type of the result of a function that is called before it is built is the one from before, until another
    comes out."""
    module = live_module(ModuleText(HEAD + RECURSION))
    reduction = reduce(Candidate(module, (), (), ()), lambda c: {"even", "odd"} <= referred_to(c.module))
    assert not reduction.whole and reduction.bindings_after <= 2, reduction.candidate.module.script()


CALLS_OF_PRIM_FUNCS = """
    @T.prim_func(private=True, s_tir=True)
    def inner(p: T.handle("int32"), n: T.int32):
        Y = T.decl_buffer((4,), "int32", data=p)
        for i in range(4):
            Y[i] = n
        if n > 1:
            Module.inner(T.address_of(Y[1]), n - 1)

    @T.prim_func(s_tir=True)
    def outer(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
        for i in range(4):
            B[i] = A[i]
        Module.inner(T.address_of(A[0]), A[2])
"""


def test_prim_funcs_that_call_one_another_get_small() -> None:
    module = live_module(ModuleText(HEAD + CALLS_OF_PRIM_FUNCS))
    reduction = reduce(Candidate(module, (), (), ()), lambda c: "inner" in referred_to(c.module))
    assert not reduction.whole and reduction.statements_after <= 2, reduction.candidate.module.script()


VAGUE = """
    @R.function
    def main(x: R.Tensor((4, 6), dtype="float32")) -> R.Tensor(ndim=2, dtype="float32"):
        a: R.Tensor(ndim=2, dtype="float32") = R.exp(x)
        return a
"""


def test_a_module_that_fails_only_as_it_is_is_told() -> None:
    """Built anew, the variable has the type that TVM infers."""
    module = live_module(ModuleText(HEAD + VAGUE))

    def is_vague(candidate: Candidate) -> bool:
        return T.type_of(candidate.module["main"].body.blocks[0].bindings[0].var).shape is None

    reduction = reduce(Candidate(module, (), (), ()), is_vague)
    assert reduction.whole and reduction.finished
