"""Work in a forked child, which TVM may end: what it says before it ends is kept."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from oracles.forked import Write, written_by

Say: TypeAlias = Callable[[str], None]
"""Says one line, which may not hold a line break."""
DEADLINE_S = 60.0


@dataclass(frozen=True, slots=True)
class Said:
    """lines: what the child said. cpu_s: CPU seconds of it and of what it has waited for, user and system. ended: by
    itself, neither crashed nor stopped at the deadline."""

    lines: list[str]
    cpu_s: float
    ended: bool


def in_child(action: Callable[[Say], None], deadline_s: float = DEADLINE_S) -> Said:
    """Runs `action` in a child of this process, both outputs silent unless PASSFUZZ_DEBUG is set. The deadline counts
    seconds in which the child could have got on. One child at a time: CPU seconds are those of all children."""

    def work(write: Write) -> None:
        if "PASSFUZZ_DEBUG" not in os.environ:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        action(lambda line: write(f"{line}\n".encode()))

    before = _of_children()
    ended, data = written_by(work, deadline_s)
    lines = data.decode().split("\n")[:-1]
    return Said(lines, _of_children() - before, ended is None)


def _of_children() -> float:
    """CPU seconds of the children that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
