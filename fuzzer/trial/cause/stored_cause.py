"""The cause of a case that is stored: it is judged again, which gives the failure with the details that no case keeps.

For cases from before there were causes, and for measuring (`benchmarks/bench_causes.py`). Worker processes only.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.causes.cause import Cause
from corpus.causes.culprit import culprit_from, culprit_in
from corpus.reduce import Candidate, candidate_of
from corpus.store import StoredCase, read_case
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.cause.facts import cause_in
from fuzzer.trial.rejudge import Rejudge
from fuzzer.trial.repertoire import Repertoire, repertoire_of
from oracles.verdict import Failed


def cause_of_case(folder: Path, scratch: Path) -> Cause | None:
    """The cause of a stored case; None where it does not fail here.

    scratch: a folder for files of the judging. Raises CorruptCase, LoadFault or ChildRaised where it cannot be judged,
    and TVM's own error where this TVM does not read the module."""
    stored = read_case(folder)
    plan = Plan(seed=0, targets=(stored.case.target,), load=stored.case.load, scratch=str(scratch))
    repertoire = replace(repertoire_of(plan), under_test=None)
    candidate = candidate_of(stored.case)
    failure = _failure_of(stored, candidate, plan, repertoire)
    if failure is None:
        return None
    blamed = stored.culprit if failure.symptom == stored.symptom and stored.culprit else failure.culprit
    blamed = str(culprit_in(culprit_from(blamed).name, stored.case.passes))
    failed = Failed(failure.symptom, failure.message, failure.detail, blamed, failure.evidence, failure.difference)
    return cause_in(failure.oracle, failed, blamed, candidate, plan, repertoire).cause


def _failure_of(stored: StoredCase, candidate: Candidate, plan: Plan, repertoire: Repertoire) -> Failure | None:
    """What the case fails with today, by its own oracle and culprit; None where it does not."""
    culprit = culprit_from(stored.culprit or "").name
    known = Failure(
        stored.case.origin.index or 0, stored.oracle or "", stored.symptom or "", stored.message or "", "", culprit, "B"
    )
    recorder = Recorder.create(Path(plan.scratch) / "flight")
    found = Rejudge(plan, repertoire, known, recorder).failures(candidate)
    for one in found:
        if (one.oracle, one.symptom) == (known.oracle, known.symptom):
            return one
    return found[0] if found else None
