"""The campaign's side of its worker processes: starts them, writes commands, reads answers, ends them. No TVM here."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fuzzer.commands.doctor import ROOT
from fuzzer.processes.start import module_command
from fuzzer.protocol import Plan

_ENVIRONMENT = {"TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TVM_LOG_DEBUG": ""}


def worker_environment(hash_seed: int | None = None) -> dict[str, str]:
    """The environment of a process that imports TVM: one thread, and our own modules found from any folder.

    hash_seed: PYTHONHASHSEED, where that is not left as it is.
    """
    search = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH"), str(ROOT)) if part)
    seed = {} if hash_seed is None else {"PYTHONHASHSEED": str(hash_seed)}
    return {**os.environ, **_ENVIRONMENT, **seed, "PYTHONPATH": search, "PYTHONSAFEPATH": "1"}


@dataclass(slots=True)
class Slot:
    """One worker process. busy: what it was told to do and has not answered yet, None while idle."""

    process: subprocess.Popen[bytes]
    busy: dict[str, Any] | None = None
    ready: bool = False
    rest: bytes = b""
    reducing_s: float = 0.0
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One line of a worker. kind "lost" means that the worker itself has ended."""

    slot: Slot
    kind: str
    payload: dict[str, Any] = field(default_factory=dict)


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
            env=worker_environment(self._hash_seed),
            start_new_session=True,
        )
        slot = Slot(process)
        self.slots.append(slot)
        self._write(slot, self._plan.to_json())
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, slot)

    def _write(self, slot: Slot, message: dict[str, Any]) -> None:
        assert slot.process.stdin is not None
        try:
            slot.process.stdin.write((json.dumps(message) + "\n").encode())
            slot.process.stdin.flush()
        except BrokenPipeError:
            slot.busy = None  # its end of file follows and is answered as "lost"

    def command(self, slot: Slot, message: dict[str, Any], now: float) -> None:
        """Tells an idle worker what to do."""
        slot.busy, slot.since = message, now
        self._write(slot, message)

    def answers(self, timeout_s: float) -> Iterator[Answer]:
        """What workers have said, waiting at most `timeout_s` for the first."""
        for key, _ in self._selector.select(timeout_s):
            slot: Slot = key.data
            assert slot.process.stdout is not None
            data = os.read(slot.process.stdout.fileno(), 1 << 16)
            if not data:
                yield self._lost(slot)
                continue
            *lines, slot.rest = (slot.rest + data).split(b"\n")
            for line in lines:
                yield from self._answer(slot, line)

    def _answer(self, slot: Slot, line: bytes) -> Iterator[Answer]:
        try:
            message = json.loads(line)
        except ValueError:
            return  # what a child had written of a line when it was ended
        kind = message.pop("kind")
        if kind == "ready":
            slot.ready = True
        if kind == "done":
            slot.busy = None
        yield Answer(slot, kind, message)

    def _lost(self, slot: Slot) -> Answer:
        """A worker has ended; another takes its place."""
        assert slot.process.stdout is not None
        self._selector.unregister(slot.process.stdout)
        slot.process.wait()
        self.slots.remove(slot)
        return Answer(slot, "lost", {"status": slot.process.returncode, "was_ready": slot.ready})

    def replace(self) -> None:
        """Starts a worker in the place of a lost one."""
        self._start()

    def close(self) -> None:
        """Ends every worker; their children end with them."""
        for slot in self.slots:
            slot.process.kill()
        for slot in self.slots:
            slot.process.wait()
            for pipe in (slot.process.stdin, slot.process.stdout):
                if pipe is not None:
                    pipe.close()
        self._selector.close()
