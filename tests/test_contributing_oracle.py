"""An oracle that is added to the project by following CONTRIBUTING.md to the letter: its findings are reported."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import HANGS_S
from tests.project_copy import project_copy, recipe

ROOT = Path(__file__).resolve().parents[1]
BAD = """
import tvm

def lose_main(module, context):
    return tvm.IRModule({g: f for g, f in module.functions.items() if g.name_hint != "main"})

PASSES = {"LosesMain": lambda: tvm.transform.module_pass(lose_main, opt_level=0, name="LosesMain")}
"""
CASES, SEED = 12, 3


FILES = {path: text for path, text in recipe("Add an oracle").items() if not path.startswith("tests/")}
"""What the section has one write, but for the tests."""


def test_the_recipe_is_two_files() -> None:
    assert sorted(FILES) == ["oracles/checks/public_functions.py", "oracles/scripts/public_functions.py.j2"]


def test_a_finding_of_a_new_oracle_is_confirmed_reduced_and_shown(tmp_path: Path) -> None:
    project = project_copy(tmp_path / "project")
    for path, text in FILES.items():
        project.write(path, text)
    (tmp_path / "bad.py").write_text(BAD)
    out = tmp_path / "out"
    options = ("--cases", str(CASES), "--seed", str(SEED), "--jobs", "1", "--oracles", "public_functions")
    ended = project.python("-m", "fuzzer.cli", "run", "--load", str(tmp_path / "bad.py"), *options, "--out", str(out))
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert not (out / "unconfirmed").exists()
    rows = [json.loads(line) for line in (out / "findings.jsonl").read_text().splitlines()]
    assert [(row["oracle"], row["culprit"]) for row in rows] == [("public_functions", "LosesMain")]
    (row,) = rows
    assert row["reduced"]["bindings"] < row["reduced"]["bindings_before"]
    assert len(row["passes"]) == 1
    shown = subprocess.run(
        [sys.executable, str(out / row["repro"])], capture_output=True, text=True, timeout=HANGS_S, check=False
    )
    assert (shown.returncode, shown.stdout) == (1, "AssertionError(\"gone: ['main']\")\n")
    assert "## Expected\n\nPublic Relax functions stay.\n" in (out / row["case"] / "README.md").read_text()


def test_an_oracle_without_a_script_is_refused(tmp_path: Path) -> None:
    project = project_copy(tmp_path / "project")
    path = "oracles/checks/public_functions.py"
    project.write(path, FILES[path])
    ended = project.python("-m", "fuzzer.cli", "list", "oracles")
    assert ended.returncode != 0
    assert "write oracles/scripts/public_functions.py.j2" in ended.stdout + ended.stderr


@pytest.mark.parametrize("path", ["oracles/scripts/survives.py.j2", "corpus/frames/script.py.j2"])
def test_the_templates_are_in_the_packages(path: str) -> None:
    """The wheel takes whole packages, so that it takes what lies in them."""
    assert (ROOT / path).is_file()
    packages = re.search(r"^packages = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert packages is not None and path.split("/")[0] in json.loads(packages[1])
