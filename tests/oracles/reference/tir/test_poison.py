"""Uninitialised elements may be copied, and trap where their value is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from generators import tvm_api
from generators.case import EntryCall
from oracles.reference.calling import LeftOut, direct
from oracles.reference.errors import UNWRITTEN, Trap
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.reference.tir import run_prim_func

X = np.array([[1, 2, 3], [4, 5, 6]], "float32")
SUM = """
        for i in range(2):
            B[i] = T.float32(0)
            for k in range(3):
                B[i] = B[i] + A[i, k]
"""
PROMOTED = """
        acc = T.alloc_buffer((1,), "float32")
        for i in range(2):
            acc[0] = B[i]
            for k in range(3):
                if k == 0:
                    acc[0] = T.float32(0)
                acc[0] = acc[0] + A[i, k]
            B[i] = acc[0]
"""
THROUGH_A_CACHE = """
        tile = T.alloc_buffer((2, 4), "float32")
        cache = T.alloc_buffer((2, 4), "float32")
        for i, k in T.grid(2, 3):
            tile[i, k] = A[i, k]
        for i, k in T.grid(2, 4):
            cache[i, k] = tile[i, k]
        for i in range(2):
            B[i] = T.float32(0)
            for k in range(LAST):
                B[i] = B[i] + cache[i, k]
"""


def module(body: str) -> Any:
    return tvm_api.module_from_script(f"""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def total(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2,), "float32")):
        T.func_attr({{"tirx.noalias": True}}){body}
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.total, (x,), out_ty=R.Tensor((2,), "float32"))
            R.output(y)
        return y
""")


def outcome_of(*bodies: str) -> Any:
    numbers = Numbers(module(SUM), (EntryCall("main", (X,)),))
    return [numbers.judge_module(module(body)) for body in bodies][-1]


@pytest.mark.parametrize("body", [PROMOTED, THROUGH_A_CACHE.replace("LAST", "3")])
def test_unused_copies_are_allowed(body: str) -> None:
    arguments = [X.copy(), np.zeros(2, np.float32)]
    with pytest.raises(Trap, match="uninitialised"):
        run_prim_func(module(body)["total"], arguments, [True, False])
    assert outcome_of(body) is None
    assert outcome_of(body, body.replace("T.float32(0)", "T.float32(0) * T.float32(1)")) is None


@pytest.mark.parametrize(
    "body",
    [
        PROMOTED.replace("k == 0", "k == 1"),
        PROMOTED.replace("acc[0] = T.float32(0)", "T.evaluate(0)"),
        PROMOTED.replace("            B[i] = acc[0]\n", ""),
        THROUGH_A_CACHE.replace("LAST", "4"),
    ],
)
def test_what_is_asked_for_is(body: str) -> None:
    outcome = outcome_of(body)
    assert isinstance(outcome, Wrong)
    assert outcome.symptom in (UNWRITTEN, "wrong result")


def test_what_follows_a_copy_is_judged() -> None:
    """By the calls of the run that agreed, also one that copied."""
    outcome = outcome_of(PROMOTED, PROMOTED.replace("A[i, k]", "A[i, 2 - k]"), PROMOTED.replace("A[i, k]", "A[i, 0]"))
    assert isinstance(outcome, Wrong)
    assert outcome.symptom == "wrong result"


def test_calls_that_are_left_out_count_once_though_the_run_is_made_twice() -> None:
    seen = []

    def first_left_out(run: Any, function: str, arguments: list[Any]) -> Any:
        seen.append(function)
        if len(seen) % 2:
            raise LeftOut("left out")
        return direct(run, function, arguments)

    call = EntryCall("main", (X,))
    numbers = Numbers(module(SUM), (call, call))
    assert numbers.judge_module(module(PROMOTED), first_left_out) is None
    assert len(seen) == 4
    assert numbers.left_out == {"left out": 1}
