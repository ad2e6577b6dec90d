"""Fewer and earlier results: fields of a returned tuple go; another value is returned, and what follows it dies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from corpus.reduce.draft import (
    TUPLE,
    VAR,
    Body,
    Draft,
    DraftBinding,
    DraftBlock,
    ModuleDraft,
    NotApplicable,
    at_binding,
    own_binds,
)
from corpus.reduce.plan import Edit, Joint, PlanView, ReductionPlan, callers
from generators import tvm_api as T

MOST_RESULTS = 8
"""How many other results are tried at a time: early, late and evenly between."""


def own_fields(view: PlanView) -> Sequence[Edit]:
    """Each field of a tuple that is written where it is returned may go; fields that are bound tuples stay variables,
    for what depends on that."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        result = function.body.result
        if callers(view.draft, name) == 0 and isinstance(result, TUPLE):
            edits.extend(Joint(_without_own, (name, field)) for field in result.fields)
    return edits


def _without_own(plan: ReductionPlan, gone: Sequence[tuple[str, T.Expr]]) -> ReductionPlan:
    for name in dict.fromkeys(name for name, _ in gone):
        result = _function(plan, name).body.result
        unwanted = {field.__chandle__() for owner, field in gone if owner == name}
        before = list(result.fields) if isinstance(result, TUPLE) else []
        kept = [field for field in before if field.__chandle__() not in unwanted] or before[-1:]
        if len(kept) == len(before):
            raise NotApplicable("gone, or the last one")
        plan = _returning(plan, name, TUPLE(kept) if len(kept) > 1 else kept[0])
    return plan


def fields(view: PlanView) -> Sequence[Edit]:
    """Each field of a returned tuple may go, of those in it too; a tuple of one becomes its field."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        if callers(view.draft, name) == 0:
            edits.extend(Joint(_without_fields, (name, leaf)) for leaf in returned(view.draft, function.body))
    return edits


def returned(draft: ModuleDraft, body: Body) -> list[T.Expr]:
    """The leaves of the nested tuple that a body returns, directly or by bound variables; none for other results."""
    result = _written_out(draft, body, body.result)
    return list(_leaves(result)) if isinstance(result, TUPLE) else []


def _written_out(draft: ModuleDraft, body: Body, result: T.Expr) -> T.Expr:
    """The result with tuples in place of variables that are bound to them."""
    bound = {bind.var: bind.value for bind in own_binds(body) if isinstance(bind.value, TUPLE)}

    def written(expr: T.Expr) -> T.Expr:
        expr = draft.resolve(expr)
        expr = bound.get(expr, expr) if isinstance(expr, VAR) else expr
        return TUPLE([written(field) for field in expr.fields]) if isinstance(expr, TUPLE) else expr

    return written(result)


def _leaves(expr: T.Expr) -> Iterator[T.Expr]:
    if isinstance(expr, TUPLE):
        for field in expr.fields:
            yield from _leaves(field)
    else:
        yield expr


def _without_fields(plan: ReductionPlan, gone: Sequence[tuple[str, T.Expr]]) -> ReductionPlan:
    for name in dict.fromkeys(name for name, _ in gone):
        body = _function(plan, name).body
        result = _written_out(plan.draft, body, body.result)
        wanted = {leaf.__chandle__() for owner, leaf in gone if owner == name}
        before = list(_leaves(result))
        if len(before) < 2 or not any(leaf.__chandle__() in wanted for leaf in before):
            raise NotApplicable("gone, or the last one")
        kept = _kept(result, wanted)
        plan = _returning(plan, name, before[-1] if kept is None else kept)
    return plan


def _kept(expr: T.Expr, gone: Collection[int]) -> T.Expr | None:
    """What is left of a nested tuple without the leaves at these addresses; None for nothing."""
    if not isinstance(expr, TUPLE):
        return None if expr.__chandle__() in gone else expr
    kept = [field for field in (_kept(field, gone) for field in expr.fields) if field is not None]
    return TUPLE(kept) if len(kept) > 1 else kept[0] if kept else None


def bound_fields(view: PlanView) -> Sequence[Edit]:
    """Each field of a tuple that is bound and then only returned may go; the binding stays, for what depends on it."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        if callers(view.draft, name):
            continue
        for bind in own_binds(function.body):
            if isinstance(bind.value, TUPLE) and bind.var.same_as(function.body.result):
                edits.extend(_without_bound_field(bind.var, field) for field in bind.value.fields)
    return edits


