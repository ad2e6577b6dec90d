"""Reduces a failure of a drawn case, which is drawn again. Worker processes only."""

from __future__ import annotations

from corpus.finding import Finding
from corpus.reduce import Candidate
from corpus.scripts.module_text import text_of
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.reduction_watch import Paced
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking.odd_order import NotCounted, counted
from fuzzer.trial.shrinking.shrink import shrink
from fuzzer.worker.draw import draw_experiment, origin_of
from generators.case import Case
from generators.passes.table import default_call


def shrink_failure(
    plan: Plan, repertoire: Repertoire, failure: Failure, budget_s: float, ceiling_s: float
) -> Finding | NotCounted | None:
    """What a failing case reduces to; None when the failure does not show again: it is then no finding.

    budget_s, ceiling_s: as of `fuzzer.trial.reduction_watch.Paced`."""
    plan = plan.at(failure.index)
    case = draw_experiment(plan, repertoire, failure.index)
    experiment = case.experiment
    passes, tiers = experiment.passes, experiment.tiers
    if failure.step is not None:
        passes, tiers = passes[: failure.step + 1], tiers[: failure.step + 1]
    passes += tuple(default_call(name) for name in failure.tail)
    start = Candidate(experiment.module, experiment.setup, passes, experiment.calls)
    like = Case(
        text_of(experiment.module), passes, experiment.calls, plan.target, experiment.setup,
        origin_of(plan, failure.index, case.program), plan.load,
    )  # fmt: skip
    finding = shrink(plan, repertoire, failure, start, like, budget_s, Paced(budget_s, ceiling_s))
    return counted(finding) if isinstance(finding, Finding) else finding
