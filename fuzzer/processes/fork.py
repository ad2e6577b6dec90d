"""Children of a process that has TVM loaded: what they say, and what ended them. A child ends with its parent."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time
from collections.abc import Callable

from fuzzer.processes.flight import Recorder

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Has the kernel end this process when its parent, process `parent`, ends, however that happens."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It has ended before the kernel was asked.
        os._exit(0)


def fork_child(work: Callable[[], None], on_error: Callable[[], None] = lambda: None) -> int:
    """The process id of a child that does `work` and ends: 0 when it went well, 1 after `on_error` when it raised.

    It ends with this process. This is the worker boundary: whatever `work` raises stays in the child.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            die_with_parent(parent)
            work()
            status = 0
        except BaseException:  # noqa: BLE001 - the worker boundary: the parent sees the exit status
            on_error()
        finally:
            os._exit(status)
    return pid


def in_child(
    work: Callable[[Callable[[str], None]], None], recorder: Recorder, deadline_s: float, per_stage: bool = False
) -> tuple[list[str], str | None, str]:
    """Runs `work` in a forked child: the lines that it said, what ended it (None: well), and its last stage.

    Lines are JSON objects; what else stands in the pipe is not kept.
    per_stage: the deadline is that of every stage, not of the whole work.
    """
    reader, writer = os.pipe()

    def answering() -> None:
        os.close(reader)
        work(lambda line: _write_all(writer, line.encode() + b"\n"))

    pid = fork_child(answering)
    os.close(writer)
    text, hung = _read_all(reader, pid, deadline_s, recorder.read if per_stage else lambda: (0, ""))
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    lines = [line for line in text.decode(errors="replace").split("\n") if line.startswith("{") and line.endswith("}")]
    stage = recorder.read()[1]
    if hung:
        return lines, "hang", stage
    if os.WIFSIGNALED(status):
        return lines, signal.Signals(os.WTERMSIG(status)).name, stage
    return lines, None, stage


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read_all(reader: int, pid: int, deadline_s: float, stage: Callable[[], object]) -> tuple[bytes, bool]:
    """What a child writes until it closes, and whether `deadline_s` passed with `stage` the same: it is ended then."""
    chunks: list[bytes] = []
    seen, end = stage(), time.monotonic() + deadline_s
    while True:
        if select.select([reader], [], [], max(0.0, min(0.5, end - time.monotonic())))[0]:
            chunk = os.read(reader, 65536)
            if not chunk:
                return b"".join(chunks), False
            chunks.append(chunk)
        if stage() != seen:
            seen, end = stage(), time.monotonic() + deadline_s
        elif time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            return b"".join(chunks), True
