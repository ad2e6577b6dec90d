"""A process's side of its workers: starts them, sends commands, hears answers, ends them. No TVM here."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from fuzzer.processes.guard import end
from fuzzer.processes.lines import Lines, line_of
from fuzzer.processes.start import module_command, worker_environment
from fuzzer.protocol import Answer, Begin, Command, Done, Plan, Ready


@dataclass(slots=True)
class Slot:
    """One worker process. busy: its command that it has not answered yet, None while idle."""

    process: subprocess.Popen[bytes]
    busy: Command | None = None
    ready: bool = False
    lines: Lines[Answer] = field(default_factory=lambda: Lines(Answer))
    reducing_s: float = 0.0
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker itself has ended. was_ready: whether it had imported TVM before."""

    status: int
    was_ready: bool


@dataclass(frozen=True, slots=True)
class FromWorker:
    """What a worker said, or its end."""

    slot: Slot
    answer: Answer | WorkerLost


class Pool:
    """`jobs` workers with one plan, and one seed of Python's hashes."""

    def __init__(self, plan: Plan, jobs: int, hash_seed: int) -> None:
        self._plan = plan
        self._hash_seed = hash_seed
        self._selector = selectors.DefaultSelector()
        self.slots: list[Slot] = []
        for _ in range(jobs):
            self._start()

    def _start(self) -> None:
        process = subprocess.Popen(
            module_command("fuzzer.worker.main", str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=worker_environment(self._hash_seed, self._plan.scratch),
            start_new_session=True,
        )
        slot = Slot(process)
        self.slots.append(slot)
        self._send(slot, Begin(self._plan))
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, slot)

    def _send(self, slot: Slot, command: Command) -> None:
        assert slot.process.stdin is not None
        try:
            slot.process.stdin.write(line_of(command))
            slot.process.stdin.flush()
        except BrokenPipeError:
            slot.busy = None  # its end of file follows and is heard as WorkerLost

    def command(self, slot: Slot, command: Command, now: float) -> None:
        """Sends an idle worker a command."""
        slot.busy, slot.since = command, now
        self._send(slot, command)

    def answers(self, timeout_s: float) -> Iterator[FromWorker]:
        """What workers have said, waiting at most `timeout_s` for the first."""
        for key, _ in self._selector.select(timeout_s):
            slot: Slot = key.data
            assert slot.process.stdout is not None
            data = os.read(slot.process.stdout.fileno(), 1 << 16)
            if not data:
                yield FromWorker(slot, self._lost(slot))
                continue
            for answer in slot.lines.take(data):
                if isinstance(answer, Ready):
                    slot.ready = True
                if isinstance(answer, Done):
                    slot.busy = None
                yield FromWorker(slot, answer)

    def _lost(self, slot: Slot) -> WorkerLost:
        """A worker has ended; `replace` starts another in its place."""
        assert slot.process.stdout is not None
        self._selector.unregister(slot.process.stdout)
        slot.process.wait()
        self.slots.remove(slot)
        return WorkerLost(slot.process.returncode, slot.ready)

    def replace(self) -> None:
        """Starts a worker in the place of a lost one."""
        self._start()

    def close(self) -> None:
        """Ends every worker, with all that it has started."""
        for slot in self.slots:
            slot.process.terminate()
        for slot in self.slots:
            end(slot.process)
            for pipe in (slot.process.stdin, slot.process.stdout):
                if pipe is not None:
                    pipe.close()
        self._selector.close()
