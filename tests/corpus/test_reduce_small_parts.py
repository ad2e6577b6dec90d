"""Small parts that the reducer takes away one by one: what is left is a program written by hand, names aside."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tvm import relax, s_tir, tirx

from corpus.reduce import Candidate, reduce
from corpus.reduce.prim_func import rebuilt
from corpus.reduce.search import search
from corpus.reduce.table import STEPS
from corpus.scripts.module_text import live_module, text_of
from generators import tvm_api as T
from generators.case import EntryCall, ModuleText
from oracles.ir.regions import declares_what_it_does
from oracles.ir.walk import nodes_of, prim_funcs
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning

HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"

SYMBOLIC = """
    @T.prim_func(private=True, s_tir=True)
    def copied(A: T.Buffer(("n", "m", T.int64(2)), "float32"), n: T.int64, m: T.int64, B: T.Buffer((n, m), "float32")):
        for i, j in T.grid(n, m):
            with T.sblock("copied"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj, 0] + A[vi, vj, 1]

    @R.function
    def main(x: R.Tensor((3, 4, 2), "float32")) -> R.Tensor((3, 4), "float32"):
        cls = Module
        a = R.call_tir(cls.copied, (x, 3, 4), out_ty=R.Tensor((3, 4), "float32"))
        return a
"""

SYMBOLIC_LEFT = """
    @T.prim_func(private=True, s_tir=True)
    def copied(
        A: T.Buffer((T.int64(1), T.int64(1), T.int64(1)), "float32"), B: T.Buffer((T.int64(1), T.int64(1)), "float32")
    ):
        with T.sblock("copied"):
            T.reads(A[T.int64(0), T.int64(0), 0])
            T.writes(B[T.int64(0), T.int64(0)])
            B[T.int64(0), T.int64(0)] = A[T.int64(0), T.int64(0), 0]

    @R.function
    def main(x: R.Tensor((1, 1, 1), "float32")) -> R.Tensor((1, 1), "float32"):
        cls = Module
        a = R.call_tir(cls.copied, (x,), out_ty=R.Tensor((1, 1), "float32"))
        return a
"""

EMPTY = """
    @R.function
    def main(x: R.Tensor((2, 0, 3), "float32")) -> R.Tensor((2, 0, 3), "float32"):
        a = R.exp(x)
        return a
"""

EMPTY_LEFT = """
    @R.function
    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        a = R.exp(x)
        return a
"""

CLOSURE = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), z: R.Tensor((2,), "float32")):
        @R.function
        def inner(y: R.Tensor((4, 2), "float32"), u: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            R.func_attr({"Composite": "byoc.unary"})
            a = R.add(x, u)
            return a

        return inner
"""

CLOSURE_LEFT = """
    @R.function
    def main(x: R.Tensor((), "float32")):
        @R.function
        def inner() -> R.Tensor((), "float32"):
            return x

        return inner
"""

SQUEEZED = """
    @R.function
    def main(x: R.Tensor((1, 1, 3, 1), "float32")) -> R.Tensor((3,), "float32"):
        a = R.squeeze(x, axis=[-4, -3, -1])
        return a
"""

SQUEEZED_LEFT = """
    @R.function
    def main(x: R.Tensor((1,), "float32")) -> R.Tensor((), "float32"):
        a = R.squeeze(x, axis=[-1])
        return a
"""

DEVICES = """
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda"), I.vdevice("llvm", 1)]})

    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.exp(x)
        return a
"""

DEVICES_LEFT = """
    I.module_global_infos({"vdevice": [I.vdevice("cuda")]})

    @R.function
    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        return x
"""


def has_a_block_that_copies(candidate: Candidate) -> bool:
    """A PrimFunc is called, a block of it stores what it loads and declares that, and the program has a meaning."""
    if "R.call_tir(" not in candidate.module.script() or not candidate.calls:
        return False
    if isinstance(Numbers(candidate.module, candidate.calls).expected, NoMeaning):
        return False
    blocks = [block for _, f in prim_funcs(candidate.module) for block in nodes_of(f.body, s_tir.SBlock)]
    loading = [block for block in blocks if block.name_hint == "copied" and nodes_of(block.body, T.TensorLoad)]
    return bool(loading) and declares_what_it_does(candidate.module)


