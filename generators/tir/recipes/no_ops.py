"""Statements without effect in loops and branches: stores of what is there, values that no one takes, empty sides."""

from __future__ import annotations

from collections.abc import Callable

from tvm import tirx

from generators.source import Source
from generators.tir.conditions import draw_test
from generators.tir.function_draft import Unfit, load
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import among, changed, counted, loop
from generators.tir.site import Site, sequence
from generators.tir.stores import writable
from generators.tvm_api import Stmt

NOTHING = tirx.Evaluate(tirx.IntImm("int32", 0))


def draw_no_ops(source: Source) -> PrimProgram:
    """A loop over statements of which some have no effect."""
    return among(source, _no_ops)


def _no_ops(site: Site) -> Stmt:
    draft, source = site.draft, site.draft.source
    var, point = counted(draft, draft.draw_extent(empty=False))
    inner = site.inside(point, turns=point.extent.high)
    parts = [_useless(inner) for _ in range(source.integer(1, 2))]
    if source.flip():
        parts.insert(source.integer(0, len(parts)), _useful(inner))
    draft.features.add("no_op")
    return loop(draft, var, point.extent, sequence(*parts))


def _useful(site: Site) -> Stmt:
    tensor = writable(site)
    return changed(site, tensor, site.index_of(tensor))


def _useless(site: Site) -> Stmt:
    return site.draft.source.pick(_KINDS)(site)


def _kept(site: Site) -> Stmt:
    """An element stored to itself, in some cases changed back."""
    tensor = writable(site)
    indices = site.index_of(tensor)
    return tirx.BufferStore(tensor.buffer, load(tensor, indices).expr, indices)


def _value_alone(site: Site) -> Stmt:
    return tirx.Evaluate(site.value(site.draft.draw_dtype()).expr)


def _empty_side(site: Site) -> Stmt:
    """A branch of which one side does nothing, or both."""
    condition = draw_test(site)
    if site.draft.source.flip():
        return tirx.IfThenElse(condition, _empty(site), _useful(site))
    return tirx.IfThenElse(condition, _empty(site), _empty(site))


def _empty_loop(site: Site) -> Stmt:
    var, point = counted(site.draft, site.draft.draw_extent())
    return loop(site.draft, var, point.extent, _empty(site))


def _loop_of_no_turn(site: Site) -> Stmt:
    """A loop that is as long as a number that is never above 0."""
    draft = site.draft
    outer = [p for p in site.points if p.term.range.low >= 0 and isinstance(p.term.expr, tirx.Var)]
    if not outer:
        raise Unfit("no loop around")
    count = tirx.Sub(draft.number(0), draft.source.pick(outer).term.expr)
    var, point = counted(draft, draft.extent(1))
    return tirx.For(var, draft.number(0), count, tirx.ForKind.SERIAL, _useful(site.inside(point)))


def _empty(site: Site) -> Stmt:
    return _kept(site) if site.draft.source.flip() else NOTHING


_KINDS: tuple[Callable[[Site], Stmt], ...] = (_kept, _value_alone, _empty_side, _empty_loop, _loop_of_no_turn)


RECIPES = (PrimRecipe("no_ops", draw_no_ops, host=True),)
