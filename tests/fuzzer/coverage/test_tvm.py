"""The TVM that is installed is mapped and counted, and a campaign judges as without."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzzer.coverage.command import count_command
from fuzzer.coverage.count import CoverageRow, by_file, rows
from fuzzer.coverage.ground import Ground, ground
from fuzzer.coverage.hits import Hits, read_hits
from tests.fuzzer.coverage import subject

pytestmark = [pytest.mark.deep, subject.WORKS_HERE]

PASS = """
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.add(x, x)
            b = R.multiply(a, x)
            R.output(b)
        return b

{applied}(Module)
"""


@pytest.fixture(scope="module")
def tvm(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return ground(lambda line: None)


def reached_by(code: str, tvm: Ground, path: Path) -> Hits:
    script = path.with_suffix(".py")  # TVMScript reads its own source
    script.write_text(code)
    counted = count_command([sys.executable, str(script)], path, tvm)
    assert counted.status == 0
    return counted.hits


def files(hits: Hits) -> dict[str, CoverageRow]:
    return {row.name: row for row in rows(hits, by_file(hits))}


def test_a_pass_reaches_the_blocks_of_its_own_file(tvm: Ground, tmp_path: Path) -> None:
    imported = files(reached_by("import tvm", tvm, tmp_path / "imported"))
    names = ("relax/transform/topological_sort.cc", "relax/transform/lambda_lift.cc")
    assert all(0 < imported[name].reached < 0.2 * imported[name].blocks for name in names), "registered, not run"
    for own, other, text in (
        (*names, "relax.transform.TopologicalSort()"),
        (*names[::-1], "relax.transform.LambdaLift()"),
    ):
        applied = files(reached_by(PASS.format(applied=text), tvm, tmp_path / "applied"))
        gained = {name: applied[name].reached - imported[name].reached for name in names}
        assert gained[own] > 50 and gained[own] > 10 * gained[other], text


def test_a_campaign_counts_and_judges_the_same(passfuzz: Any, tvm: Ground, tmp_path: Path) -> None:
    cache = tvm.code.parents[2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        told = {}  # Causes are not compared: how far a failure is reduced depends on the time that the machine has.
        for name, options in (("without", ()), ("with", ("--coverage",))):
            words = shlex.split(f"--cases 12 --seed 4 --jobs 2 --known none --fail-on none --out {tmp_path / name}")
            status, out, err = passfuzz("run", *words, *options)
            assert status == 0, err
            told[name] = json.loads((tmp_path / name / "summary.json").read_text())
    assert "reached " in out
    coverage = told["with"].pop("coverage")
    assert 0.05 < coverage["reached"]["all"] / coverage["blocks"]["all"] < 0.5
    assert read_hits(tmp_path / "with").hit.sum() >= coverage["reached"]["all"] > 75_000
    for counted in ("cases", "generated", "invalid", "passes", "oracles", "ops", "skipped", "numeric_verdicts"):
        assert told["with"].get(counted) == told["without"].get(counted), counted
