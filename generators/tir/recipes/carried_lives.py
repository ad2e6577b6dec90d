"""Buffers that live from one round of a loop to the next, beside others of the same kind that live within a round.

Whoever lets two buffers share memory has to see that a read in the next round comes after this one's last.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.source import Source, favour
from generators.tir.function_draft import DraftTensor
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.dependences import inside, value_of
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS, among, counted, element, loop, new_filled, new_unfilled
from generators.tir.site import Site, sequence, store
from generators.tvm_api import Stmt, tirx


def draw_carried_lives(source: Source) -> PrimProgram:
    """A loop whose rounds update a buffer and use buffers of their own before or after that."""
    return among(source, _rounds)


def _rounds(site: Site) -> Stmt:
    draft, source = site.draft, site.draft.source
    length, rounds = (draft.extent(source.integer(*KNOBS.carried.rounds)) for _ in range(2))
    dtype = source.pick(NUMBERS)
    carried = new_filled(site, (length,), dtype, role="alloc")
    own = [new_unfilled(site, (length,), dtype, role="alloc") for _ in range(source.integer(*KNOBS.carried.own))]
    shown = {tensor.name: new_unfilled(site, (rounds, length), dtype) for tensor in (carried, *own)}
    var, point = counted(draft, rounds)
    within = inside(site, point)

    def used(tensor: DraftTensor, store_element: Callable[[Site, DraftTensor, Point, Point], Stmt]) -> Stmt:
        """A loop that stores elements, and one that shows what is in all of them."""
        (i, at), (j, _) = counted(draft, length), counted(draft, length)
        made = store_element(inside(within, at), tensor, point, at)
        seen = store(shown[tensor.name], element(tensor, j), [var, j])
        return sequence(loop(draft, i, length, made), loop(draft, j, length, seen))

    parts = [used(tensor, _stored) for tensor in own]
    parts.insert(source.integer(0, len(parts)), used(carried, favour(source, _in_its_round, _made_of_old)))
    for tensor in (carried, *own):  # What is read after the loop lives longer than any of its rounds.
        draft.tensors.remove(tensor)
    site.tensors = [tensor for tensor in (*site.tensors, *shown.values()) if tensor is not carried]
    draft.features.add("carried_lives")
    return loop(draft, var, rounds, sequence(*parts))


def _stored(site: Site, tensor: DraftTensor, rounds: Point, at: Point) -> Stmt:
    """A value of the round."""
    return store(tensor, value_of(site, tensor.dtype, rounds.term, at.term), [at.term.expr])


def _in_its_round(site: Site, tensor: DraftTensor, rounds: Point, at: Point) -> Stmt:
    """The same in one round for each element; the others keep what they hold."""
    return tirx.IfThenElse(tirx.EQ(at.term.expr, rounds.term.expr), _stored(site, tensor, rounds, at), None)


def _made_of_old(site: Site, tensor: DraftTensor, rounds: Point, at: Point) -> Stmt:
    """A value made of the element as the last round has left it."""
    return store(tensor, value_of(site, tensor.dtype, element(tensor, at.term.expr)), [at.term.expr])


RECIPES = (PrimRecipe("carried_lives", draw_carried_lives, host=True),)
