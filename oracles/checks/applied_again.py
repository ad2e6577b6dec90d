"""When another application of a pass says nothing: for the oracles that hold its result against the step's own."""

from __future__ import annotations

from oracles.checks.definedness import has_free_names
from oracles.ir.fingerprint import fingerprint
from oracles.trace import Step


def incomparable(step: Step) -> str | None:
    """Why another application to the step's input cannot be held against the step itself; None where it can."""
    if step.after is None:
        return "no result"
    if has_free_names(step.after):
        return "result breaks scoping"
    if fingerprint(step.before) != step.start.code:
        return "input was changed in place"
    return None
