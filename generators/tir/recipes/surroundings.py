"""A planted statement among drawn ones: the function around it, and what recipes need to draw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvm import tirx
from typing_extensions import Unpack

from generators.ranges import Range
from generators.source import Source
from generators.tir.function_draft import Annotations, DraftTensor, Extent, FunctionDraft, Layout, Unfit, load
from generators.tir.functions import begun, finished
from generators.tir.knobs import TirKnobs
from generators.tir.opaque import draw_statements, fill, held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.plain_knobs import AROUND
from generators.tir.site import Site, sequence, store
from generators.tir.stores import updated
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt, Var

NUMBERS = ("float32", "int32", "int64", "int8", "uint8", "float16", "int16", "float64")
"""Dtypes of tensors that are planted."""


def among(
    source: Source, planted: Callable[[Site], Stmt], knobs: TirKnobs = AROUND, **attributes: object
) -> PrimProgram:
    """A function without blocks that holds the planted statement. attributes: those of the function."""
    draft = begun(source, knobs)
    draw_statements(draft, planted)
    return finished(draft, schedulable=False, attributes=attributes)


def with_some(
    kind: Callable[[Site], Stmt], knobs: TirKnobs = AROUND, *, most: int = 2
) -> Callable[[Source], PrimProgram]:
    """Draws a function with one of the statements of a kind, or more, up to `most`."""

    def some(site: Site) -> Stmt:
        return sequence(*(kind(site) for _ in range(site.draft.source.integer(1, most))))

    return lambda source: among(source, some, knobs)


def new_filled(site: Site, dims: tuple[Extent, ...], dtype: str = "", role: str = "output") -> DraftTensor:
    """A new tensor of these dims, of some dtype if none is given; each of its elements is stored before what is drawn
    next."""
    tensor = new_unfilled(site, dims, dtype, role)
    site.draft.statements.append(fill(site, tensor))
    site.tensors.append(tensor)
    return tensor


def new_unfilled(
    site: Site, dims: tuple[Extent, ...], dtype: str = "", role: str = "output", **layout: Unpack[Layout]
) -> DraftTensor:
    """The same without the stores: the recipe stores each element before it is read, and then lists it in the site."""
    draft = site.draft
    dtype = dtype or draft.source.pick(NUMBERS)
    values, fraction = held_range(dtype)
    tensor = draft.add_tensor("T", dims, dtype, values, fraction=fraction, role=role, **layout)
    if role == "alloc":
        draft.statements.append(tirx.AllocBuffer(tensor.buffer))
    return tensor


def counted(draft: FunctionDraft, extent: Extent, start: int = 0) -> tuple[Var, Point]:
    """A new loop variable that goes over the extent from a start, and its values."""
    var = tirx.Var(draft.new_name("i"), draft.index_dtype)
    values = Range(start, start + max(extent.high - 1, 0), True)
    return var, Point(Term(var, draft.index_dtype, values), extent)


def loop(
    draft: FunctionDraft,
    var: Var,
    extent: Extent,
    body: Stmt,
    *,
    start: int = 0,
    kind: tirx.ForKind = tirx.ForKind.SERIAL,
    notes: Annotations | None = None,
) -> Stmt:
    """A loop over the extent from a start."""
    return tirx.For(var, draft.number(start), extent.expr, kind, body, None, notes)


def nested(draft: FunctionDraft, loops: Sequence[tuple[Var, Point]], body: Stmt) -> Stmt:
    """The body in these loops, the first one outermost; each is what `counted` gives for a start of 0."""
    for var, point in reversed(loops):
        body = loop(draft, var, point.extent, body)
    return body


def changed(site: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    """The element updated from its old value, or stored anew."""
    if site.draft.source.flip():
        try:
            return updated(site, tensor, indices)
        except Unfit:
            pass
    return store(tensor, site.value(tensor.dtype), indices)


def moved(draft: FunctionDraft, index: Expr, by: int) -> Expr:
    """The index plus a number."""
    return tirx.Add(index, draft.number(by)) if by else index


def element(tensor: DraftTensor, *indices: Expr) -> Term:
    """One element of a tensor."""
    return load(tensor, list(indices))
