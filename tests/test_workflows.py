"""What CI runs exists and works: the commands of the workflows, of .ci/run and of the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.conftest import is_chosen

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
NIGHTLY = ROOT / ".github" / "workflows" / "nightly.yml"
PASSFUZZ = f"{sys.executable} -m fuzzer.cli"


def commands(workflow: Path) -> list[str]:
    """The `run:` commands of a workflow, which are one line each."""
    found = re.findall(r"^\s+(?:- )?run: (.+)$", workflow.read_text(encoding="utf-8"), re.MULTILINE)
    assert not [command for command in found if command.strip() in ("|", ">")], "write one command per step"
    return found


def bash(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as a CI step runs it."""
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.deep
def test_the_nightly_job_fuzzes_and_reports(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    environment = {"OUT": str(tmp_path / "out"), "GITHUB_STEP_SUMMARY": str(summary)}
    set_up, fuzz, report, *_ = commands(NIGHTLY)
    assert bash(set_up.replace("make ", "make --dry-run ")).returncode == 0
    # Bounded by cases here: how many fit into a time depends on the machine.
    bounded = fuzz.replace('--time "$TIME"', "--cases 2").replace(".venv/bin/passfuzz", PASSFUZZ)
    assert "--cases 2" in bounded
    fuzzed = bash(bounded, **environment)
    assert fuzzed.returncode in (0, 1), fuzzed.stderr
    assert bash(report.replace(".venv/bin/passfuzz", PASSFUZZ), **environment).returncode == 0
    assert summary.read_text(encoding="utf-8").startswith("# passfuzz: ")


def test_the_property_test_of_the_readme_works() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "@given" in block)
    names: dict[str, Any] = {}
    exec(code, names)
    few = settings(max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    seen: list[object] = []
    names["MyPass"] = lambda: lambda module: seen.append(module) or module
    few(names["test_my_pass_keeps_modules_well_formed"])()
    assert seen


def test_every_test_runs_each_night_and_a_tenth_of_the_deep_ones_in_each_run() -> None:
    assert commands(NIGHTLY)[-2:] == ["make test", "make test-deep"]
    assert "make test-sample" in made_by(ROOT / ".ci" / "run")
    whole, sample = (bash(f"make --dry-run {target} SEED=abc").stdout for target in ("test-deep", "test-sample"))
    assert "-m deep" in whole and "--sample" not in whole
    assert '-m deep --sample "abc"' in sample


def test_a_sample_is_a_tenth_that_depends_on_the_seed() -> None:
    names = [f"tests/test_any.py::test_it[{number}]" for number in range(1000)]
    one, other = ({name for name in names if is_chosen(name, seed)} for seed in ("4f2a9c1", "4f2a9c2"))
    assert all(60 < len(chosen) < 140 for chosen in (one, other))
    assert len(one & other) < 40
    assert set(names) == {name for name in names if any(is_chosen(name, str(seed)) for seed in range(300))}


def test_the_option_leaves_out_deep_tests_alone(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = deep\n")
    (tmp_path / "test_any.py").write_text(
        "import pytest\n"
        "@pytest.mark.deep\n@pytest.mark.parametrize('n', range(50))\ndef test_slow(n): assert n >= 0\n"
        "def test_quick(): assert True\n"
    )
    ended = bash(
        f"cd {tmp_path} && PYTEST_ADDOPTS= PYTHONPATH={ROOT} "
        f"{sys.executable} -m pytest -p no:passfuzz -p no:cacheprovider --sample abc"
    )
    chosen = sum(is_chosen(f"test_any.py::test_slow[{n}]", "abc") for n in range(50))
    assert f"{chosen + 1} passed, {50 - chosen} deselected" in ended.stdout
    assert "make test-sample SEED=abc" in ended.stdout


def made_by(script: Path) -> list[str]:
    """The make commands of a script, without their variables."""
    return re.findall(r"^make [a-z-]+", script.read_text(encoding="utf-8"), re.MULTILINE)


def test_continuous_integration_uses_make_alone_and_no_clock() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert made_by(ROOT / ".ci" / "run") == ["make lint", "make fuzz", "make test", "make test-sample"]
    (fuzz,) = re.findall(r"^make fuzz.+$", script, re.MULTILINE)
    assert "--cases" in fuzz


def test_a_second_make_fuzz_begins_anew_and_an_empty_folder_is_no_folder() -> None:
    """`run` refuses a folder that holds a run; an unset OUT must not become the option that follows."""
    for out in ("passfuzz-out", "", "two words"):
        (command,) = (line for line in bash(f"make --dry-run fuzz OUT='{out}'").stdout.splitlines() if " run " in line)
        assert f'--fresh --out "{out}" ' in command


def test_continuous_integration_is_one_command() -> None:
    assert commands(ROOT / ".github" / "workflows" / "ci.yml") == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert bash("bash -n .ci/run").returncode == 0


@pytest.mark.parametrize("file", [".ci/run", "README.md", "CONTRIBUTING.md"])
def test_every_make_target_that_is_named_exists(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert named
    for target in named:
        ended = bash(f"make --dry-run {target}")
        assert ended.returncode == 0, ended.stderr


def test_what_the_makefile_imports_exists() -> None:
    """A recipe that only another TVM takes is run by no other test."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    imported = re.findall(r"from ([\w.]+) import (\w+)", text)
    modules = re.findall(r"\$\(BIN\)/python -m ([\w.]+)", text)
    assert ("fuzzer.replaying.environments", "requirements") in imported and "benchmarks" in modules
    for module, name in imported:
        assert hasattr(import_module(module), name)
    assert all(find_spec(module) is not None for module in modules)


def test_help_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    listed = re.findall(r"^  make ([a-z-]+)", bash("make").stdout, re.MULTILINE)
    assert sorted(listed) == sorted(phony.split())


def test_the_lock_pins_what_the_project_asks_for() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lists = re.findall(r"^(?:dependencies|dev|tvm) = \[(.*?)\]", project, re.DOTALL | re.MULTILINE)
    asked = {name.replace("_", "-") for text in lists for name in re.findall(r'"([A-Za-z0-9_-]+)[><=]', text)}
    assert len(asked) > 10
    assert asked <= pinned
    assert "://" not in lock


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_only_read_the_repository(workflow: Path) -> None:
    assert "permissions:\n  contents: read\n" in workflow.read_text(encoding="utf-8")
