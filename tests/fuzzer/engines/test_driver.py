"""The child in which a campaign on Ray runs: its status counts where it said that it has come to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fuzzer.engines import driver
from fuzzer.errors import EnvironmentFault
from tests.patience import HANGS_S

ROOT = Path(__file__).resolve().parents[3]
CHILD = """
import os, sys
from fuzzer.engines import driver
word = driver.last_word_descriptor()
assert word is not None and driver.last_word_descriptor() is None
{does}
"""
SAYS = "driver.say_last_word(word, {status}); "


def ended(monkeypatch: pytest.MonkeyPatch, does: str) -> int:
    """How a child ends that does this."""
    command = driver.module_command("fuzzer.cli")[:1]
    monkeypatch.setattr(driver, "module_command", lambda *_: [*command, "-c", CHILD.format(does=does)])
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return driver.in_child(())


@pytest.mark.parametrize("status", [0, 1, 2, 3, 130, 141])
def test_a_status_after_the_last_word_is_that_of_the_campaign(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    assert ended(monkeypatch, f"{SAYS.format(status=status)}sys.exit({status})") == status


@pytest.mark.parametrize("does", ["os._exit(1)", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_an_end_after_the_last_word_changes_no_status(monkeypatch: pytest.MonkeyPatch, does: str) -> None:
    assert ended(monkeypatch, f"{SAYS.format(status=0)}{does}") == 0


def test_what_became_of_stdout_after_the_last_word_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ended(monkeypatch, f"{SAYS.format(status=0)}sys.exit(141)") == 141


@pytest.mark.parametrize("status", [2, 3, 130])
def test_a_status_that_no_engine_gives_is_one_of_ours(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    assert ended(monkeypatch, f"sys.exit({status})") == status


@pytest.mark.parametrize("does", ["os._exit(1)", "os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_an_end_without_a_last_word_is_no_finding(monkeypatch: pytest.MonkeyPatch, does: str) -> None:
    with pytest.raises(EnvironmentFault, match="before its time"):
        ended(monkeypatch, does)


def test_a_grandchild_that_holds_the_pipe_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It lives on when the child has ended without a word."""
    number = tmp_path / "number"
    holds = f"open({str(number)!r}, 'w').write(str(os.getpid())), os.execvp('sleep', ['sleep', '{HANGS_S:g}'])"
    held = f"os.set_inheritable(word, True); os.fork() or ({holds}); "
    waits = f"import time; [time.sleep(0.01) for _ in iter(lambda: os.path.exists({str(number)!r}), True)]; "
    try:
        with pytest.raises(EnvironmentFault, match="before its time"):
            ended(monkeypatch, f"{held}{waits}os._exit(1)")
    finally:
        os.kill(int(number.read_text()), signal.SIGKILL)


def test_a_signal_is_forwarded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    handled = f"import signal; signal.signal(signal.SIGTERM, lambda *_: sys.exit(130)); open({str(ready)!r}, 'w'); "
    before = signal.getsignal(signal.SIGTERM)

    def send() -> None:
        end = time.monotonic() + HANGS_S
        while not ready.exists() and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        assert ended(monkeypatch, f"{handled}signal.pause()") == 130
    finally:
        sender.join()
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_signal_that_the_child_is_too_young_for_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes before there is a child, and the child ends as it would before it has a handler."""
    start = driver.subprocess.Popen

    def late(*given: object, **named: object) -> object:
        os.kill(os.getpid(), signal.SIGTERM)
        return start(*given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(driver.subprocess, "Popen", late)
    with pytest.raises(KeyboardInterrupt):
        ended(monkeypatch, "import signal; signal.pause()")


def test_a_child_does_not_go_on_without_its_parent() -> None:
    said = f"{os.getpid() + 1}:1"  # as of a parent that ended before the child had looked
    child = subprocess.run(
        [sys.executable, "-c", CHILD.format(does="print('goes on')")],
        env={**os.environ, "PASSFUZZ_LAST_WORD": said, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=HANGS_S,
    )
    assert child.stdout == b""


def test_only_ray_ends_its_driver() -> None:
    said = {on: driver.is_ended_by(on) for on in ("local", "dask", "dask://a:1", "ray", "ray://auto", "ray://a:1")}
    assert {on for on, ends in said.items() if ends} == {"ray", "ray://auto", "ray://a:1"}
    assert driver.last_word_descriptor() is None
