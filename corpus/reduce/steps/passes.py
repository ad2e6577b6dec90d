"""Fewer passes, options of passes, steps of schedules, set-up passes and entry calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from corpus.reduce.draft import NotApplicable
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from corpus.scripts.schedule import schedule_steps
from generators.passes.row import Role
from generators.passes.table import the, with_trait
from generators.passes.traits import ReliesOn


def passes(view: PlanView) -> Sequence[Edit]:
    """Each pass under test may go, and all of them where the failure needs none; the last one goes last."""
    edits = [_without_pass(index) for index, _ in view.plan.passes]
    return edits if len(edits) < 2 else [_only_last, *edits]


def _only_last(plan: ReductionPlan) -> ReductionPlan:
    """The last pass is the culprit in most cases."""
    if len(plan.passes) < 2:
        raise NotApplicable("the only one")
    return _checked(plan, replace(plan, passes=plan.passes[-1:]))


def _without_pass(index: int) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        kept = tuple(entry for entry in plan.passes if entry[0] != index)
        if len(kept) == len(plan.passes):
            raise NotApplicable("gone")
        return _checked(plan, replace(plan, passes=kept))

    return edit


def _checked(before: ReductionPlan, after: ReductionPlan) -> ReductionPlan:
    """The plan without a pass. NotApplicable where another pass of it relies on the one that is gone."""
    left = {call.name for _, call in (*after.setup, *after.passes)}
    gone = {call.name for _, call in (*before.setup, *before.passes)} - left
    if any(row.name in left and on.name in gone for row, on in with_trait(ReliesOn)):
        raise NotApplicable("relied on")
    return after


def options(view: PlanView) -> Sequence[Edit]:
    """Each pass under test may do without each of its options."""
    return [
        _without_option(index, key)
        for index, call in view.plan.passes
        if call.options
        for key in reversed(_options_of(call.options))
    ]


def _options_of(text: str) -> dict[str, str]:
    """The keys and values of a dict's text, as texts. Anything else is one option whose key is the text."""
    try:
        parsed = ast.parse(text, mode="eval").body
    except SyntaxError:
        return {text: ""}
    if not isinstance(parsed, ast.Dict) or None in parsed.keys:
        return {text: ""}
    pairs = zip(parsed.keys, parsed.values, strict=True)
    return {ast.unparse(key): ast.unparse(value) for key, value in pairs if key is not None}


def _without_option(index: int, key: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        call = dict(plan.passes).get(index)
        given = {} if call is None or not call.options else _options_of(call.options)
        if call is None or key not in given:
            raise NotApplicable("gone")
        kept = [f"{other}: {value}" for other, value in given.items() if other != key]
        shorter = replace(call, options=f"{{{', '.join(kept)}}}" if kept else "")
        return replace(plan, passes=tuple((n, shorter if n == index else old) for n, old in plan.passes))

    return edit


def schedules(view: PlanView) -> Sequence[Edit]:
    """Each step of a schedule may go."""
    return [
        _without_step(index, number)
        for index, call in view.plan.passes
        if call.name == the(Role.SCHEDULES).name
        for number in reversed(range(len(schedule_steps(call.source))))
    ]


def _without_step(index: int, number: int) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        call = dict(plan.passes).get(index)
        steps = [] if call is None else schedule_steps(call.source)
        if call is None or number >= len(steps) or len(steps) == 1:
            raise NotApplicable("gone, or the last one")
        shorter = replace(call, source=call.source.replace(f", {steps[number]}, ", ", ", 1))
        if shorter == call:
            raise NotApplicable("written in another way")
        return replace(plan, passes=tuple((n, shorter if n == index else old) for n, old in plan.passes))

    return edit


def setup(view: PlanView) -> Sequence[Edit]:
    """Each set-up pass may go."""
    return [_without_setup(index) for index, _ in reversed(view.plan.setup)]


def _without_setup(index: int) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        kept = tuple(entry for entry in plan.setup if entry[0] != index)
        if len(kept) == len(plan.setup):
            raise NotApplicable("gone")
        return _checked(plan, replace(plan, setup=kept))

    return edit


def calls(view: PlanView) -> Sequence[Edit]:
    """Each entry call may go: crashes of passes need none."""
    return [_without_call(number) for number in reversed(range(len(view.plan.calls)))]


def _without_call(number: int) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        if number >= len(plan.calls):
            raise NotApplicable("gone")
        return replace(plan, calls=plan.calls[:number] + plan.calls[number + 1 :])

    return edit
