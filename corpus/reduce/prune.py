"""Dead code of a plan: what nothing uses goes with every edit, where that does no harm.

Worker processes only (imports tvm).
"""

from __future__ import annotations

from dataclasses import replace

from corpus.reduce.callees import refers_to
from corpus.reduce.draft import (
    Body,
    Branch,
    Draft,
    DraftBinding,
    DraftBlock,
    ModuleDraft,
    NotApplicable,
    all_binds,
    inner_sequences,
)
from corpus.reduce.plan import ReductionPlan, drop_parameters, has_symbols
from generators import tvm_api as T
from oracles.checks.purity import impure_callee


def pruned(plan: ReductionPlan) -> ReductionPlan:
    """The plan without the dead things that it may drop."""
    if "bindings" in plan.prune:
        plan = replace(plan, draft=without_dead_bindings(plan.draft))
    if "functions" in plan.prune:
        plan = replace(plan, draft=without_unreachable(plan.draft))
    if "parameters" in plan.prune:
        plan = without_unused_parameters(plan)
    return plan


def without_dead_bindings(draft: ModuleDraft) -> ModuleDraft:
    """Drops bindings whose value is not used, except impure calls and casts that define symbols."""
    for name, function in tuple(draft.drafts()):
        used: set[T.Var] = set()
        draft = draft.with_function(name, replace(function, body=_live(draft, function.body, used)))
    return draft


def _live(draft: ModuleDraft, body: Body, used: set[T.Var]) -> Body:
    used.update(draft.uses(body.result))
    blocks: list[DraftBlock] = []
    for block in reversed(body.blocks):
        binds: list[DraftBinding] = []
        for bind in reversed(block.binds):
            if bind.var not in used and not _has_effect(bind):
                continue
            used.update(draft.uses(bind.value))
            binds.append(_live_inside(draft, bind, used))
        if binds:
            blocks.append(replace(block, binds=tuple(reversed(binds))))
    return replace(body, blocks=tuple(reversed(blocks)))


def _live_inside(draft: ModuleDraft, bind: DraftBinding, used: set[T.Var]) -> DraftBinding:
    match bind.value:
        case Branch(condition=condition, then=then, otherwise=otherwise):
            return replace(bind, value=Branch(condition, _live(draft, then, used), _live(draft, otherwise, used)))
        case Draft(body=body):
            return replace(bind, value=replace(bind.value, body=_live(draft, body, used)))
        case _:
            return bind


def _has_effect(bind: DraftBinding) -> bool:
    if bind.cast is not None and has_symbols(bind.cast):
        return True
    if inner := inner_sequences(bind.value):
        return isinstance(bind.value, Branch) and any(_has_effect(b) for body in inner for b in all_binds(body))
    return impure_callee(bind.value) is not None


def without_unreachable(draft: ModuleDraft) -> ModuleDraft:
    """Drops private functions that no public function reaches."""
    reached: set[str] = set()
    pending = [name for name, function in draft.functions.items() if T.is_public(function)]
    while pending:
        name = pending.pop()
        if name not in reached and name in draft.functions:
            reached.add(name)
            pending.extend(refers_to(draft.functions[name]))
    return replace(draft, functions={name: f for name, f in draft.functions.items() if name in reached})


def without_unused_parameters(plan: ReductionPlan) -> ReductionPlan:
    """Drops parameters that are not used and whose type mentions no symbolic dim."""
    for name, function in tuple(plan.draft.drafts()):
        types = {param: function.types.get(param, T.type_of(param)) for param in function.params}
        unused = [
            param
            for param in unused_parameters(plan.draft, function)
            if not has_symbols(types[param]) and not isinstance(types[param], T.PrimType)
        ]
        try:
            plan = drop_parameters(plan, name, unused)
        except NotApplicable:
            continue
    return plan


def unused_parameters(draft: ModuleDraft, function: Draft) -> list[T.Var]:
    """The parameters that no expression of the function uses, last first."""
    used = draft.used_in(function)
    return [param for param in reversed(function.params) if param not in used]
