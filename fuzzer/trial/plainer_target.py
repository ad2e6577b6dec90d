"""Whether a failure needs the target that its case is for: what shows on any CPU is easier to look at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.reduce import Candidate
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.options import oracle_names
from fuzzer.trial.rejudge import NotJudged, Rejudge
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.watch import Watch
from generators.targets import DEFAULT
from oracles.evidence import AcrossProcesses
from oracles.forked import ChildRaised


def plainer(plan: Plan, repertoire: Repertoire, failure: Failure, start: Candidate, watch: Watch) -> Plan:
    """The plan with the default target where the candidate fails there in the same way, else as it is."""
    there = replace(plan, targets=(DEFAULT,))
    if plan.target == DEFAULT or failure.oracle not in oracle_names(there):
        return plan
    if isinstance(failure.evidence, AcrossProcesses):  # It is judged by processes that are started for one plan.
        return plan
    recorder = Recorder.create(Path(plan.scratch) / "flight-plainer")
    try:
        shows = Rejudge(there, repertoire, failure, recorder, watch).interesting(start)
    except (ChildRaised, NotJudged):
        return plan
    return there if shows else plan
