"""What TVM does not build is confirmed by the reference, in a fresh process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.finding import Expectation, Finding
from corpus.findings import folder_of, keep_finding
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


@pytest.mark.parametrize(
    ("operator", "status", "shown"),
    [
        ("add", 2, True),
        *(pytest.param(*one, marks=pytest.mark.deep) for one in (("add", 7, False), ("add", 0, False))),
        pytest.param("multiply", 2, False, marks=pytest.mark.deep),
    ],
)
def test_what_tvm_does_not_build_is_shown_by_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operator: str, status: int, shown: bool
) -> None:
    """A script that cannot run is not the last word on wrong numbers: the pass is wrong on sums alone."""
    values, by_reference = (np.ones(2, np.float32),), list[bool]()
    case = Case(
        ModuleText(ADDS.replace("OPERATOR", operator)),
        (PassCall("WrongNumbers", "PASSES['WrongNumbers']()"),),
        (EntryCall("main", values),),
        load=str(write_passes(tmp_path, "WrongNumbers")),
    )
    failed = Failed(WRONG_RESULT, "value: output 0[0] is 0.0, not 2.0", culprit="WrongNumbers")
    expected = Expectation(0, (np.full(2, 2, np.float32),), (0.0,))
    one = replace(finding(), case=case, verdict=failed, oracle="numeric", expectations=(expected,))

    def save(room: Path, tried: Finding) -> Path:
        by_reference.append(tried.by_reference)
        folder = keep_finding(room, tried)
        if not tried.by_reference:
            (folder / "repro.py").write_text(f"print('LLVM does not take it')\nraise SystemExit({status})\n")
        return folder

    monkeypatch.setattr(confirm, "save_finding", save)
    tried = confirmed(one, tmp_path)
    assert (tried.shown, tried.finding.by_reference) == (shown, shown)
    assert by_reference[0] is False and any(by_reference) is (status == 2)
    readme = folder_of(tried.finding)["README.md"].decode()
    assert ("TVM does not build or run what comes of it" in readme) is shown
