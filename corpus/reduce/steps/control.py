"""Simpler control flow: an If becomes one of its branches, calls are inlined, dataflow blocks become plain or merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from corpus.reduce.draft import (
    CALL,
    GLOBAL_VAR,
    VAR,
    Body,
    BoundValue,
    Branch,
    Draft,
    DraftBinding,
    DraftBlock,
    ModuleDraft,
    NotApplicable,
    all_binds,
    at_binding,
    map_leaves,
    module_binds,
    own_binds,
)
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from generators import tvm_api as T


def branches(view: PlanView) -> Sequence[Edit]:
    """Each If becomes one of its branches."""
    ifs = [bind.var for _, bind in module_binds(view.draft) if isinstance(bind.value, Branch)]
    return [_taking(var, side) for side in ("then", "otherwise") for var in ifs]


def _taking(var: T.Var, side: str) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        results: list[T.Expr] = []

        def pieces(bind: DraftBinding) -> tuple[DraftBinding | DraftBlock, ...]:
            if not isinstance(bind.value, Branch):
                raise NotApplicable("not an If any more")
            body: Body = getattr(bind.value, side)
            results.append(body.result)
            return body.blocks

        draft = at_binding(plan.draft, var, pieces)
        return replace(plan, draft=draft.swap(var, results[0]))

    return edit


def calls(view: PlanView) -> Sequence[Edit]:
    """Each call of a Relax function of the module (or of a local function) is replaced by the function's body."""
    return [_inlining(bind.var) for _, bind in module_binds(view.draft) if _callee(view.draft, bind) is not None]


def _callee(draft: ModuleDraft, bind: DraftBinding) -> Draft | None:
    if not isinstance(bind.value, CALL):
        return None
    op = bind.value.op
    if isinstance(op, GLOBAL_VAR):
        function = draft.functions.get(op.name_hint)
        return function if isinstance(function, Draft) else None
    if not isinstance(op, VAR):
        return None
    local = [b.value for _, b in module_binds(draft) if b.var.same_as(op)]
    return local[0] if local and isinstance(local[0], Draft) else None


def _inlining(var: T.Var) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        results: list[T.Expr] = []

        def pieces(bind: DraftBinding) -> tuple[DraftBinding | DraftBlock, ...]:
            function = _callee(plan.draft, bind)
            if function is None:
                raise NotApplicable("the callee is gone")
            call: T.Call = bind.value
            copies = dict(zip(function.params, call.args, strict=True))
            body = _copy_body(function.body, copies)
            results.append(body.result)
            whole = tuple(own_binds(body))
            return whole if all(b.dataflow for b in body.blocks) else body.blocks

        draft = at_binding(plan.draft, var, pieces)
        return replace(plan, draft=draft.swap(var, results[0]))

    return edit


def _copy_body(body: Body, copies: dict[T.Var, T.Expr]) -> Body:
    """The body with fresh variables, so that it can stand in a module twice."""
    blocks = tuple(
        replace(block, binds=tuple(_copy_bind(bind, copies) for bind in block.binds)) for block in body.blocks
    )
    return Body(blocks, _copy_expr(body.result, copies))


def _copy_bind(bind: DraftBinding, copies: dict[T.Var, T.Expr]) -> DraftBinding:
    match bind.value:
        case Branch(condition=condition, then=then, otherwise=otherwise):
            value: BoundValue = Branch(
                _copy_expr(condition, copies), _copy_body(then, copies), _copy_body(otherwise, copies)
            )
        case Draft(params=params):
            inner = {**copies, **{param: type(param)(param.name, T.type_of(param)) for param in params}}
            fresh = tuple(inner[param] for param in params)
            value = replace(bind.value, params=fresh, body=_copy_body(bind.value.body, inner))
        case _:
            value = _copy_expr(bind.value, copies)
    copies[bind.var] = type(bind.var)(bind.var.name, T.type_of(bind.var))
    return replace(bind, var=copies[bind.var], value=value)


def _copy_expr(expr: T.Expr, copies: dict[T.Var, T.Expr]) -> T.Expr:
    return map_leaves(expr, lambda leaf: copies.get(leaf, leaf) if isinstance(leaf, VAR) else leaf)


def blocks(view: PlanView) -> Sequence[Edit]:
    """Each function's dataflow blocks become plain ones, or all its blocks one; repeated until nothing is left."""
    edits: list[Edit] = []
    for name, function in view.draft.drafts():
        if len(function.body.blocks) > 1:
            edits.extend(_with_blocks(name, _merged(dataflow)) for dataflow in (True, False))
        if any(block.dataflow for block in function.body.blocks):
            edits.append(_with_blocks(name, _plain))
    return edits


def _with_blocks(name: str, change: Callable[[Body], tuple[DraftBlock, ...]]) -> Edit:
    def edit(plan: ReductionPlan) -> ReductionPlan:
        function = plan.draft.functions.get(name)
        if not isinstance(function, Draft):
            raise NotApplicable("gone")
        body = replace(function.body, blocks=change(function.body))
        return replace(plan, draft=plan.draft.with_function(name, replace(function, body=body)))

    return edit


def _merged(dataflow: bool) -> Callable[[Body], tuple[DraftBlock, ...]]:
    def change(body: Body) -> tuple[DraftBlock, ...]:
        if dataflow and any(isinstance(bind.value, Branch) for bind in all_binds(body)):
            raise NotApplicable("an If cannot stand in a dataflow block")
        return (DraftBlock(dataflow, tuple(own_binds(body))),)

    return change


def _plain(body: Body) -> tuple[DraftBlock, ...]:
    return (DraftBlock(False, tuple(own_binds(body))),)
