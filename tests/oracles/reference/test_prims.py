"""Bounds of call_tir where the inputs, moved a little, make the PrimFunc trap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corpus.scripts.module_text import live_module
from generators.case import EntryCall, ModuleText
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.noise import Noise
from oracles.reference.prim_call import PrimCall
from oracles.reference.prims import prim_result
from oracles.reference.values import Tensor

HEAD = """
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.sblock("quotient"):
                v = T.axis.spatial(3, i)
                B[v] = {body}
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = Module
        y = {operand}
        return R.call_tir(cls.prim, (y,), out_ty=R.Tensor((3,), "float32"))
"""
QUOTIENT = 'T.Cast("float32", T.Div(12, T.Cast("int32", A[v])))'
NARROWED = 'T.Cast("float32", T.Cast("int8", A[v])) / T.float32(3)'
ELEMENT = 'A[T.Cast("int32", A[v]) - 1] / T.float32(3)'
ONES = np.array([1, 2, 3], np.float32)
NEARLY = np.nextafter(np.full(3, -129, np.float32), np.float32(0))


def bounded(body: str, operand: str, array: np.ndarray[Any, Any], noise: Noise | None = None) -> Tensor:
    """What the bounded reference gives for a call of a PrimFunc with this body."""
    module = live_module(ModuleText(HEAD.format(body=body, operand=operand)))
    result = Interpreter(module, bounded=True, sampling=noise).run(EntryCall("main", (array,)))
    assert isinstance(result, Tensor)
    return result


@pytest.mark.parametrize("noise", [None, Noise()])
@pytest.mark.parametrize(("body", "array"), [(QUOTIENT, ONES), (NARROWED, NEARLY), (ELEMENT, ONES)])
def test_exact_inputs_on_the_verge_of_a_trap_have_a_result(
    body: str, array: np.ndarray[Any, Any], noise: Noise | None
) -> None:
    result = bounded(body, "R.negative(R.negative(x))", array, noise)
    assert result.error is not None and np.isinf(result.error).all()


def test_the_result_is_that_of_the_inputs_themselves() -> None:
    np.testing.assert_array_equal(bounded(QUOTIENT, "x", ONES).value, [12, 6, 4])


@pytest.mark.parametrize("noise", [None, Noise()])
def test_nothing_is_said_where_rounding_of_the_inputs_decides_on_a_trap(noise: Noise | None) -> None:
    with pytest.raises(Unsupported, match="on the verge of a trap"):
        bounded(QUOTIENT, "R.sin(R.asin(x))", np.ones(3, np.float32), noise)


def test_a_trap_on_the_inputs_themselves_is_one() -> None:
    with pytest.raises(Trap, match="division-by-zero"):
        bounded(QUOTIENT, "x", np.zeros(3, np.float32))


def test_what_is_not_finite_is_not_moved() -> None:
    """Half of an infinity is one, whichever way rounding went."""
    array = np.array([np.inf, -np.inf, 3.4028235e38], np.float32)
    result = bounded("A[v] / T.float32(2)", "x", array)
    assert result.error is not None
    np.testing.assert_array_equal(result.value, array / 2)
    assert np.isfinite(result.error[2])


COMPARISONS = ("> T.float32(0)", "== T.float32(2)", "> T.float32(1e30)", "< T.float32(-1e30)")


@pytest.mark.parametrize(
    ("body", "open_to_all"),
    [
        ("A[v] * T.float32(2)", [False, True, False]),
        ("A[(v + 1) % 3]", [True, False, False]),
        ("A[0] + A[2]", [False, False, False]),
        ("A[v] + A[1]", [True, True, True]),
        ("T.max(A[v], A[0])", [False, True, False]),
        ("T.max(A[v], T.float32(1e30))", [False, True, False]),
        ("T.min(T.max(A[v], T.float32(0)), T.float32(6))", [False, True, False]),
        *((f"T.if_then_else(A[1] {comparison}, A[0], A[2])", [True] * 3) for comparison in COMPARISONS),
        ("T.if_then_else(T.isinf(A[1]), A[0], A[2])", [True] * 3),
        ('T.Cast("float32", T.Cast("int32", A[v] / T.float32(1e9)))', [True] * 3),
        ("T.if_then_else(v == 1, T.float32(7), A[v])", [False, False, False]),
    ],
)
def test_what_depends_on_an_unknown_element_is_unknown_and_nothing_else(body: str, open_to_all: list[bool]) -> None:
    function = live_module(ModuleText(HEAD.format(body=body, operand="x")))["prim"]
    unknown = Tensor(np.array([3.0, 5.0, -4.0]), "float32", np.array([0.0, np.inf, 0.0]))
    (result,) = prim_result(PrimCall(function, "prim", [unknown], [((3,), "float32")], []), bounded=True)
    error = np.zeros(3) if result.error is None else result.error
    np.testing.assert_array_equal(np.isinf(error), open_to_all)
