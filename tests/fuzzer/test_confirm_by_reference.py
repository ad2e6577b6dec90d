"""What TVM does not build is confirmed by the reference, in a fresh process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.finding import Expectation, Finding
from corpus.findings import folder_of, keep_finding
from corpus.scripts.setting import ScriptSetting
from fuzzer.commands.reduce_shown import shown
from fuzzer.oneshot.messages import ByReference, Reduction
from fuzzer.worker import confirm
from fuzzer.worker.confirm import confirmed
from generators.case import Case, EntryCall, ModuleText, PassCall
from oracles.verdict import WRONG_RESULT, Failed
from tests.fuzzer.planted import write_passes
from tests.reports.reports_data import finding

pytestmark = pytest.mark.warm

ADDS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = R.OPERATOR(x, x)
        return y
"""


def wrong_on_sums(folder: Path, operator: str) -> Finding:
    """A finding of a pass that is wrong on sums alone, of a module with this operator."""
    case = Case(
        ModuleText(ADDS.replace("OPERATOR", operator)),
        (PassCall("WrongNumbers", "PASSES['WrongNumbers']()"),),
        (EntryCall("main", (np.ones(2, np.float32),)),),
        load=str(write_passes(folder, "WrongNumbers")),
    )
    failed = Failed(WRONG_RESULT, "value: output 0[0] is 0.0, not 2.0", culprit="WrongNumbers")
    expected = Expectation(0, (np.full(2, 2, np.float32),), (0.0,))
    return replace(finding(), case=case, verdict=failed, oracle="numeric", expectations=(expected,))


@pytest.mark.parametrize(
    ("operator", "status", "is_shown"),
    [
        ("add", 2, True),
        *(pytest.param(*one, marks=pytest.mark.deep) for one in (("add", 7, False), ("add", 0, False))),
        pytest.param("multiply", 2, False, marks=pytest.mark.deep),
    ],
)
def test_what_tvm_does_not_build_is_shown_by_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operator: str, status: int, is_shown: bool
) -> None:
    """A script that cannot run is not the last word on wrong numbers: the pass is wrong on sums alone."""
    by_reference = list[bool]()
    one = wrong_on_sums(tmp_path, operator)

    def save(room: Path, tried: Finding) -> Path:
        by_reference.append(tried.setting.by_reference)
        folder = keep_finding(room, tried)
        if not tried.setting.by_reference:
            (folder / "repro.py").write_text(f"print('LLVM does not take it')\nraise SystemExit({status})\n")
        return folder

    monkeypatch.setattr(confirm, "save_finding", save)
    tried = confirmed(one, tmp_path)
    assert (tried.shown, tried.finding.setting.by_reference) == (is_shown, is_shown)
    assert by_reference[0] is False and any(by_reference) is (status == 2)
    readme = folder_of(tried.finding)["README.md"].decode()
    assert ("TVM does not build or run what comes of it" in readme) is is_shown


@pytest.mark.parametrize(("operator", "is_shown"), [("add", True), ("multiply", False)])
def test_what_reduce_has_found_and_tvm_does_not_build_is_shown_by_the_reference(
    tmp_path: Path, operator: str, is_shown: bool
) -> None:
    one = wrong_on_sums(tmp_path, operator)
    case = ByReference(
        folder_of(replace(one, setting=ScriptSetting(by_reference=True))), one.oracle, one.verdict.symptom
    )
    reduction = Reduction(("raise SystemExit(2)\n",), {}, None, by_reference=case)
    what = shown(reduction, trust=True, load=one.case.load)
    assert (what.by_reference, what.rate.each_time) == (is_shown, is_shown)
