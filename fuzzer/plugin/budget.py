"""How much CPU time the judging of one test may take: in proportion to what the test itself takes, and some seconds.

Seconds of CPU time, so that a busy machine judges no less.
"""

from __future__ import annotations

import math
import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHARE, GRANT_S = 9.0, 18.0
"""Judging may take so many times what the test has used by itself so far, and so many seconds more: with it, no test
takes more than ten times its own time and 20 seconds."""


def used_s() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def limit_cpu(seconds: float) -> None:
    """Ends this process by SIGXCPU once it has used so many CPU seconds in all, counted in whole ones."""
    for kind, limit in ((resource.RLIMIT_CPU, max(1, math.floor(seconds))), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))


class TestBudget:
    """Of the test that has just begun.

    The test's own time is that of its process outside of `spending`. All other time counts as the judge's, that of the
    processes which a test starts, too: a judge that is killed may be waited for only later.
    """

    __test__ = False  # for pytest, which would take it for a test

    def __init__(self, used: Callable[[], float] = used_s, of_process: Callable[[], float] = time.process_time) -> None:
        self._used, self._of_process = used, of_process
        self._began, self._process_began = used(), of_process()
        self._inside = 0.0

    @contextmanager
    def spending(self) -> Iterator[None]:
        """What is used in here is not the test's own."""
        start = self._of_process()
        try:
            yield
        finally:
            self._inside += self._of_process() - start

    def left_s(self) -> float:
        """Seconds that judging may still take, from inside or outside of `spending`."""
        own = self._of_process() - self._process_began - self._inside
        return SHARE * own + GRANT_S - (self._used() - self._began - own)
