"""Bounds after steps that rounding decides: quantised models are decided, right passes that round otherwise silent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import relax

from fuzzer.trial.subject.inputs import drawn_calls
from generators.case import EntryCall
from generators.tvm_api import IRModule
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Unsure, Wrong
from oracles.reference.sampling import NEXT_TO_NONE, SAFETY
from oracles.reference.shaken import LARGER, LARGER_IN_16_BITS, Shaken, with_steps
from oracles.reference.starting_run import STEPS_TAKEN
from oracles.reference.values import Tensor
from tests.oracles.oracle_bench import module_of

DIVIDED = "R.divide(h{0}, R.const(0.05, 'float32'))"
MULTIPLIED = "R.multiply(h{0}, R.const(20.0, 'float32'))"
END = "R.add(f{0}, x)"


def quantised(layers: int, size: int = 24, scaled: str = DIVIDED, end: str = END, last: str = "{0}") -> IRModule:
    """Whole numbers of 8 bits times weights, with scales that are no powers of two: everything is next to some step."""
    weights = ", ".join(f"w{n}: R.Tensor(({size}, {size}), 'int8')" for n in range(layers))
    lines = [f"    def main(x: R.Tensor(({size}, {size}), 'float32'), {weights}):", "        with R.dataflow():"]
    lines.append("            h0 = x")
    for n in range(layers):
        lines += [
            f"            q{n} = R.round({scaled.format(n)})",
            f"            c{n} = R.astype(R.clip(q{n}, R.prim_value(-127), R.prim_value(127)), 'int8')",
            f"            m{n} = R.matmul(R.astype(c{n}, 'int32'), R.astype(w{n}, 'int32'), out_dtype='int32')",
            f"            f{n} = R.multiply(R.astype(m{n}, 'float32'), R.const(0.00037, 'float32'))",
            f"            h{n + 1} = R.nn.gelu({end.format(n)})",
        ]
    result = last.format(f"h{layers}")
    lines += [f"            out = {result}", "            R.output(out)", "        return out"]
    return module_of("\n@I.ir_module\nclass Module:\n    @R.function\n" + "\n".join(lines) + "\n")


def numbers_of(module: IRModule, seed: int = 0) -> Numbers:
    return Numbers(module, drawn_calls(module, seed, 1))


def lowered(module: IRModule, *more: Any) -> IRModule:
    for each in (relax.transform.LegalizeOps(), *more):
        module = each(module)
    return module


FUSED = (
    relax.transform.AnnotateTIROpPattern(),
    relax.transform.FuseOps(),
    relax.transform.FuseTIR(),
)
LASTS = {
    "floats": "{0}",
    "whole numbers": "R.astype(R.round(R.multiply({0}, R.const(1000.0, 'float32'))), 'int32')",
}


@pytest.mark.parametrize("last", LASTS)
@pytest.mark.parametrize("layers", [3, 6])
def test_quantised_models_are_decided(layers: int, last: str) -> None:
    module = quantised(layers, last=LASTS[last])
    numbers = numbers_of(module)
    assert numbers.judge_module(lowered(module)) is None
    assert numbers.judge_module(lowered(module, *FUSED)) is None
    for end in ("R.subtract(f{0}, x)", "R.add(x, x)"):
        found = numbers.judge_module(lowered(quantised(layers, end=end, last=LASTS[last])))
        assert isinstance(found, Wrong)
        assert found.how == STEPS_TAKEN, "nothing else decides"


@pytest.mark.parametrize("seed", range(12))
def test_right_passes_that_round_otherwise_are_not_wrong(seed: int) -> None:
    """They send some step in this model another way, now and then: by as much as rounding does."""
    module, other = quantised(3), quantised(3, scaled=MULTIPLIED)
    assert not isinstance(numbers_of(module, seed).judge_module(lowered(other, *FUSED)), Wrong)


def test_lowered_models_are_decided_too() -> None:
    """Each layer is a chain of PrimFuncs, whose own steps are not followed."""
    module = lowered(quantised(3))
    numbers = numbers_of(module)
    assert numbers.judge_module(lowered(module, *FUSED)) is None
    assert isinstance(numbers.judge_module(lowered(quantised(3, end="R.subtract(f{0}, x)"))), Wrong)


def test_what_steps_change_by_much_is_left_open() -> None:
    """A step over most of the value: one of three times a third may be 0 or 1."""
    third = "R.floor(R.multiply(R.divide({0}, R.const(3.0, 'float32')), R.const(3.0, 'float32')))"
    text = f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8,), "float32")):
        with R.dataflow():
            out = {third.format("x")}
            R.output(out)
        return out
"""
    other = text.replace("R.floor(", "R.add(R.const(-1.0, 'float32'), ")
    calls = [EntryCall("main", (np.full(8, 1, np.float32),))]
    outcome = Numbers(module_of(text), calls).judge_module(module_of(other))
    assert isinstance(outcome, Unsure)


def moved_by_one_run(result: Tensor) -> Tensor:
    """What a run makes of an operation with this likely result; the worst-case bounds are not asked for."""

    def unasked(_: object) -> Any:
        raise AssertionError("worst-case bounds cost time, and nothing reads them")

    (moved,) = Shaken(0).sharpened((), unasked, unasked, lambda operands: [result])
    return moved


@pytest.mark.parametrize(("dtype", "times"), [("float32", LARGER), ("float16", LARGER_IN_16_BITS)])
def test_a_result_is_off_by_a_multiple_of_its_local_error(dtype: str, times: float) -> None:
    result = Tensor(np.array([1.0, 2.0, 3.0]), dtype, np.array([0.25, 0.0, np.inf]))
    moved = moved_by_one_run(result)
    assert moved.error is not None
    assert list(np.abs(moved.value - result.value)) == [times * 0.25, 0.0, 0.0]
    assert list(moved.error) == [NEXT_TO_NONE, 0.0, np.inf]


def test_whole_numbers_are_not_moved() -> None:
    result = Tensor(np.array([1, 2]), "int32", np.array([np.inf, 0.0]))
    assert moved_by_one_run(result) is result


def test_the_largest_change_of_a_tensor_stands_for_all_its_open_elements() -> None:
    value = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    result = Tensor(value, "float32", np.array([np.inf, np.inf, np.inf, np.inf, 1e-6]))
    unrounded = Tensor(value, "float32", np.array([0.0, 0.0, 0.0, np.inf, 0.0]))
    runs = [
        Tensor(value + np.array([0.0, 0.5, 0.0, 0.0, 9.0]), "float32"),
        Tensor(value + np.array([0.0, 0.0, np.nan, 0.0, 9.0]), "float32"),
    ]
    bounded = with_steps((result,), (unrounded,), [(run,) for run in runs])
    assert isinstance(bounded, tuple)
    assert isinstance(bounded[0], Tensor)
    assert bounded[0].error is not None
    assert list(bounded[0].error) == [SAFETY * 0.5, SAFETY * 0.5, np.inf, np.inf, 1e-6]
