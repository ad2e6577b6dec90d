"""The bug report of a case: it shows what the pass did where the verdict says it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.findings import save_finding
from oracles.verdict import Failed
from tests.reports.reports_data import finding

CHANGE = "--- before\n+++ after\n@@ main @@\n-    y = R.add(x, x)\n+    y = R.multiply(x, x)\n"


def test_the_difference_stands_in_the_report(tmp_path: Path) -> None:
    wrong = Failed("wrong result", "value: output 0[0] is 1.0, not 2.0", culprit="FuseOps", difference=CHANGE)
    text = (save_finding(tmp_path, replace(finding(), verdict=wrong)) / "README.md").read_text()
    assert f"## What `FuseOps` did\n\n```diff\n{CHANGE}```\n" in text


def test_a_report_without_one_has_no_such_part(tmp_path: Path) -> None:
    assert "did" not in (save_finding(tmp_path, finding()) / "README.md").read_text()
