"""Numbers before and after a pass on foreign modules: what is compared, and what counts as interpreted."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax

from corpus.scripts.module_text import live_module
from fuzzer.trial.foreign.contracts import Contract, Knowledge, keeps_meaning, row_of_no_table
from fuzzer.trial.foreign.foreign_trial import ForeignBench
from fuzzer.trial.foreign.gaps import Gap
from fuzzer.trial.foreign.unpromised_numbers import GONE, Compared, compared
from generators import tvm_api as T
from generators.case import ModuleText, PassCall
from generators.passes.table import PASSES, TIR_PIPELINE
from oracles.verdict import Failed, Passed, Skipped
from tests.oracles.oracle_bench import step_between

LOOPS = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True, private=True)
    def helper(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)

    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)
"""
RELAX = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        z: R.Tensor((2, 3), "float32") = R.subtract(x, y)
        return z
"""
PACKED = RELAX.replace("R.subtract(x, y)", 'R.call_dps_packed("mine", (x, y), out_ty=R.Tensor((2, 3), "float32"))')


def module_of(script: str) -> tvm.ir.IRModule:
    return live_module(ModuleText(script))


def without(module: tvm.ir.IRModule, *names: str) -> tvm.ir.IRModule:
    left = {variable: f for variable, f in module.functions.items() if variable.name_hint not in names}
    return tvm.ir.IRModule(left)


def judged(before: Any, after: Any, keeps: bool) -> Compared:
    row = row_of_no_table("Mine", frozenset({"Mine"} if keeps else ()))
    step = step_between(PassCall("Mine", ""), row, before, after)
    return compared(step, Contract(row, Knowledge.NOTHING), ForeignBench(None, before))


@pytest.mark.parametrize(("keeps", "kind"), [(True, Failed), (False, Skipped)])
def test_both_sides_are_interpreted_whatever_the_pass_promises(keeps: bool, kind: type) -> None:
    found = judged(module_of(RELAX), module_of(RELAX.replace("R.subtract", "R.add")), keeps)
    assert isinstance(found.verdict, kind)
    assert found.missing is None


def test_a_module_that_is_called_otherwise_gets_inputs_of_its_own() -> None:
    after = RELAX.replace(', y: R.Tensor((2, 3), "float32")', "").replace("R.subtract(x, y)", "R.add(x, x)")
    found = judged(module_of(RELAX), module_of(after), keeps=False)
    assert (type(found.verdict), found.missing) == (Skipped, None)


@pytest.mark.parametrize(("before", "after"), [(PACKED, RELAX), (RELAX, PACKED)])
def test_what_the_reference_does_not_know_is_missing(before: str, after: str) -> None:
    assert judged(module_of(before), module_of(after), keeps=False).missing == Gap(
        "reference: packed function mine", by_nature=True
    )


@pytest.mark.parametrize("keeps", [True, False])
def test_a_private_function_may_go(keeps: bool) -> None:
    module = module_of(LOOPS)
    found = judged(module, without(module, "helper"), keeps)
    assert (type(found.verdict), found.missing) == (Passed if keeps else Skipped, None)


def test_a_public_function_may_not_go() -> None:
    module = module_of(LOOPS)
    found = judged(module, without(module, "main"), keeps=True)
    assert isinstance(found.verdict, Failed)
    assert "undefined-variable" in found.verdict.symptom


def test_a_wrong_store_is_found_in_a_prim_func_without_callers() -> None:
    found = judged(module_of(LOOPS), module_of(LOOPS.replace("float32(1)", "float32(2)")), keeps=True)
    assert isinstance(found.verdict, Failed)
    assert found.verdict.symptom == "wrong result"


def test_nothing_is_left_to_interpret() -> None:
    module = module_of(LOOPS)
    assert judged(module, without(module, "main", "helper"), keeps=False).missing == GONE


@pytest.mark.parametrize(
    ("name", "keeps"), [("LegalizeOps", True), ("DecomposeOpsForInference", False), ("DecomposeOpsForTraining", False)]
)
def test_what_a_whole_keeps_follows_from_its_parts(name: str, keeps: bool) -> None:
    contract = Contract(PASSES[name], Knowledge.ROW, PASSES[name].sources[0])
    assert keeps_meaning(contract, tvm.ir.IRModule({})) is keeps


def test_packed_functions_are_called_by_what_their_assertions_spell() -> None:
    module = without(relax.transform.LegalizeOps()(module_of(RELAX)), "main")
    names = ("AttachGlobalSymbol", *TIR_PIPELINE[: TIR_PIPELINE.index("tirx.MakePackedAPI") + 1])
    with tvm.target.Target("llvm", host="llvm"):
        for name in names:
            module = eval(PASSES[name].sources[0], dict(T.PASS_NAMES))(module)
    after = tvm.tirx.transform.LowerTVMBuiltin()(module)
    found = judged(module, after, keeps=True)
    assert (type(found.verdict), found.missing) == (Passed, None)
