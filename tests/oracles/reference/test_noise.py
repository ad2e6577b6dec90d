"""Bounds by runs with random rounding: deep modules are decided, right passes stay silent, steps stay undecided."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from tvm import relax

from benchmarks.decided_faults import FAULTS, planted
from benchmarks.decided_modules import MODULES
from benchmarks.reduce_families import FAMILIES
from fuzzer.trial.subject.inputs import drawn_calls
from generators.case import EntryCall
from generators.relax.knobs import Knobs
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from oracles.reference.compare import Agreement, compare, is_coarse, width
from oracles.reference.noise import Noise, Sampled
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import TOO_WIDE, NoMeaning, Unsure, Wrong, undecided
from oracles.reference.sampling import NEXT_TO_NONE
from oracles.reference.values import Tensor, flattened
from oracles.tolerance import Tolerance
from tests.oracles.oracle_bench import module_of
from tests.quick import one_in

DEPTHS = ("mlp", "encoder 1", "encoder 2", "cnn 6")
RIGHT: dict[str, list[Any]] = {
    "LegalizeOps": [relax.transform.LegalizeOps()],
    "FuseTIR": [
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FuseOps(),
        relax.transform.FuseTIR(),
    ],
    "ConvertLayout": [relax.transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})],
    "EliminateCommonSubexpr": [relax.transform.EliminateCommonSubexpr()],
    "DecomposeOpsForInference": [relax.transform.DecomposeOpsForInference()],
    "CombineParallelMatmul": [relax.transform.CombineParallelMatmul()],
}


def numbers_of(name: str) -> tuple[Any, Numbers]:
    module = MODULES[name]()
    return module, Numbers(module, drawn_calls(module, 0, 1))


def after(module: Any, passes: list[Any]) -> Any:
    for each in passes:
        module = each(module)
    return module


@pytest.mark.parametrize(("name", "passes"), one_in(4, product(DEPTHS, RIGHT)))
def test_right_passes_are_silent_and_decided(name: str, passes: str) -> None:
    module, numbers = numbers_of(name)
    assert numbers.judge_module(after(module, RIGHT[passes])) is None


@pytest.mark.parametrize(("name", "what"), one_in(7, product(DEPTHS, FAULTS)))
def test_wrong_passes_on_deep_modules_are_seen(name: str, what: str) -> None:
    module, numbers = numbers_of(name)
    wrong = planted(FAULTS[what], module)
    if wrong is None:
        pytest.skip("the module has no place for the fault")
    found = numbers.judge_module(wrong)
    assert isinstance(found, Wrong) and found.symptom == "wrong result"


IN_PRIM_FUNCS = ("u-net 2 of 2", "a maximum is a minimum")
"""The worst case of the wrong module in float64, over a chain of PrimFuncs, is infinite."""
WITHIN = ("closures 60", "a residual dropped")
"""The worst case decides, and lets through what is off by a sixth of the value."""


@pytest.mark.parametrize(("name", "what"), [pytest.param(*IN_PRIM_FUNCS, marks=pytest.mark.deep), WITHIN])
def test_bounds_are_sharpened_wherever_the_worst_case_is_much_of_a_value(name: str, what: str) -> None:
    module = FAMILIES[name]()
    numbers = Numbers(module, drawn_calls(module, 0, 1))
    assert numbers.judge_module(after(module, RIGHT["FuseTIR"])) is None
    assert isinstance(numbers.judge_module(planted(FAULTS[what], module)), Wrong)


def test_chains_of_quantised_numbers_are_decided() -> None:
    """What quantises is a step: whole numbers times a power of two come to halves, and are exact ones."""
    module = FAMILIES["quantised 8"]()
    numbers = Numbers(module, drawn_calls(module, 0, 1))
    assert numbers.judge_module(relax.transform.LegalizeOps()(module)) is None
    assert isinstance(numbers.judge_module(planted(FAULTS["relu is abs"], module)), Wrong)


def test_the_worst_case_alone_decides_nothing_of_an_encoder() -> None:
    _, numbers = numbers_of("encoder 2")
    assert isinstance(numbers.expected, tuple)
    assert all(width(leaf) > 0 for leaf in flattened(numbers.expected))
    assert all(width(leaf) == 0 for leaf in flattened(numbers.starting.decisive))


VACUOUS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float16")) -> R.Tensor((4,), "float16"):
        with R.dataflow():
            large = R.multiply(x, R.const(1024.0, "float16"))
            one = R.add(large, x)
            two = R.subtract(one, large)
            three = R.subtract(two, x)
            R.output(three)
        return three
"""
OTHER = VACUOUS.replace("R.subtract(two, x)", "R.multiply(R.subtract(two, x), R.const(0.5, 'float16'))")
CANCELS = EntryCall("main", (np.array([0.9, 1.1, -0.7, 1.3], np.float16),))


def test_what_no_bound_decides_is_undecided_with_the_ratio() -> None:
    module = module_of(VACUOUS)
    outcome = Numbers(module, [CANCELS]).judge_module(module_of(OTHER))
    assert isinstance(outcome, Unsure) and outcome.reason == TOO_WIDE and outcome.width > 1
    assert "times as wide" in outcome.verdict.told  # type: ignore[union-attr]


