"""Replaying a script leaves no process of it, whatever the script does and however replaying ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.commands import replay
from fuzzer.replaying import warm
from tests.deeds import is_alive
from tests.fuzzer.test_campaign import wait_for
from tests.fuzzer.test_replay import put
from tests.quick import one_in

ROOT = Path(__file__).resolve().parents[2]
LEAVES = """
import os, sys, time
heard, said = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.write(said, str(os.getpid()).encode())
    time.sleep(10_000)
print(os.read(heard, 20).decode())
"""
"""Says the number of a process that stays, in a session of its own and with the pipes of the script."""


def case_of(corpus: Path, script: str) -> None:
    put(corpus, "case", script, ("0.27", "fails"))


@pytest.mark.parametrize("trust", one_in(2, (False, True)), ids=["walled", "trusted"])
def test_what_a_script_leaves_behind_is_ended_and_holds_nothing_up(tmp_path: Path, trust: bool) -> None:
    case_of(tmp_path, f"{LEAVES}sys.exit(1)")
    (row,) = replay.replay(tmp_path, (), trust).rows
    assert row.outcome == "fails as known", row.message
    assert not is_alive(int(row.message))


@pytest.mark.deep
def test_a_hang_is_an_error_and_nothing_of_it_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "CASE_TIMEOUT_S", 2.0)
    told = tmp_path / "told"
    case_of(tmp_path / "corpus", f"sys = __import__('sys')\nsys.stdout = open({str(told)!r}, 'a', 1)\n{WAITS}")
    (row,) = replay.replay(tmp_path / "corpus", (), trust=True).rows
    assert (row.outcome, row.message) == ("error", "no answer in time")
    assert not any(is_alive(int(line)) for line in (told.read_text().split() if told.exists() else ()))


WAITS = f"{LEAVES}print(os.getpid(), flush=True)\ntime.sleep(10_000)\n"
ASKS = """
import sys
from pathlib import Path
from fuzzer.commands.replay import replay
replay(Path(sys.argv[1]), (), trust=True)
"""


@pytest.mark.parametrize("number", one_in(2, (signal.SIGKILL, signal.SIGTERM)), ids=lambda number: number.name)
def test_a_script_ends_with_the_replay(tmp_path: Path, number: signal.Signals) -> None:
    told, corpus = tmp_path / "told", tmp_path / "corpus"
    case_of(corpus, f"sys = __import__('sys')\nsys.stdout = open({str(told)!r}, 'w', 1)\n{WAITS}")
    asking = subprocess.Popen([sys.executable, "-c", ASKS, str(corpus)], env={**os.environ, "PYTHONPATH": str(ROOT)})
    wait_for(lambda: told.exists() and len(told.read_text().splitlines()) == 2)
    started = [int(line) for line in told.read_text().split()]
    assert all(map(is_alive, started))
    asking.send_signal(number)
    asking.wait()
    wait_for(lambda: not any(map(is_alive, started)))
