"""A case's way through its passes without any oracle: what each pass does to the module, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.trial.experiment import Experiment
from fuzzer.trial.repertoire import Repertoire
from generators.source import SeededSource
from oracles.reference.numbers import Numbers
from oracles.trace import MeaningState, Position, Step
from oracles.walk import walk
from oracles.workbench import Workbench


def unjudged_steps(experiment: Experiment, repertoire: Repertoire, target: str) -> Iterator[Step]:
    """The steps of the passes after the setup; none where the setup does not get that far. A pass may end the
    process."""
    meaning = MeaningState(Numbers(experiment.module, ()))
    bench = Workbench(SeededSource(0), meaning, repertoire.names, target)
    position = Position.at(experiment.module)
    for step in walk(position, experiment.setup, repertoire.rows, bench):
        if step.end is None:
            return
        position = step.end
    yield from walk(position, experiment.passes, repertoire.rows, bench)
