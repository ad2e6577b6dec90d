"""A case's way through its passes without any oracle: what each pass does to the module, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.repertoire import Repertoire
from generators.case import PassCall
from generators.passes.row import Phase
from generators.source import SeededSource
from oracles.reference.numbers import Numbers
from oracles.trace import Position, Step
from oracles.walk import walk
from oracles.workbench import Workbench


def bench_of(numbers: Numbers, repertoire: Repertoire, target: str) -> Workbench:
    """A bench on which passes can be applied once more. numbers: of the module before them; without entry calls where
    none of the results matter, since the reference makes those at once."""
    return Workbench(SeededSource(0), numbers, repertoire.names, target)


def steps_of(
    case: Candidate, plan: Plan, repertoire: Repertoire, bench: Workbench, more: Sequence[PassCall] = ()
) -> Iterator[Step]:
    """The steps of a case, its setup included, and of `more` passes after it. A pass may end the process."""
    start = Position.at(case.module, Phase(plan.phase))
    return walk(start, (*case.setup, *case.passes, *more), repertoire.rows, bench)


def unjudged_steps(experiment: Experiment, repertoire: Repertoire, target: str) -> Iterator[Step]:
    """The steps of the passes after the setup; none where the setup does not get that far. A pass may end the
    process."""
    bench = bench_of(Numbers(experiment.module, ()), repertoire, target)
    position = Position.at(experiment.module)
    for step in walk(position, experiment.setup, repertoire.rows, bench):
        if step.end is None:
            return
        position = step.end
    yield from walk(position, experiment.passes, repertoire.rows, bench)
