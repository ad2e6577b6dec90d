"""Blocks in a row that compute each element from another place of the tensor before: across, from the other end, moved
on and around, with a neighbour, and reduced over a row.

Between two of them only the indices say what is read. What inlines a block, changes a layout, or gives two tensors one
memory has to follow them; between steps that leave the elements where they are it need not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx

from generators.ranges import Range
from generators.source import Source
from generators.tir.block_loops import REDUCE, SPATIAL, BlockBody
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, load
from generators.tir.functions import finished
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.block_drafts import add_input, block_at, drafted, loop_of, value_at, within
from generators.tir.recipes.dependences import elsewhere
from generators.tir.recipes.plain_knobs import AROUND, KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS
from generators.tir.site import store
from generators.tir.terms import Term, held
from generators.tvm_api import Expr, Stmt


@dataclass(frozen=True, slots=True)
class _Moves:
    """The function so far, the tensors of the steps, the newest last, and whether the next is the last."""

    draft: FunctionDraft
    tensors: list[DraftTensor]
    final: bool

    @property
    def given(self) -> DraftTensor:
        return self.tensors[-1]

    def result(self, *dims: Extent) -> DraftTensor:
        """The tensor of the next step."""
        dtype = self.given.dtype
        values, fraction = held_range(dtype)
        role = "output" if self.final else "local"
        return self.draft.add_tensor("T", dims, dtype, values, fraction=fraction, role=role)

    def value(self, target: DraftTensor, at: list[Point], *leaves: Term) -> Term:
        """What the target holds at these points of its own: something of each of the leaves, maybe with an element of
        an earlier tensor."""
        alike = [t for t in self.tensors[:-1] if [d.text for d in t.dims] == [p.extent.text for p in at]]
        if alike and self.draft.source.flip(KNOBS.moved.earlier):
            leaves = (*leaves, load(self.draft.source.pick(alike), [point.term.expr for point in at]))
        return held(value_at(self.draft, target.dtype, at, *leaves), target.range, target.fraction)


def draw_moved_elements(source: Source) -> PrimProgram:
    """A chain of blocks over matrices."""
    draft = drafted(source, AROUND)
    length = draft.extent(source.integer(*KNOBS.moved.lengths))
    width = length if source.flip(KNOBS.moved.square) else draft.extent(source.integer(*KNOBS.moved.lengths))
    tensors = [add_input(draft, (length, width), source.pick(NUMBERS))]
    count = source.integer(*KNOBS.moved.steps)
    for number in range(count):
        moves = _Moves(draft, tensors, number == count - 1)
        step = _still if source.flip(KNOBS.moved.still) else source.pick(_KINDS)
        statement, made = step(moves)
        draft.statements.append(statement)
        tensors.append(made)
    draft.features.add("moved_elements")
    return finished(draft, schedulable=True)


def _each(moves: _Moves, dims: tuple[Extent, ...], make: Callable[[list[Point]], Stmt]) -> Stmt:
    """A block at each point of these dims, in loops of either order."""
    draft = moves.draft
    loops = [loop_of(draft, dim) for dim in dims]
    block = block_at(draft, draft.new_name("moved"), loops, make)
    return within(draft, loops if draft.source.flip() else loops[::-1], block)


def _read_at(moves: _Moves, places: Callable[[list[Expr]], list[list[Expr]]]) -> tuple[Stmt, DraftTensor]:
    """A tensor of the same dims that is made of the elements at these places."""
    target = moves.result(*moves.given.dims)

    def make(at: list[Point]) -> Stmt:
        here = [point.term.expr for point in at]
        leaves = [load(moves.given, place) for place in places(here)]
        return store(target, moves.value(target, at, *leaves), here)

    return _each(moves, target.dims, make), target


def _still(moves: _Moves) -> tuple[Stmt, DraftTensor]:
    """Each element from its own place."""
    return _read_at(moves, lambda here: [here])


def _across(moves: _Moves) -> tuple[Stmt, DraftTensor]:
    """Rows become columns: what is read is turned round, or what is stored."""
    given = moves.given
    target = moves.result(*reversed(given.dims))
    by_store = moves.draft.source.flip()

    def make(at: list[Point]) -> Stmt:
        there = at[::-1]
        stored, read = (there, at) if by_store else (at, there)
        value = moves.value(target, stored, load(given, [point.term.expr for point in read]))
        return store(target, value, [point.term.expr for point in stored])

    return _each(moves, given.dims if by_store else target.dims, make), target


def _elsewhere(moves: _Moves) -> tuple[Stmt, DraftTensor]:
    """Each element from another place along one axis, with or without the one at its own."""
    source, given = moves.draft.source, moves.given
    axis, beside = source.integer(0, 1), source.flip()
    by = source.integer(1, max(int(given.dims[axis].value) - 1, 1))

    def places(here: list[Expr]) -> list[list[Expr]]:
        there = list(here)
        there[axis] = source.pick(elsewhere(moves.draft, here[axis], given.dims[axis], by))
        return [here, there] if beside else [there]

    return _read_at(moves, places)


def _reduced(moves: _Moves) -> tuple[Stmt, DraftTensor]:
    """Each element is the largest, the least or the sum of what a row gives with the number of its own column."""
    draft, given = moves.draft, moves.given
    turns = given.dims[1]
    target = moves.result(given.dims[0], given.dims[0])
    kind = draft.source.pick((tirx.Max, tirx.Min, tirx.Add))
    most = KNOBS.moved.term
    terms = Range(max(-most, target.range.low), most, True) if kind is tirx.Add else target.range
    begins = Term(tirx.const(0, target.dtype), target.dtype, Range(0, 0, True), 0)
    loops = [loop_of(draft, dim) for dim in (*target.dims, turns)]

    def make(at: list[Point]) -> BlockBody:
        row, column, turn = at
        here = [row.term.expr, column.term.expr]
        read = load(given, [row.term.expr, turn.term.expr])
        term = held(value_at(draft, target.dtype, [row, column], read, column.term), terms, target.fraction)
        whole = Term(kind(load(target, here).expr, term.expr), target.dtype, target.range, target.fraction)
        return BlockBody(store(target, whole, here), store(target, begins, here))

    block = block_at(draft, draft.new_name("reduced"), loops, make, kinds=[SPATIAL, SPATIAL, REDUCE])
    return within(draft, loops, block), target


_KINDS: tuple[Callable[[_Moves], tuple[Stmt, DraftTensor]], ...] = (_across, _elsewhere, _reduced)

RECIPES = (PrimRecipe("moved_elements", draw_moved_elements),)
