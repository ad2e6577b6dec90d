"""Which primitive of a schedule goes wrong: of a drawn schedule, and of those that a rule of dlight applies.

The primitives before it prepare it: what they do is no part of a wrong rewrite. No primitive may change what a function
computes, so a rule of dlight that makes a wrong function of a right one applies one that does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import tvm
from tvm import s_tir

from corpus.causes.culprit import schedule_of
from corpus.scripts.schedule import grown
from fuzzer.trial.cause.taken import GoesWrong, Rule, Taken
from generators.case import PassCall
from generators.passes.dlight import rule_source
from generators.tvm_api import PASS_NAMES, IRModule, PrimFunc
from oracles.broken import types_of
from oracles.ir.fingerprint import fingerprint
from oracles.ir.scheduled import misdone, told
from oracles.ir.walk import prim_funcs
from oracles.trace import Raised, Step
from oracles.workbench import Workbench

MARKS = frozenset({"bind", "set_scope", "storage_align", "unsafe_set_dtype", "unsafe_hide_buffer_access"})
"""Primitives that say how a loop or a buffer is to be used, and take the caller's word that it may be."""
MOST_JUDGED = 30
"""Modules that are judged at most to find out which primitive it is."""


def primitive_in(taken: Taken, bench: Workbench, goes_wrong: GoesWrong) -> Rule | None:
    """The primitive from which on the result of a schedule or of a rule of dlight is wrong, and the step that it takes
    alone: a later one may mend what an earlier one does. None where that is not found, and of other passes."""
    found: tuple[_Prefix, Step] | None = None
    judged = 0
    for prefix in reversed(_prefixes(taken, bench)):
        if fingerprint(prefix.before) == fingerprint(prefix.after):
            continue
        judged += 1
        if judged > MOST_JUDGED:
            return None
        start = replace(taken.step.start, module=prefix.before)
        end = None if taken.step.end is None else replace(taken.step.end, module=prefix.after)
        step = replace(taken.step, start=start, end=end, outcome=prefix.after)
        if not goes_wrong(step, bench):
            break
        found = prefix, step
    return None if found is None else _blamed(taken.step.call, *found)


def _blamed(call: PassCall, prefix: _Prefix, step: Step) -> Rule:
    """The primitive; but the rule of dlight where it only marks, since that asks nothing about what may be marked."""
    taken = Taken(step, types_of(prefix.before))
    if rule_source(call) and prefix.primitive in MARKS:
        return Rule(call.name, taken, f"wrong from {prefix.primitive} on")
    return Rule(str(schedule_of(prefix.primitive)), taken, told(misdone(prefix.before, prefix.after)))


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A schedule up to a primitive: the module without that, and with it."""

    primitive: str
    before: IRModule
    after: IRModule


def _prefixes(taken: Taken, bench: Workbench) -> list[_Prefix]:
    """The schedule up to its first primitive, up to its second, and so on."""
    step = taken.step
    rule = rule_source(step.call)
    found, before = list[_Prefix](), step.before
    for primitive, after in _of_dlight(rule, before, bench) if rule else _drawn(taken, bench):
        found.append(_Prefix(primitive, before, after))
        before = after
    return found


def _drawn(taken: Taken, bench: Workbench) -> Iterator[tuple[str, IRModule]]:
    """The module after each primitive of a drawn schedule."""
    for primitive, source in grown(taken.step.call.source):
        after = bench.apply(replace(taken.step.call, source=source), taken.step.before.clone())
        if not isinstance(after, Raised):
            yield primitive, after


def _of_dlight(rule: str, module: IRModule, bench: Workbench) -> Iterator[tuple[str, IRModule]]:
    """The module after each primitive that a rule applies to its PrimFuncs, one function after the other."""
    for name, function in prim_funcs(module):
        scheduled = bench.guarded(partial(_scheduled_by, rule, function))
        if scheduled is None or isinstance(scheduled, Raised):
            continue
        trace = scheduled.trace
        for end, done in enumerate(trace.insts, 1):
            primitive = _PRIMITIVES.get(str(done.kind.name).lower())
            if primitive is None:
                continue
            so_far = bench.guarded(partial(_replayed, trace, end, function))
            if isinstance(so_far, Raised):
                return
            module = module.clone()
            module.update_func(name, so_far)
            yield primitive, module


_LOOK = ("get", "enter", "work", "annotate", "unannotate")
"""Beginnings of what changes no meaning, by itself."""
_PRIMITIVES = {name.replace("_", ""): name for name in dir(s_tir.Schedule) if not name.startswith(("_", *_LOOK))}
"""Primitives by what traces call them, in lower case."""


def _replayed(trace: s_tir.schedule.Trace, end: int, function: PrimFunc) -> PrimFunc:
    """The function after the first steps of a trace."""
    schedule = s_tir.Schedule(function)
    s_tir.schedule.Trace(trace.insts[:end], trace.decisions).apply_to_schedule(schedule, False)
    return schedule.mod["main"]


def _scheduled_by(rule: str, function: PrimFunc) -> s_tir.Schedule | None:
    """What a rule makes of a function; None where it declines."""
    made = eval(rule, dict(PASS_NAMES)).apply(function, tvm.target.Target.current(), False)
    return made[0] if isinstance(made, list) else made
