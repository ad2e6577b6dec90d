"""A private function becomes the entry: it stays alone, with what it calls, under the name of the entry that goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from corpus.reduce.callees import refers_to
from corpus.reduce.draft import Draft, NotApplicable, all_binds
from corpus.reduce.plan import Edit, PlanView, ReductionPlan, draw_argument
from generators import tvm_api as T
from generators.case import EntryCall


def private_functions(view: PlanView) -> Sequence[Edit]:
    """Each private function of Relax, that with the fewest bindings below it first."""
    functions = dict(view.draft.functions)
    called = {name: refers_to(function) for name, function in functions.items()}
    reached = {name: _reached(name, called) for name, f in view.draft.drafts() if not T.is_public(f)}
    bindings = {name: sum(1 for _ in all_binds(f.body)) for name, f in view.draft.drafts()}

    def size(name: str) -> int:
        return sum(bindings.get(below, 0) for below in reached[name])

    return [_alone(name, reached[name], called) for name in sorted(reached, key=size)]


def _reached(name: str, called: Mapping[str, set[str]]) -> set[str]:
    """The function and all that it calls, itself or through others."""
    found, left = {name}, [name]
    while left:
        new = called.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _alone(name: str, reached: set[str], called: Mapping[str, set[str]]) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, Draft) or T.is_public(function):
            raise NotApplicable("gone, or public already")
        new = name if any(name in called[other] for other in reached) else _entry(plan, reached) or name
        entry = replace(function, attrs={**function.attrs, "global_symbol": new})
        kept = {other: f for other, f in plan.draft.functions.items() if other in reached and other != name}
        calls = (EntryCall(new, tuple(draw_argument(T.type_of(p), {}) for p in function.params)),)
        draft = replace(plan.draft, functions={**kept, new: entry})
        return replace(plan, draft=draft, calls=calls if plan.calls else ())

    return edit


def _entry(plan: ReductionPlan, kept: set[str]) -> str | None:
    """The name of the first entry that goes."""
    public = (name for name, function in plan.draft.drafts() if T.is_public(function))
    return next((name for name in public if name not in kept), None)
