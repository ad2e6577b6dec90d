"""The recipe for a target works as CONTRIBUTING.md has it: one row, and a campaign runs on it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.project_copy import project_copy, recipe

TITLE = "Add a target"
TARGET = "llvm-x86-64-v2"
BUILT_FOR_IT = """
from oracles.builds.build import _current_target
from oracles.trace import MeaningState
from oracles.workbench import Workbench

bench = Workbench(None, None, target=TARGET)
assert str(bench.guarded(lambda: _current_target(2)).attrs["mcpu"]) == "x86-64-v2"
"""


def test_a_campaign_runs_on_a_target_of_one_row(tmp_path: Path) -> None:
    ((path, block),) = recipe(TITLE).items()
    copy = project_copy(tmp_path / "project")
    copy.add_row(path, "TARGETS: dict", block)
    out = tmp_path / "out"
    options = ("--cases", "3", "--seed", "1", "--jobs", "1", "--json", "--oracles", "build", "--out", str(out))
    ended = copy.python("-m", "fuzzer.cli", "run", "--target", TARGET, *options)
    assert ended.returncode in (0, 1), ended.stderr
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["targets"] == [TARGET]
    assert summary["cases"] == 3
    assert summary["oracles"]["build"]["passed"] > 0


def test_modules_are_built_for_the_processor_of_the_row(tmp_path: Path) -> None:
    ((path, block),) = recipe(TITLE).items()
    copy = project_copy(tmp_path / "project")
    copy.add_row(path, "TARGETS: dict", block)
    ended = copy.python("-c", f"TARGET = {TARGET!r}\n{BUILT_FOR_IT}")
    assert ended.returncode == 0, ended.stderr


def test_the_target_is_listed(tmp_path: Path) -> None:
    ((path, block),) = recipe(TITLE).items()
    copy = project_copy(tmp_path / "project")
    copy.add_row(path, "TARGETS: dict", block)
    ended = copy.python("-m", "fuzzer.cli", "list", "targets", "--json")
    assert ended.returncode == 0, ended.stderr
    assert TARGET in ended.stdout
