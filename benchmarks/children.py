"""Work in a forked child, which TVM may end: what it says before it ends is kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from oracles.forked import THROUGH, fork_child
from oracles.pipes import write_all

Say: TypeAlias = Callable[[str], None]
"""Says one line, which may not hold a line break."""
DEADLINE_S = 60


@dataclass(frozen=True, slots=True)
class Said:
    """lines: what the child said. cpu_s: its CPU seconds, user and system. ended: by itself, neither crashed nor
    stopped at the deadline."""

    lines: list[str]
    cpu_s: float
    ended: bool


def in_child(action: Callable[[Say], None], deadline_s: int = DEADLINE_S) -> Said:
    """Runs `action` in a child of this process, both outputs silent unless PASSFUZZ_DEBUG is set."""
    reading, writing = os.pipe()

    def work() -> None:
        signal.alarm(deadline_s)
        if "PASSFUZZ_DEBUG" not in os.environ:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        action(lambda line: write_all(writing, f"{line}\n".encode()))

    pid = fork_child(work)
    os.close(writing)
    with os.fdopen(reading) as stream:
        lines = [line[:-1] for line in stream if line.endswith("\n")]
    _, status, usage = os.wait4(pid, 0)
    return Said(lines, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status) == THROUGH)
