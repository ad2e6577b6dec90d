"""The issue of a finding: what a maintainer of TVM reads, and that nothing of ours stands in the way."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from markdown_it import MarkdownIt

from corpus.causes.severity import SEVERITIES
from corpus.finding import Aftermath, Expectation, Finding, ReductionStats
from corpus.findings import save_finding, stored_from
from corpus.issue import issue_text
from corpus.registry import SHIPPED, read_registry
from corpus.scripts.repro import plain_text
from corpus.wording import TAGS, severity_line, title_of_failure, undefined
from generators.case import Case, EntryCall, ModuleText, PassCall, Tier
from oracles.evidence import (
    Died,
    Evidence,
    Hung,
    LeftForVm,
    NotANumber,
    OutOfMemory,
    ReferenceTrap,
    SpoiltProcess,
    TrapKind,
)
from oracles.scripts import script_for
from oracles.verdict import CRASH, DOES_NOT_BUILD, HANG, WRONG_RESULT, Failed
from tests.corpus.markdown_shape import shape
from tests.corpus.test_repro import ADD, RESULT, X
from tests.corpus.test_tracebacks import OF_A_CRASH, OF_CPP, OF_PYTHON
from tests.reports.reports_data import finding as plain_finding

LINK = "https://github.com/apache/tvm/blob/v0.27.0/src/ir/prim/expr.cc#L889"


def finding(
    failed: Failed, oracle: str = "survives", culprit: str = "FuseTIR", aftermath: Aftermath | None = None
) -> Finding:
    case = Case(ModuleText(ADD), (PassCall("FuseTIR", "relax.transform.FuseTIR()"),), (EntryCall("main", (X,)),))
    base = plain_finding(culprit)
    signature = replace(base.signature, oracle=oracle, symptom=failed.symptom, culprit=culprit)
    return replace(
        base, case=case, verdict=failed, oracle=oracle, signature=signature, aftermath=aftermath or Aftermath()
    )


def issue(found: Finding, *similar: tuple[str, str]) -> str:
    return issue_text(found, stored_from(found), similar)


def script_in(text: str) -> str:
    found = re.search(r"```python\n(.*?)\n```", text, re.DOTALL)
    assert found is not None
    return found[1]


RAISED = Failed(CRASH, "InternalError: Check failed: (value.ty() == x) is false: first", OF_CPP)


def test_the_issue_of_an_error() -> None:
    text = issue(finding(RAISED))
    assert (
        text.splitlines()[0]
        == "    [Relax] FuseTIR raises InternalError: Check failed: (value.ty() == x) is false: first"
    )
    assert script_in(text) == plain_text(stored_from(finding(RAISED))).rstrip("\n")
    assert "is false: first\n  second line of the message" in text
    assert f"Raised at [src/ir/prim/expr.cc:889]({LINK}), in `tvm::prim::Let::Let`:\n\n```text\nTraceback" in text
    assert 'File "site-packages/tvm/ir/transform.py", line 171' in text
    assert "workbench" not in text and "/home/me" not in text
    assert "Severity: official pipeline. An official pipeline shows it.\n" in text
    assert "\nFound by a fuzzer (passfuzz) and reduced.\n" in text


def test_an_issue_says_where_the_time_for_making_it_small_ran_out() -> None:
    whole = ReductionStats(9, 2, 0, 0, 5, 1, 41, 0.25)
    cut = replace(whole, out_of_time=True)
    assert "reduced.\n" in issue(replace(finding(RAISED), reduced=whole))
    assert "reduced. The time for that ran out" in issue(replace(finding(RAISED), reduced=cut))


def test_an_issue_says_where_functions_could_not_be_made_smaller() -> None:
    stuck = ReductionStats(9, 9, 0, 0, 5, 1, 3, 0.25, whole=True)
    assert "reduced. Taken apart and built anew, the module does not fail" in issue(
        replace(finding(RAISED), reduced=stuck)
    )


def test_a_finding_s_folder_holds_its_issue(tmp_path: Path) -> None:
    found = finding(RAISED)
    other = ("another", "findings/x")
    assert (save_finding(tmp_path, found, [other]) / "issue.md").read_text() == issue(found, other)


def test_there_is_one_sentence_for_one_fact() -> None:
    for text in (issue(finding(RAISED)), issue(finding(Failed("undefined", "undefined GlobalVar"), "definedness"))):
        prose = [line for line in text.splitlines() if len(line.split()) > 3 and not line.startswith((" ", "File"))]
        assert len(set(prose)) == len(prose)


def test_the_issue_of_a_native_crash() -> None:
    found = finding(Failed(CRASH, "SIGSEGV in codegen", OF_A_CRASH), "build", "StaticPlanBlockMemory")
    text = issue(found)
    assert text.splitlines()[0] == (
        "    [Relax] StaticPlanBlockMemory makes a module that crashes in StorageObj::AllocTensor when it runs"
    )
    assert "SIGSEGV in codegen" not in text
    assert "Severity: official pipeline." in text
    assert "The process crashes when the built module runs, in `tvm::runtime::memory::StorageObj::AllocTensor`." in text
    assert "_PyObject_MakeTpCall" not in text
    assert "# tvm.compile applies StaticPlanBlockMemory." in script_in(text)


def test_the_issue_of_wrong_numbers() -> None:
    change = "--- before\n+++ after\n@@ main @@\n-  a\n+  b\n"
    failed = Failed(WRONG_RESULT, "value: output 0[0] is 1.0, not 4.0 (1 of 2)", difference=change)
    given = Aftermath(outputs=("main: array([1., 16.], dtype=float32)",))
    found = replace(
        finding(failed, "numeric", aftermath=given),
        expectations=(Expectation(0, (RESULT,), (1e-6,)),),
        fault=("The pass is wrong: the reference and the builds say so.",),
    )
    text = issue(found)
    assert text.splitlines()[0] == "    [Relax] FuseTIR gives wrong numbers"
    assert "silent wrong result" in text
    expected = text[text.index("## Expected") : text.index("## Actual")]
    assert "main: array([ 4., 16.], dtype=float32)" in expected
    assert "main: array([1., 16.], dtype=float32)" in text[text.index("## Actual") :]
    assert f"```diff\n{change}```" in text
    assert "The pass is wrong: the reference and the builds say so." in text


def test_the_issue_of_an_ill_formed_module_holds_what_the_verifier_says() -> None:
    by = "relax.analysis.well_formed(after)"
    seen = Aftermath(by, "ValueError: Var n is not defined.", "--- before\n+++ after\n@@ main @@\n+  n\n")
    text = issue(
        finding(Failed("undefined", "undefined variable", "undefined variable: n"), "definedness", "FuseTIR", seen)
    )
    assert script_in(text).endswith(f"\n{by}")
    assert "free_symbolic_vars" not in text
    assert f"`{by}` says:\n\n```text\nValueError: Var n is not defined.\n```" in text
    assert "## What `FuseTIR` did\n" in text
    plain = issue(finding(Failed("undefined", "undefined variable", "undefined variable: n"), "definedness"))
    assert "free_symbolic_vars" in script_in(plain)
    assert "undefined variable: n" in plain


def test_an_order_is_no_verifier_s_matter() -> None:
    seen = Aftermath("relax.analysis.well_formed(after)", "ValueError: impure", "--- before\n+++ after\n@@ f @@\n+ a\n")
    text = issue(finding(Failed("not executable", "relax.add is left"), "executable", "LegalizeOps", seen))
    assert "ValueError: impure" not in text
    assert "```diff" not in text


def test_a_module_of_json_is_shown_as_text() -> None:
    found = finding(RAISED)
    module = ModuleText(f"# from tvm.script import ir as I\n{ADD}", '{"root_index": 0}')
    text = issue(replace(found, case=replace(found.case, module=module)))
    assert "root_index" not in text
    assert "b = R.multiply(a, a)" in text
    assert "does not read back" in text
    assert 'open("module.json"' in text
    assert "# from tvm.script" not in text


def test_similar_ones_are_named() -> None:
    text = issue(
        finding(RAISED), ("[Relax] x", "https://github.com/apache/tvm/issues/1"), ("mine", "findings/a"), ("z", "")
    )
    assert r"- [\[Relax\] x](https://github.com/apache/tvm/issues/1)" in text
    assert "- mine: `findings/a`" in text
    assert text.endswith("- z\n")
    assert "## Similar" not in issue(finding(RAISED))


@pytest.mark.parametrize("kind", get_args(TrapKind))
def test_what_the_reference_finds_undefined_is_a_sentence_about_the_pass(kind: TrapKind) -> None:
    text = issue(finding(Failed(f"reference trap: {kind}", "main: x", evidence=ReferenceTrap(kind)), "numeric"))
    assert f"## Actual\n\n`FuseTIR` {undefined(kind)}: main: x.\n\nThe reference interpreter" in text
    assert "reference trap" not in text.partition("## Expected")[2]
    assert ("TVM may refuse to build" in text) == script_for(
        "numeric", ReferenceTrap(kind), expectations=False, on_device=False
    ).exception_is_the_bug


def test_what_an_oracle_found_is_told_once() -> None:
    failed = Failed("not executable", "relax.add is left", "relax.add in main\nTVM logs: why", evidence=LeftForVm())
    text = issue(finding(failed, "executable", "LegalizeOps"))
    told = text[text.index("## Actual") :]
    assert "not executable: relax.add is left\n\n```text\nrelax.add in main\nTVM logs: why\n```\n\n## " in told
    assert told.count("TVM logs: why") == 1
    trap = Failed("reference trap: type", "main: x", "entry call 1: main: x", evidence=ReferenceTrap("type"))
    assert issue(finding(trap, "numeric")).count("entry call 1: main: x") == 1


def test_an_issue_says_what_was_found_where_the_verifier_complains_of_something_else() -> None:
    found = Failed("undefined", "undefined variable", "undefined variable: a in main")
    other = Aftermath("relax.analysis.well_formed(after)", "ValueError: main is annotated as pure")
    text = issue(finding(found, "definedness", aftermath=other))
    first, says = text.index("undefined variable: a in main"), text.index("`relax.analysis.well_formed(after)` says:")
    assert text.index("## Actual") < first < says < text.index("ValueError: main is annotated as pure")
    same = Aftermath("relax.analysis.well_formed(after)", "ValueError: the whole\n  of it")
    text = issue(
        finding(Failed("ill-formed", "ValueError: the whole", "ValueError: the whole"), "well_formed", aftermath=same)
    )
    assert text.count("ValueError: the whole") == 2  # in the title and in what the verifier says


def test_the_environment_is_said() -> None:
    assert "## Environment\n\n- TVM: 0.27.0\n" in issue(finding(RAISED))
    rows = (("TVM", "0.27.0.post1"), ("LLVM", "22"))
    assert issue(replace(finding(RAISED), environment=rows)).endswith("- TVM: 0.27.0.post1\n- LLVM: 22\n")


def test_how_to_run_what_needs_more_is_said() -> None:
    trap = Failed("reference trap: uninitialised", "m", evidence=ReferenceTrap("uninitialised"))
    found = replace(finding(trap, "numeric"), expectations=(Expectation(0, (RESULT,), (1e-6,)),))
    assert "`MALLOC_PERTURB_=177`" in issue(found)
    assert "does not end" in issue(finding(Failed(HANG, "no answer", evidence=Hung())))
    assert "`ulimit -v" in issue(finding(Failed(CRASH, "MemoryError", OF_PYTHON, evidence=OutOfMemory())))


def test_a_long_traceback_keeps_both_ends() -> None:
    middle = '  File "<unknown>", line 0, in tvm::deep::visit()\n' * 3000
    text = issue(finding(replace(RAISED, detail=OF_CPP.replace('  File "<unknown>"', f'{middle}  File "<unknown>"'))))
    assert len(text) < 65_536
    assert "[...]" in text
    assert "line 171, in __call__" in text
    assert text.count("second line of the message") == 1


TITLES: list[tuple[Failed, str, str, str]] = [
    (Failed(HANG, "no answer within 4 s", evidence=Hung()), "survives", "tirx.Simplify",
     "[TIRx] Simplify does not end"),
    (Failed(CRASH, "AttributeError: 'GlobalVar' object has no name", OF_PYTHON), "survives", "FastMathTransform",
     "[Relax] FastMathTransform raises AttributeError: 'GlobalVar' object has no name"),
    (Failed(CRASH, "SIGSEGV in s_tir.X", ""), "survives", "s_tir.X", "[S-TIR] X crashes (SIGSEGV in s_tir.X)"),
    (Failed(CRASH, "m", evidence=SpoiltProcess("a lower RLIMIT_NOFILE")), "survives", "FuseOps",
     "[Relax] FuseOps leaves its process with a lower RLIMIT_NOFILE"),
    (Failed(CRASH, "SIGSEGV in codegen", ""), "build", "codegen",
     "[LLVM] tvm.compile crashes, or makes a module that does"),
    (Failed(CRASH, "SIGABRT in tirx.LowerIntrin", ""), "build", "tirx.LowerIntrin",
     "[TIRx] LowerIntrin crashes (SIGABRT in tirx.LowerIntrin)"),
    (Failed(DOES_NOT_BUILD, "InternalError: no code", OF_CPP), "build", "codegen",
     "[LLVM] tvm.compile raises InternalError: no code"),
    (Failed(CRASH, "built a call: InternalError: Check failed: (a) is false:", OF_CPP), "survives", "FuseOps",
     "[Relax] FuseOps raises InternalError: Check failed: (a)"),
    (Failed(WRONG_RESULT, "m", evidence=NotANumber()), "build", "s_tir.dlight.cpu.GEMV",
     "[DLight] cpu.GEMV gives wrong numbers"),
    (Failed("reference trap: use-after-kill", "m", evidence=ReferenceTrap("use-after-kill")), "numeric", "FuseOps",
     "[Relax] FuseOps gives a module that uses a value after its kill"),
    (Failed("ill-formed", "Var x is not defined"), "well_formed", "sym.Analyzer",
     "[Arith] Analyzer gives an ill-formed module: Var x is not defined"),
    (Failed("round-trip", "two modules"), "round_trip", "TVMScript",
     "[TVMScript] TVMScript does not read back what it writes: two modules"),
]  # fmt: skip


@pytest.mark.parametrize(("failed", "oracle", "culprit", "title"), TITLES)
def test_a_title_says_what_happens(failed: Failed, oracle: str, culprit: str, title: str) -> None:
    found = finding(failed, oracle, culprit)
    assert stored_from(found).title == title


@pytest.mark.parametrize(("space", "tag"), [("", "Relax"), ("tirx", "TIRx"), ("s_tir", "S-TIR")])
def test_a_pass_of_the_users_own_has_the_tag_of_its_name_space(space: str, tag: str) -> None:
    found = replace(finding(Failed(WRONG_RESULT, "m"), "numeric", "Mine"), space=space)
    assert stored_from(found).title.startswith(f"[{tag}] Mine gives wrong numbers")
    assert issue(found).startswith(f"    [{tag}] Mine ")


KERNEL = """\
@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32")):
        for i in range(2):
            B[i] = {}

    @R.function
    def main(x: R.Tensor((2,), dtype="int32")) -> R.Tensor((2,), dtype="int32"):
        a = R.call_tir(Module.kernel, (x,), out_ty=R.Tensor((2,), dtype="int32"))
        {}return a
