"""A pass constructed anew gives an equal module for the same input, names of functions included.

Within one process; across processes the supervisor compares `oracles.ir.compare.digest` of the results.
"""

from __future__ import annotations

from oracles.definedness import has_free_names
from oracles.ir.compare import equal, first_difference
from oracles.ir.fingerprint import fingerprint
from oracles.oracle import StepOracle
from oracles.survives import headline
from oracles.trace import Bench, Raised, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("not deterministic") with the first difference."""
    if step.after is None:
        return Skipped("no result")
    if has_free_names(step.after):
        return Skipped("result breaks scoping")
    if fingerprint(step.before) != step.hash_before:
        return Skipped("input was changed in place")
    again = bench.apply(step.call, step.before)
    if isinstance(again, Raised):
        message = f"second application raises {again.kind}: {headline(again.message)}"
        return Failed("not deterministic", message, again.traceback)
    if equal(step.after, again):
        return PASSED
    place, detail = first_difference(step.after, again)
    return Failed("not deterministic", f"two applications to one input differ in {place}", detail)


ORACLE = StepOracle("determinism", "applied twice to one input, a pass gives the same", judge, share=0.15)
