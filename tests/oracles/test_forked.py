"""Children: what ended them is said as what it is, and nothing that they have started is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from oracles import forked as module_under_test
from oracles import pace
from oracles.family import children, is_stopped
from oracles.forked import CUT_OFF, RAISED, ChildRaised, Ended, await_child, fork_child, forked, written_by
from tests.deeds import CUT_OFF as DESCRIPTORS
from tests.deeds import DEEDS, EXIT, FROM_OUTSIDE, NOTHING, RAISES, SIGNAL, SPOILS, TEXT, Deed, is_alive, left_alive
from tests.patience import HANGS_S
from tests.quick import one_in

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def deeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], object]]:
    monkeypatch.setenv("HOSTILE", str(tmp_path))
    namespace: dict[str, Any] = {}
    exec(TEXT, namespace)
    found: dict[str, Callable[[], object]] = namespace["DEEDS"]
    return found


def silently(deed: Callable[[], object]) -> Callable[[], str]:
    """Does the deed, with stderr thrown away, and then its work."""

    def work() -> str:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        deed()
        return "done"

    return work


@pytest.mark.parametrize("guarded", [False, pytest.param(True, marks=pytest.mark.deep)], ids=["child", "guarded"])
@pytest.mark.parametrize("deed", one_in(3, DEEDS), ids=lambda deed: deed.name)
def test_what_a_deed_ends_is_told_and_nothing_is_left(
    deed: Deed, guarded: bool, deeds: dict[str, Callable[[], object]], tmp_path: Path
) -> None:
    before = children()
    work = silently(deeds[deed.name])
    if deed.kind == RAISES:
        with pytest.raises(ChildRaised, match=deed.how):
            forked(work, HANGS_S, guarded=guarded)
    else:
        said = forked(work, HANGS_S, guarded=guarded)
        if deed.kind in (NOTHING, SPOILS):
            assert said == "done"
        else:
            assert isinstance(said, Ended)
            assert said.how == deed.how
            assert (said.by is not None) == (deed.kind in (SIGNAL, FROM_OUTSIDE))
            assert said.from_outside == (deed.kind == FROM_OUTSIDE)
            assert said.by_exit == (deed.kind in (EXIT, DESCRIPTORS))
            assert not said.raised and not said.hung
    assert left_alive(tmp_path) == []
    assert children() == before


def test_every_deed_is_expected_of() -> None:
    namespace: dict[str, Any] = {}
    exec(TEXT, namespace)
    assert list(namespace["DEEDS"]) == [deed.name for deed in DEEDS]


@pytest.mark.parametrize("guarded", [False, True], ids=["child", "guarded"])
def test_what_a_child_gives_or_raises_comes_to_its_parent(guarded: bool) -> None:
    assert forked(lambda: [1, (2.0, "three")], HANGS_S, guarded=guarded) == [1, (2.0, "three")]
    with pytest.raises(ChildRaised, match=r"^ZeroDivisionError: .* \(test_forked.py:\d+\)$"):
        forked(lambda: 1 // 0, HANGS_S, guarded=guarded)
    assert forked(signal.pause, 0.5, guarded=guarded) == Ended()


def test_a_child_without_a_pipe_is_believed_by_its_word_alone() -> None:
    assert await_child(fork_child(lambda: None), HANGS_S)[0] is None
    assert await_child(fork_child(lambda: os._exit(100)), HANGS_S)[0] == Ended(status=100)
    ended, _ = await_child(fork_child(lambda: [][0]), HANGS_S)
    assert ended == Ended(status=RAISED)
    assert ended is not None and ended.what.startswith("IndexError: list index out of range (test_forked.py:")


def test_a_process_that_ignores_the_end_of_its_children_hears_of_it() -> None:
    def work() -> object:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        return forked(lambda: os._exit(4), HANGS_S)

    assert forked(work, HANGS_S) == Ended(status=4)


def test_what_a_child_forks_says_nothing_in_its_name() -> None:
    def forks(write: Callable[[bytes], None]) -> None:
        write(b"one ")
        if pid := os.fork():
            os.waitpid(pid, 0)
        write(b"two ")

    assert written_by(forks, HANGS_S) == (None, b"one two ")


def test_what_was_written_elsewhere_is_no_answer() -> None:
    def replaces(write: Callable[[bytes], None]) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 3)
        for number in range(3, 64):
            os.dup2(3, number)
        write(b"lost")

    assert written_by(replaces, HANGS_S) == (Ended(status=CUT_OFF), b"")


# --- time -------------------------------------------------------------------------------------------------


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a child waits for a CPU, it is not ended for that; it is looked at often."""
    monkeypatch.setattr(module_under_test, "_PATIENCE", 10_000)
    monkeypatch.setattr(module_under_test, "_POLL_S", 0.02)


