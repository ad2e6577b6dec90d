"""A wrong kernel that is folded has the cause of the build that made it, or else is told by its operator and dtype."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tvm
from tvm import relax

from corpus.causes.failure_facts import Rewrite
from corpus.reduce import Candidate, candidate_of
from corpus.registry import CASES as CASES_BESIDE
from corpus.registry import SHIPPED
from corpus.store import read_case
from fuzzer.protocol import Plan
from fuzzer.trial.cause.facts import cause_in
from fuzzer.trial.cause.folded import folded
from fuzzer.trial.repertoire import Repertoire
from generators import tvm_api
from generators.case import EntryCall
from generators.passes.table import PASSES, default_call
from generators.tvm_api import Expr, IRModule
from oracles.checks import numeric
from oracles.verdict import CODEGEN, WRONG_RESULT, Failed

CASES = SHIPPED.parent / CASES_BESIDE
FOLDS = "FoldConstant"
SORTS = "DispatchSortScan"


def of_constant(dtype: str, operator: str, lowered: bool = True) -> IRModule:
    """`operator` of a constant."""
    made: Expr = relax.const(np.array([3, 1, 2, 4]).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype), dtype)
    builder = relax.BlockBuilder()
    with builder.function("main", []):
        with builder.dataflow():
            result = builder.emit_output(getattr(relax.op, operator)(made))
        builder.emit_func_output(result)
    module = builder.get()
    if not lowered:
        return module
    with tvm.target.Target("llvm"):
        return relax.transform.LegalizeOps()(relax.backend.DispatchSortScan()(module))


@pytest.mark.parametrize("lowered", [False, True])
def test_what_is_folded_is_told_by_operator_and_dtype(lowered: bool) -> None:
    kinds: set[Rewrite] = set()
    for operator in ("exp", "sin"):
        for dtype in ("float32", "float16"):
            start = of_constant(dtype, operator, lowered=False)
            before = of_constant(dtype, operator, lowered=lowered)
            after = relax.transform.FoldConstant()(before)
            found = folded(before, after, start)
            assert found is not None
            kinds.add(found)
    assert len(kinds) == 4
    assert "exp on float16 -> a constant" in set(map(str, kinds))


def test_what_is_overwritten_in_place_is_not_folded() -> None:
    """FoldConstant gives such a call a constant to write to, which is its own mistake."""
    case = candidate_of(read_case(CASES / "fold-constant-makes-a-module-constant-the-destination-of").case)
    after = relax.transform.FoldConstant()(case.module)
    assert not tvm_api.structural_equal(case.module, after)
    assert folded(case.module, after, case.module) is None


@pytest.mark.parametrize("blamed", [FOLDS, CODEGEN])
def test_a_wrong_kernel_has_the_cause_of_the_pass_that_makes_it_wrong(blamed: str, tmp_path: Path) -> None:
    start = of_constant("bfloat16", "argsort", lowered=False)
    passes = tuple(map(default_call, (SORTS, FOLDS) if blamed == FOLDS else (SORTS,)))
    case = Candidate(start, (), passes, (EntryCall("main", ()),))
    failed = Failed(WRONG_RESULT, "value: output 0[0] is 1, not 0")
    oracle = numeric.ORACLE.name if blamed == FOLDS else "build"
    found = cause_in(oracle, failed, blamed, case, Plan(0, scratch=str(tmp_path)), Repertoire(PASSES)).cause
    assert str(found) == "tirx.BF16ComputeLegalize: type: nothing -> Evaluate with another type"
