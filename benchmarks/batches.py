"""Judges cases in forked children, as a worker does, and adds up what they count: for benchmarks of single cases.

A child takes a few cases one after another; a case that crashes or hangs is counted, and the next child goes on with
the rest. CPU seconds are the kernel's, of the children alone: start-up and imports are not in them. This imports TVM.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.children import ToParent, in_child
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Lines, line_of
from fuzzer.processes.pool import BATCH
from fuzzer.protocol import Failure, Judged, Plan
from fuzzer.trial.repertoire import Repertoire, repertoire_of
from fuzzer.worker.child import before_forking, judge_case
from generators.passes.sequence_kinds import KINDS
from oracles.table import ORACLES
from reports.tally import Tally

CHEAP = tuple(name for name, row in ORACLES.items() if row.builders is None)
"""The oracles that build nothing."""
RELAX = tuple(kind.name for kind in KINDS if kind.name not in ("tir_pipeline", "schedule"))
"""The kinds of cases whose passes are those of Relax."""


@dataclass(frozen=True, slots=True)
class JudgedBatch:
    """What was counted; cpu_s: of the children; crashed: cases that ended their child and are not in the tally;
    failures: failed verdicts."""

    tally: Tally
    cpu_s: float
    crashed: int
    failures: tuple[Failure, ...] = ()


def judge_indices(plan: Plan, indices: Sequence[int], without: Sequence[str] = ()) -> JudgedBatch:
    """The tally of these cases of the plan's campaign, as if the passes named in `without` were in no table."""
    repertoire = repertoire_of(plan)
    rows = {name: row for name, row in repertoire.rows.items() if name not in without}
    repertoire = replace(repertoire, rows=rows)
    before_forking()
    tally, failures, cpu_s, crashed, done = Tally(), list[Failure](), 0.0, 0, 0
    while done < len(indices):
        batch = indices[done : done + BATCH]
        child = in_child(partial(_judge, plan, repertoire, batch), bytes)
        cpu_s += child.cpu_s
        said = tuple(Lines[Judged](Judged).take(b"".join(child.messages)))
        for answer in said:
            tally.add(answer.counts)
            failures += answer.failures
        done += len(said)
        if len(said) < len(batch):  # The next one ended the child.
            done, crashed = done + 1, crashed + 1
    return JudgedBatch(tally, cpu_s, crashed, tuple(failures))


def _judge(plan: Plan, repertoire: Repertoire, batch: Sequence[int], say: ToParent[bytes]) -> None:
    """A line for each case that was judged."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        recorder = Recorder.create(Path(folder) / "flight")
        for index in batch:
            say(line_of(judge_case(plan, repertoire, index, recorder)))
