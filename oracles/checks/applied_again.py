"""When another application of passes says nothing: for the oracles that hold its result against the steps' own."""

from __future__ import annotations

from collections.abc import Sequence

from oracles.checks.definedness import has_free_names
from oracles.ir.fingerprint import fingerprint
from oracles.trace import Step


def incomparable(step: Step) -> str | None:
    """Why another application to the step's input cannot be held against the step itself; None where it can."""
    if step.end is None:
        return "no result"
    if has_free_names(step.end.module):
        return "result breaks scoping"
    if fingerprint(step.before) != step.start.code:
        return "input was changed in place"
    return None


def all_incomparable(steps: Sequence[Step]) -> str | None:
    """Why the steps' passes, applied again to the first input, cannot be held against the steps; None where they can.

    Each module is hashed and then looked at, so that the hash is taken once.
    """
    for code, module in {step.start.code: step.before for step in steps}.items():  # of those that are alike the last
        if fingerprint(module) != code:
            return "a step changed its input"
        if has_free_names(module):
            return "a step broke scoping"
    end = steps[-1].end
    return "a step broke scoping" if end is not None and has_free_names(end.module) else None
