"""The numbers before and after a pass, on inputs that nobody has promised to be good. Worker processes only.

What is drawn may be an index out of range or a scale of zero, of which an operator says nothing. Hence a difference
counts only where it shows on calm inputs too (`inputs.calm`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fuzzer.errand.tir_entry import with_entries
from fuzzer.plugin.contracts import Contract, no_numbers
from fuzzer.plugin.inputs import NoInputs, calm, meaning_of
from generators.case import EntryCall
from oracles import numeric
from oracles.ir.compare import with_functions
from oracles.ir.walk import relax_functions
from oracles.reference.numbers import NoMeaning, Numbers
from oracles.trace import MeaningState, Raised, Step
from oracles.verdict import Failed, Inconclusive, Skipped, Verdict

OURS = "reference trap: operand"
"""An operator row does not take operands that TVM's type inference takes: a gap of ours."""
_CALM = (0, 1)


def compared(step: Step, contract: Contract, bench: Any) -> tuple[Verdict, Any, tuple[EntryCall, ...]]:
    """The verdict on the numbers, with the module and the calls that show it."""
    why_not = no_numbers(contract)
    if why_not is not None:
        return Skipped(why_not), step.before, ()
    called = _callable(step, bench)
    found = meaning_of(called.before, step.hash_before)
    if isinstance(found, NoInputs):
        return Skipped(found.reason), step.before, ()
    verdict = _verdict(called, found, bench)
    if not isinstance(verdict, Failed):
        return verdict, called.before, found.calls
    return _again(called, found, bench, verdict)


def _again(step: Step, found: Numbers, bench: Any, first: Failed) -> tuple[Verdict, Any, tuple[EntryCall, ...]]:
    """A difference that shows on calm inputs as well, else Inconclusive."""
    if first.symptom == OURS:
        return Inconclusive(f"{OURS} behind the pass"), step.before, ()
    for whole in _CALM:
        numbers = Numbers(step.before, calm(found.calls, whole))
        if isinstance(numbers.expected, NoMeaning):
            continue
        verdict = _verdict(step, numbers, bench)
        # An index of 1 may be out of range once the reduction has made an axis shorter.
        if isinstance(verdict, Failed) and (whole == 0 or "out-of-bounds" not in verdict.symptom):
            return verdict, step.before, numbers.calls
    return Inconclusive("differs only on drawn whole numbers or zeros, which may be out of range"), step.before, ()


def _verdict(step: Step, numbers: Numbers, bench: Any) -> Verdict:
    bench.meaning = MeaningState(numbers)
    numeric.follow(step, bench.meaning)
    return numeric.judge(step, bench)


def _callable(step: Step, bench: Any) -> Step:
    """The step with functions that call the PrimFuncs before and after, where there are no others."""
    if relax_functions(step.before):
        return step
    made = bench.guarded(lambda: with_entries(step.before))
    before = step.before if isinstance(made, Raised) else made
    extra = {name.name_hint: function for name, function in relax_functions(before)}
    return replace(step, before=before, after=with_functions(step.after, extra)) if extra else step
