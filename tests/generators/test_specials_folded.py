"""Special floats as constants that FoldConstant evaluates, and through the PrimFuncs that LegalizeOps makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tvm
import tvm_ffi
from tvm import relax

from generators import tvm_api
from generators.case import EntryCall
from oracles.reference.compare import Agreement, compare
from oracles.reference.engine import Interpreter
from tests import operator_harness as harness
from tests.generators.test_operators_specials import SAMPLES, TAKING, decided, special_calls

Prepare = Callable[[harness.Sample, EntryCall], tuple[Any, EntryCall]]


def as_constants(sample: harness.Sample, call: EntryCall) -> tuple[Any, EntryCall]:
    """The legalised module with its tensors bound to constants; shapes stay arguments. FoldConstant runs PrimFuncs."""
    bound = {
        var: tvm_api.to_tensor(sample.inputs[var.name], str(sample.inputs[var.name].dtype))
        for var in sample.function.params
        if not isinstance(sample.inputs[var.name], tuple)
    }
    left = tuple(
        argument
        for var, argument in zip(sample.function.params, call.arguments, strict=True)
        if isinstance(sample.inputs[var.name], tuple)
    )
    module = relax.transform.BindParams("main", bound)(sample.module)
    with tvm.target.Target("llvm"):
        return relax.transform.LegalizeOps()(module), EntryCall(call.function, left)


def as_arguments(sample: harness.Sample, call: EntryCall) -> tuple[Any, EntryCall]:
    """The module as it was drawn."""
    return sample.module, call


WAYS: dict[str, tuple[Prepare, Callable[[], Any]]] = {
    "FoldConstant": (as_constants, relax.transform.FoldConstant),
    "LegalizeOps": (as_arguments, relax.transform.LegalizeOps),
}


NOT_FOLDED = {
    "relax.full": "LegalizeOps raises TypeError in topi.full where the fill value is a constant",
    "relax.full_like": "the same",
    "relax.index_tensor": "FoldConstant left the drawn calls as they were; why is not known",
}
"""Operators whose calls FoldConstant was not seen to evaluate."""
WRONG = {"relax.slice_scatter": "LegalizeOps computes its indices wrongly (corpus/known.toml)"}
"""Operators whose code is wrong on some calls, whatever their elements are."""
PAIRS = [
    (name, way)
    for name in TAKING
    for way in WAYS
    if name not in WRONG and (way != "FoldConstant" or name not in NOT_FOLDED)
]


@pytest.mark.parametrize(
    ("name", "way"),
    [pytest.param(*pair, marks=[pytest.mark.deep] if place % 9 else []) for place, pair in enumerate(PAIRS)],
)
def test_specials_come_through(name: str, way: str) -> None:
    prepare, make = WAYS[way]
    elements = rewritten = 0
    for (sample, call), _ in zip(special_calls(name), range(SAMPLES), strict=False):
        module, entry = prepare(sample, call)
        expected = Interpreter(sample.module, bounded=True).run(call)
        with tvm.target.Target("llvm"), tvm.transform.PassContext(opt_level=3):
            changed = make()(module)
        outcome = compare(expected, Interpreter(changed).run(entry))
        assert isinstance(outcome, Agreement), (sample.seed, outcome, call.arguments)
        elements += decided(expected)
        rewritten += not tvm_ffi.structural_equal(changed, module)
    assert elements
    assert rewritten
