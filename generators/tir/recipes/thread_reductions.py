"""Reductions over the threads of a block: what LowerCrossThreadReduction and LowerThreadAllreduce rewrite.

The shapes that the reducers of TVM have (src/s_tir/schedule/primitive/reduction.cc, ReducerRegistry), in the loops that
the pass asks for (src/s_tir/transform/lower_cross_thread_reduction.cc): those of the reduction innermost, the block the
last one in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import tvm
from tvm import tirx

from generators.ranges import Range
from generators.source import Source, favour, weighted
from generators.tir.block_loops import REDUCE, SPATIAL, BlockBody, conjunction
from generators.tir.function_draft import DraftTensor, FunctionDraft, load
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.bound_loops import (
    LoopAxis,
    add_input,
    around,
    axis,
    drawn_value,
    kernel_draft,
    kernel_program,
    realized,
    row_major,
    small_range,
)
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.thread_reducers import ResultTensors, draw_reducer
from generators.tir.site import sequence
from generators.tir.terms import Term, constant
from generators.tvm_api import Expr, Node, Stmt


@dataclass(frozen=True, slots=True)
class ThreadReductionKnobs:
    """Sizes and ratios of reductions over threads."""

    dtypes: tuple[tuple[str, int], ...] = (
        ("float32", 6),
        ("int32", 4),
        ("float16", 2),
        ("bfloat16", 2),
        ("int64", 1),
    )
    """(dtype, weight): bfloat16 for the legaliser of reducers."""
    rows: tuple[tuple[int, int], ...] = ((3, 3), (4, 3), (2, 2), (5, 2), (7, 1), (1, 1))
    """(results, weight)."""
    lengths: tuple[tuple[int, int], ...] = ((8, 4), (16, 3), (5, 3), (12, 2), (33, 2), (3, 1), (20, 2), (32, 2))
    """(elements of one result, weight): less, as many and more than threads, and no multiple of them."""
    threads: tuple[tuple[int, int], ...] = ((4, 4), (8, 4), (16, 2), (32, 3), (2, 1), (3, 1), (5, 1), (64, 1))
    """(threads of one result, weight): parts of a warp, one, and two."""
    rows_in_threads: float = 0.35
    """Several rows in one block, each with threads of its own: the last block may have rows too many."""
    no_rows: float = 0.1
    """One result of the whole tensor, without blocks of threads."""
    two_axes: float = 0.2
    """The threads of one result are of two axes."""
    consecutive: float = 0.4
    """A thread reduces neighbours; else elements that are as far apart as there are threads."""
    axis_for_each: float = 0.35
    """The block has an axis for each loop; else one for all."""
    partial: float = 0.2
    """Each thread reduces its elements in a block of its own first."""
    second: float = 0.35
    """Another reduction in the same blocks, which reads the first one's result where that is not in global memory."""
    expression: float = 0.5
    """What is reduced is computed from the element."""
    scopes: tuple[tuple[str, int], ...] = (("global", 4), ("shared", 3), ("local", 3))
    """(scope of a result, weight)."""


KNOBS = ThreadReductionKnobs()


