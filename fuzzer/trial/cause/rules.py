"""Which rule of several goes wrong, where a pass applies rules of others: dlight's, one after the other, and what a
search of MetaSchedule is made of. TVM's tracebacks name neither MetaSchedule's rules nor its post-processors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import tvm

from corpus.causes.throw_site import thrown_at
from fuzzer.trial.cause.primitives import primitive_in
from fuzzer.trial.cause.taken import GoesWrong, Rule, Taken, with_types
from generators.case import PassCall
from generators.passes.dlight import rules_in
from generators.passes.table import PASSES
from generators.passes.tuning import PREFIX, searched, shorter
from oracles.ir.scheduled import misdone, told
from oracles.trace import Raised
from oracles.walk import walk
from oracles.workbench import Workbench


def grown(call: PassCall) -> Iterator[tuple[str, PassCall]]:
    """A search of MetaSchedule with one rule, with two, and so on to the whole of it; each by the name of what was
    added last, the mutator in the end. Nothing for other passes."""
    if (made_of := searched(call)) is None:
        return
    tuner = tvm.s_tir.meta_schedule
    rules = tuple(type(rule).__name__ for rule in tuner.schedule_rule.ScheduleRule.create(made_of.rules))
    postprocs = tuple(type(postproc).__name__ for postproc in tuner.postproc.Postproc.create(made_of.postprocs))
    yield from shorter(call, rules, postprocs)
    if made_of.mutator:
        yield f"{PREFIX}.{made_of.mutator}", call


def rule_in(taken: Taken, bench: Workbench, goes_wrong: GoesWrong) -> Rule | None:
    """Of a pass that applies several rules, or primitives of schedules: what goes wrong in it, as deep as can be told,
    or the first of dlight's rules that does anything. A function that one of these has scheduled is left alone by
    those after it. None where no rule acts, and of other passes."""
    rule = _rule_in(taken, bench, goes_wrong)
    return primitive_in(taken if rule is None else rule.taken, bench, goes_wrong) or rule


def _rule_in(taken: Taken, bench: Workbench, goes_wrong: GoesWrong) -> Rule | None:
    acts: Rule | None = None
    start = replace(taken.step.start, module=taken.step.before.clone())
    for one in with_types(start, walk(start, rules_in(taken.step.call), PASSES, bench)):
        if one.step.changed and one.step.after is not None:
            rule = Rule(one.step.call.name, one)
            if goes_wrong(one.step, bench):
                return rule
            acts = acts or rule
    for name, call in grown(taken.step.call):
        start = replace(taken.step.start, module=taken.step.before.clone())
        one = next(with_types(start, walk(start, [call], PASSES, bench)))
        if one.step.changed and one.step.after is not None and goes_wrong(one.step, bench):
            return Rule(name, one, told(misdone(one.step.before, one.step.after)))
    return acts


def rule_that_raises(steps: Iterator[Taken], bench: Workbench) -> str:
    """Of a search that raises: the rule without which this does not happen; "" where that cannot be told."""
    raised = next((taken.step for taken in steps if taken.step.error is not None), None)
    if raised is None or raised.error is None:
        return ""
    for name, call in grown(raised.call):
        outcome = bench.apply(call, raised.before.clone())
        if isinstance(outcome, Raised) and _same(outcome, raised.error):
            return name
    return ""


def _same(one: Raised, other: Raised) -> bool:
    return one.kind == other.kind and thrown_at(one.traceback) == thrown_at(other.traceback)
