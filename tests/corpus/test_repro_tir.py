"""Repros of TIR passes: built from where they leave the PrimFuncs, or from the start where that cannot be linked."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.finding import Expectation
from corpus.findings import save_finding
from generators.case import Case, EntryCall, ModuleText, PassCall
from generators.passes.table import PIPELINES, TIR_PIPELINE, default_call
from oracles.verdict import Failed
from tests.quick import one_in
from tests.reports.reports_data import finding

pytestmark = pytest.mark.warm

PACKED = ("tirx.MakePackedAPI", "tirx.LowerIntrin")
TWICE = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
"""


def calls_until(name: str) -> tuple[PassCall, ...]:
    return tuple(map(default_call, (*PIPELINES["llvm"], *TIR_PIPELINE[: TIR_PIPELINE.index(name) + 1])))


@pytest.mark.parametrize(("wanted", "status"), [([2.0, 4.0, 6.0], 0), ([2.0, 4.0, 7.0], 1)])
@pytest.mark.parametrize(
    "name", one_in(2, ["s_tir.LowerOpaqueBlock", "tirx.StorageRewrite", "tirx.MakePackedAPI", "tirx.LowerIntrin"])
)
def test_the_script_builds_and_compares(tmp_path: Path, name: str, wanted: list[float], status: int) -> None:
    case = Case(ModuleText(TWICE), calls_until(name), calls=(EntryCall("main", (np.array([1, 2, 3], np.float32),)),))
    wrong = Failed("wrong result", "value: output 0[0] is 1.0, not 2.0", culprit=name)
    one = replace(finding(name), case=case, verdict=wrong, oracle="numeric", expectations=(expected(wanted),))
    script = save_finding(tmp_path, one) / "repro.py"
    assert ("stands in the TIR pipeline" in script.read_text()) == (name in PACKED)
    assert subprocess.run([sys.executable, str(script)], capture_output=True, check=False).returncode == status


def expected(values: list[float]) -> Expectation:
    return Expectation(0, (np.array(values, np.float32),), (0.0,))
