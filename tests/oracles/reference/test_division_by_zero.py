"""A whole number divided by zero has no meaning in Relax either: a module that does so is no test of what lowers it."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
from tvm import relax

from fuzzer.trial.subject.unpromised_inputs import calm
from generators.case import EntryCall
from generators.tvm_api import module_from_script
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning

DIVISIONS = ("divide", "floor_divide", "floor_mod", "mod")
TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({extent},), "{dtype}"), y: R.Tensor((1,), "{dtype}")):
        return R.{name}(x, y)
"""


def module(name: str, dtype: str, extent: int = 2) -> Any:
    return module_from_script(TEXT.format(name=name, dtype=dtype, extent=extent))


def call(dtype: str, divisor: int, extent: int = 2) -> tuple[EntryCall, ...]:
    return (EntryCall("main", (np.full(extent, 3, dtype), np.full(1, divisor, dtype))),)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_of_whole_numbers_there_is_no_meaning(name: str, dtype: str) -> None:
    stopped = Numbers(module(name, dtype), call(dtype, 0)).expected
    assert isinstance(stopped, NoMeaning) and stopped.kind == "division-by-zero"
    assert not isinstance(Numbers(module(name, dtype), call(dtype, 2)).expected, NoMeaning)


@pytest.mark.parametrize("name", DIVISIONS)
def test_floats_and_no_elements_are_divided(name: str) -> None:
    assert not isinstance(Numbers(module(name, "float32"), call("float32", 0)).expected, NoMeaning)
    assert not isinstance(Numbers(module(name, "int32", 0), call("int32", 0, 0)).expected, NoMeaning)


@pytest.mark.parametrize("whole", [0, 1])
@pytest.mark.parametrize("name", DIVISIONS)
def test_calm_inputs_of_tests_divide_by_no_zero(name: str, whole: int) -> None:
    start = module(name, "int32")
    quiet = calm(start, call("int32", 0), whole)
    assert quiet[0].arguments[1] != 0
    numbers = Numbers(start, quiet)
    assert not isinstance(numbers.expected, NoMeaning)
    assert numbers.judge_module(relax.transform.LegalizeOps()(start)) is None
