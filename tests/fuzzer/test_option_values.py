"""Values of options and arguments that are of no use: the option, what was typed, and what is wanted, in one line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("run", "--cases", "1e9"), "--cases 1e9: a whole number is wanted"),
        (("run", "--seed", "abc"), "--seed abc: a whole number is wanted"),
        (("replay", "--jobs", "1.5"), "--jobs 1.5: a whole number is wanted"),
        (("check", "README.md", "--rtol", "much"), "--rtol much: a number is wanted"),
        (("run", "--time", "1e3"), '--time 1e3: not a time; write it as "60s", "10m" or "6h"'),
        (("run", "--passes", "FuseOps,,FuseTIR"), "--passes FuseOps,,FuseTIR: a name is empty"),
        (("check", "README.md", "--passes", "FuseOps,"), "--passes FuseOps,: a name is empty"),
        (("run", "--corpus", "a_file"), "--corpus a_file: is a file; a folder is wanted"),
        (("run", "--known", "a_folder"), "--known a_folder: is a folder; a file is wanted"),
        (("check", "a_file", "--inputs", "a_folder"), "--inputs a_folder: is a folder; a file is wanted"),
        (
            ("check", "a_file", "--inputs", "a_file"),
            "--inputs a_file: no .npz file of plain arrays, as numpy.savez writes it",
        ),
        (("report", "a_file"), "a_file: is a file; the --out folder of a run is wanted"),
        (("triage", "a_file"), "a_file: is a file; the --out folder of a run is wanted"),
    ],
)
def test_a_value_of_no_use_is_said_with_its_option(
    passfuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a_file", "README.md"):
        Path(name).write_text("x")
    Path("a_folder").mkdir()
    assert passfuzz(*arguments) == (2, "", f"passfuzz: error: {line}\n")


def test_a_module_that_may_not_be_read_is_said_as_any_other_file(
    passfuzz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, *_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "mine.py").write_text("x")
    monkeypatch.setattr(Path, "read_text", refused)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    error = f"passfuzz: error: {tmp_path / 'mine.py'}: permission denied\n"
    assert passfuzz("check", tmp_path / "mine.py") == (2, "", error)
