"""Blocks whose iterations, inits and guards are not those of a plain nest: steps over time that read what the step
before has left, steps by way of a temporary tensor, reductions that begin at a number or at an element, blocks without
axes under a predicate, and stores to a part of a tensor.

What reorders or splits loops, stages or caches tensors, pipelines steps or takes blocks away has to ask for the kind of
an axis, the init, the predicate and the place of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tvm import s_tir, tirx

from generators.ranges import Range
from generators.source import Source
from generators.tir.block_loops import OPAQUE, ORDERED, REDUCE, SPATIAL, BlockBody, block_of
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, load
from generators.tir.functions import begun, draw_one, finished
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.block_drafts import add_input, block_at, loop_of, value_at, within
from generators.tir.recipes.dependences import elsewhere
from generators.tir.recipes.partial_blocks import (
    another,
    any_length,
    filled_by_block,
    first_turn,
    for_a_part,
    in_dtype,
    shown_by_block,
)
from generators.tir.recipes.plain_knobs import AROUND_BLOCKS, KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS, moved
from generators.tir.site import sequence, store
from generators.tir.terms import Term, chosen, held
from generators.tvm_api import Expr, Stmt

_Kind = Callable[[FunctionDraft], Stmt]
"""Draws one of the blocks, with those before and after it that it needs."""


def _drawn(kinds: Sequence[_Kind], source: Source) -> PrimProgram:
    """One or two of these blocks, in some cases after a plain one."""
    draft = begun(source, AROUND_BLOCKS)
    if source.flip():
        draw_one(draft)
    draft.final = True
    for _ in range(source.integer(*KNOBS.ordered.count)):
        draft.statements.append(source.pick(kinds)(draft))
    draft.features.add("ordered_blocks")
    return finished(draft, schedulable=True)


def _width(draft: FunctionDraft) -> Extent:
    return draft.extent(draft.source.integer(*KNOBS.ordered.widths))


def _steps(draft: FunctionDraft) -> Extent:
    return draft.extent(draft.source.integer(*KNOBS.ordered.steps))


def _kind_of_time(draft: FunctionDraft) -> int:
    return draft.source.pick((ORDERED, OPAQUE))


def _place_before(draft: FunctionDraft, here: Expr, width: Extent) -> Expr:
    """Where a step reads for an element: at another place in most cases."""
    if not draft.source.flip(KNOBS.ordered.neighbours):
        return here
    return draft.source.pick(elsewhere(draft, here, width, draft.source.integer(1, 2)))


def _over_time(draft: FunctionDraft) -> Stmt:
    """Each step makes a row of the row of the step before; rows are stored first or last. What the first step reads
    stands in the block, or in one before it."""
    source, steps, width = draft.source, _steps(draft), _width(draft)
    given = add_input(draft, (width,), source.pick(NUMBERS))
    rows = draft.extent(int(steps.value) + 1)
    time_last, apart = source.flip(), source.flip()
    dims = (rows if apart else steps, width)
    values, fraction = held_range(given.dtype)
    dims = dims[::-1] if time_last else dims
    tensor = draft.add_tensor("T", dims, given.dtype, values, fraction=fraction, role="output")

    def at(step: Expr, place: Expr) -> list[Expr]:
        return [place, step] if time_last else [step, place]

    def first(points: list[Point]) -> Stmt:
        here = points[0].term.expr
        return store(tensor, load(given, [here]), at(draft.number(0), here))

    def next_row(points: list[Point]) -> Stmt:
        step, here = (point.term.expr for point in points)
        place = _place_before(draft, here, width)
        if apart:
            old, now = load(tensor, at(step, place)), moved(draft, step, 1)
        else:
            before = load(tensor, at(tirx.Sub(step, draft.number(1)), place))
            old = chosen(tirx.LT(draft.number(0), step), before, load(given, [here]), lazily=True)
            now = step
        return store(tensor, _made_of(draft, tensor, points, old), at(now, here))

    time, each = loop_of(draft, steps), loop_of(draft, width)
    kinds = (_kind_of_time(draft), SPATIAL)
    block = block_at(draft, draft.new_name("step"), [time, each], next_row, kinds=kinds)
    nest = within(draft, [time, each], block)
    if not apart:
        return nest
    start = loop_of(draft, width)
    return sequence(start.around(draft, block_at(draft, draft.new_name("begin"), [start], first)), nest)


def _made_of(draft: FunctionDraft, tensor: DraftTensor, points: list[Point], *leaves: Term) -> Term:
    return held(value_at(draft, tensor.dtype, points, *leaves), tensor.range, tensor.fraction)


def _by_way_of_another(draft: FunctionDraft) -> Stmt:
    """Each step copies a tensor, or computes another of it, and then changes the tensor by what it has copied."""
    steps, width = _steps(draft), _width(draft)
    tensor, fill = filled_by_block(draft, width)
    values, fraction = held_range(tensor.dtype)
    other = draft.add_tensor("T", (width,), tensor.dtype, values, fraction=fraction, role="local")
    time, whole = loop_of(draft, steps), draft.source.flip()

    def copied(points: list[Point]) -> Stmt:
        here = points[-1].term.expr
        old = load(tensor, [here])
        return store(other, old if whole else _made_of(draft, other, points, old), [here])

    def changed(points: list[Point]) -> Stmt:
        here = points[-1].term.expr
        read = load(other, [_place_before(draft, here, width)])
        leaves = (read, load(tensor, [here])) if draft.source.flip() else (read,)
        return store(tensor, _made_of(draft, tensor, points, *leaves), [here])

    kinds = (_kind_of_time(draft), SPATIAL)
    parts = list[Stmt]()
    for name, make in (("copy", copied), ("change", changed)):
        each = loop_of(draft, width)
        parts.append(each.around(draft, block_at(draft, draft.new_name(name), [time, each], make, kinds=kinds)))
    return sequence(fill, time.around(draft, sequence(*parts)), *shown_by_block(draft, tensor))


def _counted_on(draft: FunctionDraft) -> Stmt:
    """A reduction that begins at a number which is not neutral, or at an element of an input."""
    source, length = draft.source, any_length(draft)
    turns = draft.extent(source.pick(KNOBS.ordered.turns))
    dtype = source.pick(NUMBERS)
    terms = in_dtype(KNOBS.parts.term, dtype)
    given = draft.add_tensor("A", (length, turns), dtype, terms, role="input")
    base = draft.add_tensor("A", (length,), dtype, terms, role="input") if source.flip() else None
    values, fraction = held_range(dtype)
    total = draft.add_tensor("T", (length,), dtype, values, fraction=fraction, role="output")
    kind = tirx.Add if source.flip(KNOBS.ordered.sums) else source.pick((tirx.Max, tirx.Min))
    number = source.integer(1, int(terms.high))

    def make(points: list[Point]) -> BlockBody:
        here, turn = (point.term.expr for point in points)
        begins = load(base, [here]) if base else Term(tirx.const(number, dtype), dtype, Range(number, number, True), 0)
        node = kind(load(total, [here]).expr, load(given, [here, turn]).expr)
        return BlockBody(store(total, Term(node, dtype, total.range, 0), [here]), store(total, begins, [here]))

    loops = [loop_of(draft, length), loop_of(draft, turns)]
    block = block_at(draft, draft.new_name("count"), loops, make, kinds=(SPATIAL, REDUCE))
    return within(draft, loops if source.flip() else loops[::-1], block)


def _without_axes(draft: FunctionDraft) -> Stmt:
    """A block without axes in a loop, which stores where its predicate holds."""
    length = any_length(draft)
    tensor, fill = filled_by_block(draft, length)
    each = loop_of(draft, length, start=first_turn(draft))
    here = each.point.term
    change = store(tensor, another(draft, tensor, [here], [here.expr]), [here.expr])
    block = block_of(draft, [], draft.new_name("part"), BlockBody(change))
    guarded = s_tir.SBlockRealize([], for_a_part(draft, length, here.expr), block)
    return sequence(fill, each.around(draft, guarded), *shown_by_block(draft, tensor))


def _at_an_offset(draft: FunctionDraft) -> Stmt:
    """A part of a tensor, from one element on, is stored anew: by a plain block, or by one that reduces."""
    source, length = draft.source, any_length(draft)
    begin = source.integer(1, int(length.value) - 1)
    part = draft.extent(source.integer(1, int(length.value) - begin))
    tensor, fill = filled_by_block(draft, length)
    reads = draft.extent(source.integer(*KNOBS.ordered.steps)) if source.flip() else None
    given = add_input(draft, (part, reads) if reads else (part,), tensor.dtype)

    def make(points: list[Point]) -> BlockBody:
        indices = [point.term.expr for point in points]
        at, read = [moved(draft, indices[0], begin)], load(given, indices)
        if not reads:
            return BlockBody(store(tensor, _made_of(draft, tensor, points, read), at))
        whole = source.pick((tirx.Max, tirx.Min))(load(tensor, at).expr, read.expr)
        either = Term(whole, tensor.dtype, tensor.range.hull(given.range), max(tensor.fraction, given.fraction))
        begins = Term(tirx.const(0, tensor.dtype), tensor.dtype, Range(0, 0, True), 0)
        return BlockBody(store(tensor, either, at), store(tensor, begins, at))

    loops = [loop_of(draft, extent) for extent in (part, reads) if extent]
    kinds = (SPATIAL, REDUCE)[: len(loops)]
    nest = within(draft, loops, block_at(draft, draft.new_name("part"), loops, make, kinds=kinds))
    return sequence(fill, nest, *shown_by_block(draft, tensor))


_KINDS: dict[str, _Kind] = {
    "time_steps": _over_time,
    "steps_by_temporary": _by_way_of_another,
    "sums_from_a_number": _counted_on,
    "blocks_without_axes": _without_axes,
    "stores_at_an_offset": _at_an_offset,
}

RECIPES = (
    PrimRecipe("ordered_blocks", partial(_drawn, tuple(_KINDS.values())), host=True),
    *(PrimRecipe(name, partial(_drawn, (kind,)), host=True) for name, kind in _KINDS.items()),
)