@dataclass(slots=True)
class _Rows:
    """The loops over results, and what one iteration means. row: None where there is one result. threads: those that
    work on one result, which are as many in all of a kernel."""

    loops: list[LoopAxis]
    row: Expr | None
    count: int
    conditions: list[Expr]
    threads: tuple[tuple[str, int], ...]

    def bound(self, draft: FunctionDraft) -> list[LoopAxis]:
        """Loops over the threads of one result."""
        return [axis(draft, count, tag) for tag, count in self.threads]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the results."""
        return () if self.row is None else (self.count,)


@dataclass(slots=True)
class _Turns:
    """The loops over the elements of one result: `position` is the element, which must be below `length`. order: the
    loops from the one that goes through elements in the longest steps on."""

    loops: list[LoopAxis]
    order: list[LoopAxis]
    position: Expr
    length: int
    whole: bool


def draw_thread_reduction(source: Source) -> PrimProgram:
    """A function of one kernel or two that reduce over threads."""
    return _drawn(source, weighted(source, KNOBS.dtypes))


def draw_bfloat16_reduction(source: Source) -> PrimProgram:
    """The same of bfloat16, whose reducers are legalised too."""
    return _drawn(source, "bfloat16")


def _drawn(source: Source, dtype: str) -> PrimProgram:
    draft = kernel_draft(source, dtype)
    for _ in range(favour(source, 1, 2)):
        draft.statements.append(_kernel(draft))
    return kernel_program(draft)


def _kernel(draft: FunctionDraft) -> Stmt:
    rows = _rows(draft)
    length = weighted(draft.source, KNOBS.lengths)
    given = add_input(draft, (*rows.shape, length), draft.dtype, small_range(draft, draft.dtype))
    first, made = _reduction(draft, rows, given, length, ())
    statements, hidden = [first], _hidden(made)
    if rows.row is not None and draft.source.flip(KNOBS.second):
        again, made = _reduction(draft, rows, given, length, hidden)
        statements.append(again)
        hidden += _hidden(made)
        draft.features.add("reduction_of_a_reduction")
    if hidden:
        statements.append(_use(draft, rows, given, length, hidden))
    return around(draft, rows.loops, sequence(*statements))


def _hidden(made: Sequence[DraftTensor]) -> list[DraftTensor]:
    """Those that the kernel may read again: no barrier orders accesses of global memory."""
    return [tensor for tensor in made if tensor.role != "output"]


def _rows(draft: FunctionDraft) -> _Rows:
    source = draft.source
    threads = weighted(source, KNOBS.threads)
    across: tuple[tuple[str, int], ...] = (("threadIdx.x", threads),)
    if threads % 2 == 0 and source.flip(KNOBS.two_axes):
        across = (("threadIdx.y", 2), ("threadIdx.x", threads // 2))
        draft.features.add("two_thread_axes")
    if source.flip(KNOBS.no_rows):
        draft.features.add("one_result")
        return _Rows([], None, 1, [], across)
    count = weighted(source, KNOBS.rows)
    if len(across) > 1 or not source.flip(KNOBS.rows_in_threads):
        block = axis(draft, count, "blockIdx.x")
        return _Rows([block], block.var, count, [], across)
    side = favour(source, 2, 4, 3)
    loops = [axis(draft, -(-count // side), "blockIdx.x"), axis(draft, side, "threadIdx.y")]
    row = row_major(draft, loops)
    draft.features.add("rows_in_threads")
    over = count % side != 0
    return _Rows(loops, row, count, [tirx.LT(row, draft.number(count))] if over else [], across)


def _turns(draft: FunctionDraft, rows: _Rows, length: int) -> _Turns:
    """The loops of a reduction: threads, and a serial one where one thread has several elements."""
    source, across = draft.source, rows.bound(draft)
    threads = prod(loop.count for loop in across)
    turns = -(-length // threads)
    if turns == 1:
        return _Turns(across, across, row_major(draft, across), length, threads == length)
    along = axis(draft, turns)
    order = [*across, along] if source.flip(KNOBS.consecutive) else [along, *across]
    loops = [along, *across] if source.flip() else [*across, along]
    draft.features.add("turns_of_threads")
    return _Turns(loops, order, row_major(draft, order), length, threads * turns == length)


def _reduction(
    draft: FunctionDraft, rows: _Rows, given: DraftTensor, length: int, before: Sequence[DraftTensor]
) -> tuple[Stmt, tuple[DraftTensor, ...]]:
    """The loops of a reduction with its block, and the tensors that it writes. before: results that it may read."""
    turns = _turns(draft, rows, length)
    partial = rows.row is not None and draft.source.flip(KNOBS.partial)
    if partial and turns.loops[-1].tag == "" and len(turns.loops) == 2:
        return _by_parts(draft, rows, turns, given)
    iters, row, at = _axes(draft, rows, turns)
    element = _element(draft, given, row, at, before, length)
    where, scope = ([] if row is None else [row.expr]), _scope(draft, rows)
    reduced = draw_reducer(draft, ResultTensors(rows.shape, where, scope), at, element, length)
    conditions = [*rows.conditions, *([] if turns.whole else [tirx.LT(turns.position, draft.number(length))])]
    if len(conditions) == 2 and draft.source.flip():
        conditions.reverse()
    if conditions:
        draft.features.add("predicate")
    block = realized(draft, draft.new_name("red"), reduced.body, iters=iters, predicate=conjunction(conditions))
    return around(draft, turns.loops, block), reduced.tensors


def _axes(draft: FunctionDraft, rows: _Rows, turns: _Turns) -> tuple[list[tuple[Node, Expr]], Term | None, Term]:
    """The axes of the block with what they are bound to, the row, and the position of the element."""
    iters: list[tuple[Node, Expr]] = []
    row = None
    if rows.row is not None:
        iter_var, row = _axis(draft, rows.count, SPATIAL)
        iters.append((iter_var, rows.row))
    if not turns.whole or not draft.source.flip(KNOBS.axis_for_each):
        iter_var, at = _axis(draft, turns.length, REDUCE)
        return [*iters, (iter_var, turns.position)], row, at
    values: list[Expr] = []
    for loop in turns.order:
        iter_var, one = _axis(draft, loop.count, REDUCE)
        iters.append((iter_var, loop.var))
        values.append(one.expr)
    draft.features.add("axis_for_each_loop")
    position = row_major(draft, turns.order, values)
    return iters, row, Term(position, draft.index_dtype, Range(0, turns.length - 1, True))


def _axis(draft: FunctionDraft, count: int, kind: int) -> tuple[Node, Term]:
    var = tirx.Var(draft.new_name("v" if kind == SPATIAL else "k"), draft.index_dtype)
    domain = tvm.ir.Range.from_min_extent(draft.number(0), draft.number(count))
    return tirx.IterVar(domain, var, kind), Term(var, draft.index_dtype, Range(0, count - 1, True))


def _element(
    draft: FunctionDraft, given: DraftTensor, row: Term | None, at: Term, before: Sequence[DraftTensor], length: int
) -> Term:
    """What is reduced: the element, or a small number computed from it."""
    lead = [] if row is None else [row.expr]
    element = load(given, [*lead, at.expr])
    leaves = [element, *(load(t, lead) for t in before)]
    if not before and not draft.source.flip(KNOBS.expression):
        return element
    places = [at, *([] if row is None else [row])]
    return drawn_value(draft, leaves, places, draft.dtype, Range(-4, 4, True))


def _scope(draft: FunctionDraft, rows: _Rows) -> str:
    scope = "global" if rows.row is None else weighted(draft.source, KNOBS.scopes)
    draft.features.add(f"result_{scope}")
    return scope


def _by_parts(
    draft: FunctionDraft, rows: _Rows, turns: _Turns, given: DraftTensor
) -> tuple[Stmt, tuple[DraftTensor, ...]]:
    """Each thread adds up its elements in a block of its own, the last block adds up over threads, as rfactor does."""
    (thread, along), count = turns.loops, turns.length
    part = draft.add_tensor(
        "P",
        (draft.extent(thread.count), draft.extent(rows.count)),
        given.dtype,
        given.range.summed(along.count).including(0),
        role="local",
        scope="local",
    )

    def axes(*kinds: tuple[int, int]) -> list[tuple[Node, Term]]:
        return [_axis(draft, extent, kind) for extent, kind in kinds]

    (one, t), (two, row) = axes((thread.count, SPATIAL), (rows.count, SPATIAL))
    cleared = BlockBody(tirx.BufferStore(part.buffer, constant(0, given.dtype).expr, [t.expr, row.expr]))
    begun = realized(
        draft, draft.new_name("first"), cleared, iters=[(one, thread.var), (two, rows.row)], predicate=_where(rows)
    )
    (one, t), (two, row), (three, k) = axes((thread.count, SPATIAL), (rows.count, SPATIAL), (count, REDUCE))
    total = tirx.Add(load(part, [t.expr, row.expr]).expr, load(given, [row.expr, k.expr]).expr)
    added = BlockBody(tirx.BufferStore(part.buffer, total, [t.expr, row.expr]))
    inside = [*rows.conditions, *([] if turns.whole else [tirx.LT(turns.position, draft.number(count))])]
    step = realized(
        draft,
        draft.new_name("part"),
        added,
        iters=[(one, thread.var), (two, rows.row), (three, turns.position)],
        predicate=conjunction(inside),
    )
    (one, t), (two, row) = axes((thread.count, REDUCE), (rows.count, SPATIAL))
    results = ResultTensors(rows.shape, [row.expr], _scope(draft, rows))
    result = results.new(draft, given.dtype, given.range.summed(count).including(0))
    update = tirx.Add(load(result, [row.expr]).expr, load(part, [t.expr, row.expr]).expr)
    body = BlockBody(
        tirx.BufferStore(result.buffer, update, [row.expr]),
        tirx.BufferStore(result.buffer, constant(0, given.dtype).expr, [row.expr]),
    )
    last = realized(
        draft, draft.new_name("red"), body, iters=[(one, thread.var), (two, rows.row)], predicate=_where(rows)
    )
    draft.features.add("several_blocks_in_a_thread")
    return around(draft, [thread], sequence(begun, around(draft, [along], step), last)), (result,)


def _where(rows: _Rows) -> Expr:
    return conjunction(rows.conditions)


def _use(draft: FunctionDraft, rows: _Rows, given: DraftTensor, length: int, made: Sequence[DraftTensor]) -> Stmt:
    """A block that reads the results: one value for each element, by threads, or one for the row, by none."""
    values = Range(0 if draft.dtype.startswith("u") else -8, 8, True)
    conditions = list(rows.conditions)
    iter_var, row = _axis(draft, rows.count, SPATIAL)
    iters: list[tuple[Node, Expr]] = [(iter_var, rows.row)]
    leaves = [load(t, [row.expr]) for t in made]
    if draft.source.flip():
        output = draft.add_tensor("T", (draft.extent(rows.count),), draft.dtype, values, role="output")
        loops: list[LoopAxis] = []
        places, where = [row], [row.expr]
        draft.features.add("used_by_no_thread")
    else:
        dims = (draft.extent(rows.count), draft.extent(length))
        output = draft.add_tensor("T", dims, draft.dtype, values, role="output")
        across = rows.bound(draft)[-1 if draft.source.flip() else 0 :]
        threads = prod(loop.count for loop in across)
        along = axis(draft, -(-length // threads))
        loops = [along, *across]
        position = row_major(draft, loops)
        if along.count * threads != length:
            conditions.append(tirx.LT(position, draft.number(length)))
        iter_var, at = _axis(draft, length, SPATIAL)
        iters.append((iter_var, position))
        leaves.append(load(given, [row.expr, at.expr]))
        places, where = [row, at], [row.expr, at.expr]
        draft.features.add("used_by_threads")
    value = drawn_value(draft, leaves, places, draft.dtype, values)
    body = BlockBody(tirx.BufferStore(output.buffer, value.expr, where))
    block = realized(draft, draft.new_name("use"), body, iters=iters, predicate=conjunction(conditions))
    return around(draft, loops, block)


RECIPES: tuple[PrimRecipe, ...] = (
    PrimRecipe("thread_reduction", draw_thread_reduction, threads=True),
    PrimRecipe("bfloat16_thread_reduction", draw_bfloat16_reduction, threads=True),
)
