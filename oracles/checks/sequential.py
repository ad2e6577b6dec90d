"""`tvm.transform.Sequential` of the passes gives what the passes give one after the other.

`CaseBench.apply_all` must run with an opt_level that skips no pass. Only cases in which every single step went well and
left its input alone are compared, so that this is about Sequential and about state that passes carry along. A pass
whose result follows addresses differs from itself as well: that is the matter of `oracles.checks.determinism`.
"""

from __future__ import annotations

from generators import tvm_api as T
from generators.tvm_api import IRModule
from oracles.checks.applied_again import all_incomparable
from oracles.ir.compare import equal, first_difference
from oracles.oracle import TraceOracle
from oracles.trace import Bench, CaseBench, Raised, Trace
from oracles.tvm_errors import headline
from oracles.verdict import PASSED, Failed, Inconclusive, Skipped, Verdict

CULPRIT = "tvm.transform.Sequential"
ROUNDS = 3
"""How often both ways are taken again, each time from a copy at other addresses, before a difference counts."""


def judge(trace: Trace, bench: CaseBench) -> Verdict:
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
    if (unsteady := _unsteady(trace, at_once, bench)) is not None:
        return Inconclusive(f"sequential: {unsteady} gives something else each time")
    place, detail = first_difference(one_by_one, at_once)
    return Failed("sequential", f"all at once and one by one differ in {place}", detail, CULPRIT)


def _unsteady(trace: Trace, at_once: IRModule, bench: CaseBench) -> str | None:
    """The first pass that gives something else the next time, or CULPRIT; None where both ways give the same again."""
    for _ in range(ROUNDS):
        copies = [bench.guarded(lambda: T.copy_of(trace.start)) for _ in range(2)]
        if any(isinstance(copy, Raised) or not equal(trace.start, copy) for copy in copies):
            return None
        if (name := _differs(trace, copies[0], bench)) is not None:
            return name
        again = bench.apply_all([step.call for step in trace.steps], copies[1])
        if isinstance(again, Raised) or not equal(at_once, again):
            return CULPRIT
    return None


def _differs(trace: Trace, start: IRModule, bench: Bench) -> str | None:
    """The first pass that gives something else where all are applied once more, one by one."""
    module = start
    for step in trace.steps:
        module = bench.apply(step.call, module)
        if isinstance(module, Raised) or not equal(step.after, module):
            return step.call.name
    return None


ORACLE = TraceOracle("sequential", "all passes at once give what they give one by one", judge, rank=62, share=0.05)