"""
ONE = ADD.replace("R.multiply(a, a)", "a")


@pytest.mark.parametrize(
    ("script", "culprit", "space", "ends"),
    [
        (ONE, "FuseTIR", "", " for add"),
        (ADD, "FuseTIR", "", ""),
        (ONE, "tirx.StmtSimplify", "", ""),
        (ONE, "Mine", "tirx", ""),
        (KERNEL.format("T.abs(A[i])", ""), "codegen", "", " for tir.abs"),
        (KERNEL.format("T.abs(A[i] // 3)", ""), "codegen", "", ""),
        (KERNEL.format("T.abs(T.min(A[i], 3))", ""), "codegen", "", ""),
        (KERNEL.format("A[i] // 3", "a = R.add(a, a)\n        "), "codegen", "", ""),
    ],
)
def test_a_title_names_an_operator_only_where_it_can_be_no_other(
    script: str, culprit: str, space: str, ends: str
) -> None:
    found = replace(finding(Failed(WRONG_RESULT, "m"), "numeric", culprit), space=space)
    title = stored_from(replace(found, case=replace(found.case, module=ModuleText(script)))).title
    assert title.partition(" gives wrong numbers")[2] == ends


def test_what_is_raised_in_the_analyzer_is_tagged_so() -> None:
    detail = OF_CPP.replace("src/ir/prim/expr.cc", "src/arith/int_set.cc")
    assert title_of_failure(stored_from(finding(replace(RAISED, detail=detail))), detail).tag == "Arith"


@pytest.mark.parametrize(
    ("symptom", "evidence", "tier", "said"),
    [
        (WRONG_RESULT, None, "B", "silent wrong result. The pass does it in the phase that it is for."),
        (CRASH, Died("SIGSEGV"), "A", "native crash. An official pipeline shows it."),
        (CRASH, None, "C", "odd order. It takes an order of passes that no pipeline of TVM has."),
    ],
)
def test_a_severity_is_one_of_the_registrys_words(
    symptom: str, evidence: Evidence | None, tier: Tier, said: str
) -> None:
    assert severity_line(symptom, evidence, tier) == f"Severity: {said}"
    assert said.partition(".")[0] in SEVERITIES


def test_the_tier_of_an_issue_is_that_of_its_cause() -> None:
    found = replace(finding(RAISED), tier="C")
    assert "Severity: odd order." in issue(found)
    assert "Severity: official pipeline." in issue_text(found, stored_from(found), tier="A")


def test_the_titles_of_the_registry_have_the_tags_of_issues() -> None:
    tags = {entry.title.partition("]")[0].lstrip("[") for entry in read_registry(SHIPPED).entries}
    assert tags <= set(TAGS)


def test_a_title_is_plain_text_that_no_reader_takes_for_markdown() -> None:
    text = issue(finding(replace(RAISED, message="InternalError: a *b* `c` <img src=x> @someone")))
    first = text.splitlines()[0]
    assert first.startswith("    [Relax]") and "a *b* `c` <img src=x> @someone" in first
    (block,) = [token for token in MarkdownIt().parse(text)[:1]]
    assert block.type == "code_block" and block.content == f"{first.strip()}\n"


def test_a_title_is_cut_between_words() -> None:
    title = stored_from(finding(replace(RAISED, message=f"InternalError: {'word ' * 60}"))).title
    assert len(title) <= 120
    assert title.endswith("word...")


@pytest.mark.parametrize("evidence", [None, Hung(), ReferenceTrap("uninitialised")])
def test_the_parts_stand_in_one_order(evidence: Evidence | None) -> None:
    heads = [line for line in issue(finding(replace(RAISED, evidence=evidence))).splitlines() if line.startswith("## ")]
    order = ["## To reproduce", "## Expected", "## Actual", "## Environment"]
    assert [head for head in order if head in heads] == heads
    assert shape(issue(finding(replace(RAISED, evidence=evidence))))[0] == ("code_block", "code", "")


COMPILE = 'tvm.compile(Module, target="llvm")'


def test_where_an_official_pipeline_dies_its_call_is_the_script() -> None:
    text = issue(replace(finding(RAISED), official=COMPILE))
    script = script_in(text)
    assert script.splitlines()[-1] == COMPILE and "FuseTIR" not in script
    assert "import tvm" in script and "shows it too" not in text
    pipeline = (
        'tvm.compile(Module, target="llvm", relax_pipeline=relax.get_default_pipeline(tvm.target.Target("llvm")))'
    )
    assert "from tvm import relax" in script_in(issue(replace(finding(RAISED), official=pipeline)))


def test_where_it_does_not_die_the_pass_is_and_the_call_is_named() -> None:
    wrong = Failed(WRONG_RESULT, "value: output 0[0] is 1.0, not 2.0 within 0")
    found = finding(wrong, "numeric")
    text = issue(replace(found, official=COMPILE, expectations=(Expectation(0, (RESULT,), (0.0,)),)))
    assert f"\n`{COMPILE}` shows it too.\n" in text and "FuseTIR" in script_in(text)
    assert "shows it too" not in issue(replace(found, expectations=(Expectation(0, (RESULT,), (0.0,)),)))


def test_a_build_without_passes_has_a_script_of_its_own() -> None:
    found = replace(finding(Failed(CRASH, "SIGSEGV in codegen"), "build", "codegen"), official=COMPILE)
    bare = replace(found, case=replace(found.case, passes=()))
    assert script_in(issue(bare)) == plain_text(stored_from(bare)).rstrip("\n")
