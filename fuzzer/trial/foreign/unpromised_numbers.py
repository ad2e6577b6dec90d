"""The numbers before and after a pass, on inputs that may lie outside of what operators accept. Worker processes only.

What is drawn may be an index out of range or a scale of zero, of which an operator says nothing. Hence a difference
counts only where it shows on calm inputs too (`inputs.calm`). Where a pass promises nothing of its numbers both modules
are interpreted all the same, each on inputs of its own where they are called differently: what is counted then is that
the reference knows what they hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from tvm import relax

from fuzzer.trial.foreign.contracts import Contract, no_numbers
from fuzzer.trial.foreign.gaps import Gap, gap_of
from fuzzer.trial.subject.entries import PREFIX, NotCallable, pointers_of, with_buffers, with_entries_in_place
from fuzzer.trial.subject.unpromised_inputs import NoInputs, calm, meaning_of, seed_of
from generators import tvm_api as T
from generators.case import EntryCall
from generators.tvm_api import IRModule
from oracles.checks import numeric
from oracles.evidence import ReferenceTrap
from oracles.ir.compare import with_functions
from oracles.ir.walk import prim_funcs, relax_functions
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported, symptom_of
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning
from oracles.trace import Bench, Position, Raised, Step
from oracles.verdict import Failed, Inconclusive, Skipped, Verdict
from oracles.walk import step_of

R = TypeVar("R")
_OURS = ReferenceTrap("operand")
OURS = symptom_of(_OURS.kind)
"""An operator row does not take operands that TVM's type inference takes: a gap of ours."""
NO_FUNCTION = "no function that can be called"
GONE = Gap("no inputs: the pass leaves no function", by_nature=True)
_CALM = (0, 1)


@dataclass(frozen=True, slots=True)
class Compared:
    """The verdict on the numbers, with the module and the calls that show it.

    missing: why the reference has not interpreted both sides; None where it has.
    """

    verdict: Verdict
    module: IRModule
    calls: tuple[EntryCall, ...] = ()
    missing: Gap | None = None


def compared(step: Step, contract: Contract, bench: Bench) -> Compared:
    """What the numbers say of a pass that made something else of its module."""
    called = _callable(step, bench)
    if isinstance(called, NotCallable):
        return _missing(step, Gap(f"no inputs: {called}", by_nature=not prim_funcs(step.before)))
    seed = seed_of(step.before)
    found = meaning_of(called.before, seed)
    if isinstance(found, NoInputs):
        return _missing(step, gap_of(found.reason, found.stop))
    why_not = no_numbers(contract, step.before)
    if why_not is not None:
        return Compared(Skipped(why_not), step.before, (), _gap(called, found, bench, seed))
    verdict = _verdict(called, found, bench)
    if isinstance(verdict, Skipped) and _lost(called):
        return Compared(verdict, step.before, (), _gap(called, found, bench, seed))
    if not isinstance(verdict, Failed):
        missing = gap_of(verdict.reason, verdict.stop) if isinstance(verdict, Skipped) else None
        return Compared(verdict, called.before, found.calls, missing)
    return _again(called, found, bench, verdict)


def _missing(step: Step, gap: Gap) -> Compared:
    return Compared(Skipped(gap.reason), step.before, (), gap)


def _gap(step: Step, found: Numbers, bench: Bench, seed: int) -> Gap | None:
    """Why the module after a pass is not interpreted: on the calls of the module before it where it is called like
    that, else on inputs of its own. None where it is."""
    if not prim_funcs(step.after) and not relax_functions(step.after):
        return GONE
    if _called_alike(step, found.calls):
        return _why_it_stops(step.after, found.calls)
    after = step.after
    if not relax_functions(after):
        made = bench.guarded(lambda: with_entries_in_place(after))
        if isinstance(made, Raised):
            return Gap(f"no inputs: {NO_FUNCTION}")
        after = made
    own = meaning_of(after, seed)
    return gap_of(own.reason, own.stop) if isinstance(own, NoInputs) else None


