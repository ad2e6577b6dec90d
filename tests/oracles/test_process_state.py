"""What a pass leaves its process with: what makes other code fail is told, and nothing else."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable

import pytest

from oracles.forked import Ended, forked
from oracles.process_state import ProcessState, limit_memory, require_state
from tests.patience import HANGS_S

STACK = resource.RLIMIT_STACK


def lowers(limit: int, to: int) -> Callable[[], object]:
    return lambda: resource.setrlimit(limit, (to, resource.getrlimit(limit)[1]))


def said_after(deed: Callable[[], object]) -> object:
    """How a child ends that does the deed; "well" where nothing is wrong with it."""

    def work() -> str:
        limit_memory(1 << 30)
        deed()
        require_state()
        return "well"

    return forked(work, HANGS_S)


@pytest.mark.parametrize(
    ("deed", "what"),
    [
        (lowers(STACK, 1 << 20), "a lower RLIMIT_STACK"),
        (lowers(resource.RLIMIT_NOFILE, 20), "a lower RLIMIT_NOFILE"),
        (lambda: signal.signal(signal.SIGTERM, lambda *_: None), "another handler of SIGTERM"),
        (lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), "another handler of SIGCHLD"),
        (lambda: signal.alarm(3600), "a timer that runs on"),
        (lambda: signal.setitimer(signal.ITIMER_PROF, 3600), "a timer that runs on"),
        (lambda: sys.setrecursionlimit(500), "a lower limit of recursion"),
    ],
)
def test_what_makes_other_code_fail_is_told(deed: Callable[[], object], what: str) -> None:
    ended = said_after(deed)
    assert isinstance(ended, Ended) and ended.spoilt
    assert ended.how == what


@pytest.mark.parametrize(
    "deed",
    [
        lambda: None,
        lambda: (signal.alarm(3600), signal.alarm(0)),
        lambda: signal.signal(signal.SIGTERM, signal.signal(signal.SIGTERM, signal.SIG_IGN)),
        lambda: (lowers(STACK, 1 << 20)(), resource.setrlimit(STACK, (resource.getrlimit(STACK)[1],) * 2)),
        lambda: sys.setrecursionlimit(5000),
        lambda: os.chdir("/"),
        lambda: signal.signal(signal.SIGUSR1, lambda *_: None),
    ],
)
def test_what_is_as_it_was_or_better_is_left_alone(deed: Callable[[], object]) -> None:
    assert said_after(deed) == "well"


def test_a_process_that_watches_others_is_not_looked_at() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before - 1)
    try:
        assert ProcessState.here().depth == before - 1
        require_state()
    finally:
        sys.setrecursionlimit(before)
