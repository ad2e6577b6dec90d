"""What is found out of failures of builds and of stored cases, for their causes."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tvm
from tvm import relax

from benchmarks.bench_causes import compared
from corpus.causes.cause import UNCERTAIN
from corpus.reduce import Candidate, candidate_of
from corpus.registry import SHIPPED, read_registry
from corpus.replayable import case_folders
from corpus.scripts.module_text import live_module
from corpus.store import read_case
from fuzzer.protocol import Plan
from fuzzer.trial.cause import facts
from fuzzer.trial.cause.facts import cause_in
from fuzzer.trial.cause.stored_cause import cause_of_case
from fuzzer.trial.repertoire import Repertoire
from generators.case import EntryCall, ModuleText
from generators.passes.dlight import rules_in
from generators.passes.table import PASSES, default_call, with_trait
from generators.passes.traits import Asks
from oracles.checks import numeric, pipelines, survives
from oracles.checks.legalised import LEGALIZE
from oracles.evidence import Died
from oracles.forked import ChildRaised
from oracles.nested import running_at_end
from oracles.verdict import CODEGEN, CRASH, DOES_NOT_BUILD, INPUT_CHANGED, Failed
from tests.corpus.test_throw_site import BACKTRACE, TRACEBACK, frame

CASES = Path(__file__).parents[3] / "corpus" / "cases"
MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = R.abs(x)
        return y
"""


RULES = ("Matmul", "GEMV", "Reduction", "GeneralReduction", "Fallback")
SCHEDULES = "ApplyDefaultSchedule"
FAILED = Failed(
    CRASH, "KeyError", TRACEBACK + frame("src/relax/transform/fuse_tir.cc", "tvm::relax::f()") + "KeyError: 'nothing'\n"
)


def planted(name: str, action: Any) -> Any:
    return tvm.transform.module_pass(lambda module, context: action(module), opt_level=0, name=name)


def raises(module: Any) -> Any:
    raise KeyError("nothing")


def pipeline(action: Any) -> Any:
    inner = tvm.transform.Sequential([planted("LegalizeOps", lambda module: module), planted("FuseTIR", action)])
    return planted("_pipeline", inner)


def cause(monkeypatch: pytest.MonkeyPatch, action: Any, failed: Failed, tmp_path: Path) -> str:
    monkeypatch.setattr(relax, "get_pipeline", lambda name: pipeline(action))
    case = Candidate(live_module(ModuleText(MODULE)), (), (), (EntryCall("main", ()),))
    plan = Plan(0, scratch=str(tmp_path))
    return str(cause_in("pipelines", failed, pipelines.DEFAULT_BUILD, case, plan, Repertoire(PASSES)).cause)


def test_the_pass_in_which_a_pipeline_raises_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failed = Failed(DOES_NOT_BUILD, "KeyError", TRACEBACK + frame("/mine.py", "raises") + "KeyError: 'nothing'\n")
    assert cause(monkeypatch, raises, failed, tmp_path) == "FuseTIR: KeyError: <name>"


def test_the_pass_in_which_a_pipeline_dies_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failed = Failed(CRASH, "SIGSEGV", "", evidence=Died("SIGSEGV"))
    found = cause(monkeypatch, lambda module: ctypes.string_at(0), failed, tmp_path)
    assert found == f"{UNCERTAIN}FuseTIR: ends by SIGSEGV on an elementwise operator of 1"


def test_a_pipeline_whose_code_dies_by_a_wrong_plan_of_memory_has_the_cause_of_the_plan(tmp_path: Path) -> None:
    """The run-time library ends wherever memory is planned wrongly: its function says nothing."""
    stored = read_case(CASES / "static-plan-block-memory-branch")
    died = Failed(CRASH, "SIGSEGV", BACKTRACE, evidence=Died("SIGSEGV"))
    plan, case = Plan(0, scratch=str(tmp_path)), replace(candidate_of(stored.case), setup=(), passes=())
    for culprit in (pipelines.DEFAULT_BUILD, pipelines.TARGET_DEFAULT):
        found = cause_in("pipelines", died, culprit, case, plan, Repertoire(PASSES))
        assert str(found.cause) == stored.cause


def test_a_fault_of_ours_leaves_the_finding_with_a_guess_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_fault(_module: Any) -> tuple[str, ...]:
        raise ZeroDivisionError("ours")

    stored = read_case(CASES / "17175-ewise-fma")
    plan, repertoire = Plan(0, scratch=str(tmp_path)), Repertoire(PASSES)
    before = cause_in("survives", FAILED, "LegalizeOps", candidate_of(stored.case), plan, repertoire)
    assert before.cause.certain and before.own_fault == ""
    monkeypatch.setattr(facts, "contents", at_fault)
    found = cause_in("survives", FAILED, "LegalizeOps", candidate_of(stored.case), plan, repertoire)
    assert "ZeroDivisionError" in found.own_fault and "looking for the cause" in found.own_fault
    assert str(found.cause) == f"{UNCERTAIN}{before.cause}"


