"""Which rule of several goes wrong, where a pass applies rules of others: dlight's, one after the other, and what a
search of MetaSchedule is made of. TVM's tracebacks name neither MetaSchedule's rules nor its post-processors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import tvm

from corpus.throw_site import thrown_at
from generators.case import PassCall
from generators.passes.dlight import rules_in
from generators.passes.table import PASSES
from generators.passes.tuning import PREFIX, searched, shorter
from oracles.broken import Types, types_of
from oracles.trace import Position, Raised, Step
from oracles.walk import walk
from oracles.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Taken:
    """A step from a copy of the module before it, which it may have changed; and the types that its bindings had."""

    step: Step
    types: Types


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by its name, and the step that it takes; without any other rule, or as the last of them."""

    name: str
    taken: Taken


def with_types(position: Position, steps: Iterator[Step]) -> Iterator[Taken]:
    """Each step with what was there before it."""
    before, types = position.module.clone(), types_of(position.module)
    for step in steps:
        yield Taken(replace(step, start=replace(step.start, module=before)), types)
        if step.after is not None:
            before, types = step.after.clone(), types_of(step.after)


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


def rule_in(taken: Taken, bench: Workbench, goes_wrong: Callable[[Step, Workbench], bool]) -> Rule | None:
    """Of a pass that applies several rules: the one that goes wrong, or the first of dlight's that does anything. A
    function that one of these has scheduled is left alone by those after it. None where no rule acts, and of other
    passes."""
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
            return Rule(name, one)
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
