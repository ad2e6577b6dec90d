"""The bug report of a case: it shows what the pass did where the verdict says it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.findings import save_finding
from oracles.verdict import Failed
from tests.corpus.test_tracebacks import OF_A_CRASH
from tests.reports.reports_data import finding

CHANGE = "--- before\n+++ after\n@@ main @@\n-    y = R.add(x, x)\n+    y = R.multiply(x, x)\n"


def test_the_difference_stands_in_the_report(tmp_path: Path) -> None:
    wrong = Failed("wrong result", "value: output 0[0] is 1.0, not 2.0", culprit="FuseOps", difference=CHANGE)
    text = (save_finding(tmp_path, replace(finding(), verdict=wrong)) / "README.md").read_text()
    assert f"## What `FuseOps` did\n\n```diff\n{CHANGE}```\n" in text


def test_a_message_is_not_cut_before_its_point(tmp_path: Path) -> None:
    """Of an error the whole text is shown, and once."""
    point = "should have been lowered earlier using the 'relax.transform.LowerAllocTensor' pass."
    frame = '  File "/project/src/relax/backend/vm/lower_runtime_builtin.cc", line 69, in tvm::relax::Lower()\n'
    said = f"InternalError: VMBuiltinLower encountered {'ir.Op(...) ' * 60}{point}"
    failed = Failed("crash", said[:400], f"Traceback (most recent call last):\n{frame}tvm.error.{said}\n")
    text = (save_finding(tmp_path, replace(finding(), verdict=failed)) / "README.md").read_text()
    assert text.count(point) == 1
    assert text.splitlines()[0].startswith("# \\[Relax\\] FuseOps raises InternalError: VMBuiltinLower encountered")


def test_a_fact_is_said_once(tmp_path: Path) -> None:
    text = (save_finding(tmp_path, replace(finding(), count=7)) / "README.md").read_text()
    before_the_script = text[: text.index("## To reproduce")]
    assert before_the_script.count("Var x is not defined") == 2  # the title, and what happens
    assert "seen" not in before_the_script
    assert "## Versions" not in before_the_script
    assert before_the_script.count("0.27.0") == 1


def test_a_crash_of_the_built_module_is_none_of_code_generation(tmp_path: Path) -> None:
    failed = Failed("crash", "SIGSEGV in codegen", OF_A_CRASH)
    text = (save_finding(tmp_path, replace(finding(), oracle="build", verdict=failed)) / "README.md").read_text()
    assert "crashes when the built module runs, in `tvm::runtime::memory::StorageObj::AllocTensor`" in text
    assert "SIGSEGV in codegen" not in text


def test_a_report_without_one_has_no_such_part(tmp_path: Path) -> None:
    assert "did" not in (save_finding(tmp_path, finding()) / "README.md").read_text()
