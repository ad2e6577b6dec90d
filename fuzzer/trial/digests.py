"""Determinism across processes, the workers' side: digests of the modules of a case, here and in a witness."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fuzzer.campaign.determinism import Sample
from fuzzer.protocol import Plan
from fuzzer.trial.judge import Experiment, Judged
from fuzzer.worker.draw import Repertoire, draw_experiment
from generators import tvm_api
from generators.case import PassCall
from generators.source import SeededSource
from oracles.checks.definedness import has_free_names
from oracles.ir.compare import digest
from oracles.ir.fingerprint import fingerprint
from oracles.reference.numbers import Numbers
from oracles.trace import MeaningState, Raised
from oracles.workbench import Workbench

COPIES = 6
"""So many copies of a candidate are looked at in each process."""


def sample_of(experiment: Experiment, judged: Judged) -> Sample | None:
    """What a witness is asked about a judged case; None where something else is wrong with it already."""
    steps = judged.steps
    looked_at = {step.hash_before: step.before for step in steps}  # of those that are alike the last
    if judged.failures or not steps or any(fingerprint(module) != code for code, module in looked_at.items()):
        return None
    modules = [experiment.module, steps[0].before, *(s.after if s.error is None else s.error for s in steps)]
    if any(not isinstance(m, Raised) and has_free_names(m) for m in modules):
        return None
    return Sample(
        experiment.index,
        tuple(map(_said, modules)),
        tuple(s.call.name for s in steps),
        tuple(s.tier for s in steps),
        tuple(s.under_test for s in steps),
    )


def digests_of_case(plan: Plan, repertoire: Repertoire, index: int) -> list[str]:
    """The digests of case `index`, drawn in this process. Raises Unavailable where nothing is drawn."""
    plan = plan.at(index)
    experiment, _, _ = draw_experiment(plan, repertoire, index)
    return digests_of(plan, repertoire, experiment.module, experiment.setup, experiment.passes)


def digests_in(plan: Plan, repertoire: Repertoire, file: str) -> list[list[str]]:
    """The digests of the candidate that somebody has left in a file, of several copies of it.

    The copies live at the same time, at other addresses: what follows addresses may differ between them already.
    """
    text, setup, passes = pickle.loads(Path(file).read_bytes())
    copies = [tvm_api.module_from_json(text) for _ in range(COPIES)]
    return [digests_of(plan, repertoire, copy, setup, passes) for copy in copies]


def digests_of(
    plan: Plan, repertoire: Repertoire, start: Any, setup: Iterable[PassCall], passes: Iterable[PassCall]
) -> list[str]:
    """A digest of the start, one after the setup, and one after each pass; an error is the last."""
    meaning = MeaningState(Numbers(start, ()))
    bench = Workbench(SeededSource(plan.seed), meaning, repertoire.names, plan.target)
    said, module = [_said(start)], start
    for call in setup:
        module = bench.apply(call, module)
        if isinstance(module, Raised):
            return [*said, _said(module)]
    said.append(_said(module))
    for call in passes:
        module = bench.apply(call, module)
        said.append(_said(module))
        if isinstance(module, Raised):
            break
    return said


def _said(outcome: Any) -> str:
    return f"raised {outcome.kind}" if isinstance(outcome, Raised) else digest(outcome)
