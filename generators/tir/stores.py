"""Statements that store: a value, an update of an element, and a value passed on from store to store."""

from __future__ import annotations

from tvm import tirx

from generators.ranges import Range
from generators.tir.expressions import converted
from generators.tir.function_draft import DraftTensor, Unfit, load
from generators.tir.reads import can_read
from generators.tir.site import Inner, Site, sequence, store
from generators.tir.terms import Term, capacity
from generators.tvm_api import Expr, Stmt


def writable(site: Site) -> DraftTensor:
    """A tensor to store to, whose dims can be counted here. Raises Unfit where there is none."""
    lengths = [point.extent for point in site.points]
    options = [t for t in site.writable if can_read(t, lengths)]
    if not options:
        raise Unfit("nothing to write")
    return site.near(options)


def memory(site: Site, tensor: DraftTensor) -> str:
    """The name of the buffer that it lies in."""
    return site.memory.get(tensor.name, tensor.name)


def draw_store(site: Site, _inner: Inner) -> Stmt:
    """A store anywhere in a tensor."""
    tensor = writable(site)
    return stored(site, tensor, site.index_of(tensor))


def stored(site: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    """A store of any value to the element."""
    statement = store(tensor, site.value(tensor.dtype), indices)
    site.remember(tensor, indices)
    return statement


def draw_update(site: Site, _inner: Inner) -> Stmt:
    """An update of an element."""
    tensor = writable(site)
    return updated(site, tensor, site.index_of(tensor))


def updated(site: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    """The element updated from its old value. Raises Unfit where that might overflow."""
    now = load(tensor, indices)
    if tensor.dtype == "bool":
        return tirx.BufferStore(tensor.buffer, tirx.Not(now.expr), indices)
    node, values = site.draft.source.pick(
        ((tirx.Add, Range.__add__), (tirx.Sub, Range.__sub__), (tirx.Max, Range.maximum), (tirx.Min, Range.minimum))
    )
    other = site.value(tensor.dtype)
    top = capacity(tensor.dtype, max(tensor.fraction, other.fraction))
    if values(now.range, other.range).magnitude > top or tensor.dtype.startswith("u") and node is tirx.Sub:
        raise Unfit("an update would overflow")
    changed = Term(
        node(now.expr, other.expr), tensor.dtype, values(now.range, other.range), max(now.fraction, other.fraction)
    )
    site.draft.features.add("accumulate")
    site.remember(tensor, indices)
    return store(tensor, changed, indices)


def draw_chain(site: Site, _inner: Inner) -> Stmt:
    """Two stores in sequence; the second stores the element that the first has stored."""
    source = site.draft.source
    registers = [t for t in site.writable if t.role == "alloc" and t.elements == 1]
    tensor = (
        source.pick(registers)
        if registers and source.flip(site.draft.knobs.elements.through_register)
        else writable(site)
    )
    others = [t for t in site.writable if memory(site, t) != memory(site, tensor)]
    if not others:
        raise Unfit("nothing else to write")
    indices = site.index_of(tensor)
    first = stored(site, tensor, indices)
    target = source.pick(others)
    now = load(tensor, indices)
    value = now if tensor.dtype == target.dtype else converted(site.operands([], 0), now, target.dtype)
    site.draft.features.add("chain")
    where = site.index_of(target)
    site.remember(target, where)
    return sequence(first, store(target, value, where))
