"""How long a process could have run: on a busy machine, a slow process is not taken for one that hangs."""

from __future__ import annotations

import time

from oracles.family import children, family, is_stopped, starved_s

_LONGEST_S = 1.0
"""The most seconds between two looks that count: if more passed, this process itself did not run."""


class StopClock:
    """Seconds for which a process has been stopped by a signal, without those in which nobody looked. guards: a child
    of it counts as well, as it is a guard."""

    def __init__(self, pid: int, guards: bool = False) -> None:
        self._pid = pid
        self._guards = guards
        self._at = time.monotonic()
        self.seconds = 0.0

    def look(self) -> bool:
        """Whether it is stopped."""
        now = time.monotonic()
        passed, self._at = min(now - self._at, _LONGEST_S), now
        stopped = is_stopped(self._pid) or (self._guards and any(map(is_stopped, children(self._pid))))
        self.seconds = self.seconds + passed if stopped else 0.0
        return stopped


class Clock:
    """Seconds in which a process could have run: wall-clock time, without the time in which it, or a process that it
    started, waited for a CPU that others used, and without the time in which it was stopped (`stopped_s`)."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._at = time.monotonic()
        self._starved: dict[int, float] = {}
        self._stopped = StopClock(pid)
        self.restart()

    @property
    def stopped_s(self) -> float:
        """Seconds for which it has been stopped up to now; 0 while it is not."""
        return self._stopped.seconds

    def restart(self) -> None:
        self.seconds, self.since = 0.0, time.monotonic()

    def look(self) -> None:
        now = time.monotonic()
        passed, self._at = min(now - self._at, _LONGEST_S), now
        before, self._starved = self._starved, {pid: starved_s(pid) for pid in family(self._pid)}
        starved = sum(spent - before.get(pid, 0.0) for pid, spent in self._starved.items())
        if not self._stopped.look():
            self.seconds += max(0.0, passed - starved)