def _called_alike(step: Step, calls: tuple[EntryCall, ...]) -> bool:
    """Whether the functions of the calls have the same types of parameters on both sides."""
    before = {name.name_hint: function for name, function in relax_functions(step.before)}
    after = {name.name_hint: function for name, function in relax_functions(step.after)}
    for name in {call.function for call in calls}:
        if name not in after:
            return False
        one, other = before[name].params, after[name].params
        pairs = zip(one, other, strict=False)
        if len(one) != len(other) or not all(T.structural_equal(T.type_of(a), T.type_of(b), True) for a, b in pairs):
            return False
    return True


def _why_it_stops(module: IRModule, calls: tuple[EntryCall, ...]) -> Gap | None:
    try:
        for call in calls:
            with np.errstate(all="ignore"):
                Interpreter(module).run(call)
    except Unsupported as error:
        return gap_of(f"reference: {error.node}", error.stop)
    except Trap as trap:
        return Gap(f"{symptom_of(trap.kind)} after a pass that promises nothing")
    return None


def _again(step: Step, found: Numbers, bench: Bench, first: Failed) -> Compared:
    """A difference that shows on calm inputs as well, else Inconclusive."""
    if first.evidence == _OURS:
        reason = f"{OURS} after the pass"
        return Compared(Inconclusive(reason), step.before, (), Gap(reason))
    for whole in _CALM:
        numbers = Numbers(step.before, calm(step.before, found.calls, whole))
        if isinstance(numbers.expected, NoMeaning):
            continue
        verdict = _verdict(step, numbers, bench)
        # An index of 1 may be out of range once the reduction has made an axis shorter.
        if isinstance(verdict, Failed) and (whole == 0 or not _out_of_bounds(verdict)):
            return Compared(verdict, step.before, numbers.calls)
    why = Inconclusive("differs only on drawn whole numbers or zeros, which may be out of range")
    return Compared(why, step.before)


def _out_of_bounds(verdict: Failed) -> bool:
    return isinstance(verdict.evidence, ReferenceTrap) and verdict.evidence.kind == "out-of-bounds"


def _verdict(step: Step, numbers: Numbers, bench: Bench) -> Verdict:
    return numeric.judged(step, numbers, bench.guarded)


def _lost(step: Step) -> bool:
    """Whether the numbers of what the pass makes say nothing."""
    return step.end is not None and step.end.lost is not None


def _callable(step: Step, bench: Bench) -> Step | NotCallable:
    """The step with functions that call the PrimFuncs before and after, where there are no others."""
    if relax_functions(step.before):
        return step
    pointers = pointers_of(step.before)
    if any(pointers.values()):
        both = bench.guarded(_or_why(lambda: tuple(with_buffers(m, pointers) for m in (step.before, step.after))))
        if isinstance(both, Raised):
            return NotCallable(NO_FUNCTION)
        if isinstance(both, NotCallable):
            return both
        step = _of_modules(step, both[0], both[1])
    made = bench.guarded(_or_why(lambda: with_entries_in_place(step.before)))
    if isinstance(made, Raised):
        return NotCallable(NO_FUNCTION)
    if isinstance(made, NotCallable):
        return made
    after = {name.name_hint for name, _ in prim_funcs(step.after)}
    gone = [name for name, f in prim_funcs(step.before) if name.name_hint not in after and not T.is_public(f)]
    extra = {name.name_hint: function for name, function in relax_functions(made)}
    for name in gone:  # only the module itself calls it
        extra.pop(f"{PREFIX}{name.name_hint}", None)
    left = {f"{PREFIX}{name}" for name in after}
    kept = {name: function for name, function in extra.items() if name in left}
    return _of_modules(step, with_functions(_bare(made), extra), with_functions(step.after, kept))


def _of_modules(step: Step, before: IRModule, after: IRModule) -> Step:
    """The step as if the pass had been given `before` and had returned `after`."""
    return step_of(step.index, Position.at(before, step.phase), step.call, step.row, after, step.tier)


def _bare(module: IRModule) -> IRModule:
    """The module without its Relax functions."""
    functions = {name: f for name, f in module.functions.items() if not isinstance(f, relax.Function)}
    return T.replace_functions(module, functions)


def _or_why(make: Callable[[], R]) -> Callable[[], R | NotCallable]:
    def made() -> R | NotCallable:
        try:
            return make()
        except NotCallable as why:
            return why

    return made
