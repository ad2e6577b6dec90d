"""Later arguments of the steps of a schedule go: what a primitive does by default says as much with fewer words."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from corpus.reduce.draft import NotApplicable
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from corpus.scripts.schedule import schedule_steps
from generators.passes.row import Role
from generators.passes.table import the


def last(view: PlanView) -> Sequence[Edit]:
    """The last argument of each primitive that has several may go."""
    return [
        _instead(index, step, shorter)
        for index, call in view.plan.passes
        if call.name == the(Role.SCHEDULES).name
        for step in schedule_steps(call.source)
        for shorter in without_last(step)
    ]


def without_last(step: str) -> Iterator[str]:
    """The step with one argument less of each of its calls of `sch`."""
    text = f"({step})"  # it may bind a name
    for node in ast.walk(ast.parse(text, mode="eval")):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        of_schedule = isinstance(node.func.value, ast.Name) and node.func.value.id == "sch"
        if any(keyword.arg == "decision" for keyword in node.keywords[-1:]):  # Without it TVM draws at random.
            continue
        if of_schedule and len(given) > 1 and step.isascii():
            begin, end = given[-2].end_col_offset, given[-1].end_col_offset
            assert begin is not None and end is not None
            shorter = text[:begin] + text[end:]
            if _parses(shorter):  # not where a bracket of its own is around the argument
                yield shorter[1:-1]


def _parses(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _instead(index: int, step: str, shorter: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        call = dict(plan.passes).get(index)
        if call is None or step not in schedule_steps(call.source):
            raise NotApplicable("gone")
        changed = replace(call, source=call.source.replace(f", {step}, ", f", {shorter}, ", 1))
        if changed == call:
            raise NotApplicable("written in another way")
        return replace(plan, passes=tuple((n, changed if n == index else old) for n, old in plan.passes))

    return edit
