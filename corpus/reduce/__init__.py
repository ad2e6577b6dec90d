"""The reducer: makes a failing candidate small while `interesting` says that it still shows the same bug.

It knows Relax and TIR: candidates are edited as drafts, rebuilt and typed anew, so that nearly every candidate is
a valid module. Worker processes only (imports tvm).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from corpus.reduce.candidate import Candidate, Smallest, as_case, candidate_of
from corpus.reduce.search import ReductionStep, search
from corpus.reduce.table import STEPS


def reduce(
    candidate: Candidate,
    interesting: Callable[[Candidate], bool],
    *,
    budget_s: float = 60.0,
    max_calls: int = 2000,
    clock: Callable[[], float] = time.monotonic,
) -> Smallest:
    """The smallest candidate found that is interesting, as `candidate` is taken to be.

    `interesting` must demand the same signature. Deterministic as long as neither budget_s (seconds of
    `clock`) nor max_calls (calls of `interesting`) runs out; what was found until then is returned.
    """
    return search(candidate, interesting, STEPS, budget_s=budget_s, max_calls=max_calls, clock=clock)


__all__ = ["STEPS", "Candidate", "Smallest", "ReductionStep", "as_case", "candidate_of", "reduce"]
