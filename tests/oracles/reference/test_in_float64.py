"""16-bit models: what both modules give in float64 decides, right passes stay silent, conversions round as ever."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tvm import relax

from benchmarks.decided_faults import FAULTS, planted
from benchmarks.decided_modules import MODULES
from fuzzer.trial.subject.inputs import drawn_calls
from generators.case import EntryCall
from oracles.reference.errors import Unsupported
from oracles.reference.folded import narrow_contents
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.reference.starting_run import IN_FLOAT64
from oracles.reference.tir import ALONE, Context, run_tracked
from tests.oracles.oracle_bench import module_of
from tests.quick import one_in

WIDENED = Context(widened=True)
RIGHT: dict[str, list[Any]] = {
    "LegalizeOps": [relax.transform.LegalizeOps()],
    "FuseTIR": [
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FuseOps(),
        relax.transform.FuseTIR(),
    ],
    "DecomposeOpsForInference": [relax.transform.DecomposeOpsForInference()],
    "CombineParallelMatmul": [relax.transform.CombineParallelMatmul()],
    "FoldConstant": [relax.transform.LegalizeOps(), relax.transform.FoldConstant()],
}


def after(module: Any, passes: list[Any]) -> Any:
    for each in passes:
        module = each(module)
    return module


@pytest.mark.parametrize(("passes", "name"), one_in(3, product(RIGHT, ("encoder 2 float16", "cnn 6 float16"))))
def test_right_passes_are_silent_and_decided(passes: str, name: str) -> None:
    module = MODULES[name]()
    assert Numbers(module, drawn_calls(module, 0, 1)).judge_module(after(module, RIGHT[passes])) is None


@pytest.mark.parametrize("what", one_in(3, FAULTS))
def test_wrong_passes_are_seen(what: str) -> None:
    module = MODULES["encoder 2 float16"]()
    wrong = planted(FAULTS[what], module)
    if wrong is None:
        pytest.skip("the module has no place for the fault")
    assert isinstance(Numbers(module, drawn_calls(module, 0, 1)).judge_module(wrong), Wrong)


def test_what_only_float64_shows_says_so() -> None:
    module = MODULES["encoder 2 float16"]()
    wrong = planted(FAULTS["a large epsilon"], module)
    found = Numbers(module, drawn_calls(module, 0, 1)).judge_module(wrong)
    assert isinstance(found, Wrong) and found.how == IN_FLOAT64


DEEP = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float16")):
        with R.dataflow():
            y = R.astype(x, dtype="float16")
            z = R.matmul(R.matmul(R.matmul(R.matmul(y, w), w), w), w)
            out = R.subtract(z, R.mean(z, axis=[1], keepdims=True))
            R.output(out)
        return out
"""


def times_a_sum_of_constants(count: int, number: float) -> Any:
    """A product of matmuls of float16 in which nothing is decided, times a sum that FoldConstant computes."""
    x, w = (relax.Var(name, relax.TensorType(shape, "float16")) for name, shape in (("x", (4, 8)), ("w", (8, 8))))
    builder = relax.BlockBuilder()
    with builder.function("main", [x, w]):
        with builder.dataflow():
            z = x
            for _ in range(4):
                z = builder.emit(relax.op.matmul(z, w))
            centred = relax.op.subtract(z, relax.op.mean(z, axis=[1], keepdims=True))
            total = builder.emit(relax.op.sum(relax.const(np.full(count, number, "float16"))))
            out = builder.emit_output(relax.op.multiply(centred, total))
        builder.emit_func_output(out)
    return builder.get()


