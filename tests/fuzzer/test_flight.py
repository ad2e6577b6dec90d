"""The flight recorder: what one process writes, another reads, even after the writer was killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import get_args

import pytest

from fuzzer.processes.flight import NOTHING, Recorder
from oracles.activities import (
    Activity,
    Applying,
    Asking,
    Blaming,
    Building,
    Interpreting,
    SettingUp,
    Working,
    described,
    kind_of,
)

LONG = Working("something with a much longer name, to be overwritten")
ACTIVITIES: tuple[tuple[Activity, str, str], ...] = (
    (Working("draw"), "draw", "draw"),
    (Interpreting(), "reference", "reference"),
    (SettingUp("Größe"), "setup Größe", "passes"),
    (Applying("a\tb"), "a\tb", "passes"),
    (Asking("numeric", "LegalizeOps"), "numeric of LegalizeOps", "numeric"),
    (Asking("sequential"), "sequential", "sequential"),
    (Building("build", "codegen"), "build: codegen", "build"),
    (Blaming("FuseOps"), "blame: FuseOps", "blame"),
)


@pytest.mark.parametrize(("activity", "text", "kind"), ACTIVITIES)
def test_what_is_written_is_read(tmp_path: Path, activity: Activity, text: str, kind: str) -> None:
    recorder = Recorder.create(tmp_path / "flight")
    recorder.write(99, LONG)
    recorder.write(123_456_789, activity)
    assert recorder.read() == (123_456_789, activity)
    assert (described(activity), kind_of(activity)) == (text, kind)


def test_every_activity_is_tried() -> None:
    assert {type(activity) for activity, _, _ in ACTIVITIES} == set(get_args(Activity))


def test_nothing_is_read_before_the_first_write(tmp_path: Path) -> None:
    assert Recorder.create(tmp_path / "flight").read() == (-1, NOTHING)


def test_a_long_name_is_cut_and_does_no_harm(tmp_path: Path) -> None:
    recorder = Recorder.create(tmp_path / "flight")
    recorder.write(5, Applying("x" * 5000))
    index, activity = recorder.read()
    assert index == 5
    assert "xxx" in described(activity)
    recorder.write(6, Applying("next"))
    assert recorder.read() == (6, Applying("next"))


def test_a_name_that_no_json_can_hold_does_no_harm(tmp_path: Path) -> None:
    recorder = Recorder.create(tmp_path / "flight")
    recorder.write(7, Applying("\udcff"))
    index, activity = recorder.read()
    assert index == 7
    assert "udcff" in described(activity)


def test_names_may_be_strings_of_tvm(tmp_path: Path) -> None:
    class String(str):
        pass

    recorder = Recorder.create(tmp_path / "flight")
    recorder.write(1, Applying(String("Mine")))
    assert recorder.read() == (1, Applying("Mine"))


def test_the_parent_reads_what_a_killed_child_wrote(tmp_path: Path) -> None:
    recorder = Recorder.create(tmp_path / "flight")
    pid = os.fork()
    if pid == 0:
        recorder.write(41, Applying("FuseOps"))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert recorder.read() == (41, Applying("FuseOps"))
    assert (tmp_path / "flight").read_bytes().startswith(b'41\t{"type":"applying","pass_name":"FuseOps"}\n')
