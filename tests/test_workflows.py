"""What CI runs exists and works: the commands of the workflows, of .ci/run and of the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
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


def test_the_nightly_job_fuzzes_and_reports(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    environment = {"TIME": "4s", "OUT": str(tmp_path / "out"), "GITHUB_STEP_SUMMARY": str(summary)}
    set_up, fuzz, report = commands(ROOT / ".github" / "workflows" / "nightly.yml")
    assert bash(set_up.replace("make ", "make --dry-run ")).returncode == 0
    fuzzed = bash(fuzz.replace(".venv/bin/passfuzz", PASSFUZZ), **environment)
    assert fuzzed.returncode in (0, 1), fuzzed.stderr
    assert bash(report.replace(".venv/bin/passfuzz", PASSFUZZ), **environment).returncode == 0
    assert summary.read_text(encoding="utf-8").startswith("# passfuzz: ")


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


def test_help_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    listed = re.findall(r"^  make ([a-z-]+)", bash("make").stdout, re.MULTILINE)
    assert sorted(listed) == sorted(phony.split())


def test_the_lock_pins_what_the_project_asks_for() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lists = re.findall(r"^(?:dependencies|dev) = \[(.*?)\]", project, re.DOTALL | re.MULTILINE)
    asked = {name.replace("_", "-") for text in lists for name in re.findall(r'"([A-Za-z0-9_-]+)[><=]', text)}
    assert len(asked) > 10
    assert asked <= pinned
    assert "://" not in lock


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_only_read_the_repository(workflow: Path) -> None:
    assert "permissions:\n  contents: read\n" in workflow.read_text(encoding="utf-8")
