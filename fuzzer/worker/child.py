"""What a forked child does for one case: draw, judge, and say what was counted and what failed."""

from __future__ import annotations

import gc
import inspect
import time
from collections.abc import Sequence
from dataclasses import replace

from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Judged, Plan
from fuzzer.trial.digests import digests_of, sample_of
from fuzzer.trial.judge import judge
from fuzzer.trial.options import options_of
from fuzzer.trial.repertoire import Repertoire
from fuzzer.worker.draw import draw_experiment
from fuzzer.worker.seeds import SeedProgram
from generators import externs
from generators.passes.constructors import read_table
from generators.unavailable import Unavailable
from oracles.builds.builders import unusable
from oracles.builds.needs import missing
from oracles.checks import determinism
from reports.tally import Tally, bump

YOUNG = 1_000_000
"""Objects that a child makes before it looks for garbage among them. Of those that it makes by default, 700, nearly
all are alive while a case is judged: looking at them takes a twentieth of the CPU. A child's 48 cases leave 10 MB."""


def before_forking(targets: Sequence[str] = ()) -> None:
    """To be called once by a process that forks children: what is alive now is never garbage, and no child looks at
    it again (one collection of TVM's modules costs as much as judging a small case). What the targets need is looked
    for once, and what TVM reads with its parser finds the files of all modules known (0.1 s in each child)."""
    externs.register()
    read_table()
    for target in targets:
        missing(target)
        unusable(target)
    inspect.stack()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def judge_case(plan: Plan, repertoire: Repertoire, index: int, recorder: Recorder) -> Judged:
    """Draws and judges case `index`: what was counted, and each failed verdict."""
    start = time.process_time()
    plan = plan.at(index)
    try:
        case = draw_experiment(plan, repertoire, index)
    except Unavailable as reason:
        return Judged(index, Tally(undrawn=1, skipped={f"not drawn: {reason}": 1}))
    drawn = time.process_time()
    options = replace(options_of(plan, repertoire), announce=lambda activity: recorder.write(index, activity))
    judged = judge(case.experiment, options, case.source)
    counts = judged.counts
    bump(counts.phases, "generate", drawn - start)
    counts.cpu_s += time.process_time() - start
    if isinstance(case.program, SeedProgram) and counts.cases:
        counts.seeded += 1
    for name, number in case.program.operators.items():
        bump(counts.ops, name, number)
    for (row, _), number in case.program.rejected.items():
        bump(counts.skipped, f"draw refused by type inference: {row}", number)
    for why, number in case.left_out.items():
        bump(counts.skipped, f"seed left out: {why}", number)
    across = determinism.ORACLE.across if determinism.ORACLE.name in options.oracles else None
    sampled = across is not None and across.takes(plan.seed, index)
    sample = sample_of(case.experiment, judged) if sampled else None
    return Judged(index, counts, tuple(judged.failures), sample)


def digests_of_case(plan: Plan, repertoire: Repertoire, index: int) -> list[str]:
    """The digests of case `index`, drawn in this process. Raises Unavailable where nothing is drawn."""
    plan = plan.at(index)
    experiment = draw_experiment(plan, repertoire, index).experiment
    return digests_of(plan, repertoire, experiment.module, experiment.setup, experiment.passes)
