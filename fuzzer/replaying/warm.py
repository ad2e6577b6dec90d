"""A TVM that runs scripts: a warm server that forks for each, and fresh processes for those that a fork shows badly.

What a script leaves behind ends with it, and all of it with this process (`fuzzer.processes.guard`).
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from fuzzer.errors import EnvironmentFault
from fuzzer.processes import sandbox
from fuzzer.processes.guard import end, guarded
from fuzzer.processes.start import ROOT
from fuzzer.replaying.ending import KILLED, ScriptEnd, last_line
from fuzzer.replaying.environments import Tvm

SERVER = Path(__file__).with_name("server.py")
IMPORT_TIMEOUT_S = 180.0
CASE_TIMEOUT_S = 120.0
ANSWER_TIMEOUT_S = 60.0
"""Beyond the time of a script: the server has ended it by then."""
LONGEST_FAULT = 300
MOST_OUTPUT = 1 << 18
"""Bytes at the end of what a script prints that are read."""


class Greeting(msgspec.Struct, frozen=True):
    """What a server says first. fault: why TVM cannot be imported. ffi: the version of tvm_ffi. not_read: as
    `corpus.portable.shims` names it; shimmed: whether names were lacking; stamp: tells one build of TVM from the next.
    """

    version: str = ""
    file: str = ""
    ffi: str = ""
    fault: str = ""
    not_read: tuple[str, ...] = ()
    shimmed: bool = False
    stamp: str = ""


class Answer(msgspec.Struct, frozen=True):
    """How a script has ended, as `fuzzer.replaying.server` says it."""

    number: int
    status: int
    timed_out: bool
    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Job:
    """A script to run. file: where it lies, and text: what it says. scratch: its folder for files; folder: where what
    it prints goes, which it cannot reach itself. walled: whether walls are around it."""

    file: Path
    scratch: Path
    folder: Path
    walled: bool
    text: str


class ServerGone(Exception):
    """The server has ended before it answered."""


@dataclass
class WarmTvm:
    """A running server. Its methods may be called from several threads."""

    tvm: Tvm
    greeting: Greeting
    process: subprocess.Popen[bytes]
    _waiting: dict[int, queue.SimpleQueue[Answer | None]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0
    _fresh: set[subprocess.Popen[bytes]] = field(default_factory=set)

    def warm(self, job: Job) -> tuple[ScriptEnd, float]:
        """Runs a script in a fork of the server: how it ended, and its seconds. Raises ServerGone."""
        answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        with self._lock:
            self._count += 1
            number = self._count
            self._waiting[number] = answers
            self._send(
                {
                    "number": number,
                    "script": str(job.file),
                    "argv": [str(job.file)],
                    "folder": str(job.folder),
                    "scratch": str(job.scratch),
                    "walled": job.walled,
                    "limit_s": CASE_TIMEOUT_S,
                }
            )
        try:
            answer = answers.get(timeout=CASE_TIMEOUT_S + ANSWER_TIMEOUT_S)
        except queue.Empty:
            raise ServerGone(f"no answer within {CASE_TIMEOUT_S + ANSWER_TIMEOUT_S:.0f} s") from None
        finally:
            self._waiting.pop(number, None)
        if answer is None:
            raise ServerGone("the process that runs the scripts has ended")
        return _end_of(job, answer.status, answer.timed_out), answer.wall_s

    def _send(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise ServerGone("the process that runs the scripts has ended") from None

    def listen(self) -> None:
        """Hands out answers until the server ends."""
        assert self.process.stdout is not None
        decoder = msgspec.json.Decoder(Answer)
        for line in self.process.stdout:
            answer = decoder.decode(line)
            if waiting := self._waiting.get(answer.number):
                waiting.put(answer)
        with self._lock:
            for waiting in list(self._waiting.values()):
                waiting.put(None)

    def cold(self, job: Job) -> tuple[ScriptEnd, float]:
        """Runs a script in a fresh process."""
        words = [str(self.tvm.python), str(job.file)]
        started = time.monotonic()
        command = guarded(sandbox.command(words, job.scratch) if job.walled else words)
        with _opened(job.folder) as (stdout, stderr):
            process = subprocess.Popen(
                command, stdout=stdout, stderr=stderr, env=self.tvm.environment(), start_new_session=True
            )
            self._fresh.add(process)
            try:
                status, late = process.wait(CASE_TIMEOUT_S), False
            except subprocess.TimeoutExpired:
                status, late = 1, True
            finally:
                end(process)
                self._fresh.discard(process)
        return _end_of(job, status, late), time.monotonic() - started

    def close(self) -> None:
        """Ends the server, and the fresh processes."""
        _close(self.process)
        for process in list(self._fresh):
            end(process)


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[int, int]]:
    files = [os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for name in ("stdout", "stderr")]
    try:
        yield files[0], files[1]
    finally:
        for file in files:
            os.close(file)


def _end_of(job: Job, status: int, timed_out: bool) -> ScriptEnd:
    said, told = (_tail(job.folder / name) for name in ("stdout", "stderr"))
    return ScriptEnd(status, said, told, str(job.file), job.text, timed_out)


def _tail(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - MOST_OUTPUT))
            return file.read(MOST_OUTPUT).decode("utf-8", "replace")
    except OSError:
        return ""


@contextmanager
def started(tvm: Tvm) -> Iterator[WarmTvm]:
    """The server of a TVM, ended afterwards. Raises EnvironmentFault where this TVM cannot be imported, or is another
    than was asked for."""
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                guarded([str(tvm.python), str(SERVER), str(ROOT)]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=tvm.environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise EnvironmentFault(f"{tvm.python}: {error.strerror}") from error
        try:
            warm = WarmTvm(tvm, _greeted(tvm, process, errors.fileno()), process)
            threading.Thread(target=warm.listen, daemon=True).start()
            try:
                yield warm
            finally:
                warm.close()
        finally:
            _close(process)


def _greeted(tvm: Tvm, process: subprocess.Popen[bytes], errors: int) -> Greeting:
    assert process.stdout is not None
    name = tvm.given or "the installed TVM"
    alarm = threading.Timer(IMPORT_TIMEOUT_S, end, (process,))
    alarm.start()
    try:
        line = process.stdout.readline()
    finally:
        alarm.cancel()
    try:
        greeting = msgspec.json.decode(line, type=Greeting)
    except msgspec.MsgspecError:
        raise EnvironmentFault(f"{name} cannot be imported: {_why(process, errors)}") from None
    complaint = tvm.complaint(greeting.version, greeting.file) if not greeting.fault else None
    if greeting.fault or complaint:
        said = f"{name}: {complaint}" if complaint else f"{name} cannot be imported: {greeting.fault}"
        raise EnvironmentFault(" ".join(said.split())[:LONGEST_FAULT])
    return greeting


def _why(process: subprocess.Popen[bytes], errors: int) -> str:
    status = end(process)
    number = status - KILLED
    if number in signal.valid_signals():
        return f"killed by {signal.Signals(number).name}"
    text = os.pread(errors, MOST_OUTPUT, max(0, os.fstat(errors).st_size - MOST_OUTPUT)).decode("utf-8", "replace")
    return last_line(text) or f"it ends with {status}"


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    end(process)
