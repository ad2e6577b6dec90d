"""Statements of vectors: Ramp and Broadcast in indices and values, as VectorizeLoop leaves them."""

from __future__ import annotations

from tvm import tirx

from generators.dtypes import is_float
from generators.source import favour
from generators.tir.function_draft import DraftTensor, FunctionDraft, Unfit
from generators.tir.site import Inner, Site
from generators.tir.terms import Term, constant, fits
from generators.tvm_api import Expr, Stmt

_LANES = (2, 4, 8, 3)


def draw_lanes(site: Site, _inner: Inner) -> Stmt:
    """A vector of elements of the last dim computed from vectors of others and from scalars."""
    draft = site.draft
    options = [t for t in site.writable if t.dims and t.dims[-1].static and t.dims[-1].value >= 2 and t.dtype != "bool"]
    if not options:
        raise Unfit("no row of two")
    target = draft.source.pick(options)
    lanes = draft.source.pick([n for n in _LANES if n <= target.dims[-1].value])
    sources = [t for t in site.tensors if t.dtype == target.dtype and t.dims]
    sources = [t for t in sources if t.dims[-1].static and t.dims[-1].value >= lanes]
    one = _operand(site, sources, target.dtype, lanes)
    other = _operand(site, sources, target.dtype, lanes)
    value = _combined(draft, one, other, lanes)
    if not is_float(target.dtype) or value.fraction <= target.fraction:
        held = _bounded(value, target, lanes)
    else:
        raise Unfit("too fine")
    draft.features |= {"ramp", "lanes"}
    return tirx.BufferStore(target.buffer, held, _at(site, target, lanes))


def _at(site: Site, tensor: DraftTensor, lanes: int) -> list[Expr]:
    """The indices of `lanes` elements in the last dim, in some stride."""
    draft = site.draft
    last = tensor.dims[-1].value
    stride = favour(draft.source, 1, *(s for s in (2, 3) if s * (lanes - 1) < last))
    base = draft.source.integer(0, last - 1 - stride * (lanes - 1))
    lead = site.index_of(DraftTensor(tensor.buffer, tensor.name, tensor.dims[:-1], tensor.dtype, tensor.range))
    return [*lead, tirx.Ramp(draft.number(base), draft.number(stride), lanes)]


def _operand(site: Site, sources: list[DraftTensor], dtype: str, lanes: int) -> Term:
    """A vector as a term: `range` and `fraction` are those of each lane."""
    draft = site.draft
    if sources and draft.source.flip(draft.knobs.elements.vector_loaded):
        tensor = draft.source.pick(sources)
        loaded = tirx.BufferLoad(tensor.buffer, _at(site, tensor, lanes))
        return Term(loaded, dtype, tensor.range, tensor.fraction)
    scalar = site.value(dtype, lets=False)
    draft.features.add("broadcast")
    return Term(tirx.Broadcast(scalar.expr, lanes), dtype, scalar.range, scalar.fraction)


def _combined(draft: FunctionDraft, one: Term, other: Term, lanes: int) -> Term:
    """The two added, or one chosen by comparing them."""
    fraction = max(one.fraction, other.fraction)
    total = one.range + other.range
    if draft.source.flip() and fits(total, one.dtype, fraction):
        return Term(tirx.Add(one.expr, other.expr), one.dtype, total, fraction)
    hull = one.range.hull(other.range)
    if draft.source.flip():
        return Term(tirx.Max(one.expr, other.expr), one.dtype, hull, fraction)
    chosen = tirx.Select(tirx.LT(one.expr, other.expr), one.expr, other.expr)
    return Term(chosen, one.dtype, hull, fraction)


def _bounded(term: Term, tensor: DraftTensor, lanes: int) -> Expr:
    """Each lane brought into the tensor's range."""
    if term.range.within(tensor.range.low, tensor.range.high):
        return term.expr
    low, high = (tirx.Broadcast(constant(v, term.dtype).expr, lanes) for v in (tensor.range.low, tensor.range.high))
    return tirx.Min(tirx.Max(term.expr, low), high)
