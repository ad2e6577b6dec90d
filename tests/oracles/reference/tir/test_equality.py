"""When decoded functions are one program, so that the second is not compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from generators import tvm_api as T
from oracles.reference.tir import engine
from oracles.reference.tir.decode.prim_func import decode_function

WITH_BLOCK = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock("named"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] * 2
"""
AS_LOOP = """@T.prim_func(s_tir=True)
def main(X: T.Buffer((4,), "int32"), Y: T.Buffer((4,), "int32")):
    for j in range(T.int64(4)):
        Y[j] = X[j] * 2
"""
NARROW = AS_LOOP.replace("T.int64(4)", "4")
OTHER_NUMBER = NARROW.replace("* 2", "* 3")
OTHER_INDEX = NARROW.replace("X[j]", "X[3 - j]")
LITERAL = "@T.prim_func(s_tir=True)\ndef main(A: T.Buffer((4,), 'int32')):\n    A[{index}] = {value}\n"


def decoded(script: str) -> Any:
    function = T.module_from_script(f"@I.ir_module(s_tir=True)\nclass Module:\n{_indented(script)}")["main"]
    form = engine.Compiled(function)
    arrays = [np.zeros(4, dtype=np.int32) for _ in function.params]
    return decode_function(form.signature, function, form.signature.bind(arrays))


def key(script: str) -> Any:
    return engine.program_key(decoded(script))


def _indented(script: str) -> str:
    return "".join(f"    {line}\n" for line in script.splitlines())


def test_names_of_parameters_and_blocks_that_say_nothing_make_no_difference() -> None:
    assert key(WITH_BLOCK) == key(NARROW)


@pytest.mark.parametrize("other", [OTHER_NUMBER, OTHER_INDEX, AS_LOOP])
def test_other_values_indices_and_widths_of_arithmetic_do(other: str) -> None:
    assert key(NARROW) != key(other)


def test_a_literal_index_has_no_width_and_a_literal_value_has() -> None:
    assert key(LITERAL.format(index="2", value="1")) == key(LITERAL.format(index="T.int64(2)", value="1"))
    assert key(LITERAL.format(index="2", value="1")) != key(LITERAL.format(index="1", value="1"))
    assert key(LITERAL.format(index="2", value="1")) != key(LITERAL.format(index="2", value="2"))


def test_equal_functions_become_equal_code() -> None:
    in_order = NARROW.replace("range(4)", "range(1, 4)").replace("X[j]", "Y[j - 1]")
    for script in (WITH_BLOCK, in_order):
        first, second = engine.program_of(decoded(script)), engine.program_of(decoded(script))
        assert first.source == second.source
        assert first.run.__code__ == second.run.__code__