def test_the_bits_of_the_module_before_decide_what_no_bound_does() -> None:
    moved = module_of(VACUOUS.replace("R.add(large, x)", "R.add(x, large)"))
    numbers = Numbers(module_of(VACUOUS), [CANCELS])
    assert numbers.judge_module(moved) is None


@pytest.mark.parametrize("seed", range(40))
def test_nothing_passes_by_a_bound_that_is_wider_than_every_value(seed: int) -> None:
    """An output that counts as decided has an element whose bound is smaller than its value."""
    program = draw_program(SeededSource(seed, 0), Knobs(operators=(8, 8)))
    numbers = Numbers(program.module, program.calls)
    if isinstance(numbers.expected, NoMeaning):
        return
    for result in numbers.starting.decisive:
        for leaf in flattened(result):
            if isinstance(leaf, Tensor) and leaf.error is not None and leaf.value.size and width(leaf) == 0:
                sized = np.abs(leaf.value.astype(np.float64))
                assert not np.all(leaf.error > sized)


def test_a_sharpened_bound_is_never_wider_and_never_finite_where_nothing_is_known() -> None:
    operand = Tensor(np.array([1.0, 2.0, 3.0]), "float32", np.array([0.5, np.inf, 0.0]))
    result = Tensor(operand.value * 2, "float32", np.array([1.0, np.inf, 0.0]))
    (sharp,) = Noise().sharpened(
        [operand], lambda operands: [result], lambda values: [values[0] * 2], lambda operands: [result]
    )
    assert isinstance(sharp, Sampled) and sharp.error is not None and result.error is not None
    assert np.all(sharp.error <= result.error) and np.isinf(sharp.error[1]) and sharp.error[2] == 0
    assert all(sample[2] == 6.0 for sample in sharp.samples)


def test_the_local_error_knows_which_operands_are_exact() -> None:
    asked: list[Any] = []
    operand = Tensor(np.array([1.0, 2.0]), "float32", np.array([0.5, 0.0]))
    result = Tensor(operand.value, "float32", np.array([0.5, 0.0]))

    def likely(operands: Any) -> list[Tensor]:
        asked.extend(operands)
        return [result]

    Noise().sharpened([operand], lambda operands: [result], lambda values: [values[0]], likely)
    assert list(asked[0].error) == [NEXT_TO_NONE, 0.0]


STEP = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            third = R.divide(x, R.const(3.0, "float32"))
            whole = R.floor(R.multiply(third, R.const(3.0, "float32")))
            R.output(whole)
        return whole
"""


def test_near_a_step_nothing_is_said() -> None:
    below = module_of(STEP.replace("R.floor(R.multiply", "R.floor(R.subtract(R.multiply").replace(
        'R.const(3.0, "float32")))\n', 'R.const(3.0, "float32")), R.const(1e-7, "float32")))\n'))  # fmt: skip
    outcome = Numbers(module_of(STEP), [EntryCall("main", (np.array([3, 6], np.float32),))]).judge_module(below)
    assert isinstance(outcome, Unsure) and not outcome.skipped


SUM = STEP.replace('R.floor(R.multiply(third, R.const(3.0, "float32")))', "R.add(third, third)")


@pytest.mark.parametrize(("rtol", "wrong"), [(1e-3, True), (1e-1, False)])
def test_a_tolerance_of_the_users_own_takes_the_place_of_all_bounds(rtol: float, wrong: bool) -> None:
    other = module_of(SUM.replace("R.add(third, third)", 'R.multiply(third, R.const(2.05, "float32"))'))
    calls = [EntryCall("main", (np.array([3, 7], np.float32),))]
    found = Numbers(module_of(SUM), calls, tolerance=Tolerance(rtol)).judge_module(other)
    assert isinstance(found, Wrong) == wrong
    assert found is None or isinstance(found, Wrong) and found.how == f"rtol {rtol:g}, atol 0, as asked"


STEPS = {
    "floor": "R.floor(near)",
    "round": 'R.round(R.subtract(near, R.const(0.5, "float32")))',
    "int32": 'R.astype(R.astype(near, "int32"), "float32")',
    "int8": 'R.dequantize(R.quantize(R.subtract(near, R.const(0.5, "float32")), R.const(1.0, "float32"), '
    'R.const(0, "int8"), axis=-1, out_dtype="int8"), R.const(1.0, "float32"), R.const(0, "int8"), axis=-1)',
}
"""What is near a step where a third is multiplied by three."""
NEAR = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            near = R.multiply(R.divide(x, R.const(3.0, "float32")), R.const(3.0, "float32"))
            whole = STEP
            result = R.add(whole, R.const(1.0, "float32"))
            R.output(result)
        return result
"""
ODD = (EntryCall("main", (np.array([5, 7], np.float32),)),)


