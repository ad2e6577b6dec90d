"""Makes a pass that is not deterministic across processes small: every candidate is applied in two processes."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from corpus.reduce import Candidate
from fuzzer.campaign.determinism import failure_of, first_difference, hash_seeds
from fuzzer.campaign.pool import Pool
from fuzzer.processes.flight import Recorder
from fuzzer.processes.fork import in_child
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.digests import digests_in
from fuzzer.worker.draw import Repertoire
from generators import tvm_api
from oracles.checks.well_formed import complaint

READY_S = 60.0
"""Seconds until another process has imported TVM."""
Runs: TypeAlias = tuple[tuple[str, ...], ...]
"""The digests of every copy of a candidate in one process; () where that ends its child."""
WITNESSES = 5
"""What follows addresses comes out in one of a few ways: by chance, most processes may agree."""


class RejudgeAcross:
    """Judges candidates of one failure in a child of this process and in witnesses of its own.

    The first witness has the hash seed of the campaign's; more are started while the failure has not shown itself.
    """

    def __init__(self, plan: Plan, repertoire: Repertoire, failure: Failure, recorder: Recorder) -> None:
        self._plan = plan
        self._repertoire = repertoire
        self._failure = failure
        self._recorder = recorder
        self._file = Path(plan.scratch) / f"candidate-{os.getpid()}"
        self._witnesses: list[Pool] = []
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
        for number, witness in enumerate(self._witnesses):
            if self._differ(candidate, here, self._there(witness)):
                self._witnesses.insert(0, self._witnesses.pop(number))
                return True
        while self.last is None and len(self._witnesses) < WITNESSES:
            self._witnesses.append(self._another())
            if self._differ(candidate, here, self._there(self._witnesses[-1])):
                return True
        return False

    def _another(self) -> Pool:
        pool = Pool(self._plan, 1, hash_seeds(self._plan.seed)[1] + len(self._witnesses))
        _answer(pool, "ready", READY_S)
        return pool

    def _differ(self, candidate: Candidate, here: Runs, there: Runs) -> bool:
        found = [(first_difference(here[0], run), run) for run in (*here[1:], *there)]
        place, other = min(((place, run) for place, run in found if place is not None), default=(0, ()))
        if place < 2:
            return False
        step, name = place - 2, self._failure.culprit
        if candidate.passes[step].name != name:
            return False
        self.last = failure_of(self._failure.index, name, self._failure.tier, step, here[0][place], other[place:])
        return True

    def _here(self, text: str) -> Runs:
        """() for a candidate that is ill-formed, or that ends its process."""

        def work(say: Callable[[str], None]) -> None:
            if not complaint(tvm_api.module_from_json(text)):
                say(json.dumps({"digests": digests_in(self._plan, self._repertoire, str(self._file))}))

        lines, _, _ = in_child(work, self._recorder, self._plan.deadline_s)
        return _runs(json.loads(lines[-1])) if lines else ()

    def _there(self, witness: Pool) -> Runs:
        if not any(slot.ready for slot in witness.slots):
            return ()
        witness.command(witness.slots[0], {"do": "digests", "file": str(self._file)}, 0.0)
        return _runs(_answer(witness, "digests", 3 * self._plan.deadline_s))

    def close(self) -> None:
        """Ends the witnesses."""
        for witness in self._witnesses:
            witness.close()
        self._file.unlink(missing_ok=True)


def _runs(answer: dict[str, Any] | None) -> Runs:
    runs = None if answer is None else answer["digests"]
    return tuple(tuple(run) for run in runs or ())


def _answer(pool: Pool, kind: str, limit_s: float) -> dict[str, Any] | None:
    """The next answer of this kind; None when the process has ended or takes too long."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        for answer in pool.answers(1.0):
            if answer.kind == kind:
                return answer.payload
            if answer.kind in ("lost", "fault"):
                return None
    return None
