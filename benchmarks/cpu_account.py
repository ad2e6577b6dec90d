"""CPU seconds of a command with all that it starts, as a control group of the kernel counts them: also of processes
that no process waits for, which `getrusage` leaves out (Ray has the kernel discard its own)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_FIRST, _SECOND = Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup")
"""Where control groups are made, of either version."""


class Account:
    """A control group of its own. Raises OSError where none can be made: that takes root, or a folder of one's own."""

    def __init__(self) -> None:
        self._folder = (_FIRST if _FIRST.is_dir() else _SECOND) / f"passfuzz-bench-{os.getpid()}"
        self._folder.mkdir()

    def join(self) -> None:
        """Puts this process into it, for good. To be called in a child, before it becomes the command."""
        (self._folder / "cgroup.procs").write_text("0")

    @property
    def used_s(self) -> float:
        """CPU seconds of all that have ever been in it."""
        if (usage := self._folder / "cpuacct.usage").exists():
            return int(usage.read_text()) / 1e9
        (line,) = [line for line in (self._folder / "cpu.stat").read_text().splitlines() if "usage_usec" in line]
        return int(line.split()[1]) / 1e6

    def close(self) -> None:
        """When all in it have ended."""
        self._folder.rmdir()


@contextmanager
def account() -> Iterator[Account | None]:
    """An account, None where the machine gives none."""
    try:
        made = Account()
    except OSError:
        yield None
        return
    try:
        yield made
    finally:
        made.close()


def joining(there: Account | None) -> Callable[[], None] | None:
    """What `subprocess` is to call in the child."""
    return None if there is None else there.join