def spins() -> None:
    while True:
        pass


def test_a_child_that_computes_without_end_hangs_and_has_used_the_cpu(patient: None) -> None:
    ended = forked(spins, 0.3)
    assert isinstance(ended, Ended)
    assert ended.hung and ended.cpu_s > 0


def test_a_child_that_gets_no_cpu_does_not_hang(patient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where every process waits for a CPU as long as the clock runs."""
    monkeypatch.setattr(pace, "starved_s", lambda pid: time.monotonic())
    assert forked(lambda: time.sleep(1.0), 0.2) is None


def test_a_child_that_stays_stopped_is_ended_as_by_others(patient: None) -> None:
    """Its deadline is long enough to come to the stop on a busy machine: the kernel counts a wait once it is over."""
    ended = forked(lambda: os.kill(os.getpid(), signal.SIGSTOP), 3.0)
    assert ended == Ended(signal.SIGSTOP)
    assert ended.from_outside


def test_time_in_which_nobody_looks_at_a_stopped_process_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole run may have been stopped, and go on."""
    times, stopped = iter([0.0, 0.5, 100.0, 100.2, 100.4]), iter([True, True, False, True])
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: next(times)))
    monkeypatch.setattr(pace, "is_stopped", lambda pid: next(stopped))
    clock = pace.StopClock(1)
    seen = [(clock.look(), round(clock.seconds, 3)) for _ in range(4)]
    assert seen == [(True, 0.5), (True, 1.5), (False, 0.0), (True, 0.2)]


def test_a_guard_is_stopped_where_what_it_guards_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "children", lambda pid: frozenset({pid + 1}))
    monkeypatch.setattr(pace, "is_stopped", lambda pid: pid == 2)
    assert pace.StopClock(1, guards=True).look()
    assert not pace.StopClock(1).look()


def test_progress_begins_the_deadline_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_under_test, "_POLL_S", 0.02)
    counts = iter(range(10**9))
    ended, _ = written_by(lambda write: time.sleep(1.0), 0.2, progress=lambda: next(counts))
    assert ended is None


# --- the end of the parent --------------------------------------------------------------------------------

PARENT = """
import os, sys, time
from oracles.family import go_on_guarded
from oracles.forked import forked
{text}
if sys.argv[1] == "guarded process":
    go_on_guarded(os.getppid())
def work():
    for deed in ("Sleeper", "Daemon", "DeafDaemon"):
        DEEDS[deed]()
    open(os.path.join(os.environ["HOSTILE"], str(os.getpid())), "w").close()
    time.sleep(10_000)
forked(work, 10_000, guarded=sys.argv[1] == "guarded child")
"""


def test_nothing_outlives_a_parent(tmp_path: Path) -> None:
    for kind in ("guarded process", "guarded child"):
        for number in (signal.SIGKILL, signal.SIGTERM):
            for which in ("first", "second") if kind == "guarded process" else ("first",):
                folder = tmp_path / f"{kind}-{number}-{which}"
                folder.mkdir()
                _killed(kind, number, which, folder)
                wait_for(lambda folder=folder: not left_alive(folder))  # type: ignore[misc]
                assert left_alive(folder) == []


STOPPED = """
import os, sys
from oracles.family import go_on_guarded
go_on_guarded(os.getppid())
print(os.getppid(), flush=True)
sys.stdin.read()
"""
PARENT_OF_STOPPED = """
import subprocess, sys
guard = subprocess.Popen([sys.executable, "-c", {script!r}], stdin=subprocess.PIPE, start_new_session=True)
guard.wait()
"""


def test_a_guard_that_was_stopped_does_not_outlive_what_it_guards() -> None:
    """A signal for a process that is stopped waits until it goes on; what it guards sees the end of its commands."""
    command = [sys.executable, "-c", PARENT_OF_STOPPED.format(script=STOPPED)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        guard = int(parent.stdout.readline())
        os.kill(guard, signal.SIGSTOP)
        wait_for(lambda: is_stopped(guard))
        parent.kill()
        wait_for(lambda: not is_alive(guard))


def _killed(kind: str, number: signal.Signals, which: str, folder: Path) -> None:
    environment = {**os.environ, "HOSTILE": str(folder), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(text=TEXT), kind], env=environment, start_new_session=True
    )
    wait_for(lambda: len(list(folder.iterdir())) == 4)
    assert len(left_alive(folder)) == 4
    (inner,) = children(process.pid)
    os.kill(process.pid if which == "first" else inner, number)
    process.wait(HANGS_S)


def wait_for(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds; the limit only ends a test that hangs."""
    end = time.monotonic() + HANGS_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
