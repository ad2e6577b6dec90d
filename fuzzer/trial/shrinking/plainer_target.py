"""Whether a failure needs the target that its case is for: what shows on any CPU is easier to look at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.reduce import Candidate
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.options import oracle_names
from fuzzer.trial.reduction_watch import UNWATCHED, Watch
from fuzzer.trial.rejudge import NotJudged, Rejudge
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking.official import OFFICIAL, official_entry
from generators.targets import DEFAULT
from oracles.evidence import AcrossProcesses, ReferenceTrap
from oracles.forked import ChildRaised

OF_THREADS = frozenset({"data-race", "divergent-barrier"})
"""What the reference finds wrong of threads of a GPU together."""


def plainer(plan: Plan, repertoire: Repertoire, failure: Failure, start: Candidate, watch: Watch) -> Plan:
    """The plan with the default target where the candidate fails there in the same way, else as it is.

    It stays as it is for what threads of a GPU do together: no other target builds that. It stays as it is, too, where
    an official pipeline of its own target shows the failure and none of the default's does, as of a pass that only GPUs
    have: that it is official says more than that it is plain.
    """
    there = replace(plan, targets=(DEFAULT,))
    if plan.target == DEFAULT or failure.oracle not in oracle_names(there):
        return plan
    if isinstance(failure.evidence, AcrossProcesses):  # It is judged by processes that are started for one plan.
        return plan
    if isinstance(failure.evidence, ReferenceTrap) and failure.evidence.kind in OF_THREADS:
        return plan
    if not _shows(there, repertoire, failure, start, watch):
        return plan
    if failure.culprit not in OFFICIAL or not _is_official(plan, repertoire, failure, start):
        return there
    return there if _is_official(there, repertoire, failure, start) else plan


def _shows(plan: Plan, repertoire: Repertoire, failure: Failure, start: Candidate, watch: Watch) -> bool:
    recorder = Recorder.create(Path(plan.scratch) / "flight-plainer")
    try:
        return Rejudge(plan, repertoire, failure, recorder, watch).interesting(start)
    except (ChildRaised, NotJudged):
        return False


def _is_official(plan: Plan, repertoire: Repertoire, failure: Failure, start: Candidate) -> bool:
    """Whether an official pipeline of the target of the plan shows the failure on the module alone."""
    in_order = replace(failure, tier="A")
    return bool(
        official_entry(failure, start, plan, lambda candidate: _shows(plan, repertoire, in_order, candidate, UNWATCHED))
    )