@pytest.mark.parametrize("legalised", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_a_tolerance_of_the_users_own_decides_what_a_step_leaves_undecided(step: str, legalised: bool) -> None:
    text = NEAR.replace("STEP", STEPS[step])
    lower = relax.transform.LegalizeOps()
    right, wrong = lower(module_of(text)), lower(module_of(text.replace("R.add(whole", "R.subtract(whole")))
    start = right if legalised else module_of(text)
    assert isinstance(Numbers(start, ODD).judge_module(wrong), Unsure), "no bound decides"
    own = Numbers(start, ODD, tolerance=Tolerance(1e-3))
    assert own.judge_module(right) is None
    assert isinstance(own.judge_module(wrong), Wrong)


def test_a_tolerance_says_nothing_of_what_tvm_leaves_open() -> None:
    text = STEP.replace('R.floor(R.multiply(third, R.const(3.0, "float32")))', "R.maximum(third, x)")
    other = text.replace("R.maximum(third, x)", "R.minimum(third, x)")
    nan = [EntryCall("main", (np.array([np.nan, np.nan], np.float32),))]
    found = Numbers(module_of(text), nan, tolerance=Tolerance(1e-3)).judge_module(module_of(other))
    assert isinstance(found, Unsure)


def test_weights_are_drawn_by_fan_in_and_domains_are_kept() -> None:
    module = module_of("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 300), "float32"), w: R.Tensor((64, 300), "float32"), s: R.Tensor((64,), "float32")):
        with R.dataflow():
            y = R.matmul(x, R.permute_dims(w))
            r = R.divide(y, R.sqrt(s))
            R.output(r)
        return r
""")
    (call,) = drawn_calls(module, 0)
    x, w, s = call.arguments
    assert isinstance(x, np.ndarray) and isinstance(w, np.ndarray) and isinstance(s, np.ndarray)
    assert np.abs(x).max() > 1.5 and 0.09 < np.abs(w).max() <= 0.1
    assert s.min() >= 0
    whole = drawn_calls(module, 0, 2)[1].arguments[0]
    assert isinstance(whole, np.ndarray) and np.all(whole == np.trunc(whole)) and np.abs(whole).max() == 4


EQUAL_TERMS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((20000,), "float32")) -> R.Tuple(R.Tensor((), "float32"), R.Tensor((), "float32")):
        with R.dataflow():
            a = R.sum(x)
            b = R.add(a, R.const(1e9, "float32"))
            c = R.subtract(b, R.const(1e9, "float32"))
            d = (a, c)
            R.output(d)
        return d
"""


@pytest.mark.parametrize("size", [2000, 20000])
def test_rounding_that_points_one_way_is_no_fault(size: int) -> None:
    """A sum of equal terms is off by far more than the root of their number, beside an output that nothing decides."""
    module = module_of(EQUAL_TERMS.replace("20000", str(size)))
    numbers = Numbers(module, (EntryCall("main", (np.full(size, 0.1, np.float32),)),))
    assert not isinstance(numbers.judge_module(relax.transform.LegalizeOps()(module)), Wrong)


def test_few_large_values_do_not_decide_for_many_small_ones() -> None:
    value = np.array([1e6, *[1.0] * 99])
    assert width(Tensor(value, "float32", np.full(100, 1e4))) > 1
    assert width(Tensor(value, "float32", np.full(100, 1e-3))) == 0


@pytest.mark.parametrize(("bound", "coarse"), [(1e-3, False), (0.1, True), (0.9, True), (30.0, True)])
def test_a_bound_is_coarse_long_before_it_decides_nothing(bound: float, coarse: bool) -> None:
    value = Tensor(np.ones(4), "float32", np.full(4, bound))
    assert is_coarse((Tensor(np.ones(4), "float32"), value)) == coarse
    assert (width(value) > 0) == (bound > 1)


def test_a_call_that_decides_does_not_speak_for_one_that_does_not() -> None:
    wide = Tensor(np.ones(4), "float32", np.full(4, 30.0))
    sharp = Tensor(np.ones(4), "float32", np.full(4, 1e-6))
    agreed = [compare(wide, Tensor(np.ones(4), "float32")), compare(sharp, Tensor(np.ones(4), "float32"))]
    assert all(isinstance(one, Agreement) for one in agreed)
    said = undecided([one for one in agreed if isinstance(one, Agreement)])
    assert said is not None
    assert said.width == 30


def test_nothing_is_sampled_where_the_bits_are_those_of_the_module_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten evaluations for an answer that one of the module before gives; where the bits differ they are needed."""
    sampled: list[bool] = []

    def noise(once: bool) -> Noise:
        sampled.append(once)
        return Noise(once=once)

    monkeypatch.setattr("oracles.reference.starting_run.Noise", noise)
    moved = module_of(VACUOUS.replace("R.add(large, x)", "R.add(x, large)"))
    numbers = Numbers(module_of(VACUOUS), [CANCELS])
    assert numbers.judge_module(moved) is None
    assert sampled == []
    assert isinstance(numbers.judge_module(module_of(OTHER)), Unsure)
    assert sampled == [False, True], (
        "once with all roundings, and as the module has 16 bits, once with one for each result"
    )
