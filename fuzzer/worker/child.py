"""What a forked child does for one case: draw, judge, and say what was counted and what failed."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Answer, Counts, Found, Plan, Sampled, Tallied
from fuzzer.trial.digests import digests_of, sample_of
from fuzzer.trial.judge import judge
from fuzzer.trial.options import options_of
from fuzzer.trial.repertoire import Repertoire
from fuzzer.worker.draw import draw_experiment
from fuzzer.worker.seeds import SeedProgram
from generators import externs
from generators.unavailable import Unavailable
from oracles.builds.builders import BUILDERS
from oracles.builds.needs import builder_of, missing
from oracles.checks import determinism

YOUNG = 1_000_000
"""Objects that a child makes before it looks for garbage among them. Of those that it makes by default, 700, nearly
all are alive while a case is judged: looking at them takes a twentieth of the CPU. A child's 48 cases leave 10 MB."""


def before_forking(targets: Sequence[str] = ()) -> None:
    """To be called once by a process that forks children: what is alive now is never garbage, and no child looks at
    it again (one collection of TVM's modules costs as much as judging a small case). What the targets need is looked
    for once."""
    externs.register()
    for target in targets:
        missing(target)
        if (builder := builder_of(target)) is not None:
            BUILDERS[builder].unusable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def judge_case(plan: Plan, repertoire: Repertoire, index: int, recorder: Recorder) -> Iterator[Answer]:
    """Draws and judges case `index`: what was counted, and each failed verdict."""
    start = time.process_time()
    plan, counts = plan.at(index), Counts()
    try:
        case = draw_experiment(plan, repertoire, index)
    except Unavailable as reason:
        counts.name("skipped", f"not drawn: {reason}")
        yield Tallied(counts.delta())
        return
    drawn = time.process_time()
    options = replace(options_of(plan, repertoire), announce=lambda activity: recorder.write(index, activity))
    judged = judge(case.experiment, options, case.source)
    counts = judged.counts
    counts.name("phases", "generate", drawn - start)
    counts.count("cpu_s", time.process_time() - start)
    if isinstance(case.program, SeedProgram) and counts.numbers.get("cases"):
        counts.count("seeded")
    for name, number in case.program.operators.items():
        counts.name("ops", name, number)
    for (row, _), number in case.program.rejected.items():
        counts.name("skipped", f"draw refused by type inference: {row}", number)
    for why, number in case.left_out.items():
        counts.name("skipped", f"seed left out: {why}", number)
    yield Tallied(counts.delta())
    for failure in judged.failures:
        yield Found(failure)
    across = determinism.ORACLE.across if determinism.ORACLE.name in options.oracles else None
    if across is not None and across.takes(plan.seed, index):
        sample = sample_of(case.experiment, judged)
        if sample is not None:
            yield Sampled(sample)


def digests_of_case(plan: Plan, repertoire: Repertoire, index: int) -> list[str]:
    """The digests of case `index`, drawn in this process. Raises Unavailable where nothing is drawn."""
    plan = plan.at(index)
    experiment = draw_experiment(plan, repertoire, index).experiment
    return digests_of(plan, repertoire, experiment.module, experiment.setup, experiment.passes)
