"""Perfect nests: serial loops over all dims of a tensor around one or two statements at the element they count to.

Neighbours often have the same extents, so that loops can be fused, split and interchanged; one nest reads elements
that another has stored.
"""

from __future__ import annotations

from dataclasses import replace

from tvm import tirx

from generators.ranges import Range
from generators.source import weighted
from generators.tir.conditions import draw_test
from generators.tir.control_flow import affordable, budget
from generators.tir.expressions import draw_value
from generators.tir.function_draft import DraftTensor, Unfit, load
from generators.tir.reads import Point, counter
from generators.tir.site import Header, Inner, Site, sequence, store
from generators.tir.stores import stored, updated
from generators.tvm_api import Expr, Stmt


def draw_nest(site: Site, _inner: Inner) -> Stmt:
    """A loop for each dim of a tensor, and in it statements at the element."""
    tensor = _target(site)
    budget(site, tensor.elements)
    loops = [counter(site.draft, dim) for dim in tensor.dims]
    within = site.draft.source.flip(site.draft.knobs.nests.inner_elements)
    if within:
        loops = [_within(site, loop) for loop in loops]
    inner = site.inside(*loops, turns=tensor.elements)
    if within and site.draft.source.flip(site.draft.knobs.nests.of_neighbour):
        body = _of_neighbour(inner, tensor, loops)
    else:
        body = _body(inner, tensor, [loop.term.expr for loop in loops])
    order = list(reversed(loops)) if site.draft.source.flip(site.draft.knobs.nests.permuted) else loops
    site.header = Header(order[0].extent)
    site.draft.features.add("perfect_nest")
    return nested(site, order, body)


def _target(site: Site) -> DraftTensor:
    """A tensor with dims, most often one that shares a dim with the nest before."""
    options = [t for t in site.writable if t.dims]
    if not options:
        raise Unfit("nothing to go over")
    before = site.header
    alike = [t for t in options if before and before.extent.text in (t.dims[0].text, t.dims[-1].text)]
    return site.near(alike if alike and site.draft.source.flip(site.draft.knobs.nests.alike) else options)


def _within(site: Site, loop: Point) -> Point:
    """The loop without the first and the last element of its dim, where it has others."""
    if not loop.extent.static or loop.extent.value < site.draft.knobs.nests.bordered:
        return loop
    site.draft.features.add("inner_elements")
    return Point(replace(loop.term, range=Range(1, loop.extent.value - 2, True)), loop.extent)


def nested(site: Site, loops: list[Point], body: Stmt) -> Stmt:
    """The body in serial loops over the ranges of the variables."""
    for loop in reversed(loops):
        start = int(loop.term.range.low)
        count = site.draft.number(int(loop.term.range.high)) if start else loop.extent.expr
        body = tirx.For(loop.term.expr, site.draft.number(start), count, tirx.ForKind.SERIAL, body)
    return body


def _of_neighbour(inner: Site, tensor: DraftTensor, loops: list[Point]) -> Stmt:
    """A store of a value made of neighbours of the stored element."""
    draft = inner.draft
    around = [(0,) if loop.term.range.low == 0 else (-1, -1, 0, 1, 1) for loop in loops]
    shifts = [[draft.source.pick(options) for options in around] for _ in range(draft.source.integer(1, 2))]
    indices = [loop.term.expr for loop in loops]
    beside = [[tirx.Add(at, draft.number(n)) if n else at for at, n in zip(indices, s, strict=True)] for s in shifts]
    operands = inner.operands([t for t in inner.tensors if not t.special], 1).with_leaves(
        *(load(tensor, at) for at in beside)
    )
    draft.features.add("in_place_stencil")
    return store(tensor, draw_value(replace(operands, lets=False), tensor.dtype, 1), indices)


def _body(inner: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    source = inner.draft.source
    guard = draw_test(inner) if source.flip(inner.draft.knobs.nests.guarded) else None
    statements = [_statement(inner, tensor, indices)]
    if source.flip(inner.draft.knobs.nests.second):
        texts = [dim.text for dim in tensor.dims]
        alike = [t for t in inner.writable if [dim.text for dim in t.dims] == texts]
        statements.append(_statement(inner, source.pick(alike), indices))
    body = sequence(*statements)
    return body if guard is None else tirx.IfThenElse(guard, body, None)


def _statement(inner: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    if inner.draft.source.flip(inner.draft.knobs.nests.summed):
        return _summed(inner, tensor, indices)
    knobs = inner.draft.knobs.nests
    kinds = ((stored, knobs.stored), (updated, knobs.updated), (_guarded, knobs.guarded_store))
    return weighted(inner.draft.source, kinds)(inner, tensor, indices)


def _guarded(inner: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    """A store or an update where a condition holds."""
    condition = draw_test(inner)
    draw = inner.draft.source.pick((stored, updated))
    inner.draft.features.add("guarded_store")
    return tirx.IfThenElse(condition, draw(inner, tensor, indices), None)


def _summed(inner: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    """A loop that changes the element in every iteration."""
    draft = inner.draft
    lengths = [draft.draw_extent(), *(d for t in inner.tensors for d in t.dims)]
    lengths = [extent for extent in lengths if affordable(inner, extent.high)]
    if not lengths:
        return updated(inner, tensor, indices)
    loop = counter(draft, draft.source.pick(lengths))
    deeper = inner.inside(loop, turns=loop.extent.high)
    draft.features.add("inner_loop")
    return nested(inner, [loop], updated(deeper, tensor, indices))
