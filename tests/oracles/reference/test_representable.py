"""What the reference calls exact is a number of its dtype: a result that no rounding may change has been rounded. And
where the reference contradicts itself, it says so."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

from generators.case import EntryCall
from generators.dtypes import is_float
from generators.operators.table import OPERATORS
from generators.relax.chains import draw_chains
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Unsure, Wrong
from oracles.reference.values import Runtime, Tensor, flattened, round_to

NAMES = sorted(OPERATORS)


@I.ir_module
class ClippedAndWidened:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float64"):
        clipped = R.clip(x, -0.9, 0.9)
        return R.astype(clipped, "float64")


@I.ir_module
class PaddedAndWidened:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((5,), "float64"):
        padded = R.nn.pad(x, (1, 1), "constant", 0.1)
        return R.astype(padded, "float64")


@I.ir_module
class FilledAndWidened:
    @R.function
    def main(x: R.Tensor((3,), "float16")) -> R.Tensor((3,), "float64"):
        filled = R.full_like(x, R.const(0.3, "float32"))
        return R.astype(filled, "float64")


def inexact(module: Any, call: EntryCall) -> list[str]:
    """The variables of a function some of whose exact elements are no numbers of the dtype."""
    found: list[str] = []

    def watch(function: str, variable: str, value: Runtime) -> None:
        for leaf in flattened(value):
            if isinstance(leaf, Tensor) and is_float(leaf.dtype) and leaf.memory is None:
                exact = np.ones(leaf.shape, np.bool_) if leaf.error is None else leaf.error == 0
                off = exact & np.isfinite(leaf.value) & (round_to(leaf.value, leaf.dtype) != leaf.value)
                found.extend([f"{variable} of {function}"] if off.any() else [])

    with suppress(Trap, Unsupported):
        Interpreter(module, bounded=True, watch=watch).run(call)
    return found


@pytest.mark.parametrize("part", range(10))
def test_exact_elements_are_numbers_of_their_dtype(part: int) -> None:
    seen = 0
    for number in range(part, len(NAMES), 10):
        name = NAMES[number]
        program = draw_program(SeededSource(77, number), patterns=(lambda s, name=name: draw_chains(s, (name,)),))
        assert inexact(program.module, program.calls[0]) == [], name
        seen += 1
    assert seen > 10


@pytest.mark.parametrize("module", [ClippedAndWidened, PaddedAndWidened, FilledAndWidened])
def test_numbers_of_an_operator_are_rounded_as_tvm_rounds_them(module: Any) -> None:
    dtype = "float16" if module is FilledAndWidened else "float32"
    call = EntryCall("main", (np.array([-1.0, 0.5, 1.0], dtype),))
    assert inexact(module, call) == []
    assert Numbers(module, (call,)).judge_module(relax.transform.LegalizeOps()(module)) is None


@I.ir_module
class Doubled:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(x, x)


@I.ir_module
class Tripled:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.multiply(x, R.const(3.0, "float32"))


def test_a_reference_that_contradicts_itself_blames_nobody() -> None:
    """Its results for the starting module are made wrong here, as a mistake in an operator's row would make them."""
    call = EntryCall("main", (np.array([1.0, 2.0, 3.0], np.float32),))
    assert isinstance(Numbers(Doubled, (call,)).judge_module(Tripled), Wrong)
    numbers = Numbers(Doubled, (call,))
    (result,) = numbers.starting.results
    assert isinstance(result.value, Tensor)
    off = replace(result, value=replace(result.value, value=result.value.value + 1))
    numbers.starting.results = (off,)
    said = numbers.judge_module(Tripled)
    assert isinstance(said, Unsure) and said.reason.startswith("own fault") and not said.skipped


@I.ir_module
class FilledWithRounded:
    @R.function
    def main(x: R.Tensor((3,), "float32"), v: R.Tensor((), "float32")) -> R.Tensor((3,), "float32"):
        w = R.exp(R.sin(R.exp(v)))
        return R.full_like(x, w)


def test_what_is_filled_with_a_rounded_number_has_its_bound() -> None:
    for v in np.linspace(-1, 1, 8, dtype=np.float32):
        call = EntryCall("main", (np.ones(3, np.float32), np.array(v)))
        numbers = Numbers(FilledWithRounded, (call,))
        (result,) = numbers.starting.results
        assert isinstance(result.value, Tensor) and result.value.error is not None and (result.value.error > 0).all()
        assert numbers.judge_module(relax.transform.LegalizeOps()(FilledWithRounded)) is None


def test_a_contradiction_in_one_call_hides_nothing_in_another() -> None:
    calls = tuple(EntryCall("main", (np.full(3, n, np.float32),)) for n in (0.0, 2.0))
    numbers = Numbers(Doubled, calls)
    first, second = numbers.starting.results
    assert isinstance(second.value, Tensor)
    off = replace(second, value=replace(second.value, value=second.value.value + 1))
    numbers.starting.results = (first, off)
    assert isinstance(numbers.judge_module(Tripled), Unsure)  # 3 x 0 is 2 x 0: the second call alone is wrong
    others = Numbers(Doubled, tuple(reversed(calls)))
    wrong, right = others.starting.results
    assert isinstance(right.value, Tensor)
    others.starting.results = (wrong, replace(right, value=replace(right.value, value=right.value.value + 1)))
    assert isinstance(others.judge_module(Tripled), Wrong)
