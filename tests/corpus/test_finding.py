"""The folder of a finding under OUT."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus import own
from corpus.case_texts import texts_of
from corpus.causes.signature import signature_of
from corpus.finding import Expectation, Finding, ReductionStats, flatten_outputs
from corpus.findings import save_finding
from corpus.store import read_case
from generators.case import Case, ModuleText, Origin, PassCall, Shape
from oracles.verdict import WRONG_RESULT, Failed

SCRIPT = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,))):\n        return x\n"


def finding() -> Finding:
    case = Case(ModuleText(SCRIPT), (PassCall("FoldConstant", "relax.transform.FoldConstant()"),), origin=Origin(1, 2))
    failed = Failed("crash", "Check failed: (x) is false: 0xdead", "detail")
    signature = signature_of("survives", failed, "FoldConstant")
    stats = ReductionStats(12, 2, 0, 0, 5, 1, 40, 0.25)
    return Finding(case, failed, "survives", signature, "B", 12.34567, "0.27.0.post1", reduced=stats)


def test_the_folder_holds_what_the_contract_says(tmp_path: Path) -> None:
    folder = save_finding(tmp_path, finding())
    assert folder == tmp_path / "findings" / finding().signature.slug
    assert sorted(path.name for path in folder.iterdir()) == [
        own.MARK,
        "README.md",
        "case.json",
        "issue.md",
        "module.py",
        "repro.py",
    ]
    stored = read_case(folder)
    assert stored.case == finding().case
    assert stored.outcome_on("0.27.0.post1") == "fails"


def test_the_case_says_what_the_reports_say(tmp_path: Path) -> None:
    failed = replace(finding().verdict, symptom=WRONG_RESULT, difference="--- before\n+++ after\n-a\n")
    folder = save_finding(tmp_path, replace(finding(), oracle="numeric", verdict=failed, fault=("a build agrees",)))
    texts = texts_of((folder / "case.json").read_text())
    assert (texts.difference, texts.fault) == ("--- before\n+++ after\n-a\n", ("a build agrees",))
    assert (folder / "issue.md").read_text().splitlines()[0].strip() == texts.title
    silent = save_finding(tmp_path, finding())
    assert texts_of((silent / "case.json").read_text(), "## Whose fault\n\n- a\n").fault == ()


def test_sightings_add_up() -> None:
    assert finding().seen_again().seen_again(3).count == 5


def test_an_expectation_has_a_tolerance_per_output() -> None:
    with pytest.raises(ValueError, match="2 outputs but 1"):
        Expectation(0, (np.zeros(1), np.zeros(1)), (0.0,))


def test_outputs_are_flattened_depth_first() -> None:
    flat = flatten_outputs((np.ones(2), (Shape((3, 4)), (5.0,)), ()))
    assert [leaf.tolist() for leaf in flat] == [[1.0, 1.0], [3, 4], 5.0]
