"""Loops whose variables stand in likely conditions that hold in a part of the iterations: tails of tiles, borders of
stencils, single iterations, and loops with a partition hint."""

from __future__ import annotations

from collections.abc import Sequence

from tvm import tirx

from generators.source import Source, favour
from generators.tir.function_draft import Annotations, DraftTensor, Extent, FunctionDraft, load
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.plain_knobs import KNOBS, with_symbols
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import among, changed, counted, loop, moved, new_filled
from generators.tir.site import Site, sequence, store
from generators.tir.terms import COMPARISONS, chosen
from generators.tvm_api import Expr, Stmt, Var

_Loops = Sequence[tuple[Var, Point]]


def draw_tail(source: Source) -> PrimProgram:
    """Tiles of a length that they need not divide: a condition keeps the last tile in bounds."""
    return among(source, _tail, with_symbols(KNOBS.partitions.symbolic))


def draw_borders(source: Source) -> PrimProgram:
    """Loops over a tensor in which a part of the iterations does, or takes, something else."""
    return among(source, _borders, with_symbols(KNOBS.partitions.symbolic))


def _length(draft: FunctionDraft) -> Extent:
    if draft.symbols:
        return draft.symbolic(draft.source.pick(sorted(draft.symbols)))
    return draft.extent(draft.source.integer(*KNOBS.partitions.lengths))


def _tail(site: Site) -> Stmt:
    draft = site.draft
    length, size = _length(draft), draft.source.pick(KNOBS.partitions.tiles)
    tensor = new_filled(site, (length,))
    loops = [counted(draft, _tiles(draft, length, size)), counted(draft, draft.extent(size))]
    position = tirx.Add(tirx.Mul(loops[0][0], draft.number(size)), loops[1][0])
    inner = site.inside(*(point for _, point in loops), turns=length.high + size)
    condition = _marked(draft, _below(draft, position, length))
    if draft.source.flip(KNOBS.partitions.both_ends):
        first = tirx.GE(position, draft.number(draft.source.integer(1, size)))
        condition = tirx.And(_marked(draft, first), condition)
    if draft.source.flip(KNOBS.partitions.third):
        loops.insert(1, counted(draft, draft.extent(2)))
    then = sequence(changed(inner, tensor, [position]), *_elsewhere(inner, tensor))
    draft.features.add("tiles_with_a_tail")
    return _nest(draft, loops, tirx.IfThenElse(condition, then, _other(inner, tensor)))


def _tiles(draft: FunctionDraft, length: Extent, size: int) -> Extent:
    """How many tiles hold the length."""
    count, most = -(-length.value // size), -(-length.high // size)
    if length.static:
        return draft.extent(count)
    expr = tirx.FloorDiv(moved(draft, length.expr, size - 1), draft.number(size))
    return Extent("any", count, 0, most, expr)


def _below(draft: FunctionDraft, position: Expr, length: Extent) -> Expr:
    last = tirx.Sub(length.expr, draft.number(1))
    return draft.source.pick(
        (
            tirx.LT(position, length.expr),
            tirx.LE(position, last),
            tirx.GT(length.expr, position),
            tirx.GE(last, position),
            tirx.LT(tirx.Sub(position, length.expr), draft.number(0)),
        )
    )


def _marked(draft: FunctionDraft, condition: Expr) -> Expr:
    return tirx.likely(condition) if draft.source.flip(KNOBS.partitions.shown_to_be_likely) else condition


def _elsewhere(site: Site, tensor: DraftTensor) -> list[Stmt]:
    """In some cases a statement about other tensors."""
    others = [t for t in site.writable if t is not tensor and all(d.static and d.value for d in t.dims)]
    if not others or site.draft.source.flip():
        return []
    other = site.draft.source.pick(others)
    return [changed(site, other, site.index_of(other))]


def _other(site: Site, tensor: DraftTensor) -> Stmt | None:
    """The other side of a condition, in some cases."""
    if not site.draft.source.flip(KNOBS.partitions.two_sides):
        return None
    return next(iter(_elsewhere(site, tensor)), None)


def _borders(site: Site) -> Stmt:
    draft = site.draft
    dims = [_length(draft), draft.extent(draft.source.integer(2, 6))][: favour(draft.source, 2, 1)]
    if draft.source.flip():
        dims.reverse()
    tensor = new_filled(site, tuple(dims))
    loops = [counted(draft, dim) for dim in dims]
    asked, point = draft.source.pick(loops)
    conditions = [_of(draft, asked, point.extent)]
    if draft.source.flip(KNOBS.partitions.both_ends):
        conditions.append(_of(draft, *_named(draft.source.pick(loops))))
    inner = site.inside(*(point for _, point in loops), turns=tensor.elements)
    indices: list[Expr] = [var for var, _ in loops]
    draft.features.add("borders")
    if draft.source.flip():
        return _nest(draft, loops, _chosen(inner, tensor, indices, conditions))
    body = sequence(changed(inner, tensor, indices), *_elsewhere(inner, tensor))
    for condition in conditions:
        body = tirx.IfThenElse(condition, body, _other(inner, tensor))
    return _nest(draft, loops, body)


def _named(counted_loop: tuple[Var, Point]) -> tuple[Var, Extent]:
    return counted_loop[0], counted_loop[1].extent


def _of(draft: FunctionDraft, var: Var, extent: Extent) -> Expr:
    """A likely comparison of a loop variable with a number near one of the ends of its loop."""
    near = draft.source.integer(0, 2)
    at_the_end = tirx.Sub(extent.expr, draft.number(near + 1))
    bound = draft.source.pick((draft.number(near), at_the_end))
    return _marked(draft, draft.source.pick(COMPARISONS)(var, bound))


def _chosen(site: Site, tensor: DraftTensor, indices: list[Expr], conditions: Sequence[Expr]) -> Stmt:
    """A store of a value chosen by each condition in turn."""
    term = site.value(tensor.dtype, lets=False)
    for condition in conditions:
        other = load(tensor, indices) if site.draft.source.flip() else site.value(tensor.dtype, lets=False)
        if tensor.dtype != other.dtype:
            other = load(tensor, indices)
        term = chosen(condition, term, other, lazily=site.draft.source.flip())
    return store(tensor, term, indices)


def _nest(draft: FunctionDraft, loops: _Loops, body: Stmt) -> Stmt:
    """The loops around the body, in some cases one with a hint."""
    hinted = draft.source.integer(0, len(loops) - 1) if draft.source.flip(KNOBS.partitions.hint) else None
    for number, (var, point) in reversed(list(enumerate(loops))):
        notes: Annotations | None = {"pragma_loop_partition_hint": 1} if number == hinted else None
        body = loop(draft, var, point.extent, body, notes=notes)
    return body


RECIPES = (
    PrimRecipe("loops_with_tails", draw_tail, host=True),
    PrimRecipe("loops_with_borders", draw_borders, host=True),
)
