"""Workers that end before they are ready: killed from outside, they are replaced; of itself none does."""

from __future__ import annotations

import errno
import math
import sys
from pathlib import Path

import pytest

from fuzzer.campaign import losses
from fuzzer.errors import EnvironmentFault
from fuzzer.processes import pool
from fuzzer.worker import main as worker
from tests.fuzzer.fake_campaigns import assert_whole, campaign, with_fake_workers

pytestmark = pytest.mark.warm
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def fake_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fake_workers(monkeypatch)


DIES_FIRST = """
import os, pathlib, signal, sys
begun = pathlib.Path({folder!r}, str(os.getpid()))
if len(list(begun.parent.iterdir())) < {deaths}:
    begun.touch()
    {dies}
from tests.fuzzer.fake_worker import main
main()
"""


def _dying_first(monkeypatch: pytest.MonkeyPatch, folder: Path, dies: str) -> None:
    """The first three workers end before they are ready."""
    folder.mkdir()
    script = DIES_FIRST.format(folder=str(folder), deaths=3, dies=dies)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(pool, "module_command", lambda _module, *given: [sys.executable, "-c", script, *given])


@pytest.mark.parametrize(
    ("jobs", "by"),
    [
        pytest.param(1, "SIGKILL", marks=pytest.mark.deep),
        (3, "SIGKILL"),
        (1, "SIGTERM"),
        (1, "status 143"),
        pytest.param(2, "SIGINT", marks=pytest.mark.deep),
        pytest.param(2, "SIGHUP", marks=pytest.mark.deep),
    ],
)
def test_a_worker_that_is_killed_before_it_is_ready_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, by: str
) -> None:
    """As the system does for want of memory, at the start and later; or a person."""
    ends = "os._exit(143)" if by == "status 143" else f"os.kill(os.getpid(), signal.{by})"  # after it has tidied up
    _dying_first(monkeypatch, tmp_path / "begun", ends)
    result = campaign(tmp_path / "out", jobs=jobs)
    assert result.tally.skipped == {"worker process lost": 3}
    assert result.notes == ("3 worker processes ended before their time, or were stopped for good",)
    result.tally.skipped.clear()
    assert_whole(result)


def test_workers_that_are_always_killed_end_the_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _dying_first(monkeypatch, tmp_path / "begun", "os.kill(os.getpid(), signal.SIGKILL)")
    monkeypatch.setattr(losses, "LOST_PER_WORKER", 2)
    with pytest.raises(EnvironmentFault, match="3 worker processes ended in a row, the last one killed by SIGKILL"):
        campaign(tmp_path / "out", jobs=1)


@pytest.mark.parametrize(("dies", "how"), [("sys.exit(7)", "status 7"), ("os.abort()", "killed by SIGABRT")])
def test_a_worker_that_ends_itself_before_it_is_ready_ends_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: str, how: str
) -> None:
    _dying_first(monkeypatch, tmp_path / "begun", dies)
    with pytest.raises(EnvironmentFault, match=f"TVM cannot be imported: {how}"):
        campaign(tmp_path / "out", jobs=1)


@pytest.mark.parametrize(("number", "waits"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EACCES, False)])
def test_a_worker_that_begins_waits_for_room_on_the_disk(
    monkeypatch: pytest.MonkeyPatch, number: int, waits: bool
) -> None:
    """A disk that is full for a while does not end a campaign, also where a worker is killed meanwhile."""
    left = [OSError(number, "no room") for _ in range(3)]
    monkeypatch.setattr(worker.time, "sleep", lambda _seconds: None)

    def make() -> str:
        if left:
            raise left.pop()
        return "made"

    if waits:
        assert worker._when_there_is_room(make, math.inf) == "made"
        left.append(OSError(number, "no room"))
        with pytest.raises(OSError, match="no room"):
            worker._when_there_is_room(make, -math.inf)
        return
    with pytest.raises(OSError, match="no room"):
        worker._when_there_is_room(make, math.inf)
    assert len(left) == 2


def test_a_worker_that_finds_no_room_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
import sys
from fuzzer.protocol import Refused
from tests.fuzzer.fake_worker import say
sys.stdin.buffer.readline()
say(Refused("OUT/stderr-1: no space left on device", usage=False))
"""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(pool, "module_command", lambda _module, *given: [sys.executable, "-c", script, *given])
    with pytest.raises(EnvironmentFault, match="^OUT/stderr-1: no space left on device$"):
        campaign(tmp_path / "out", jobs=1)