def test_what_is_folded_in_16_bits_may_be_off_by_more_than_one_rounding() -> None:
    """A sum of equal terms in float16 stops growing: right for FoldConstant, and far from the sum in float64."""
    random = np.random.default_rng(3)
    arguments = random.normal(size=(4, 8)).astype("float16"), random.normal(size=(8, 8)).astype("float16")
    module = times_a_sum_of_constants(4096, 0.01)
    numbers = Numbers(module, [EntryCall("main", arguments)])
    legalised = relax.transform.LegalizeOps()(module)
    assert numbers.judge_module(legalised) is None
    folded = relax.transform.FoldConstant()(legalised)
    assert folded.script().count("R.call_tir") == legalised.script().count("R.call_tir") - 1
    assert not isinstance(numbers.judge_module(folded), Wrong)
    assert not isinstance(numbers.judge_module(relax.transform.CanonicalizeBindings()(folded)), Wrong)


def test_a_pass_that_puts_another_constant_in_the_place_of_one_folds_nothing() -> None:
    one, other = (narrow_contents(times_a_sum_of_constants(4, number)) for number in (0.5, 0.25))
    assert one.constants != other.constants
    assert not other.folded_from(one)


def test_a_conversion_that_the_program_asks_for_is_no_difference() -> None:
    """Inputs that are not of 16 bits are rounded once, before and after, whoever makes the conversion."""
    random = np.random.default_rng(3)
    arguments = random.normal(size=(4, 8)).astype("float32"), random.normal(size=(8, 8)).astype("float16")
    module = module_of(DEEP)
    numbers = Numbers(module, [EntryCall("main", arguments)])
    assert any(numbers.starting.results[0].widths), "the worst case must decide nothing here"
    assert numbers.judge_module(relax.transform.LegalizeOps()(module)) is None


SUMS = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def total(x: T.Buffer((4096,), "DTYPE"), y: T.Buffer((1,), "DTYPE"), z: T.Buffer((1,), "DTYPE")):
        with T.sblock("first"):
            y[0] = T.DTYPE(0)
        for i in range(4096):
            with T.sblock("sum"):
                v = T.axis.reduce(4096, i)
                y[0] = y[0] + x[v]
        with T.sblock("conversion"):
            z[0] = T.Cast("DTYPE", T.Cast("float32", y[0]) + T.float32(0.0001))
"""


@pytest.mark.parametrize("dtype, numpy", [("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16)])
def test_sums_of_16_bits_are_exact_and_conversions_round(dtype: str, numpy: Any) -> None:
    function = module_of(SUMS.replace("DTYPE", dtype))["total"]
    x = np.ones(4096, np.float64)
    y, z = np.zeros(1), np.zeros(1)
    run_tracked(function, [x, y, z], [None, None, None], context=WIDENED)
    assert y[0] == 4096.0 and z[0] == float(numpy(4096.0001))
    narrow = [np.ones(4096, numpy), np.zeros(1, numpy), np.zeros(1, numpy)]
    run_tracked(function, narrow, [None, None, None], context=ALONE)
    assert float(narrow[1][0]) < 4096.0, "one after another, ones are lost in 16 bits"


BITS = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def bits(x: T.Buffer((1,), "float16"), y: T.Buffer((1,), "int16")):
        with T.sblock("one"):
            y[0] = T.reinterpret("int16", x[0])
"""


def test_bits_have_no_meaning_in_float64() -> None:
    function = module_of(BITS)["bits"]
    with pytest.raises(Unsupported, match="reinterpret"):
        run_tracked(function, [np.ones(1), np.zeros(1, np.int16)], [None, None], context=WIDENED)


def test_memory_of_16_bits_is_not_taken_for_float64() -> None:
    function = module_of(BITS)["bits"]
    with pytest.raises(Unsupported, match="memory of float16"):
        run_tracked(function, [np.ones(1, np.float16), np.zeros(1, np.int16)], [None, None], context=WIDENED)


def test_constants_that_are_no_tensors_are_passed_over() -> None:
    """Lowered calls take names and dtypes as constants."""
    module = module_of(DEEP.replace("w: R.Tensor", "c: R.Tensor((8, 8), 'float16'), w: R.Tensor"))
    for name in ("LegalizeOps", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite", "StaticPlanBlockMemory"):
        module = getattr(relax.transform, name)()(module)
    assert "R.dtype" in module.script()
    assert narrow_contents(module).constants == frozenset()
