"""Tries a `--load` file in a child first: it and its factories may end, crash or hang the process that evaluates them.

Worker processes only. What the file defines is looked at in `fuzzer.worker.draw`.
"""

from __future__ import annotations

import os
import runpy
import select
import signal
from pathlib import Path
from typing import Any

from fuzzer.processes.fork import die_with_parent

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


def complaint_about_factory(make: Any) -> str | None:
    """Why `make()` is of no use, in a few words; None when it gives something that can be applied."""
    import tvm

    try:
        with tvm.target.Target("llvm"):
            made = make()
    except BaseException as error:  # noqa: BLE001 - a user's factory may raise anything, SystemExit included
        return f"raises {first_line(error)}"
    return None if callable(made) else f"gives a value of type {type(made).__name__}, which is no tvm.transform.Pass"


def first_line(error: BaseException) -> str:
    """The kind of an exception and the first line of its text."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}"


def _evaluate(path: Path, parent: int) -> None:
    """In the child: never returns."""
    status = _RAISED
    try:
        die_with_parent(parent)
        passes = runpy.run_path(str(path), run_name=RUN_NAME).get("PASSES")
        for make in passes.values() if isinstance(passes, dict) else ():
            complaint_about_factory(make)
        status = _WELL
    finally:
        os._exit(status)
