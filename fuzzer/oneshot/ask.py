"""Asks a one-shot process: one that imports TVM, does one thing in children of its own, and answers. No TVM here.

`passfuzz check` and `passfuzz reduce` ask one. If TVM, a pass, a loaded file or a module ends it, the command
line lives and says in one line what happened.
"""

from __future__ import annotations

import os
import pickle
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import msgspec

from fuzzer.errors import EnvironmentFault, UsageError, tell
from fuzzer.oneshot.messages import Reply, Request
from fuzzer.processes import pool
from fuzzer.processes.guard import end_stopped
from fuzzer.processes.lines import Lines
from fuzzer.processes.output import Output
from fuzzer.processes.start import module_command, worker_environment
from fuzzer.protocol import Done, Ready, Refused, Warned
from fuzzer.versions import require_tvm
from oracles.pace import StopClock
from oracles.tail import tail

READY_S = 180.0
"""Seconds until TVM and the loaded file are imported."""
LOOK_S = 0.2
"""Seconds between two looks of a caller who waits for replies."""
ROOM_BYTES = 4096
"""What must be free for the messages of a one-shot process."""

_ERROR = re.compile(r"[\w.]*(Error|Exception|Interrupt|Exit)\b")
"""How the line begins with which Python ends a traceback; TVM's warnings may follow it."""


def ask(
    request: Request,
    limit_s: float,
    hear: Callable[[Reply], None] = lambda reply: None,
    look: Callable[[], None] = lambda: None,
) -> list[Reply]:
    """Every reply up to Done. hear: called with each as it comes. look: called now and then in between. Warnings are
    told here.

    Raises UsageError or EnvironmentFault: what the request was refused for, a TVM that cannot be imported, or a
    process that ended, or took longer than limit_s, without an answer.
    """
    require_tvm()
    with tempfile.TemporaryFile() as stderr:
        _require_room(stderr.fileno())
        process = subprocess.Popen(
            module_command("fuzzer.oneshot.main", str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=worker_environment(scratch=request.scratch),
            start_new_session=True,
        )
        try:
            _hand_over(process, request)
            return _replies(process, stderr.fileno(), limit_s, hear, look)
        finally:
            _end(process)


def _require_room(file: int) -> None:
    """Raises EnvironmentFault where the temporary file takes nothing: a child could not say what ends it."""
    try:
        os.write(file, bytes(ROOM_BYTES))
        os.lseek(file, 0, os.SEEK_SET)
        os.ftruncate(file, 0)
    except OSError as error:
        place = f"nothing can be written into the folder for temporary files, {tempfile.gettempdir()}"
        raise EnvironmentFault(f"{place}: {error.strerror}; TMPDIR names another") from error


def _hand_over(process: subprocess.Popen[bytes], request: Request) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(pickle.dumps(request))
        process.stdin.close()
    except BrokenPipeError:
        return  # it has ended already, as the end of its answers shows


def _replies(
    process: subprocess.Popen[bytes],
    stderr: int,
    limit_s: float,
    hear: Callable[[Reply], None],
    look: Callable[[], None],
) -> list[Reply]:
    replies: list[Reply] = []
    for reply in _heard(process, limit_s, look):
        hear(reply)
        if isinstance(reply, Warned):
            tell(f"warning: {reply.line}")
        if isinstance(reply, Refused):
            raise UsageError(reply.message) if reply.usage else EnvironmentFault(reply.message)
        replies.append(reply)
        if isinstance(reply, Done):
            return replies
    if not any(isinstance(reply, Ready) for reply in replies):
        raise EnvironmentFault(f"TVM cannot be imported: {_ended(process, stderr)}; `passfuzz doctor` looks closer")
    raise EnvironmentFault(f"the process that does the work {_ended(process, stderr)}")


def _heard(process: subprocess.Popen[bytes], limit_s: float, look: Callable[[], None]) -> Iterator[Reply]:
    """Replies until the end of the stream, or until the process does not get ready or done in time."""
    start = time.monotonic()
    allowed, lines, stopped = READY_S, Lines[Reply](Reply), StopClock(process.pid, guards=True)
    with selectors.DefaultSelector() as selector, closing(Output(process)) as output:
        output.register(selector)
        while (left := start + allowed - time.monotonic()) > 0:
            look()
            if stopped.look() and stopped.seconds > pool.STOPPED_S:
                raise EnvironmentFault("the process that does the work was stopped by a signal; a pass may do that")
            if not selector.select(min(left, LOOK_S)):
                continue
            data = output.take()
            if data is None:
                return
            try:
                for reply in lines.take(data):
                    if isinstance(reply, Ready):
                        allowed = READY_S + limit_s
                    yield reply
            except msgspec.ValidationError as error:
                raise EnvironmentFault(
                    f"the process that does the work says what is no answer ({error}); a pass may do that"
                ) from error
    raise EnvironmentFault(f"no answer within {allowed:.0f} s")


def _ended(process: subprocess.Popen[bytes], stderr: int) -> str:
    """How a process ended that has closed its output."""
    status = process.wait()
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    if status == 0:
        return "ended itself before it was done"
    lines = [line.strip() for line in tail(stderr, 1 << 16).splitlines() if line.strip()]
    told = [line for line in lines if _ERROR.match(line)] or lines
    return f"ended with status {status}" + (f": {told[-1][:300]}" if told else "")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and all that it has started."""
    end_stopped(process)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None and not pipe.closed:
            pipe.close()
