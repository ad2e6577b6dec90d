"""Digests of the modules of a case, by which two processes compare what passes give. Worker processes only."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

from fuzzer.protocol import Plan, Sample
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import Judgement
from fuzzer.trial.repertoire import Repertoire
from generators import tvm_api
from generators.case import PassCall
from generators.passes.row import Phase
from generators.source import SeededSource
from generators.tvm_api import IRModule
from oracles.checks.applied_again import all_incomparable
from oracles.checks.definedness import has_free_names
from oracles.ir.compare import digest
from oracles.reference.numbers import Numbers
from oracles.trace import Position, Raised
from oracles.walk import walk
from oracles.workbench import Workbench

COPIES = 6
"""So many copies of a candidate are looked at in each process."""


def sample_of(experiment: Experiment, judged: Judgement) -> Sample | None:
    """What another process is asked about a judged case; None where something else is wrong with it already."""
    steps = judged.steps
    if judged.failures or not steps or has_free_names(experiment.module) or all_incomparable(steps) is not None:
        return None
    return Sample(
        experiment.index,
        tuple(map(_digest_of, [experiment.module, steps[0].before, *(step.outcome for step in steps)])),
        tuple(s.call.name for s in steps),
        tuple(s.tier for s in steps),
        tuple(s.under_test for s in steps),
    )


def digests_in(plan: Plan, repertoire: Repertoire, file: str) -> tuple[tuple[str, ...], ...]:
    """The digests of the candidate in a file, of several copies of it.

    The copies live at the same time, at other addresses: what follows addresses may differ between them already.
    """
    text, setup, passes = pickle.loads(Path(file).read_bytes())
    copies = [tvm_api.module_from_json(text) for _ in range(COPIES)]
    return tuple(tuple(digests_of(plan, repertoire, copy, setup, passes)) for copy in copies)


def digests_of(
    plan: Plan, repertoire: Repertoire, start: IRModule, setup: Sequence[PassCall], passes: Sequence[PassCall]
) -> list[str]:
    """A digest of the start, one after the setup, and one after each pass; an error is the last."""
    bench = Workbench(SeededSource(plan.seed), Numbers(start, ()), repertoire.names, plan.target)
    said, begin = [_digest_of(start)], Position.at(start, Phase(plan.phase))
    # Each is taken at once: a later pass may change an earlier module in place.
    steps = [_digest_of(step.outcome) for step in walk(begin, (*setup, *passes), repertoire.rows, bench)]
    before, after = steps[: len(setup)], steps[len(setup) :]
    return [*said, before[-1] if before else said[0], *after]


def _digest_of(outcome: IRModule | Raised) -> str:
    return f"raised {outcome.kind}" if isinstance(outcome, Raised) else digest(outcome)