def test_passes_that_have_ended_are_not_running() -> None:
    noted: list[tuple[str, ...]] = []
    module = live_module(ModuleText(MODULE))

    def apply(seen: Any) -> None:
        with tvm.transform.PassContext(instruments=[seen]), pytest.raises(KeyError):
            pipeline(raises)(module)

    running = running_at_end(apply, lambda names: noted.append(tuple(names)))
    assert running[0] == "_pipeline"
    assert running[-1] == "FuseTIR"
    assert "LegalizeOps" not in running
    assert any(names[-1:] == ("LegalizeOps",) for names in noted)


@pytest.mark.parametrize(
    ("case", "cause"),
    [
        ("17175-ewise-fma", "LegalizeOps: relax.ewise_fma has no legalisation"),
        ("17175-unknown-shape-operand", "LegalizeOps: leaves an operator with operands of unknown shape or dtype"),
        ("17231-lift-transform-params-returned-weight", "LiftTransformParams: a value is gone and still returned"),
        ("17340-kill-after-last-use-in-dataflow", "KillAfterLastUse: an effect where none may be: the end of a life"),
        ("bf16-compute-legalize-let", "tirx.BF16ComputeLegalize: fails in the constructor of a binding in TIR"),
        ("schedule-input-changed", "s_tir.Schedule: changes the module that it is given"),
        ("thread-sync-asks-the-innermost-thread-alone", "s_tir.ThreadSync[shared]: data-race: changes nothing"),
    ],
)
def test_a_stored_case_has_the_cause_that_the_issue_tells(case: str, cause: str, tmp_path: Path) -> None:
    assert str(cause_of_case(CASES / case, tmp_path)) == cause


LET_BEFORE_ITS_LAST_USE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def prim(B: T.Buffer((2, 2, 2), "int64")):
        for i, j in T.grid(2, 2):
            x = T.int32()
            B[i, 0, 0] = T.Let(T.Cast("int64", j + 3), where={x: T.Cast("int32", T.Cast("int64", j))})
            B[i, 0, 0] = T.if_then_else(i < 1, T.Cast("int64", j + 3), T.Cast("int64", j + 3))

    @R.function
    def main() -> R.Tensor((2, 2, 2), dtype="int64"):
        cls = Module
        a = R.call_tir(cls.prim, R.tuple(), out_ty=R.Tensor((2, 2, 2), dtype="int64"))
        return a
"""
"""CommonSubexprElim binds what the body of the Let uses behind it: j + 3."""


@pytest.mark.parametrize(
    ("script", "where"),
    [
        (LET_BEFORE_ITS_LAST_USE, "tirx.CommonSubexprElim"),
        (
            LET_BEFORE_ITS_LAST_USE.replace("j + 3", "j"),
            "src/tirx/analysis/var_use_def_analysis.cc: tirx::VarUseDefAnalyzer::HandleDef",
        ),
    ],
)
def test_a_use_before_its_definition_is_of_the_pass_of_the_build_that_put_it_there(
    script: str, where: str, tmp_path: Path
) -> None:
    """The second module is left well-formed by every pass: the place that refuses is all that is known."""
    module = live_module(ModuleText(script))
    raised = frame(
        "/project/src/tirx/analysis/var_use_def_analysis.cc",
        "void tvm::tirx::VarUseDefAnalyzer::HandleDef(const tvm::tirx::Var&)",
    )
    said = "tvm.error.InternalError: Check failed: (!use_count_.count(v)) is false: variable cse_v1 has been used\n"
    failed = Failed(DOES_NOT_BUILD, "InternalError", f"Traceback (most recent call last):\n{raised}{said}")
    plan = Plan(0, scratch=str(tmp_path))
    found = cause_in("build", failed, CODEGEN, Candidate(module, (), (), ()), plan, Repertoire(PASSES)).cause
    assert found.where == where
    assert found.certain
    assert ("undefined variable" in found.what) == (where == "tirx.CommonSubexprElim")


ONE_BUG = {
    frozenset({"bf16-compute-legalize-bind", "bf16-compute-legalize-let"}),
    frozenset({"lower-intrin-nested-floordiv", "lower-intrin-nested-floordiv-build"}),
}
"""Cases in the corpus that show one mistake. BF16ComputeLegalize copies the old type of a binding's value, in a Let and
in a Bind (src/tirx/transform/unsupported_dtype_legalize.cc). LowerIntrin writes an operand that holds a Let twice,
which its own oracle sees, and a build."""


@pytest.fixture(scope="module")
def causes_today(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The causes of all cases of the corpus that fail here, computed anew, by the name of the case."""
    scratch, found = tmp_path_factory.mktemp("causes"), {}
    for folder in case_folders(CASES):
        try:
            cause = cause_of_case(folder, scratch)
        except ChildRaised:  # Its pass is in the table of another version.
            continue
        if cause is not None:
            found[folder.name] = str(cause)
    assert len(found) > 300
    return found


@pytest.mark.deep
def test_no_two_bugs_of_the_corpus_have_one_cause(causes_today: dict[str, str]) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for name, cause in causes_today.items():
        found[cause].add(name)
    assert {frozenset(names) for names in found.values() if len(names) > 1} == ONE_BUG


