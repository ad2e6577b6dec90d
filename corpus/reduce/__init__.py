"""The reducer: makes a failing candidate small while `interesting` says that it still shows the same bug.

It knows Relax and TIR: candidates are edited as drafts, rebuilt and typed anew, so that nearly every candidate is
a valid module. Worker processes only (imports tvm).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from corpus.reduce.ahead import Elsewhere
from corpus.reduce.candidate import Candidate, Smallest, StepStats, as_case, candidate_of
from corpus.reduce.search import ReductionStep, search
from corpus.reduce.table import STEPS


def reduce(
    candidate: Candidate,
    interesting: Callable[[Candidate], bool],
    *,
    budget_s: float = 60.0,
    max_calls: int = 2000,
    clock: Callable[[], float] = time.monotonic,
    on_success: Callable[[Candidate], None] | None = None,
    elsewhere: Elsewhere[Candidate] | None = None,
) -> Smallest:
    """The smallest candidate found that is interesting, as `candidate` is taken to be.

    `interesting` must demand the same signature. Deterministic as long as neither budget_s (seconds of
    `clock`) nor max_calls (calls of `interesting`) runs out; what was found until then is returned.
    on_success: gets every candidate that is the smallest so far; what it raises ends the reduction.
    elsewhere: judges candidates in other processes before their turn, with the same result in less time.
    """
    return search(
        candidate,
        interesting,
        STEPS,
        budget_s=budget_s,
        max_calls=max_calls,
        clock=clock,
        on_success=on_success,
        elsewhere=elsewhere,
    )


__all__ = ["STEPS", "Candidate", "Smallest", "StepStats", "ReductionStep", "as_case", "candidate_of", "reduce"]
