"""Tries a `--load` file in a child first: the file may end, crash or hang the process that evaluates it.

Worker processes only. What the file defines is looked at in `fuzzer.draw`.
"""

from __future__ import annotations

import os
import runpy
import select
import signal
from pathlib import Path

from fuzzer.worker import die_with_parent

DEADLINE_S = 60.0
"""Seconds that a file may take to be evaluated, what it imports included."""
_WELL, _RAISED = 76, 77
"""Statuses that a file which ends the process itself is unlikely to choose."""
RUN_NAME = "passfuzz_loaded"


def complaint_about(path: Path, deadline_s: float = DEADLINE_S) -> str | None:
    """Why the file cannot be evaluated in this process: it ends it, crashes it or does not end itself. None: it can.

    Exceptions are no complaint: who evaluates the file sees them.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _evaluate(path, parent)
    handle = os.pidfd_open(pid)
    try:
        hangs = not select.select([handle], [], [], deadline_s)[0]
    finally:
        os.close(handle)
    if hangs:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if hangs:
        return f"is not read to its end within {deadline_s:g} s"
    if os.WIFSIGNALED(status):
        return f"is ended by {signal.Signals(os.WTERMSIG(status)).name} while it is read"
    code = os.WEXITSTATUS(status)
    return None if code in (_WELL, _RAISED) else f"ends the process that reads it with status {code}"


def _evaluate(path: Path, parent: int) -> None:
    """In the child: never returns."""
    status = _RAISED
    try:
        die_with_parent(parent)
        runpy.run_path(str(path), run_name=RUN_NAME)
        status = _WELL
    finally:
        os._exit(status)
