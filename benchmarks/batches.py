"""Judges cases in forked children, as a worker does, and adds up what they count: for benchmarks of single cases.

A child takes a few cases one after another; a case that crashes or hangs is counted, and the next child goes on behind
it. CPU seconds are the kernel's, of the children alone: start-up and imports are not in them.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzer.campaign.job import Failure, Plan
from fuzzer.campaign.loop import BATCH
from fuzzer.processes.flight import Recorder
from fuzzer.worker.child import before_forking, judge_case
from fuzzer.worker.draw import Repertoire, repertoire_of
from reports.tally import Tally

DEADLINE_S = 60.0
"""Seconds of wall clock that a batch may take."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What was counted; cpu_s: of the children; crashed: cases that ended their child and are not in the tally;
    failures: failed verdicts."""

    tally: Tally
    cpu_s: float
    crashed: int
    failures: tuple[Failure, ...] = ()


def judge_indices(plan: Plan, indices: Sequence[int], without: Sequence[str] = ()) -> Judged:
    """The tally of these cases of the plan's campaign, as if the passes named in `without` were in no table.

    Imports TVM into this process.
    """
    repertoire = repertoire_of(plan)
    rows = {name: row for name, row in repertoire.rows.items() if name not in without}
    repertoire = replace(repertoire, rows=rows)
    before_forking()
    tally, failures, cpu_s, crashed, done = Tally(), list[Failure](), 0.0, 0, 0
    while done < len(indices):
        batch = indices[done : done + BATCH]
        lines, used = _in_child(plan, repertoire, batch)
        cpu_s += used
        said = [json.loads(line) for line in lines]
        deltas = [line["delta"] for line in said if "delta" in line]
        for delta in deltas:
            tally.add(delta)
        failures += [Failure.from_json(line["failure"]) for line in said if "failure" in line]
        done += len(deltas)
        if len(deltas) < len(batch):  # The next one ended the child.
            done, crashed = done + 1, crashed + 1
    return Judged(tally, cpu_s, crashed, tuple(failures))


def _in_child(plan: Plan, repertoire: Repertoire, batch: Sequence[int]) -> tuple[list[str], float]:
    """A line for each case that was judged and for each failed verdict, and the child's CPU seconds."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _judge(plan, repertoire, batch, writing)
    os.close(writing)
    timer = threading.Timer(DEADLINE_S, os.kill, (pid, signal.SIGKILL))
    timer.start()
    with os.fdopen(reading) as stream:
        lines = [line for line in stream if line.endswith("\n")]
    _, _, usage = os.wait4(pid, 0)
    timer.cancel()
    return lines, usage.ru_utime + usage.ru_stime


def _judge(plan: Plan, repertoire: Repertoire, batch: Sequence[int], writing: int) -> None:
    """In the child: never returns."""
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            recorder = Recorder.create(Path(folder) / "flight")
            for index in batch:
                for kind, payload in judge_case(plan, repertoire, index, recorder):
                    if kind in ("tally", "failure"):
                        os.write(writing, (json.dumps(payload) + "\n").encode())
    finally:
        os._exit(0)
