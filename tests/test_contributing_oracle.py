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

RECIPE = recipe("Add an oracle")
PRODUCT = tuple(piece for piece in RECIPE if not piece.path.startswith("tests/"))
CHECK = "oracles/checks/public_functions.py"
TEST = "tests/oracles/test_public_functions.py"


def test_the_recipe_is_two_files_and_two_of_tests() -> None:
    assert sorted(piece.path for piece in PRODUCT) == [CHECK, "oracles/scripts/public_functions.py.j2"]
    assert {piece.path for piece in RECIPE if piece not in PRODUCT} == {TEST, "tests/corpus/test_repro.py"}


@pytest.mark.parametrize(
    "judged, says",
    [
        ("if lost else PASSED", "2 passed"),
        pytest.param("if False else PASSED", "1 failed, 1 passed", marks=pytest.mark.deep),
        pytest.param("if True else PASSED", "1 failed, 1 passed", marks=pytest.mark.deep),
    ],
)
def test_the_tests_of_the_oracle_pass_and_can_fail(judged: str, says: str, tmp_path: Path) -> None:
    project = project_copy(tmp_path / "project")
    project.follow(*RECIPE)
    check = project.folder / CHECK
    text = check.read_text(encoding="utf-8")
    assert text.count("if lost else PASSED") == 1
    check.write_text(text.replace("if lost else PASSED", judged), encoding="utf-8")
    status, line = project.pytest(TEST)
    assert (status, line.partition(" in ")[0]) == (int("failed" in says), says)


@pytest.mark.deep
def test_the_planted_bug_is_shown_by_the_script(tmp_path: Path) -> None:
    project = project_copy(tmp_path / "project")
    project.follow(*RECIPE)
    status, line = project.pytest("tests/corpus/test_repro.py", "-k", "public_functions or has_a_plant")
    assert (status, line.partition(",")[0]) == (0, "3 passed")


@pytest.mark.deep
def test_a_finding_of_a_new_oracle_is_confirmed_reduced_and_shown(tmp_path: Path) -> None:
    project = project_copy(tmp_path / "project")
    project.follow(*PRODUCT)
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
    project.follow(*(piece for piece in RECIPE if piece.path == CHECK))
    ended = project.python("-m", "fuzzer.cli", "list", "oracles")
    assert ended.returncode != 0
    assert "write oracles/scripts/public_functions.py.j2" in ended.stdout + ended.stderr


@pytest.mark.parametrize("path", ["oracles/scripts/survives.py.j2", "corpus/frames/script.py.j2"])
def test_the_templates_are_in_the_packages(path: str) -> None:
    """The wheel takes whole packages, so that it takes what lies in them."""
    assert (ROOT / path).is_file()
    packages = re.search(r"^packages = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert packages is not None and path.split("/")[0] in json.loads(packages[1])