@pytest.mark.deep
def test_the_registry_knows_each_case_of_the_corpus_by_its_cause_of_today(causes_today: dict[str, str]) -> None:
    """Causes are compared with `==`: a rule or a word that changes must change in the registry too."""
    registry = read_registry(SHIPPED)
    known = {name: registry.match(str(read_case(CASES / name).cause)) for name in causes_today}
    assert None not in known.values()
    assert {name: cause for name, cause in causes_today.items() if registry.match(cause) is not known[name]} == {}


def test_pairs_are_counted_within_the_clusters() -> None:
    clusters = {"one": ["a", "b", "c"], "two": ["d"], "three": ["e"]}
    pairs = compared({"a": "x", "b": "x", "c": "y", "d": "y", "e": "z", "unread": "z"}, clusters)
    assert pairs.apart == (("a", "c"), ("b", "c"))
    assert pairs.merged == (("c", "d"),)
    assert (pairs.same, pairs.other) == (3, 7)


def test_what_a_legalisation_logs_stays_with_a_finding_so_that_a_limit_can_quote_it(tmp_path: Path) -> None:
    stored = read_case(CASES / "legalize-ops-leaves-convolutions-with-other-output-layouts")
    assert stored.culprit is not None
    failed = Failed(stored.symptom or "", stored.message or "", "", stored.culprit)
    plan = Plan(0, scratch=str(tmp_path))
    found = cause_in("executable", failed, stored.culprit, candidate_of(stored.case), plan, Repertoire(PASSES))
    (limit,) = [entry for entry in read_registry(SHIPPED).entries if entry.case.startswith("legalize-ops-leaves-conv")]
    assert limit.status == "limitation"
    assert limit.matches("another cause", found.logged)
    assert not limit.matches("another cause", stored.message or "")


def test_each_row_that_asks_operators_names_an_attribute_that_some_have() -> None:
    rows = with_trait(Asks)
    names = [str(name) for name in tvm.ir.Op.list_op_names() if str(name).startswith("relax.")]
    assert len(rows) >= 3
    for row, asks in rows:
        assert any(tvm.ir.Op.get(name).get_attr(asks.attribute) is not None for name in names), row.name


def test_a_library_that_fails_in_a_pass_that_lowers_operators_is_told_with_the_operator(tmp_path: Path) -> None:
    """Else one wrong lowering would hide all others that build ill-typed calls."""

    def told(operator: str) -> str:
        text = (
            '@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,), "float32")):\n'
            f"        y = {operator}(x)\n        return y\n"
        )
        case = Candidate(live_module(ModuleText(text)), (), (default_call(LEGALIZE),), ())
        trace = (
            'Traceback (most recent call last):\n  File "/a/site-packages/tvm/ir/transform.py", line 1, in __call__\n'
            '  File "/project/src/relax/op/op_common.h", line 3, in tvm::relax::InferOut()\nTypeError: x and y differ\n'
        )
        failed = Failed(CRASH, "TypeError: x and y differ", trace)
        plan = Plan(0, scratch=str(tmp_path))
        return str(cause_in(survives.ORACLE.name, failed, LEGALIZE, case, plan, Repertoire(PASSES)).cause)

    assert told("R.sort").endswith("relax::InferOut on sort")
    assert told("R.argsort") != told("R.sort")


def test_what_a_pass_has_done_to_its_input_in_place_is_seen(tmp_path: Path) -> None:
    """ApplyDefaultSchedule writes into the module that it is given, and is one with the rule that acts in it."""
    case = Candidate(live_module(ModuleText(MODULE)), (), (default_call(LEGALIZE), default_call(SCHEDULES)), ())
    plan = Plan(0, targets=("cuda",), scratch=str(tmp_path))
    failed = Failed("wrong result", "value: output 0[0] is 1.0, not 0.0")
    found = cause_in(numeric.ORACLE.name, failed, SCHEDULES, case, plan, Repertoire(PASSES)).cause
    assert found.certain and found.where == "s_tir.dlight.gpu.Fallback"
    assert "thread_binding For" in found.what


def test_the_pass_and_no_rule_of_it_writes_into_its_input(tmp_path: Path) -> None:
    """Else one bug would have as many causes as there are rules."""
    case = Candidate(live_module(ModuleText(MODULE)), (), (default_call(LEGALIZE), default_call(SCHEDULES)), ())
    plan, failed = (
        Plan(0, targets=("cuda",), scratch=str(tmp_path)),
        Failed(INPUT_CHANGED, "the pass changed its input"),
    )
    found = cause_in("input_unchanged", failed, SCHEDULES, case, plan, Repertoire(PASSES)).cause
    assert str(found) == f"{SCHEDULES}: changes the module that it is given"


def test_rules_are_in_the_order_in_which_the_pass_tries_them() -> None:
    rules = [call.name for call in rules_in(default_call(SCHEDULES))]
    assert rules == [f"s_tir.dlight.gpu.{name}" for name in RULES]
    assert rules_in(default_call(rules[0])) == () == rules_in(default_call(LEGALIZE))
