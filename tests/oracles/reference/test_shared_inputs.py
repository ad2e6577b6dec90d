"""Calls in place whose operands are one tensor: as Relax says them, and once they are lowered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import relax

from generators.case import EntryCall
from oracles.reference.calling import direct
from oracles.reference.engine import Interpreter
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure
from oracles.reference.recorded_run import RecordedRun
from tests.oracles.oracle_bench import module_of

TWICE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({ATTRIBUTES})
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                A[v] = A[v] + B[PLACE]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.add(x, x)
        z = R.call_tir_inplace(cls.f, (y, y), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
        return z
"""


@pytest.mark.parametrize("attributes", ['{"tirx.noalias": True}', "{}"])
@pytest.mark.parametrize(("place", "agrees"), [("v", True), ("3 - v", False)])
def test_one_tensor_twice_is_left_open_where_sharing_tells(attributes: str, place: str, agrees: bool) -> None:
    """CallTIRRewrite lowers the call as it is: it is not to blame for what the call in place says."""
    module: Any = module_of(TWICE.replace("{ATTRIBUTES}", attributes).replace("PLACE", place))
    numbers = Numbers(module, [EntryCall("main", (np.arange(4, dtype=np.float32),))])
    lowered = relax.transform.CallTIRRewrite()(relax.transform.LegalizeOps()(module))
    outcome = numbers.judge_module(lowered)
    if agrees:
        assert not isinstance(numbers.expected, NoMeaning)
        (result,) = numbers.expected
        assert result.value.tolist() == [0, 4, 8, 12] and outcome is None  # type: ignore[union-attr]
    else:
        assert isinstance(numbers.expected, NoMeaning) and isinstance(outcome, Unsure)


@pytest.mark.parametrize("attributes", ['{"tirx.noalias": True}', "{}"])
def test_a_call_of_one_tensor_twice_is_recorded_as_any_other(attributes: str) -> None:
    """Else a pass that changes the function would be judged by its other calls alone."""
    module: Any = module_of(TWICE.replace("{ATTRIBUTES}", attributes).replace("PLACE", "v"))
    lowered = relax.transform.CallTIRRewrite()(relax.transform.LegalizeOps()(module))
    run = RecordedRun(lowered, direct, frozenset())
    Interpreter(lowered, recorded=run).run(EntryCall("main", (np.arange(4, dtype=np.float32),)))
    assert [call.function.same_as(lowered["f"]) for call in run.record] == [False, True]
