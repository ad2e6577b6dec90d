"""A TVM that runs scripts: a warm server that forks for each, and fresh processes for those that a fork shows badly.

What a script leaves behind ends with it, and all of it with this process (`fuzzer.processes.guard`).
"""

from __future__ import annotations

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

import msgspec
from typing_extensions import assert_never

from corpus.answers import last_line
from fuzzer.errors import EnvironmentFault
from fuzzer.processes import sandbox
from fuzzer.processes.guard import end, guarded
from fuzzer.processes.start import ROOT
from fuzzer.replaying.ending import KILLED, ScriptEnd
from fuzzer.replaying.environments import Tvm
from fuzzer.replaying.server_messages import (
    FROM_SERVER,
    FromServer,
    NoTvm,
    RunScript,
    ScriptRan,
    TvmReady,
    fields_of,
    line_of,
)
from oracles.tail import tail

SERVER = """\
import sys
sys.path[:] = [sys.argv[1], *filter(None, sys.path)]
from fuzzer.replaying.server import main
main(sys.argv[1])
"""
"""What the Python of a TVM runs: it finds our rooms until TVM is imported, and no module in the current folder."""
IMPORT_TIMEOUT_S = 180.0
CASE_TIMEOUT_S = 120.0
ANSWER_TIMEOUT_S = 60.0
"""Beyond the time of a script: the server has ended it by then."""
LONGEST_FAULT = 300
MOST_OUTPUT = 1 << 18
"""Bytes at the end of what a script prints that are read."""


@dataclass(frozen=True, slots=True)
class Job:
    """A script to run. file: where it lies, and text: what it says. scratch: its folder for files; folder: where what
    it prints goes, which it cannot reach itself. walled: whether walls are around it. variables: of its environment."""

    file: Path
    scratch: Path
    folder: Path
    walled: bool
    text: str
    variables: dict[str, str] = field(default_factory=dict)


class ServerGone(Exception):
    """The server has ended before it answered."""


@dataclass
class WarmTvm:
    """A running server. Its methods may be called from several threads."""

    tvm: Tvm
    greeting: TvmReady
    process: subprocess.Popen[bytes]
    _waiting: dict[int, queue.SimpleQueue[ScriptRan | None]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0
    _fresh: set[subprocess.Popen[bytes]] = field(default_factory=set)

    def warm(self, job: Job) -> tuple[ScriptEnd, float]:
        """Runs a script in a fork of the server: how it ended, and its seconds. Raises ServerGone."""
        answers: queue.SimpleQueue[ScriptRan | None] = queue.SimpleQueue()
        with self._lock:
            self._count += 1
            number = self._count
            self._waiting[number] = answers
            places = str(job.file), str(job.folder), str(job.scratch)
            self._send(RunScript(number, *places, job.walled, job.variables, CASE_TIMEOUT_S))
        try:
            answer = answers.get(timeout=CASE_TIMEOUT_S + ANSWER_TIMEOUT_S)
        except queue.Empty:
            raise ServerGone(f"no answer within {CASE_TIMEOUT_S + ANSWER_TIMEOUT_S:.0f} s") from None
        finally:
            self._waiting.pop(number, None)
        if answer is None:
            raise ServerGone("the process that runs the scripts has ended")
        return _end_of(job, answer.status, answer.timed_out), answer.wall_s

    def _send(self, request: RunScript) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line_of(request))
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise ServerGone("the process that runs the scripts has ended") from None

    def listen(self) -> None:
        """Hands out answers until the server ends; one that says what is no answer is ended."""
        assert self.process.stdout is not None
        try:
            for line in self.process.stdout:
                self._hear(from_server(line))
        except ValueError:
            end(self.process)
        finally:
            with self._lock:
                for waiting in list(self._waiting.values()):
                    waiting.put(None)

    def _hear(self, said: FromServer) -> None:
        match said:
            case ScriptRan(number):
                if waiting := self._waiting.get(number):
                    waiting.put(said)
            case TvmReady() | NoTvm():
                raise ValueError("the server says for the second time whether it has a TVM")
            case _:
                assert_never(said)

    def cold(self, job: Job) -> tuple[ScriptEnd, float]:
        """Runs a script in a fresh process."""
        words = [str(self.tvm.python), str(job.file)]
        command = sandbox.command(words, job.scratch) if job.walled else words
        status, seconds = self.run(command, {**self.tvm.environment(), **job.variables}, job.folder)
        return _end_of(job, 1 if status is None else status, status is None), seconds

    def run(self, command: list[str], environment: dict[str, str], folder: Path) -> tuple[int | None, float]:
        """Runs a command in a fresh process, which ends with this server; what it says is in the files `stdout` and
        `stderr` of the folder. Its exit status, None where it does not end in time, and its seconds."""
        started = time.monotonic()
        with _opened(folder) as (stdout, stderr):
            process = subprocess.Popen(
                guarded(command), stdout=stdout, stderr=stderr, env=environment, start_new_session=True
            )
            self._fresh.add(process)
            try:
                status = process.wait(CASE_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                end(process)
                self._fresh.discard(process)
        return status, time.monotonic() - started

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


def from_server(line: bytes) -> FromServer:
    """What a line of the server says. Raises ValueError where it says nothing."""
    made, fields = fields_of(line, FROM_SERVER)
    return msgspec.convert(fields, made)


def _end_of(job: Job, status: int, timed_out: bool) -> ScriptEnd:
    said, told = (_tail(job.folder / name) for name in ("stdout", "stderr"))
    return ScriptEnd(status, said, told, str(job.file), job.text, timed_out)


def _tail(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return tail(file.fileno(), MOST_OUTPUT)
    except OSError:
        return ""


@contextmanager
def started(tvm: Tvm) -> Iterator[WarmTvm]:
    """The server of a TVM, ended afterwards. Raises EnvironmentFault where this TVM cannot be imported, or is another
    than was asked for."""
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                guarded([str(tvm.python), "-c", SERVER, str(ROOT)]),
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


def _greeted(tvm: Tvm, process: subprocess.Popen[bytes], errors: int) -> TvmReady:
    assert process.stdout is not None
    name = tvm.given or "the installed TVM"
    alarm = threading.Timer(IMPORT_TIMEOUT_S, end, (process,))
    alarm.start()
    try:
        line = process.stdout.readline()
    finally:
        alarm.cancel()
    try:
        said = from_server(line)
    except ValueError:
        raise EnvironmentFault(f"{name} cannot be imported: {_why(process, errors)}") from None
    match said:
        case TvmReady(version, file):
            if complaint := tvm.complaint(version, file):
                raise EnvironmentFault(_in_a_line(f"{name}: {complaint}"))
            return said
        case NoTvm(why):
            raise EnvironmentFault(_in_a_line(f"{name} cannot be imported: {why}"))
        case ScriptRan():
            raise EnvironmentFault(f"{name}: its server has run a script that it was not given")
        case _:
            assert_never(said)


def _in_a_line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_FAULT]


def _why(process: subprocess.Popen[bytes], errors: int) -> str:
    status = end(process)
    number = status - KILLED
    if number in signal.valid_signals():
        return f"killed by {signal.Signals(number).name}"
    return last_line(tail(errors, MOST_OUTPUT)) or f"it ends with {status}"


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    end(process)
