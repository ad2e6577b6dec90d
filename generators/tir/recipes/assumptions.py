"""Functions that assume what their padding holds, and branch on where the padding is.

The padding is filled before it is assumed, so that each assumption holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx

from generators.source import Source, favour
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, load
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS, among, counted, element, loop, new_unfilled
from generators.tir.site import Site, sequence, store
from generators.tir.terms import BY_NAME, Term, apply, chosen, constant, held
from generators.tvm_api import Expr, Stmt, Var

_ELEMENTWISE, _BROADCAST = 0, 1
"""OpPatternKind (include/tvm/relax/op_attr_types.h): the pass reads functions of these kinds alone."""


def draw_assumed_padding(source: Source) -> PrimProgram:
    """A padded buffer, the assumption about its padding, and a branch between the padding and a value made of it."""
    return among(source, _assumed_padding, op_pattern=source.pick((_ELEMENTWISE, _BROADCAST)))


@dataclass(frozen=True, slots=True)
class _Padded:
    """A buffer that is padded along one dim from an index on, and the number in the padding."""

    tensor: DraftTensor
    axis: int
    begin: int
    pad: Term

    def inside(self, draft: FunctionDraft, indices: list[Expr]) -> Expr:
        """Whether an element is none of the padding."""
        return tirx.LT(indices[self.axis], draft.number(self.begin))

    def beyond(self, draft: FunctionDraft, indices: list[Expr]) -> Expr:
        """Whether it is."""
        return tirx.LE(draft.number(self.begin), indices[self.axis])


def _padded(site: Site) -> _Padded:
    draft = site.draft
    dims = tuple(draft.extent(draft.source.integer(2, 8)) for _ in range(draft.source.integer(1, 2)))
    tensor = new_unfilled(site, dims, draft.source.pick(NUMBERS), role="alloc")
    axis = draft.source.integer(0, len(dims) - 1)
    pad = constant(favour(draft.source, 0, 1, 5), tensor.dtype)
    return _Padded(tensor, axis, draft.source.integer(1, dims[axis].value - 1), pad)


def _assumed_padding(site: Site) -> Stmt:
    draft = site.draft
    padded = _padded(site)
    tensor = padded.tensor
    filled = _each(draft, site, tensor.dims, lambda inner, at: _filled(inner, padded, at))
    assumed = _each(draft, site, tensor.dims, lambda _, at: _assumed(draft, padded, at))
    site.tensors.append(tensor)
    result = new_unfilled(site, tensor.dims, tensor.dtype)
    used = _each(draft, site, tensor.dims, lambda inner, at: _used(inner, padded, result, at))
    site.tensors.append(result)
    draft.features.add("assumption")
    return sequence(filled, assumed, used)


def _each(draft: FunctionDraft, site: Site, dims: tuple[Extent, ...], body: Callable[[Site, list[Expr]], Stmt]) -> Stmt:
    """A loop for each dim around `body(site, indices)`."""
    loops: list[tuple[Var, Extent]] = []
    points = []
    for dim in dims:
        var, point = counted(draft, dim)
        loops.append((var, dim))
        points.append(point)
    made = body(site.inside(*points), [var for var, _ in loops])
    for var, dim in reversed(loops):
        made = loop(draft, var, dim, made)
    return made


def _filled(site: Site, padded: _Padded, indices: list[Expr]) -> Stmt:
    tensor = padded.tensor
    value = held(site.value(tensor.dtype, lets=False), tensor.range, tensor.fraction)
    condition = padded.inside(site.draft, indices)
    return tirx.BufferStore(tensor.buffer, chosen(condition, value, padded.pad, lazily=True).expr, indices)


def _assumed(draft: FunctionDraft, padded: _Padded, indices: list[Expr]) -> Stmt:
    holds = tirx.EQ(load(padded.tensor, indices).expr, padded.pad.expr)
    whole = tirx.Or(padded.inside(draft, indices), holds)
    return tirx.Evaluate(tirx.assume(whole))


def _used(site: Site, padded: _Padded, result: DraftTensor, indices: list[Expr]) -> Stmt:
    """A branch on where the padding is: its value, or a value made of an element."""
    draft, source, knobs = site.draft, site.draft.source, KNOBS.assumptions
    at = list(indices)
    if source.flip(knobs.moved):
        last = draft.number(padded.tensor.dims[padded.axis].value - 1)
        at[padded.axis] = tirx.Sub(last, at[padded.axis])
    value, of_padding = _made_of(draft, padded, element(padded.tensor, *at))
    condition = padded.beyond(draft, indices)
    if source.flip(knobs.other):
        begin = source.integer(0, padded.tensor.dims[padded.axis].value - 1)
        condition = tirx.LE(draft.number(begin), indices[source.integer(0, len(indices) - 1)])
    inside = held(value, result.range, result.fraction)
    return store(result, chosen(condition, of_padding, inside, lazily=True), indices)


def _made_of(draft: FunctionDraft, padded: _Padded, read: Term) -> tuple[Term, Term]:
    """A value made of an element, and what it is of the padding."""
    name, number = draft.source.pick((("add", 2), ("mul", 2), ("sub", 1), ("max", 0), ("mul", 1)))
    amount = constant(number, read.dtype)
    made = apply(BY_NAME[name], read, amount)
    pad = int(padded.pad.range.low)
    known = {"add": pad + number, "sub": pad - number, "mul": pad * number, "max": max(pad, number)}[name]
    if made is None or (known < 0 and read.dtype.startswith("u")):
        return read, padded.pad
    return made, constant(known, read.dtype)


RECIPES = (PrimRecipe("assumed_padding", draw_assumed_padding, host=True),)
