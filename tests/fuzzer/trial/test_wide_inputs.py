"""Whole numbers of drawn inputs use the width of their dtypes where the module takes that; where not, that is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzzer.trial.subject.entries import with_entries
from fuzzer.trial.subject.inputs import drawn_calls
from fuzzer.trial.subject.same_results import same_results
from fuzzer.trial.subject.wide_inputs import wide_calls, widths_of
from generators.case import EntryCall
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure, Wrong
from tests.oracles.oracle_bench import module_of

ROUNDS = 3
OPERATOR = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "DTYPE")) -> R.Tensor((4, 8), "RESULT"):
        with R.dataflow():
            y = VALUE
            R.output(y)
        return y
"""
PRIM_FUNC = """
@I.ir_module
class Module:
    @T.prim_func
    def f(n: T.Buffer((1,), "DTYPE"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = VALUE
"""
BYTE, SHORT = 'T.Cast("uint8", n[0] * 3)', 'T.Cast("uint16", n[0])'
WORD = 'T.Cast("uint32", n[0])'
WIDE = 'R.astype(x, "int32")'
LEVEL = (
    f'R.quantize({WIDE.replace("int32", "float32")}, R.const(16.0, "float32"), R.const(0, "int8"), out_dtype="int8")'
)
SUM = 'R.right_shift(R.matmul(x, R.permute_dims(x), out_dtype="int32"), R.const(8, "int32"))'
CLASS = {
    "a shift of int8": (OPERATOR, "int8", "int32", f'R.right_shift({WIDE}, R.const(2, "int32"))', ("2,", "3,")),
    "a shift of uint8": (OPERATOR, "uint8", "int32", f'R.right_shift({WIDE}, R.const(4, "int32"))', ("4,", "5,")),
    "a shift of int16": (OPERATOR, "int16", "int16", 'R.right_shift(x, R.const(9, "int16"))', ("9,", "10,")),
    "a division": (OPERATOR, "int32", "int32", 'R.floor_divide(x, R.const(100, "int32"))', ("100,", "101,")),
    "a clip": (OPERATOR, "int32", "int32", "R.clip(x, -128, 127)", ("127", "126")),
    "a level": (OPERATOR, "int8", "int8", LEVEL, ("16.0", "32.0")),
    "a sum of products": (OPERATOR, "int8", "int32", SUM, ("8,", "9,")),
    "a cast to uint8": (PRIM_FUNC, "int32", "", f'T.Cast("float32", {BYTE})', (BYTE, "n[0] * 3")),
    "a cast to uint16": (PRIM_FUNC, "int32", "", f'T.Cast("float32", {SHORT})', (SHORT, "n[0]")),
    "a cast to uint32": (PRIM_FUNC, "int64", "", f'T.Cast("float32", {WORD})', (WORD, "n[0]")),
}
"""Per name: the form, dtypes of operand and result, the value, and what a wrong pass takes for a part of it."""


def modules(what: str) -> tuple[Any, Any]:
    """A module, and what a wrong pass makes of it."""
    form, dtype, result, value, (right, wrong) = CLASS[what]
    text = form.replace("DTYPE", dtype).replace("RESULT", result)
    if form is OPERATOR and "matmul" in value:
        text = text.replace('(4, 8), "int32"', '(4, 4), "int32"')
    assert right in value
    return (with_entries(module_of(text.replace("VALUE", each))) for each in (value, value.replace(right, wrong)))  # type: ignore[return-value]


def wide(module: Any) -> tuple[EntryCall, ...]:
    return wide_calls(module, 0, widths_of(module, 0).each)


@pytest.mark.parametrize("what", CLASS)
def test_what_small_numbers_do_not_show_shows_in_wide_ones(what: str) -> None:
    module, wrong = modules(what)
    small = drawn_calls(module, 0, ROUNDS)
    assert not isinstance(Numbers(module, small).judge_module(wrong), Wrong)
    assert isinstance(Numbers(module, small + wide(module)).judge_module(wrong), Wrong)


TABLE = """
@I.ir_module
class Module:
    @R.function
    def main(
        t: R.Tensor((6, 2), "float32"), i: R.Tensor((3,), "int32"), x: R.Tensor((3, 2), "int8")
    ) -> R.Tensor((3, 2), "float32"):
        with R.dataflow():
            y = R.add(R.take(t, i, axis=0), R.astype(x, "float32"))
            R.output(y)
        return y
"""