def _without_bound_field(var: T.Var, field: T.Expr) -> Edit:
    def without(bind: DraftBinding) -> tuple[DraftBinding, ...]:
        bound: T.Expr = bind.value
        kept = [value for value in bound.fields if not value.same_as(field)]
        if not kept or len(kept) == len(bound.fields):
            raise NotApplicable("the last field stays")
        return (replace(bind, value=TUPLE(kept)),)

    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=at_binding(plan.draft, var, without))

    return edit


def cut(view: PlanView) -> Sequence[Edit]:
    """The first k bindings alone, for each k from 1; what nothing of them uses is returned."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        if callers(view.draft, name) == 0:
            edits.extend(_cut(name, number) for number in range(1, sum(1 for _ in own_binds(function.body))))
    return edits


def _cut(name: str, number: int) -> Edit:
    """number: of bindings that stay. Later edits name fewer, so that the numbers hold for what is left."""

    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = _function(plan, name)
        kept = list(own_binds(function.body))[:number]
        inside = replace(function.body, blocks=_first(function.body.blocks, number), result=TUPLE([]))
        used = plan.draft.used_in(replace(function, body=inside))
        ends = [bind.var for bind in kept if bind.var not in used]
        body = replace(inside, result=ends[0] if len(ends) == 1 else TUPLE(ends))
        return replace(plan, draft=plan.draft.with_function(name, replace(function, body=body)))

    return edit


def _first(blocks: Sequence[DraftBlock], number: int) -> tuple[DraftBlock, ...]:
    """The blocks with the first bindings only."""
    kept = []
    for block in blocks:
        if number > 0:
            kept.append(replace(block, binds=block.binds[:number]))
        number -= len(block.binds)
    return tuple(kept)


def earlier(view: PlanView) -> Sequence[Edit]:
    """Return the value of another binding; those that leave little code alive first. Nothing where dead code stays."""
    edits: list[Edit] = []
    if "bindings" not in view.plan.prune:
        return edits
    for name, function in view.draft.drafts():
        if callers(view.draft, name):
            continue
        ranked = sorted(_live_sizes(view.draft, function.body), key=lambda pair: pair[0])
        stride = max(1, -(-len(ranked) // MOST_RESULTS))
        edits.extend(_returning_edit(name, var) for _, var in ranked[::stride])
    return edits


def _live_sizes(draft: ModuleDraft, body: Body) -> list[tuple[int, T.Var]]:
    """For each variable of the body (but the result) how many bindings its value needs."""
    needs: dict[T.Var, frozenset[int]] = {}
    sizes = []
    for number, bind in enumerate(own_binds(body)):
        below = [needs[leaf] for leaf in draft.uses(bind.value) if leaf in needs]
        needs[bind.var] = frozenset({number}).union(*below)
        if not bind.var.same_as(body.result):
            sizes.append((len(needs[bind.var]), bind.var))
    return sizes


def _returning_edit(name: str, var: T.Var) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        return _returning(plan, name, var)

    return edit


def _function(plan: ReductionPlan, name: str) -> Draft:
    function = plan.draft.functions.get(name)
    if not isinstance(function, Draft):
        raise NotApplicable("the function is gone")
    return function


def _returning(plan: ReductionPlan, name: str, result: T.Expr) -> ReductionPlan:
    function = _function(plan, name)
    body = replace(function.body, result=result)
    return replace(plan, draft=plan.draft.with_function(name, replace(function, body=body)))
