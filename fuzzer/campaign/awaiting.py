"""Waiting for the first worker of a campaign, and what it means where none gets ready."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from fuzzer.errors import EnvironmentFault, UsageError, tell
from fuzzer.processes.workforce import FromWorker, WorkerLost, Workforce
from fuzzer.protocol import Refused, Warned

READY_S = 180.0
"""Seconds until the first worker has imported TVM and the loaded file."""


def await_first(
    pool: Workforce, take: Callable[[FromWorker], str | None], interrupted: Callable[[], bool], load: Path | None
) -> None:
    """Until a worker is ready, or the user does not want to wait. take: is given what workers say; a fault of the
    campaign, in a line, where that is one. load: the user's file.

    Raises UsageError for what workers refuse (the loaded file), EnvironmentFault where none gets ready.
    """
    began, told = time.monotonic(), set[str]()
    while not (interrupted() or any(slot.ready for slot in pool.slots)):
        for heard in pool.answers(0.2):
            if isinstance(answer := heard.answer, Warned) and answer.line not in told:
                told.add(answer.line)  # the other workers say it, too
                tell(f"warning: {answer.line}")
            if isinstance(answer, Refused):
                raise UsageError(answer.message) if answer.usage else EnvironmentFault(answer.message)
            if isinstance(answer, WorkerLost) and not (answer.killed or answer.was_ready):
                raise EnvironmentFault(_not_ready(answer.how, load))
            if (fault := take(heard)) is not None:
                raise EnvironmentFault(fault)
        if time.monotonic() - began > READY_S:
            raise EnvironmentFault(f"no worker is ready within {READY_S:g} s; `passfuzz doctor` looks closer")


def _not_ready(how: str, load: Path | None) -> str:
    """Why a worker has ended before it was ready."""
    if load is None:
        return f"TVM cannot be imported: {how}; `passfuzz doctor` looks closer"
    return f"TVM cannot be imported, or a pass of {load} ends what judges it: {how}"