def test_an_index_stays_in_its_table_where_other_parameters_are_wide() -> None:
    calls = wide(module_of(TABLE))
    assert len(calls) == 2
    for call in calls:
        _, index, data = call.arguments
        assert isinstance(index, np.ndarray) and isinstance(data, np.ndarray)
        assert index.min() >= 0 and index.max() < 6
        assert np.abs(data.astype(np.int64)).max() > 3
    assert widths_of(module_of(TABLE), 0).overflowing == ()


def test_sets_are_only_such_that_no_integer_overflows() -> None:
    """LLVM takes the overflow of a signed sum for something that does not happen."""
    module = module_of(
        OPERATOR.replace("DTYPE", "int32").replace("RESULT", "int32").replace("VALUE", "R.multiply(x, x)")
    )
    calls = wide(module)
    assert calls
    for call in calls:
        assert isinstance(call.arguments[0], np.ndarray)
        assert np.abs(call.arguments[0].astype(np.float64)).max() ** 2 < 2**31


def test_a_parameter_that_cannot_be_wide_is_named() -> None:
    """A cast to a signed dtype that does not hold the number: the reference leaves open what it gives."""
    text = PRIM_FUNC.replace("DTYPE", "int32").replace("VALUE", 'T.Cast("float32", T.Cast("int8", n[0] * 30))')
    found = widths_of(with_entries(module_of(text)), 0)
    assert found.each == () and found.overflowing == ("x0",)


def test_modules_without_whole_numbers_have_no_more_sets() -> None:
    module = module_of(OPERATOR.replace("DTYPE", "float32").replace("RESULT", "float32").replace("VALUE", "R.exp(x)"))
    assert widths_of(module, 0).each == ()


def test_the_module_gives_a_result_on_every_wide_set() -> None:
    module, _ = modules("a sum of products")
    assert all(not isinstance(Numbers(module, [call]).expected, NoMeaning) for call in wide(module))


@pytest.mark.parametrize(("shift", "stays"), [(8, True), (4, False)])
def test_outputs_that_no_input_changes_are_seen(shift: int, stays: bool) -> None:
    value = f'R.right_shift(R.astype(x, "int32"), R.const({shift}, "int32"))'
    module = module_of(OPERATOR.replace("DTYPE", "uint8").replace("RESULT", "int32").replace("VALUE", value))
    found = same_results(module, drawn_calls(module, 0, ROUNDS) + wide(module))
    assert found.every is stays and bool(found.outputs) is stays


@pytest.mark.parametrize("value", ["R.add(R.const(1), R.const(1))", 'R.zeros(R.shape([4, 8]), "int32")'])
def test_an_output_that_is_computed_of_no_input_is_not_said_to_stay(value: str) -> None:
    text = OPERATOR.replace("DTYPE", "uint8").replace('R.Tensor((4, 8), "RESULT")', 'R.Tensor(dtype="int32")')
    module = module_of(text.replace("VALUE", value))
    assert not same_results(module, drawn_calls(module, 0, ROUNDS) + wide(module)).outputs


def test_a_set_on_which_only_the_later_module_overflows_hides_no_wrong_result_of_another() -> None:
    """A pass that moves a product before a division overflows on wide numbers alone, of which nothing is known then."""
    text = PRIM_FUNC.replace("DTYPE", "int32")
    module = with_entries(module_of(text.replace("VALUE", 'T.Cast("float32", n[0] + n[0])')))
    moved = with_entries(module_of(text.replace("VALUE", 'T.Cast("float32", T.Div(n[0] * 1048576, 524288))')))
    wrong = with_entries(module_of(text.replace("VALUE", 'T.Cast("float32", T.Div(n[0] * 1048576, 262144))')))
    calls = drawn_calls(module, 0, 1) + wide(module)
    assert isinstance(Numbers(module, calls).judge_module(moved), Unsure)
    assert isinstance(Numbers(module, calls).judge_module(wrong), Wrong)
    assert isinstance(Numbers(module, calls[::-1]).judge_module(wrong), Wrong)


def test_a_pass_that_narrows_what_does_not_fit_has_not_passed() -> None:
    text = PRIM_FUNC.replace("DTYPE", "int32")
    module = with_entries(module_of(text.replace("VALUE", 'T.Cast("float32", n[0])')))
    narrow = with_entries(module_of(text.replace("VALUE", 'T.Cast("float32", T.Cast("int8", n[0]))')))
    assert Numbers(module, drawn_calls(module, 0, 1) + wide(module)).judge_module(narrow) is not None
