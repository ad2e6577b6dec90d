"""A process has ended when it has ended, whoever holds its pipe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.errors import EnvironmentFault
from fuzzer.oneshot import ask
from fuzzer.processes import pool
from fuzzer.processes.output import Output
from fuzzer.processes.pool import LocalSlot, Pool
from fuzzer.protocol import Plan
from tests.fuzzer.fake_campaigns import noted_pools, settings, with_fake_workers
from tests.fuzzer.test_ends import Kills

pytestmark = pytest.mark.warm

ROOT = Path(__file__).resolve().parents[2]
HOLDS = """
import pathlib, subprocess, sys
holder = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(10_000)"], start_new_session=True)
pathlib.Path({folder!r}, str(holder.pid)).touch()
"""
"""The process starts another one, which holds its output and outlives it."""


@pytest.fixture
def holders(tmp_path: Path) -> Iterator[Path]:
    """A folder for the numbers of the processes that hold pipes."""
    folder = tmp_path / "holders"
    folder.mkdir()
    yield folder
    for path in folder.iterdir():
        with suppress(ProcessLookupError):
            os.kill(int(path.name), signal.SIGKILL)


@pytest.mark.parametrize("ends", ["", "sys.exit(3)", "import os; os.abort()"])
def test_all_that_was_written_is_taken_and_then_the_end(holders: Path, ends: str) -> None:
    text = HOLDS.format(folder=str(holders)) + 'print("x" * 300_000, flush=True)\n' + ends
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as process:
        output, taken = Output(process), b""
        while (some := output.take()) is not None:
            taken += some
        output.close()
        assert process.poll() is not None
    assert taken == b"x" * 300_000 + b"\n"


def test_a_worker_whose_pipe_is_held_is_lost_when_it_ends(
    tmp_path: Path, holders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where worker and guard are killed at once while a pass's daemon lives."""
    with_fake_workers(monkeypatch)
    script = f"{HOLDS.format(folder=str(holders))}\nfrom tests.fuzzer.fake_worker import main\nmain()"
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(pool, "module_command", lambda _module, *given: [sys.executable, "-c", script, *given])
    kills = Kills(noted_pools(monkeypatch), 0)
    result = run_campaign(settings(tmp_path / "out", jobs=2), Observers((kills,)))
    assert result.tally.skipped["worker process lost"] == kills.missed() > 4
    given_up = result.tally.skipped.get("worker killed, again and again", 0)
    assert result.tally.died == given_up, "who kills a worker once accuses no pass"
    assert len(list(holders.iterdir())) > 4


class Stops(Kills):
    """Stops workers in place of killing them."""

    def _kill(self, slot: LocalSlot) -> None:
        self.killed.add(slot.process.pid)
        os.kill(slot.process.pid, signal.SIGSTOP)


def test_a_worker_that_stays_stopped_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_fake_workers(monkeypatch)
    monkeypatch.setattr(pool, "STOPPED_S", 0.3)
    stops = Stops(noted_pools(monkeypatch), 0)
    result = run_campaign(settings(tmp_path / "out", jobs=2), Observers((stops,)))
    assert result.tally.skipped["worker process lost"] == stops.missed() > 2
    given_up = result.tally.skipped.get("worker killed, again and again", 0)
    assert result.tally.died == stops.missed() - given_up, "a case that stops its worker twice counts once"


def test_a_one_shot_process_whose_pipe_is_held_has_ended(holders: Path) -> None:
    text = HOLDS.format(folder=str(holders)) + "sys.exit(5)"
    with (
        Path(os.devnull).open() as nothing,
        subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as process,
        pytest.raises(EnvironmentFault, match="ended with status 5"),
    ):
        ask._replies(process, nothing.fileno(), 1e6, lambda _reply: None, lambda: None)


def test_a_one_shot_process_that_says_what_is_no_answer_ends_the_command() -> None:
    """A pass may write into its pipe."""
    text = """print('{"type": "nobody knows it"}', flush=True); import time; time.sleep(10_000)"""
    with (
        Path(os.devnull).open() as nothing,
        subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as process,
    ):
        with pytest.raises(EnvironmentFault, match="says what is no answer"):
            ask._replies(process, nothing.fileno(), 1e6, lambda _reply: None, lambda: None)
        ask._end(process)


def test_a_one_shot_process_that_stays_stopped_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "STOPPED_S", 0.3)
    text = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    with (
        Path(os.devnull).open() as nothing,
        subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as process,
    ):
        with pytest.raises(EnvironmentFault, match="stopped by a signal"):
            ask._replies(process, nothing.fileno(), 1e6, lambda _reply: None, lambda: None)
        ask._end(process)
        assert process.poll() is not None


def test_a_worker_that_cannot_be_started_leaves_none_of_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    starts, made = Pool._start, list[Pool]()

    def second_fails(one: Pool) -> None:
        if one.slots:
            made.append(one)
            raise OSError("no process can be started")
        starts(one)

    monkeypatch.setattr(Pool, "_start", second_fails)
    with pytest.raises(OSError, match="no process"):
        Pool(Plan(1), 2, 1)
    ((slot,),) = (one.slots for one in made)
    assert slot.process.poll() is not None
