"""Scratch folders among the temporary files: none outlives its process for long, and nothing else is removed."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fuzzer.processes import scratch
from fuzzer.processes.scratch import scratch_folder, sweep

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "passfuzz-shot-"


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, in which nothing is fresh."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "FRESH_S", -1.0)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_process_has_left_is_swept_and_nothing_else(there: Path) -> None:
    left, held, other = (there / name for name in (f"{PREFIX}left", f"{PREFIX}held", "passfuzz-cuda-cpu-0"))
    for folder in (left, held, other):
        folder.mkdir()
        (folder / "file").touch()
    (there / f"{PREFIX}file").touch()
    (there / f"{PREFIX}link").symlink_to(other)
    handle = os.open(held, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    sweep(PREFIX)
    assert names(there) == sorted(["passfuzz-cuda-cpu-0", f"{PREFIX}file", f"{PREFIX}held", f"{PREFIX}link"])
    assert (other / "file").exists()
    os.close(handle)
    sweep(PREFIX)
    assert not held.exists()


def test_what_is_being_made_is_left(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "FRESH_S", 1e9)
    (there / f"{PREFIX}new").mkdir()
    sweep(PREFIX)
    assert names(there) == [f"{PREFIX}new"]


def test_folders_beside_each_other_live_and_go(there: Path) -> None:
    with scratch_folder(PREFIX) as one, scratch_folder(PREFIX) as other:
        (one / "file").touch()
        assert len(names(there)) == 2 and other.is_dir()
    assert names(there) == []


def test_a_command_removes_what_a_killed_one_has_left(there: Path) -> None:
    imports = "import time\nfrom fuzzer.processes.scratch import scratch_folder\n"
    hold = f"{imports}with scratch_folder():\n    print(flush=True)\n"
    environment = {**os.environ, "TMPDIR": str(there), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", f"{hold}    time.sleep(1e6)"], env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline()
        (before,) = names(there)
        with scratch_folder() as mine:
            assert names(there) == sorted([before, mine.name])
        process.kill()
    assert names(there) == [before]
    with scratch_folder() as mine:
        assert names(there) == [mine.name]


def test_every_scratch_folder_among_the_temporary_files_is_one_that_is_swept() -> None:
    """Others have a place of their own: OUT, the cache, the folder of one that is swept."""
    ours = [path for path in (ROOT / "fuzzer").rglob("*.py") if path.name != "scratch.py"]
    made = re.compile(r"(?:TemporaryDirectory|mkdtemp)\((?P<where>[^)]*)\)")
    free = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in ours
        for found in made.finditer(path.read_text(encoding="utf-8"))
        if "dir=" not in found["where"]
    ]
    assert free == []


def test_a_folder_deeper_than_python_can_go_is_removed(there: Path) -> None:
    """A module of a stranger can make one in its scratch: it stayed, and ended every later command."""
    deeper = "i=0; while [ $i -lt 3000 ]; do mkdir d && cd d; i=$((i+1)); done"
    with scratch_folder() as mine:
        subprocess.run(["sh", "-c", deeper], cwd=mine, check=True)
    assert names(there) == []
    left = there / f"{PREFIX}left"
    left.mkdir()
    subprocess.run(["sh", "-c", deeper], cwd=left, check=True)
    sweep(PREFIX)
    assert names(there) == []
