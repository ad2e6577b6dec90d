"""Which operator a lowering gets wrong, and what its call must have for that: for the cause of a wrong result.

A pass with code for each operator has a bug for each, and the code of one may have several. What tells them apart
is what makes the result right when it is taken away: an attribute that is not as by default, an odd dtype, extents of
zero.
Values of attributes do not count, as one bug shows with several; nor does what cannot be taken away. Numbers as
attributes (paddings, axes) make a small result right by chance, so they count only where nothing else matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

import tvm_ffi

from corpus.causes.failure_facts import Rewrite
from corpus.reduce import Candidate
from corpus.reduce.draft import NotApplicable, module_binds
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, applied, plan_of, view_of
from corpus.reduce.realise import GaveUp, realise
from corpus.reduce.steps import attributes, tensors
from fuzzer.trial.cause.seen_at_once import operator_named, rewrite_of
from generators.case import PassCall
from generators.passes.relax_lowering import legalizing_but
from generators.tvm_api import IRModule, op_name
from oracles.checks.legalised import LEGALIZE
from oracles.ir.kinds import IRKind
from oracles.ir.operators import operator_calls
from oracles.ir.walk import CALL
from oracles.reference.calling import direct
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Wrong
from oracles.trace import Bench, Raised, Step

MOST_EDITS = 40
"""Modules that are judged at most to find out what matters."""
_CHOICES, _NUMBERS, _DATA = "with", "with the number", "on"
"""How a cause names what matters: flags and words among the attributes, the other ones, what is special of tensors."""
_LAYOUT = "layout"
"""Stands for all attributes that are layouts: a wrong order of dims shows by any of them."""


def narrowed(step: Step, change: Rewrite, numbers: Numbers, bench: Bench) -> Rewrite:
    """The rewrite of the one operator whose lowering alone is wrong, where there is one, with what matters of its
    calls. numbers: as the step is judged."""
    lowered = tuple(kind for kind in change.removed if operator_named(kind))
    lowering = _Lowering(step, step.call, numbers, bench)
    if len(lowered) > 1 and (alone := lowering.alone(lowered)) is not None:
        lowering, change = alone
        lowered = tuple(kind for kind in change.removed if kind in lowered)
    if len(lowered) != 1:
        return change
    (kind,) = lowered
    told = replace(kind, aside=lowering.special(operator_named(kind)))
    return replace(change, removed=tuple(told if one == kind else one for one in change.removed))


class _Judged(Enum):
    """What a lowering makes of a module. UNKNOWN: it is no valid program, or the reference cannot tell."""

    WRONG = auto()
    RIGHT = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class _Lowering:
    """A pass that is applied to the input of a step and to variants of it, and how that is judged."""

    step: Step
    call: PassCall
    numbers: Numbers
    bench: Bench

    def alone(self, lowered: tuple[IRKind, ...]) -> tuple[_Lowering, Rewrite] | None:
        """LegalizeOps of the first of these operators that goes wrong where no other is lowered; None for none."""
        if self.call.name != LEGALIZE:
            return None
        before = self.step.before
        called = {str(call.op.name) for call, _ in operator_calls(before)}
        for kind in lowered:
            call = PassCall(LEGALIZE, legalizing_but(called - {operator_named(kind)}))
            after = self.bench.apply(call, before)
            if not isinstance(after, Raised) and self._compared(self.numbers, after) is _Judged.WRONG:
                return replace(self, call=call), rewrite_of(before, after, named=True)
        return None

    def special(self, operator: str) -> str:
        """What of the calls of an operator matters, as the end of its kind; "" where nothing does that is known."""
        if self.step.start.calling is not direct:
            return ""
        start = Candidate(self.step.before, (), (), self.numbers.calls)
        view = view_of(plan_of(start), start.module)
        plan, found = view.plan, dict[str, set[str]]()
        for word, what, edit in list(_offers(view, operator))[:MOST_EDITS]:
            judged, plainer = self._without(plan, edit)
            if judged is _Judged.WRONG:
                plan = plainer
            elif judged is _Judged.RIGHT:
                found.setdefault(word, set()).add(what)
        if found.keys() - {_NUMBERS}:
            found.pop(_NUMBERS, None)
        return "".join(f" {word} {' and '.join(sorted(what))}" for word, what in found.items())

    def _without(self, plan: ReductionPlan, edit: Edit) -> tuple[_Judged, ReductionPlan]:
        try:
            plan = applied(plan, [edit])
            module = realise(plan.draft).module
        except (GaveUp, NotApplicable):
            return _Judged.UNKNOWN, plan
        starting = self.numbers.starting
        numbers = Numbers(module, plan.candidate(module).calls, starting.floor, starting.tolerance)
        after = self.bench.apply(self.call, module)
        if isinstance(numbers.expected, NoMeaning) or isinstance(after, Raised):
            return _Judged.UNKNOWN, plan
        return self._compared(numbers, after), plan

    def _compared(self, numbers: Numbers, after: IRModule) -> _Judged:
        end = self.step.end
        assert end is not None
        outcome = numbers.judge_module(after, end.calling, end.synchronised)
        if outcome is None:
            return _Judged.RIGHT
        return _Judged.WRONG if isinstance(outcome, Wrong) else _Judged.UNKNOWN


def _offers(view: PlanView, operator: str) -> Iterator[tuple[str, str, Edit]]:
    """What can be taken away: how a cause names it, and the edit."""
    for _, bind in module_binds(view.draft):
        if isinstance(bind.value, CALL) and op_name(bind.value) == operator:
            values = attributes.values_of(bind.value)
            for name in attributes.differing(bind.value):
                chooses = isinstance(values[name], (bool, str, tvm_ffi.dtype))
                told = _LAYOUT if name.endswith(_LAYOUT) else name
                yield _CHOICES if chooses else _NUMBERS, told, attributes.defaulted(bind.var, name)
    for dtype, edit in tensors.simpler_dtypes(view):
        yield _DATA, dtype, edit
    for edit in tensors.not_empty(view):
        yield _DATA, "no elements", edit
