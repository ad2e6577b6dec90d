"""Every variable, symbolic dimension and GlobalVar is defined before it is used, once, and seen only in its scope.

Our own check (`oracles.ir.scopes`) of what a pass gives back, against what it was given.
"""

from __future__ import annotations

from generators.tvm_api import IRModule
from oracles.ir.module_caches import by_relax_functions
from oracles.ir.scopes import misuses
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

MISUSES = by_relax_functions(misuses)


def has_free_names(module: IRModule) -> bool:
    """Whether a module breaks scoping, so that structural comparison of it with anything means nothing."""
    return bool(MISUSES.of(module))


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("undefined") with the first broken rule, when the input broke none."""
    if step.after is None:
        return Skipped("no result")
    if MISUSES.of(step.before):
        return Skipped("input already breaks scoping")
    found = MISUSES.fresh(step.after)
    if not found:
        return PASSED
    return Failed("undefined", found[0].rule, "\n".join(f"{misuse.rule}: {misuse.where}" for misuse in found))


ORACLE = StepOracle(
    "definedness",
    "everything is defined once, before its use, and seen only in its scope",
    judge,
    stage=Stage.STRUCTURE,
    rank=22,
    of_result=True,
    is_flawed=lambda module: bool(MISUSES.of(module)),
    foreign=Knowledge.NOTHING,
)
