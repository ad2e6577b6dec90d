"""Makes a pass that is not deterministic across processes small: every candidate is applied in two processes."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import TypeAlias, TypeVar

from corpus.reduce import Candidate
from fuzzer.processes.pool import Pool
from fuzzer.processes.workforce import WorkerLost
from fuzzer.protocol import CandidateDigests, Failure, Plan, Ready, Refused, TakeDigests
from fuzzer.trial.determinism import failure_of, first_difference, hash_seeds
from fuzzer.trial.digests import digests_in
from fuzzer.trial.repertoire import Repertoire
from generators import tvm_api
from oracles.checks.well_formed import complaint
from oracles.forked import Ended, forked

A = TypeVar("A", Ready, CandidateDigests)
READY_S = 60.0
"""Seconds until another process has imported TVM."""
CopyDigests: TypeAlias = tuple[tuple[str, ...], ...]
"""The digests of every copy of a candidate in one process; () where that ends its child."""
PROCESSES = 5
"""What follows addresses comes out in one of a few ways: by chance, most processes may agree."""


class RejudgeAcross:
    """Judges candidates of one failure in a child of this process and in processes of its own.

    The first of them has the hash seed of the campaign's; more are started while the failure has not shown itself.
    """

    def __init__(self, plan: Plan, repertoire: Repertoire, failure: Failure) -> None:
        self._plan = plan
        self._repertoire = repertoire
        self._failure = failure
        self._file = Path(plan.scratch) / f"candidate-{os.getpid()}"
        self._processes: list[Pool] = []
        self.last: Failure | None = None

    def interesting(self, candidate: Candidate) -> bool:
        """Whether the same pass is the first to give something else in another process."""
        text = tvm_api.json_of(candidate.module)
        self._file.write_bytes(pickle.dumps((text, candidate.setup, candidate.passes)))
        here = self._here(text)
        if not here:
            return False
        if self._differ(candidate, here, ()):
            return True
        for number, process in enumerate(self._processes):
            if self._differ(candidate, here, self._there(process)):
                self._processes.insert(0, self._processes.pop(number))
                return True
        while self.last is None and len(self._processes) < PROCESSES:
            self._processes.append(self._another())
            if self._differ(candidate, here, self._there(self._processes[-1])):
                return True
        return False

    def surely(self, candidate: Candidate) -> bool:
        """No candidate has less time than the first."""
        return True

    def _another(self) -> Pool:
        pool = Pool(self._plan, 1, hash_seeds(self._plan.seed)[1] + len(self._processes))
        _awaited(pool, Ready, READY_S)
        return pool

    def _differ(self, candidate: Candidate, here: CopyDigests, there: CopyDigests) -> bool:
        found = [(first_difference(here[0], run), run) for run in (*here[1:], *there)]
        place, other = min(((place, run) for place, run in found if place is not None), default=(0, ()))
        if place < 2:
            return False
        step, name = place - 2, self._failure.culprit
        if candidate.passes[step].name != name:
            return False
        self.last = failure_of(self._failure.index, name, self._failure.tier, step, here[0][place], other[place:])
        return True

    def _here(self, text: str) -> CopyDigests:
        """() for a candidate that is ill-formed, or that ends its process."""

        def runs() -> CopyDigests:
            if complaint(tvm_api.module_from_json(text)):
                return ()
            return digests_in(self._plan, self._repertoire, str(self._file))

        said = forked(runs, self._plan.deadline_s)
        return () if isinstance(said, Ended) else said

    def _there(self, process: Pool) -> CopyDigests:
        if not any(slot.ready for slot in process.slots):
            return ()
        process.command(process.slots[0], TakeDigests(file=str(self._file)), 0.0)
        said = _awaited(process, CandidateDigests, 3 * self._plan.deadline_s)
        return () if said is None else said.runs

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            process.close()
        self._file.unlink(missing_ok=True)


def _awaited(pool: Pool, kind: type[A], limit_s: float) -> A | None:
    """The next answer of this kind; None when the process has ended or takes too long."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        for heard in pool.answers(1.0):
            if isinstance(heard.answer, kind):
                return heard.answer
            if isinstance(heard.answer, (WorkerLost, Refused)):
                return None
    return None
