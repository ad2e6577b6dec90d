"""One errand: a fresh process that imports TVM, does one thing in children of its own, and answers. No TVM here.

`passfuzz check` and `passfuzz reduce` are errands. Whatever TVM, a pass, a loaded file or a module does to the
process that carries the errand out, the command line lives and says in one line what happened.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from fuzzer.campaign.pool import worker_environment
from fuzzer.commands.doctor import require_tvm
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.processes.start import module_command
from generators.case import Case

READY_S = 180.0
"""Seconds until TVM and the loaded file are imported."""

_ERROR = re.compile(r"[\w.]*(Error|Exception|Interrupt|Exit)\b")
"""How the line begins with which Python ends a traceback; TVM's warnings may follow it."""

What: TypeAlias = Literal["check", "reduce"]


@dataclass(frozen=True, slots=True)
class Errand:
    """What to do. passes: names given by the user, () for the case's own or else the default.

    explain: as given to `passfuzz check`; oracle, interesting, time_s: to `passfuzz reduce`. scratch: a folder that the
    errand may write into.
    """

    what: What
    case: Case
    passes: tuple[str, ...] = ()
    oracle: str | None = None
    interesting: str | None = None
    time_s: float = 60.0
    scratch: str = ""
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One line of the answer: `kind` "ready", "row", "value", "culprit", "reduced" or "done", with its payload."""

    kind: str
    payload: dict[str, Any]


def run_errand(errand: Errand, limit_s: float) -> list[Reply]:
    """Every reply up to "done".

    Raises UsageError or EnvironmentFault: what the errand was refused for, a TVM that cannot be imported, or an
    errand that ended, or took longer than limit_s, without an answer.
    """
    require_tvm()
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            module_command("fuzzer.oneshot.main", str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=worker_environment(),
            start_new_session=True,
        )
        try:
            _hand_over(process, errand)
            return _replies(process, stderr.fileno(), limit_s)
        finally:
            _end(process)


def _hand_over(process: subprocess.Popen[bytes], errand: Errand) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(pickle.dumps(errand))
        process.stdin.close()
    except BrokenPipeError:
        return  # it has ended already, which the end of its answers tells


def _replies(process: subprocess.Popen[bytes], stderr: int, limit_s: float) -> list[Reply]:
    replies: list[Reply] = []
    for reply in _lines(process, limit_s):
        if reply.kind == "refused":
            message = str(reply.payload["message"])
            raise UsageError(message) if reply.payload["usage"] else EnvironmentFault(message)
        replies.append(reply)
        if reply.kind == "done":
            return replies
    if not any(reply.kind == "ready" for reply in replies):
        raise EnvironmentFault(f"TVM cannot be imported: {_ended(process, stderr)}; `passfuzz doctor` looks closer")
    raise EnvironmentFault(f"the process that does the work {_ended(process, stderr)}")


def _lines(process: subprocess.Popen[bytes], limit_s: float) -> Iterator[Reply]:
    """Replies until the end of the stream, or until the process does not get ready or done in time."""
    assert process.stdout is not None
    start = time.monotonic()
    allowed, rest = READY_S, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(max(0.0, start + allowed - time.monotonic())):
            data = os.read(process.stdout.fileno(), 1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if message["kind"] == "ready":
                    allowed = READY_S + limit_s
                yield Reply(message.pop("kind"), message)
    raise EnvironmentFault(f"no answer within {allowed:.0f} s")


def _ended(process: subprocess.Popen[bytes], stderr: int) -> str:
    """How a process ended that has closed its output."""
    status = process.wait()
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    text = os.pread(stderr, 1 << 16, max(0, os.fstat(stderr).st_size - (1 << 16))).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if _ERROR.match(line)] or lines
    return f"ended with status {status}" + (f": {told[-1][:300]}" if told else "")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and all that it started in its session."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None and not pipe.closed:
            pipe.close()


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for an errand; gone when the command ends."""
    return tempfile.TemporaryDirectory(prefix="passfuzz-", ignore_cleanup_errors=True)
