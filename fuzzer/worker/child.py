"""What a forked child does for one case: draw, judge, and say what was counted and what failed."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from fuzzer.campaign.determinism import ORACLE as DETERMINISM
from fuzzer.campaign.determinism import is_sampled
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Counts, Failure, Plan
from fuzzer.trial.digests import sample_of
from fuzzer.trial.judge import Court, judge
from fuzzer.worker.draw import Repertoire, draw_experiment
from fuzzer.worker.seeds import USELESS, SeedProgram
from generators import externs
from generators.operators.row import Unavailable
from generators.passes.row import Phase
from oracles.builds import cuda_device
from oracles.builds.cpu_builds import expanded, only_builds
from oracles.builds.needs import builder_of, missing
from oracles.evidence import Hung
from oracles.oracle import BuildOracle
from oracles.table import ORACLES


def oracle_names(plan: Plan) -> frozenset[str]:
    """The oracles that the plan asks for and that have something to run; the builds are among them."""
    names = expanded(plan.oracles) or frozenset(ORACLES)
    builder = builder_of(plan.target)
    return frozenset(name for name in names if name not in ORACLES or ORACLES[name].has_work_at(builder))


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
        if builder_of(target) == "cuda":
            cuda_device.unusable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def court_of(plan: Plan, repertoire: Repertoire) -> Court:
    """How this campaign judges."""
    only = None if repertoire.under_test is None else frozenset(repertoire.under_test)
    names = oracle_names(plan)
    return Court(
        rows=repertoire.rows,
        names=repertoire.names,
        oracles=names,
        only=only,
        build_share=1.0 if only_builds(names) else plan.build_share,
        target=plan.target,
        phase=Phase(plan.phase),
    )


def judge_case(
    plan: Plan, repertoire: Repertoire, index: int, recorder: Recorder
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Draws and judges case `index`: a "tally", and a "failure" for each failed verdict."""
    start = time.process_time()
    plan, counts = plan.at(index), Counts()
    try:
        experiment, program, source = draw_experiment(plan, repertoire, index)
    except Unavailable as reason:
        counts.name("skipped", f"not drawn: {reason}")
        yield "tally", {"delta": counts.delta()}
        return
    drawn = time.process_time()
    court = court_of(plan, repertoire)
    court.enter = lambda stage: recorder.write(index, stage)
    court.trusting = True
    judged = judge(experiment, court, source)
    if judged.altered:
        court.trusting = False
        experiment, program, source = draw_experiment(plan, repertoire, index)
        judged = judge(experiment, court, source)
    counts = judged.counts
    counts.name("phases", "generate", drawn - start)
    counts.count("cpu_s", time.process_time() - start)
    if isinstance(program, SeedProgram) and counts.numbers.get("cases"):
        counts.count("seeded")
    for name, number in program.operators.items():
        counts.name("ops", name, number)
    for name, number in program.rejected.items():
        refused = name if name.startswith(USELESS) else f"draw refused by type inference: {name.split(':')[0]}"
        counts.name("skipped", refused, number)
    yield "tally", {"delta": counts.delta()}
    for failure in judged.failures:
        yield "failure", {"failure": failure.to_json()}
    if DETERMINISM in court.oracles and is_sampled(plan.seed, index):
        sample = sample_of(experiment, judged)
        if sample is not None:
            yield "again", asdict(sample)


def lost_failure(plan: Plan, repertoire: Repertoire, index: int, stage: str, ended: str, stderr: str) -> Failure:
    """The failure that a child's end stands for: the stage it was in is the culprit."""
    symptom = "hang" if ended == "hang" else "crash"
    builder, mark, built = stage.partition(": ")
    oracle = builder if mark and isinstance(ORACLES.get(builder), BuildOracle) else "survives"
    culprit = (stage if oracle == "survives" else built).removeprefix("setup ").rsplit(" of ", 1)[-1]
    message = f"no answer within {plan.deadline_s:g} s" if symptom == "hang" else f"{ended} in {culprit}"
    return Failure(
        index, oracle, symptom, message, stderr, culprit, "B", None, (), Hung() if symptom == "hang" else None
    )
