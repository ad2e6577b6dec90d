"""`tvm.transform.Sequential` of the passes gives what the passes give one after the other.

`Bench.apply_all` must run with an opt_level that skips no pass. Only cases in which every single step went well and
left its input alone are compared, so that this is about Sequential and about state that passes carry along.
"""

from __future__ import annotations

from oracles.checks.applied_again import all_incomparable
from oracles.ir.compare import equal, first_difference
from oracles.oracle import TraceOracle
from oracles.trace import Bench, Raised, Trace
from oracles.tvm_errors import headline
from oracles.verdict import PASSED, Failed, Skipped, Verdict

CULPRIT = "tvm.transform.Sequential"


def judge(trace: Trace, bench: Bench) -> Verdict:
    """Failed("sequential") with the first difference."""
    if len(trace.steps) < 2:
        return Skipped("fewer than two passes", applies=False)
    if any(step.call.options for step in trace.steps):
        return Skipped("a pass has options of its own", applies=False)
    if any(step.after is None for step in trace.steps):
        return Skipped("a step raised")
    if (why := all_incomparable(trace.steps)) is not None:
        return Skipped(why)
    at_once = bench.apply_all([step.call for step in trace.steps], trace.start)
    if isinstance(at_once, Raised):
        message = f"raises {at_once.kind} though no single pass does: {headline(at_once.message)}"
        return Failed("sequential", message, at_once.traceback, CULPRIT)
    one_by_one = trace.steps[-1].after
    if equal(one_by_one, at_once):
        return PASSED
    place, detail = first_difference(one_by_one, at_once)
    return Failed("sequential", f"all at once and one by one differ in {place}", detail, CULPRIT)


ORACLE = TraceOracle("sequential", "all passes at once give what they give one by one", judge, rank=62, share=0.05)
