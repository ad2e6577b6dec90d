"""PrimFuncs: loops and branches become their bodies, loops get shorter and plain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tvm_ffi
from tvm import s_tir, tirx

from corpus.reduce.draft import VAR
from corpus.reduce.plan import Edit, PlanView, ReductionPlan
from corpus.reduce.prim_func import tidied
from generators import tvm_api as T
from oracles.ir.walk import nodes_of


def statements(view: PlanView) -> list[T.Stmt]:
    """Every statement of every PrimFunc, outer first."""
    found: list[T.Stmt] = []
    for function in view.draft.functions.values():
        if isinstance(function, tirx.PrimFunc):
            tvm_ffi.structural_walk(function.body, [(tirx.Stmt, found.append)], order="pre")
    return found


def replacing(nodes: dict[T.Node, T.Node]) -> Edit:
    """Puts other statements, expressions or variables in place of these, all over the module."""

    def edit(plan: ReductionPlan) -> ReductionPlan:
        return replace(plan, draft=replace(plan.draft, nodes={**plan.draft.nodes, **nodes}))

    return edit


def unwrapped(view: PlanView) -> Sequence[Edit]:
    """A loop becomes its first iteration, a branch one of its sides, a scope its body."""
    edits: list[Edit] = []
    for statement in statements(view):
        if isinstance(statement, tirx.For):
            edits.append(replacing({statement: statement.body, statement.loop_var: statement.min}))
        elif isinstance(statement, tirx.IfThenElse):
            sides = (statement.then_case, statement.else_case)
            edits.extend(replacing({statement: side}) for side in sides if side is not None)
        elif isinstance(statement, (tirx.AttrStmt, tirx.While)):
            edits.append(replacing({statement: statement.body}))
        elif isinstance(statement, s_tir.SBlockRealize) and (
            _only_a_scope(statement.block) or _only_around_a_scope(statement.block)
        ):
            edits.append(replacing({statement: statement.block.body, **_axes_as_values(statement)}))
    return edits


def _only_a_scope(block: s_tir.SBlock) -> bool:
    """Whether a block makes no buffers, starts nothing, and has no block in it: a script without the one around all has
    it nevertheless."""
    return _makes_nothing(block) and not nodes_of(block.body, s_tir.SBlock)


def _only_around_a_scope(block: s_tir.SBlock) -> bool:
    """Whether a block makes no buffers, starts nothing, and has nothing in it but a block without axes, which can be
    the one around all."""
    return _makes_nothing(block) and isinstance(block.body, s_tir.SBlockRealize) and not len(block.body.iter_values)


def _makes_nothing(block: s_tir.SBlock) -> bool:
    return block.init is None and not any(map(len, (block.alloc_buffers, block.match_buffers)))


def _axes_as_values(realize: s_tir.SBlockRealize) -> dict[T.Node, T.Node]:
    pairs = zip(realize.block.iter_vars, realize.iter_values, strict=True)
    return {axis.var: value for axis, value in pairs}


def plain(view: PlanView) -> Sequence[Edit]:
    """A loop becomes a serial one without notes; a block loses its notes, and each buffer that nothing is done with."""
    edits: list[Edit] = []
    for statement in statements(view):
        if isinstance(statement, tirx.For) and (statement.kind != tirx.ForKind.SERIAL or len(statement.annotations)):
            edits.append(replacing({statement: _plain_loop(statement)}))
        elif isinstance(statement, s_tir.SBlock):
            if not (tidy := tidied(statement)).same_as(statement):
                edits.append(replacing({statement: tidy}))
            used = _buffers_in(statement.body, statement.init)
            kept = [buffer for buffer in statement.alloc_buffers if buffer in used]
            if len(kept) < len(statement.alloc_buffers) or len(statement.annotations):
                edits.append(replacing({statement: T.with_fields(statement, alloc_buffers=kept, annotations={})}))
    return edits


def _buffers_in(*nodes: T.Stmt | None) -> set[T.Buffer]:
    """The buffers that are read or written, or seen through another one."""
    kinds = (T.TensorLoad, tirx.BufferStore, s_tir.MatchBufferRegion, T.Call)
    used: set[T.Buffer] = set()
    for node in [found for part in nodes if part is not None for found in nodes_of(part, kinds)]:
        match node:
            case T.TensorLoad():
                used.add(node.source)
            case tirx.BufferStore():
                used.add(node.buffer)
            case s_tir.MatchBufferRegion():
                used.add(node.source.source)
            case _:
                used |= {argument for argument in node.args[:] if isinstance(argument, VAR)}
    return used


def _plain_loop(loop: tirx.For) -> tirx.For:
    return T.with_fields(loop, kind=tirx.ForKind.SERIAL, thread_binding=None, annotations={})


def extents(view: PlanView) -> Sequence[Edit]:
    """Each loop runs once, else twice; axes of blocks that are bound to it follow."""
    edits: list[Edit] = []
    for to in (1, 2):
        for statement in statements(view):
            if isinstance(statement, tirx.For) and _longer(statement.extent, to):
                edits.append(replacing({statement: _with_extent(statement, to)}))
    return edits


def _longer(extent: T.Expr, than: int) -> bool:
    return not isinstance(extent, tirx.IntImm) or int(extent) > than


def _with_extent(loop: tirx.For, to: int) -> tirx.For:
    extent = tirx.IntImm(T.dtype_text(T.type_of(loop.loop_var).dtype), to)
    return T.with_fields(loop, extent=extent)
