"""Forked children: what they answer, and what ended them. A child ends with its parent, however that ends.

A native crash, a hang or the end of memory in a child is a value here and ends there. No TVM is imported.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Write: TypeAlias = Callable[[bytes], None]
"""Writes all of the bytes into the pipe to the parent."""
THROUGH, RAISED = 100, 101
"""Exit statuses of a child that did its work, and of one whose work raised. Any other, 0 too, is of code that has ended
the process: none of ours does."""
_PR_SET_PDEATHSIG = 1
_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended that did not end well: killed by a signal, by itself with a status, or, where both are None,
    killed by its parent because it hung."""

    by: signal.Signals | None = None
    status: int | None = None

    @property
    def how(self) -> str:
        """For a person: "hang", a signal's name, "an exception" or "exit N"."""
        if self.by is not None:
            return self.by.name
        if self.raised:
            return "an exception"
        return "hang" if self.hung else f"exit {self.status}"

    @property
    def verb(self) -> str:
        """The same as the verb of a sentence: "hung", or "ended by SIGSEGV"."""
        return "hung" if self.hung else f"ended by {self.how}"

    @property
    def hung(self) -> bool:
        """Whether it was killed because nothing happened in it for too long."""
        return self.by is None and self.status is None

    @property
    def by_exit(self) -> bool:
        """Whether it ended itself: its work raised, or called exit."""
        return self.status is not None

    @property
    def raised(self) -> bool:
        """Whether its work raised: an exception of ours, since those of TVM and of passes are values."""
        return self.status == RAISED

    @property
    def from_outside(self) -> bool:
        """Whether it was killed from outside: by a system without memory, or a person."""
        return self.by is signal.SIGKILL


def die_with_parent(parent: int) -> None:
    """Has the kernel end this process when its parent, process `parent`, ends, however that happens."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It has ended before the kernel was asked.
        os._exit(0)


def limit_memory(extra_bytes: int) -> None:
    """Lets this process map `extra_bytes` more than it has: beyond, allocation fails as an exception."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + extra_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def fork_child(work: Callable[[], None], on_error: Callable[[], None] = lambda: None) -> int:
    """The process id of a child that does `work` and ends: THROUGH, or RAISED after `on_error` where `work` raised.

    This is the worker boundary: what `work` raises stays in the child.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        status = RAISED
        try:
            die_with_parent(parent)
            work()
            status = THROUGH
        except BaseException:  # noqa: BLE001 - the worker boundary: the parent sees the exit status
            on_error()
        finally:
            os._exit(status)
    return pid


def await_child(
    pid: int, deadline_s: float, progress: Callable[[], object] = lambda: None, reader: int | None = None
) -> tuple[Ended | None, bytes]:
    """Waits for a child and takes what it writes: how it ended (None: well), and the bytes from `reader`.

    It is killed when `deadline_s` seconds have passed since `progress()` last gave another value. Its end counts when
    it has ended, not when its pipe is closed: a process that it started may hold that open.
    """
    handle = os.pidfd_open(pid)
    chunks: list[bytes] = []
    seen, end, hung = progress(), time.monotonic() + deadline_s, False
    sources = [handle] if reader is None else [handle, reader]
    try:
        while True:
            ready = select.select(sources, [], [], max(0.0, min(_POLL_S, end - time.monotonic())))[0]
            if reader is not None and reader in ready:
                chunk = os.read(reader, 1 << 16)
                chunks.append(chunk)
                if not chunk:
                    sources.remove(reader)
            if handle in ready:
                break
            now = progress()
            if now != seen:
                seen, end = now, time.monotonic() + deadline_s
            elif time.monotonic() > end:
                hung = True
                os.kill(pid, signal.SIGKILL)
                break
    finally:
        os.close(handle)
    _, status = os.waitpid(pid, 0)
    if reader is not None:
        chunks.append(_rest_of(reader))
    return _ended(status, hung), b"".join(chunks)


def _rest_of(reader: int) -> bytes:
    """What has been written into a pipe until now."""
    chunks: list[bytes] = []
    while select.select([reader], [], [], 0.0)[0]:
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks)


def _ended(status: int, hung: bool) -> Ended | None:
    if hung:
        return Ended()
    if os.WIFSIGNALED(status):
        number = signal.Signals(os.WTERMSIG(status))
        # A child may set an alarm for a part of its work.
        return Ended() if number is signal.SIGALRM else Ended(number)
    code = os.WEXITSTATUS(status)
    return None if code == THROUGH else Ended(status=code)


def written_by(
    work: Callable[[Write], None], deadline_s: float, progress: Callable[[], object] = lambda: None
) -> tuple[Ended | None, bytes]:
    """How a child ended that did `work` (None: well), and all that it wrote. The deadline is as in `await_child`."""
    reader, writer = os.pipe()

    def answering() -> None:
        os.close(reader)
        work(lambda data: write_all(writer, data))

    pid = fork_child(answering)
    os.close(writer)
    try:
        return await_child(pid, deadline_s, progress, reader)
    finally:
        os.close(reader)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of the bytes."""
    while data:
        data = data[os.write(descriptor, data) :]


def forked(action: Callable[[], T], limit_s: float) -> T | Ended:
    """What `action` gives in a child, pickled. It has `limit_s` seconds."""
    ended, data = written_by(lambda write: write(pickle.dumps(action())), limit_s)
    if ended is not None:
        return ended
    result: T = pickle.loads(data)
    return result