def has_an_exponential(candidate: Candidate) -> bool:
    return "R.exp(" in candidate.module.script()


def has_a_closure(candidate: Candidate) -> bool:
    """A function inside a function returns a variable of the outer one."""
    outer = candidate.module["main"]
    inner = [b.value for block in outer.body.blocks for b in block.bindings if isinstance(b.value, relax.Function)]
    return any(set(relax.analysis.free_vars(function)) & set(outer.params) for function in inner)


def squeezes_a_negative_axis(candidate: Candidate) -> bool:
    return "R.squeeze(" in candidate.module.script() and "axis=[-" in candidate.module.script()


def knows_a_gpu(candidate: Candidate) -> bool:
    return '"kind": "cuda"' in candidate.module.script() or '"cuda"' in candidate.module.script()


TABLE: list[tuple[str, str, Callable[[Candidate], bool], tuple[Any, ...] | None]] = [
    (SYMBOLIC, SYMBOLIC_LEFT, has_a_block_that_copies, (np.ones((3, 4, 2), np.float32),)),
    (EMPTY, EMPTY_LEFT, has_an_exponential, (np.ones((2, 0, 3), np.float32),)),
    (CLOSURE, CLOSURE_LEFT, has_a_closure, None),
    (SQUEEZED, SQUEEZED_LEFT, squeezes_a_negative_axis, (np.ones((1, 1, 3, 1), np.float32),)),
    (DEVICES, DEVICES_LEFT, knows_a_gpu, (np.ones(3, np.float32),)),
]


@pytest.mark.parametrize(("whole", "left", "shows", "inputs"), TABLE, ids=[row[2].__name__ for row in TABLE])
def test_small_parts_go(
    whole: str, left: str, shows: Callable[[Candidate], bool], inputs: tuple[Any, ...] | None
) -> None:
    calls = () if inputs is None else (EntryCall("main", inputs),)
    start = Candidate(live_module(ModuleText(HEAD + whole)), (), (), calls)
    assert shows(start)
    reduction = reduce(start, shows, budget_s=600.0)
    wanted = live_module(ModuleText(HEAD + left))
    assert T.structural_equal(reduction.candidate.module, wanted), reduction.candidate.module.script()
    assert reduction.finished


DECLARES = """
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("sum"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi], C[vi])
                T.writes(B[vi])
                B[vi] = T.exp(A[vi]) + C[vi]
"""


def test_a_block_declares_what_is_left_in_it_and_is_as_long_as_its_loop() -> None:
    whole = live_module(ModuleText(HEAD + DECLARES))["main"]
    (total,) = nodes_of(whole.body, tirx.Add)
    (loop,) = nodes_of(whole.body, tirx.For)
    twice = tirx.For(loop.loop_var, loop.min, tirx.IntImm("int32", 2), loop.kind, loop.body)
    smaller = rebuilt(whole, {total: total.a, loop: twice})
    (block,) = (block for block in nodes_of(smaller.body, s_tir.SBlock) if block.name_hint == "sum")
    assert [region.source for region in block.reads] == [smaller.params[0]]
    assert [region.source for region in block.writes] == [smaller.params[2]]
    assert [int(axis.dom.extent) for axis in block.iter_vars] == [2]


def test_a_module_that_a_script_says_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate that only JSON says is left, however small: here each without an addition."""
    module = live_module(ModuleText(HEAD + SQUEEZED.replace("a = R.squeeze", "b = R.add(x, x)\n        a = R.squeeze")))
    start = Candidate(module, (), (), ())

    def said(of: Any) -> ModuleText:
        text = text_of(of)
        return text if "R.add" in text.script else replace(text, json="{}")

    monkeypatch.setattr(sys.modules[search.__module__], "text_of", said)
    small = search(start, lambda c: True, STEPS, budget_s=600.0, max_calls=500, clock=lambda: 0.0).candidate
    assert "R.add" in small.module.script()
    assert "R.squeeze" not in small.module.script()
