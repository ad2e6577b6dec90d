"""The flight recorder: what one process writes, another reads, even after the writer was killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from fuzzer.processes.flight import Recorder


@pytest.mark.parametrize(
    ("index", "stage"),
    [(0, ""), (7, "draw"), (123_456_789, "numeric of LegalizeOps"), (3, "setup Größe"), (1, "a\tb")],
)
def test_what_is_written_is_read(tmp_path: Path, index: int, stage: str) -> None:
    recorder = Recorder.create(tmp_path / "flight")
    recorder.write(99, "a stage with a much longer name, to be overwritten")
    recorder.write(index, stage)
    assert recorder.read() == (index, stage)


def test_nothing_is_read_before_the_first_write(tmp_path: Path) -> None:
    assert Recorder.create(tmp_path / "flight").read() == (-1, "")


def test_a_long_stage_is_cut_and_does_no_harm(tmp_path: Path) -> None:
    recorder = Recorder.create(tmp_path / "flight")
    recorder.write(5, "x" * 5000)
    index, stage = recorder.read()
    assert index == 5
    assert set(stage) == {"x"}
    assert len(stage) < 512
    recorder.write(6, "next")
    assert recorder.read() == (6, "next")


def test_the_parent_reads_what_a_killed_child_wrote(tmp_path: Path) -> None:
    recorder = Recorder.create(tmp_path / "flight")
    pid = os.fork()
    if pid == 0:
        recorder.write(41, "FuseOps")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert recorder.read() == (41, "FuseOps")
    assert (tmp_path / "flight").read_bytes().startswith(b"41\tFuseOps\n")
