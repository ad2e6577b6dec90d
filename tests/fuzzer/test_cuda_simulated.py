"""`--target cuda` on TVM's own run time for CUDA, with a device made of the CPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from corpus.finding import Expectation
from corpus.scripts.repro import repro_text
from corpus.store import StoredCase
from generators.case import Case, EntryCall, ModuleText, PassCall
from oracles.builds.cuda_cpu import available
from oracles.builds.cuda_device import NVCC_ALONE
from tests.cuda_simulator import installed
from tests.cuda_simulator.nvcc import SPOILS
from tests.patience import HANGS_S

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))
SCRIPT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")):
        return R.add(x, x)
"""
NOT_SCHEDULED = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1, 1, 4, 1), dtype="float32")):
        return R.nn.adaptive_avg_pool3d(x, output_size=[1, 1, 3], layout="NDHWC", out_layout="NDHWC")
"""
"""No rule of dlight takes the nest of blocks that this becomes."""
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which there is one."""
    return installed(tmp_path_factory.mktemp("cuda") / "device")


def run(device: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, *command]
    return subprocess.run(whole, env=device, capture_output=True, text=True, timeout=HANGS_S, check=False)


@pytest.mark.deep
def test_the_doctor_runs_something_there(device: dict[str, str]) -> None:
    said = run(device, "-m", "fuzzer.cli", "doctor", "--json").stdout
    probes = {probe["name"]: probe["detail"] for probe in json.loads(said)["probes"]}
    assert probes["target cuda"] == "built and run on CPU"


@pytest.mark.deep
def test_a_campaign_builds_and_agrees_there(device: dict[str, str], tmp_path: Path) -> None:
    options = ["--target", "cuda", "--oracles", "build", "--cases", "24", "--seed", "2", "--out", str(tmp_path / "out")]
    ended = run(device, "-m", "fuzzer.cli", "run", *options)
    assert ended.returncode in (0, 1), ended.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["own_fault"] is None
    assert summary["oracles"]["build"]["passed"] >= 1
    assert not [reason for reason in summary["skipped"] if "device can be used" in reason]


@pytest.mark.parametrize(("wanted", "status"), [pytest.param(X + X, 0, marks=pytest.mark.deep), (X, 1)])
def test_a_script_shows_what_the_device_gives(
    device: dict[str, str], tmp_path: Path, wanted: np.ndarray, status: int
) -> None:
    passes = (PassCall("ToNonDataflow", "relax.transform.ToNonDataflow()"),)
    case = Case(ModuleText(SCRIPT), passes, (EntryCall("main", (X,)),), target="cuda")
    stored = StoredCase(
        case, "t", "build", "wrong result", "codegen", expectations=(Expectation(0, (wanted,), (0.0,)),)
    )
    script = tmp_path / "repro.py"
    script.write_text(repro_text(stored))
    ended = run(device, str(script))
    assert ended.returncode == status, ended.stdout
    assert ended.stdout.startswith("the bug is gone" if status == 0 else "AssertionError(")


def test_a_driver_that_cannot_be_used_is_said_at_the_start(device: dict[str, str], tmp_path: Path) -> None:
    """The reference alone judges then, and the report would say so at the end only."""
    (tmp_path / "bin").mkdir()
    options = ["--target", "cuda", "--cases", "1", "--seed", "2", "--out", str(tmp_path / "out")]
    ended = run({**device, "PATH": str(tmp_path / "bin")}, "-m", "fuzzer.cli", "run", *options)
    assert ended.returncode in (0, 1), ended.stderr
    told = [line for line in ended.stderr.splitlines() if "--target cuda: nothing is built and run" in line]
    assert len(told) == 1
    assert "nvcc is missing" in told[0]


@pytest.mark.parametrize(("spoils", "said"), [("always", "failed"), ("optimised", "skipped")])
def test_what_nvcc_alone_makes_wrong_is_no_finding(
    device: dict[str, str], tmp_path: Path, spoils: str, said: str
) -> None:
    module = SCRIPT.replace("R.add(x, x)", "R.maximum(x, R.add(x, x))")
    (tmp_path / "module.py").write_text("from tvm.script import ir as I, relax as R\n" + module)
    options = ["--passes", "LegalizeOps", "--target", "cuda", "--trust", "--json"]
    ended = run({**device, SPOILS: spoils}, "-m", "fuzzer.cli", "check", str(tmp_path / "module.py"), *options)
    built = next(row for row in json.loads(ended.stdout)["rows"] if row["oracle"] == "build")
    assert built["verdict"] == said
    assert (NVCC_ALONE in str(built)) == (said == "skipped")


def test_host_code_that_reads_memory_of_the_device_is_the_verifiers_fault(
    device: dict[str, str], tmp_path: Path
) -> None:
    """VerifyMemory follows no buffer that FlattenBuffer has made, and lets host code pass that crashes."""
    (tmp_path / "module.py").write_text("from tvm.script import ir as I, relax as R\n" + NOT_SCHEDULED)
    options = ["--target", "cuda", "--trust", "--json"]  # The simulator's nvcc writes outside of the sandbox.
    ended = run(device, "-m", "fuzzer.cli", "check", str(tmp_path / "module.py"), *options)
    assert ended.returncode == 1, ended.stderr
    assert json.loads(ended.stdout)["culprit"] == "tirx.VerifyMemory"
