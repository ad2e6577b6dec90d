"""Ctrl-C, SIGTERM and SIGHUP end a campaign in order, from its first moment on; a second one ends it at once.

What comes within SAME_S of the first is the same one: `timeout` and process managers send to a process and to its
group, and a child of `fuzzer.engines.driver` gets the terminal's Ctrl-C and its parent's.
"""

from __future__ import annotations

import os
import signal
import stat
import threading
import time
from types import FrameType, TracebackType

from fuzzer.early_signals import Interrupting
from fuzzer.errors import Handler

SAME_S = 0.1
"""Seconds after the first signal in which others change nothing."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """A context in which these signals are noted. happened: whether one has come."""

    def __init__(self) -> None:
        self.happened = False
        self._first_at = 0.0
        self._old: dict[int, Handler] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            hung_up = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN  # nohup: it stays ignored
            live = [number for number in _SIGNALS if not (hung_up and number == signal.SIGHUP)]
            self._old = {number: signal.signal(number, self._note) for number in live}
            self.happened |= any(isinstance(old, Interrupting) and old.came for old in self._old.values())
        return self

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave_terminal()
        if self.happened and time.monotonic() - self._first_at > SAME_S:
            raise KeyboardInterrupt
        if not self.happened:
            self._first_at, self.happened = time.monotonic(), True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)


def _leave_terminal() -> None:
    """The terminal is gone: what is written to it would fail."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        if _is_device(descriptor):
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _is_device(descriptor: int) -> bool:
    try:
        return stat.S_ISCHR(os.fstat(descriptor).st_mode)
    except OSError:
        return False
