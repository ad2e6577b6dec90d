"""Which primitive of a schedule is blamed, and in whose code for a pass it fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tvm import s_tir

from corpus.causes.culprit import culprit_in
from corpus.reduce import Candidate
from corpus.scripts.schedule import grown
from corpus.store import read_case
from fuzzer.protocol import Plan
from fuzzer.trial.cause import primitives
from fuzzer.trial.cause.facts import cause_in
from fuzzer.trial.cause.stored_cause import cause_of_case
from fuzzer.trial.repertoire import Repertoire
from generators.case import EntryCall, PassCall
from generators.passes.dlight import ROWS, rule_source
from generators.passes.row import Role
from generators.passes.table import PASSES, default_call, the
from oracles.checks import numeric
from oracles.ir.scheduled import Misdone
from oracles.verdict import WRONG_RESULT, Failed
from tests.oracles.oracle_bench import module_of

SCHEDULE = the(Role.SCHEDULES).name
CASES = Path(__file__).parents[3] / "corpus" / "cases"
SOURCE = (
    "tvm.transform.module_pass(lambda mod, ctx: (sch := tvm.s_tir.Schedule(mod), sch.work_on('prim'), {}, "
    "sch.mod)[-1], opt_level=0)"
)


def test_a_schedule_grows_primitive_by_primitive() -> None:
    steps = 'sch.split(1), (b := sch.get_sblock("b"), sch.fuse(b)), sch.reorder(2)'
    found = list(grown(SOURCE.format(steps)))
    assert [name for name, _ in found] == ["split", "fuse", "reorder"]
    assert "fuse" not in found[0][1] and "get_sblock" in found[1][1] and "reorder" not in found[1][1]
    assert list(grown("tirx.transform.StmtSimplify()")) == []


PADDED = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((T.int64(2), T.int64(2)), "float32"), C: T.Buffer((T.int64(2), T.int64(1)), "float32")):
        R = T.sblock_alloc_buffer((T.int64(2), T.int64(1)), "float32")
        for i, j, k in T.grid(T.int64(1), T.int64(1), T.int64(2)):
            with T.sblock("sum"):
                v, w, r = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    R[v, w] = T.float32(0)
                R[v, w] = R[v, w] + {summed}
        for i, j in T.grid(T.int64(2), T.int64(1)):
            with T.sblock("pad"):
                v, w = T.axis.remap("SS", [i, j])
                C[v, w] = T.if_then_else(T.int64(1) <= v, R[v - T.int64(1), w], T.float32(0))

    @R.function
    def main(x: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 1), "float32"):
        cls = Module
        y = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((2, 1), "float32"))
        return y
"""
BY_HAND = SOURCE.format(
    'sch.annotate(sch.get_loops(sch.get_sblock("sum"))[0], "mine", 1), '
    'sch.split(sch.get_loops(sch.get_sblock("sum"))[2], [None, 1]), '
    'sch.reverse_compute_at(sch.get_sblock("pad"), sch.get_loops(sch.get_sblock("sum"))[0]), '
    'sch.unroll(sch.get_loops(sch.get_sblock("sum"))[1])'
)


def cause_of_wrong(culprit: str, source: str, summed: str, scratch: Path) -> str:
    inputs = np.arange(4, dtype=np.float32).reshape(2, 2)
    case = Candidate(
        module_of(PADDED.format(summed=summed)), (), (PassCall(culprit, source),), (EntryCall("main", (inputs,)),)
    )
    plan, failed = Plan(0, targets=("cuda",), scratch=str(scratch)), Failed(WRONG_RESULT, "value: [0] is 1.0, not 0.0")
    named = str(culprit_in(culprit, case.passes))
    return str(cause_in(numeric.ORACLE.name, failed, named, case, plan, Repertoire(PASSES)).cause)


@pytest.mark.parametrize("summed", ["A[v, r]", "T.exp(T.max(A[v, r], A[v, r] * T.float32(2)))"])
def test_a_wrong_primitive_is_one_cause_in_a_drawn_schedule_and_in_a_rule_of_dlight(
    summed: str, tmp_path: Path
) -> None:
    """Whatever the blocks compute, and whatever else the schedule does before and after."""
    by_hand = cause_of_wrong(SCHEDULE, BY_HAND, summed, tmp_path)
    rule = default_call("s_tir.dlight.gpu.Reduction")
    assert by_hand == cause_of_wrong(rule.name, rule.source, summed, tmp_path)
    assert by_hand == read_case(CASES / "schedule-reverse-compute-at-padding").cause
    assert by_hand == f"s_tir.Schedule[reverse_compute_at]: value: {Misdone.LOSES_ITERATION.value}"


@pytest.mark.deep
def test_a_rule_that_marks_what_it_must_not_is_the_cause_itself(tmp_path: Path) -> None:
    """set_scope takes the word of its caller that no other thread reads the buffer."""
    found = cause_of_case(CASES / "dlight-gpu-rms-norm-of-two-axes", tmp_path)
    assert str(found) == "s_tir.dlight.gpu.RMSNorm: value: wrong from set_scope on"


def test_marks_and_rules_are_what_tvm_and_the_pass_table_have() -> None:
    assert all(hasattr(s_tir.Schedule, name) for name in primitives.MARKS)
    assert all(rule_source(call) for call in (PassCall(row.name, row.sources[0]) for row in ROWS))
    assert rule_source(default_call("FuseOps")) == ""


@pytest.mark.parametrize(
    ("case", "operators"),
    [
        ("convert-layout-reduction-of-a-scalar", "on a reduction"),
        ("convert-layout-adaptive-pool-out-layout", "on nn.adaptive_avg_pool2d, nn.conv2d"),
    ],
)
def test_only_the_operator_counts_in_whose_code_a_pass_fails(case: str, operators: str, tmp_path: Path) -> None:
    """ConvertLayout asks each; where one raises, max has answered and does not matter. It fails by itself, too."""
    assert str(cause_of_case(CASES / case, tmp_path)).endswith(operators)
