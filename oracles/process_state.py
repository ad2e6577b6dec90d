"""What a pass must leave of its process as it was: what makes the code that runs next fail or end, and not the pass.

Limits of what code needs may not be lower than before, signals that end processes or say how children ended not be
handled otherwise, and no timer may run on. Where the process works, what it prints, how nice it is and what it does
about other signals are its own affair.
"""

from __future__ import annotations

import resource
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

_LIMITS = {
    name: getattr(resource, name)
    for name in (
        *("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_MEMLOCK", "RLIMIT_NOFILE", "RLIMIT_NPROC"),
        *("RLIMIT_RSS", "RLIMIT_STACK"),
    )
}
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE)
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_ENDLESS = 1 << 64


class Spoilt(BaseException):
    """The process is no longer what it was. No `except Exception` stops it: nothing that runs here can be relied on.

    The text is what a pass leaves its process with, as in "leaves its process with a lower RLIMIT_NOFILE".
    """


@dataclass(frozen=True, slots=True)
class ProcessState:
    """limits: the soft ones by number. handlers: of the signals, in their order; what Python knows of them. timers: the
    seconds after which each goes off, 0 where it is not set. depth: of recursion."""

    limits: tuple[int, ...]
    handlers: tuple[object, ...]
    timers: tuple[float, ...]
    depth: int

    @staticmethod
    def here() -> ProcessState:
        """That of this process."""
        limits = (resource.getrlimit(number)[0] for number in _LIMITS.values())
        return ProcessState(
            tuple(_ENDLESS if limit == resource.RLIM_INFINITY else limit for limit in limits),
            tuple(map(signal.getsignal, _SIGNALS)),
            tuple(signal.getitimer(timer)[0] for timer in _TIMERS),
            sys.getrecursionlimit(),
        )

    def spoilt(self, now: ProcessState) -> str:
        """What has become worse; "" for nothing."""
        if any(left > before for before, left in zip(self.timers, now.timers, strict=True)):
            return "a timer that runs on"
        for name, before, limit in zip(_LIMITS, self.limits, now.limits, strict=True):
            if limit < before:
                return f"a lower {name}"
        for number, handler, other in zip(_SIGNALS, self.handlers, now.handlers, strict=True):
            if handler != other:
                return f"another handler of {number.name}"
        return "a lower limit of recursion" if now.depth < self.depth else ""


_NOTED: list[ProcessState] = []
"""The state of this child before the code under test ran; nothing in a process that watches others."""


def note_state() -> None:
    """Notes the state of this child, for `require_state`."""
    _NOTED[:] = [ProcessState.here()]


def limit_memory(extra_bytes: int) -> None:
    """Lets this process map `extra_bytes` more than it has: beyond, allocation fails as an exception."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + extra_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
    note_state()


def require_state() -> None:
    """Raises Spoilt in a child whose state the code under test has made worse since it was noted."""
    if _NOTED and (what := _NOTED[0].spoilt(ProcessState.here())):
        raise Spoilt(what)
