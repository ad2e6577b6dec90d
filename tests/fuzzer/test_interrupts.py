"""Signals that a campaign notes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzzer.campaign.interrupts import SAME_S, Interrupts
from fuzzer.early_signals import Interrupting
from tests.quick import one_in

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def number(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    old = signal.getsignal(request.param)
    yield request.param
    assert signal.getsignal(request.param) == old


def test_a_signal_is_noted_and_the_second_one_ends(number: signal.Signals) -> None:
    standard = [os.dup(descriptor) for descriptor in (0, 1, 2)]
    kept_before = signal.signal(number, signal.SIG_DFL)  # nohup ignores one, and what is ignored stays so
    try:
        with Interrupts() as interrupts:
            assert not interrupts.happened
            signal.raise_signal(number)  # to this thread, so that it is noted before the next line
            assert interrupts.happened
            signal.raise_signal(number)  # the same one, sent to the process and to its group
            time.sleep(2 * SAME_S)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
    finally:
        signal.signal(number, kept_before)
        for descriptor, kept in enumerate(standard):
            os.dup2(kept, descriptor)
            os.close(kept)


INTERRUPTED = """\
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == {at!r}:
            os.kill(os.getpid(), signal.{number})
sys.meta_path.insert(0, Interrupts())
signal.signal(signal.{number}, {handler})
from fuzzer.__main__ import main
sys.argv = ["passfuzz", "list", "targets"]
main()
"""


READ = ("fuzzer.cli", "typer", "fuzzer.errors", "fuzzer.streams", "fuzzer.commands.listing")
SENT = (
    ("SIGINT", "signal.default_int_handler", 130),
    ("SIGTERM", "signal.SIG_DFL", 130),
    ("SIGHUP", "signal.SIG_DFL", 130),
    *((number, "signal.SIG_IGN", 0) for number in ("SIGINT", "SIGTERM", "SIGHUP")),
)


@pytest.mark.parametrize(
    ("at", "number", "handler", "status"), one_in(7, ((at, *sent) for sent in SENT for at in READ))
)
def test_a_signal_while_our_code_is_read(at: str, number: str, handler: str, status: int) -> None:
    code = INTERRUPTED.format(at=at, number=number, handler=handler)
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (status, "passfuzz: interrupted\n" if status else "")


SWALLOWED = """\
import os, signal, sys
class Swallows:
    def find_spec(self, name, path, target=None):
        if name == "typer":
            try:
                os.kill(os.getpid(), signal.{number})
            except BaseException:
                pass
sys.meta_path.insert(0, Swallows())
signal.signal(signal.{number}, signal.SIG_DFL)
from fuzzer.__main__ import main
sys.argv = ["passfuzz", "list", "targets"]
main()
"""


def test_a_signal_that_an_import_swallows_is_asked_for(number: signal.Signals) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SWALLOWED.format(number=number.name)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "passfuzz: interrupted\n")


def test_one_that_came_before_a_campaign_is_noted(number: signal.Signals) -> None:
    handler = Interrupting()
    old = signal.signal(number, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        with Interrupts() as interrupts:
            assert interrupts.happened
    finally:
        signal.signal(number, old)


def test_one_that_comes_while_handlers_are_installed_is_noted(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    install = signal.signal

    def at_once(which: int, handler: Any) -> Any:
        old = install(which, handler)
        if which == number and callable(handler):
            signal.raise_signal(number)
        return old

    before = install(number, signal.SIG_DFL)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(signal, "signal", at_once)
            patch.setattr("fuzzer.campaign.interrupts._leave_terminal", lambda: None)
            with Interrupts() as interrupts:
                assert interrupts.happened
    finally:
        install(number, before)


def test_what_is_ignored_stays_ignored() -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interrupts.happened
    finally:
        signal.signal(signal.SIGHUP, old)
