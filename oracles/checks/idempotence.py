"""A pass that is meant to be idempotent changes nothing when it is applied to what it has just made.

Names of private functions count: a second application that only renames still gives another module (apache/tvm#17200
was accepted as a bug for less). Names of variables do not, nor does how bindings are gathered in blocks.

A pass that leads to a phase that it is not documented for has no place for a second application: it is not asked.
"""

from __future__ import annotations

from generators.passes.row import PassRow
from generators.passes.table import default_call
from generators.passes.traits import AgainWith, AppliesInside
from generators.tvm_api import IRModule
from oracles.checks.definedness import has_free_names
from oracles.checks.survives import happened_to
from oracles.ir.compare import first_difference, same_bindings
from oracles.ir.operators import operator_calls
from oracles.oracle import Knowledge, Runs, Stage, StepOracle
from oracles.trace import Bench, Raised, Step
from oracles.tvm_errors import in_a_line, out_of_memory
from oracles.verdict import PASSED, Failed, Inconclusive, Skipped, Verdict

_ROUNDS = 4
"""How often a pass may go on tidying: as deep as calls of private functions nest, and one more."""


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("not idempotent") with the first difference, or when the second application raises."""
    if step.after is None:
        return Skipped("no result")
    if has_free_names(step.after):
        return Skipped("result breaks scoping")
    if not step.row.promise.idempotent:
        return Skipped("the pass is not meant to be idempotent", applies=False)
    if step.row.place.gives is not None and step.row.place.gives not in step.row.place.phases:
        return Skipped("the pass leads to a phase that it is not documented for", applies=False)
    if does_more_again(step.row, step.before):
        return Skipped("the module holds what the pass does more with each time", applies=False)
    again = bench.apply(step.call, step.after)
    if isinstance(again, Raised):
        if not happened_to(again, step):
            return Skipped(f"second application rejected: {step.call.name}")
        message = f"second application raises {in_a_line(again)}"
        return Failed("not idempotent", message, again.traceback, evidence=out_of_memory(again))
    if same_bindings(step.after, again):
        return PASSED
    if (inner := _unsettled_inside(step, bench)) is not None:
        return Inconclusive(f"{inner}, which the pass applies and which need not settle, changes the result as well")
    if _still_tidying(step, again, bench):
        return Inconclusive("a further application tidies up further, and then it settles")
    place, detail = first_difference(step.after, again)
    return Failed("not idempotent", f"second application changes {place}", detail)


def does_more_again(row: PassRow, module: IRModule) -> bool:
    """Whether the module holds something of `AgainWith`."""
    again_with = row.named(AgainWith)
    if not again_with:
        return False
    attributes = any(module.attrs and key in module.attrs for key in again_with)
    return attributes or any(call.op.name in again_with for call, _ in operator_calls(module))


def _unsettled_inside(step: Step, bench: Bench) -> str | None:
    """A pass that this one applies inside of itself, and that changes the result when it is applied alone."""
    for name in step.row.named(AppliesInside):
        alone = bench.apply(default_call(name), step.after)
        if not isinstance(alone, Raised) and not same_bindings(step.after, alone):
            return name
    return None


def _still_tidying(step: Step, again: IRModule, bench: Bench) -> bool:
    """Whether a clean-up goes on in steps: what one application removes lets the next remove more, until it settles.

    A callee that loses an unused parameter can leave one of its caller's unused (RemoveUnusedParameters works so).
    """
    first: IRModule = step.after
    size = len(first.script())
    for _ in range(_ROUNDS):
        smaller = len(again.script())
        if smaller >= size:
            return False
        size, current = smaller, again
        again = bench.apply(step.call, current)
        if isinstance(again, Raised):
            return False
        if same_bindings(current, again):
            return True
    return False


ORACLE = StepOracle(
    "idempotence",
    "applied to its own result, a pass changes nothing",
    judge,
    stage=Stage.COSTLY,
    runs=Runs.PASSES,
    rank=61,
    share=0.3,
    share_of_chosen=1.0,
    of_result=True,
    foreign=Knowledge.ROW,
    of_idempotent=True,
    documented_phases_only=True,
)
