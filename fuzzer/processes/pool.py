"""A process's side of its workers: starts them, sends commands, hears answers, ends them. No TVM here."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from corpus.regular_files import MEBIBYTE, read_regular
from fuzzer.processes.guard import end, end_stopped
from fuzzer.processes.lines import Lines, line_of
from fuzzer.processes.output import Output
from fuzzer.processes.start import module_command, worker_environment
from fuzzer.processes.workforce import FromWorker, Slot, WorkerLost
from fuzzer.protocol import Answer, Begin, Command, Done, Plan, Ready
from oracles.pace import StopClock

BATCH = 48
"""Cases that a worker is handed at once: a few seconds of work, in one child whose caches live that long."""

LOOK_S = 1.0
"""Seconds between two looks for workers that are stopped."""
_SENT = frozenset(
    status
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
    for status in (-number, 128 + number)  # of who tidies up first (`oracles.family`)
)
"""How a process ends that another one has ended by a signal."""
STOPPED_S = 30.0
"""Seconds for which a signal may stop a worker."""
_LOG_BYTES = 256 * MEBIBYTE


@dataclass(slots=True, eq=False)
class LocalSlot(Slot):
    """A worker process of this machine."""

    process: subprocess.Popen[bytes] = field(kw_only=True)
    output: Output = field(kw_only=True)
    stopped: StopClock = field(kw_only=True)
    was_stopped: bool = False
    lines: Lines[Answer] = field(default_factory=lambda: Lines(Answer))


class Pool:
    """`jobs` worker processes with one plan, and one seed of Python's hashes."""

    batch = BATCH

    def __init__(self, plan: Plan, jobs: int, hash_seed: int) -> None:
        self._plan = plan
        self._hash_seed = hash_seed
        self._selector = selectors.DefaultSelector()
        self.slots: list[LocalSlot] = []
        self._look_at = 0.0
        try:
            for _ in range(jobs):
                self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        process = subprocess.Popen(
            module_command("fuzzer.worker.main", str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=worker_environment(self._hash_seed, self._plan.scratch),
            start_new_session=True,
        )
        slot = LocalSlot(process=process, output=Output(process), stopped=StopClock(process.pid, guards=True))
        self.slots.append(slot)
        self._send(slot, Begin(self._plan))
        slot.output.register(self._selector, slot)

    def _send(self, slot: LocalSlot, command: Command) -> None:
        assert slot.process.stdin is not None
        try:
            slot.process.stdin.write(line_of(command))
            slot.process.stdin.flush()
        except BrokenPipeError:
            return  # its end of file follows and is heard as WorkerLost

    def command(self, slot: Slot, command: Command, now: float) -> None:
        """Sends an idle worker a command."""
        assert isinstance(slot, LocalSlot)
        slot.busy, slot.since = command, now
        self._send(slot, command)

    def answers(self, timeout_s: float) -> Iterator[FromWorker]:
        """What workers have said, waiting at most `timeout_s` for the first. One that stays stopped is ended."""
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_S
            self._end_stopped()
        speaking: dict[LocalSlot, None] = dict.fromkeys(key.data for key, _ in self._selector.select(timeout_s))
        for slot in speaking:
            data = slot.output.take()
            if data is None:
                yield FromWorker(slot, self._lost(slot), slot.busy)
                continue
            for answer in self._answers_in(slot, data):
                about = slot.busy
                if isinstance(answer, Ready):
                    slot.ready = True
                if isinstance(answer, Done):
                    slot.busy = None
                yield FromWorker(slot, answer, about)

    def _end_stopped(self) -> None:
        for slot in self.slots:
            if slot.stopped.look() and slot.stopped.seconds > STOPPED_S:
                slot.was_stopped = True
                end_stopped(slot.process)

    def _answers_in(self, slot: LocalSlot, data: bytes) -> Iterator[Answer | WorkerLost]:
        """The answers in what a worker has written. One that says anything else is ended: a case of another user may
        have made it."""
        try:
            yield from slot.lines.take(data)
        except msgspec.ValidationError as error:
            end(slot.process)
            yield self._lost(slot, f"says what is no answer: {error}")

    def _lost(self, slot: LocalSlot, how: str = "") -> WorkerLost:
        """A worker has ended, or has been ended, and how; `replace` starts another in its place."""
        slot.output.unregister(self._selector)
        slot.output.close()
        slot.process.wait()
        self.slots.remove(slot)
        return WorkerLost(how or self._how(slot), slot.ready, slot.process.returncode in _SENT, slot.was_stopped)

    def _how(self, slot: LocalSlot) -> str:
        """How a worker ended, with the last line that it wrote on stderr."""
        status = slot.process.returncode
        if status < 0:
            return f"killed by {signal.Signals(-status).name}"
        log = Path(self._plan.scratch) / f"stderr-{slot.process.pid}"
        try:
            lines = read_regular(log, _LOG_BYTES, follow=False).decode(errors="replace").strip().splitlines()
        except OSError:  # It ended before it had one, or a case of another user has put something in its place.
            lines = []
        return f"status {status}" + (f": {lines[-1][:300]}" if lines else "")

    def replace(self) -> None:
        """Starts a worker in place of a lost one."""
        self._start()

    def close(self) -> None:
        """Ends every worker, with all that it has started."""
        for slot in self.slots:
            slot.process.terminate()
        for slot in self.slots:
            end(slot.process)
            slot.output.close()
            for pipe in (slot.process.stdin, slot.process.stdout):
                if pipe is not None:
                    pipe.close()
        self._selector.close()
