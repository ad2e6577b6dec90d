"""A pass constructed anew gives an equal module for the same input, names of functions included.

Within one process, to the same input and half of the time to a copy of it at other addresses. Across processes, a
campaign has a share of its cases applied again by a process with another hash seed and memory layout, and compares
`oracles.ir.compare.digest` of the results: `fuzzer.trial.determinism`.
"""

from __future__ import annotations

from generators import tvm_api as T
from generators.tvm_api import IRModule
from oracles.checks.applied_again import incomparable
from oracles.evidence import AcrossProcesses, Evidence
from oracles.ir.compare import equal, first_difference
from oracles.oracle import Across, Runs, Stage, StepOracle
from oracles.trace import Bench, Raised, Step
from oracles.tvm_errors import in_a_line, out_of_memory
from oracles.verdict import ACROSS_PROCESSES, DETERMINISM, PASSED, Failed, Skipped, Verdict


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("not deterministic") or Failed(ACROSS_PROCESSES), with the first difference."""
    if (reason := incomparable(step)) is not None:
        return Skipped(reason)
    verdict = _compared(step, bench, step.before, "not deterministic", "two applications to one input")
    if isinstance(verdict, Failed) or not bench.source.flip():
        return verdict
    copy = bench.guarded(lambda: T.copy_of(step.before))
    if isinstance(copy, Raised) or not equal(step.before, copy):
        return verdict
    what = "applications to an input and to a copy at other addresses"
    return _compared(step, bench, copy, ACROSS_PROCESSES, what, AcrossProcesses())


def _compared(
    step: Step, bench: Bench, given: IRModule, symptom: str, what: str, evidence: Evidence | None = None
) -> Verdict:
    again = bench.apply(step.call, given)
    if isinstance(again, Raised):
        message = f"second application raises {in_a_line(again)}"
        return Failed(symptom, message, again.traceback, evidence=evidence or out_of_memory(again))
    if equal(step.after, again):
        return PASSED
    place, detail = first_difference(step.after, again)
    return Failed(symptom, f"{what} differ in {place}", detail, evidence=evidence)


ORACLE = StepOracle(
    DETERMINISM,
    "applied twice to one input, a pass gives the same",
    judge,
    stage=Stage.COSTLY,
    runs=Runs.PASSES,
    rank=60,
    share=0.04,
    share_of_chosen=1.0,
    across=Across(share=0.02, early=40, early_share=0.2),
)
