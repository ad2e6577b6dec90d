"""Reductions as plain loops: a number that one loop or two add to, in a buffer of one element or where the sum is to
be, from a number, an element or what is there on.

Other statements bring each value that they store into a range, which hides the sum from passes that look for one.
Here nothing stands around it: the range of the whole sum is known before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from tvm import tirx

from generators.ranges import Range
from generators.source import favour
from generators.tir.control_flow import budget
from generators.tir.expressions import converted
from generators.tir.function_draft import DraftTensor, Unfit, load
from generators.tir.reads import counter
from generators.tir.site import Inner, Site, sequence, store
from generators.tir.terms import Term, constant, fits
from generators.tvm_api import Expr, Stmt

_NODES: dict[str, Callable[[Expr, Expr], Expr]] = {"sum": tirx.Add, "max": tirx.Max, "min": tirx.Min}
_DTYPES = ("float32", "int32", "int64", "float64")
_LARGEST = 1000
"""Numbers that are added up are no larger: few dtypes hold the sum of more."""


def draw_accumulation(site: Site, _inner: Inner) -> Stmt:
    """A sum, a maximum or a minimum of elements over one loop or two, from any number on, and its store."""
    draft, source = site.draft, site.draft.source
    sources = [t for t in site.tensors if _can_be_added(t)]
    targets = [t for t in site.writable if t.dtype != "bool"]
    if not sources or not targets:
        raise Unfit("nothing to add up, or nowhere to store it")
    tensor, target = site.near(sources), site.near(targets)
    lengths = [dim for dim in tensor.dims if dim.static and dim.value > 1][-favour(source, 1, 2) :]
    lengths = lengths or [draft.extent(favour(source, 4, 2, 3, 6))]
    turns = prod(dim.value for dim in lengths)
    budget(site, turns)
    points = [counter(draft, dim) for dim in lengths]
    deeper = site.inside(*points, turns=turns)
    element = load(tensor, deeper.index_of(tensor))
    kind = favour(source, "sum", "max", "min")

    def looped(statement: Stmt) -> Stmt:
        for point, length in reversed(list(zip(points, lengths, strict=True))):
            statement = tirx.For(point.term.expr, draft.number(0), length.expr, tirx.ForKind.SERIAL, statement)
        return statement

    if _can_hold(site, target, tensor) and source.flip():
        made = _in_place(site, target, _Accumulated(kind, element, turns), looped)
        draft.features.add("accumulation")
        return made
    first = constant(favour(source, 0, 1, 3, 2), tensor.dtype)
    total = _Accumulated(kind, element, turns).range_from(first)
    one = (draft.extent(1),)
    held = draft.add_tensor("acc", one, tensor.dtype, total, fraction=tensor.fraction, role="alloc", scope="local")
    draft.tensors.pop()
    here = [draft.number(0)]
    loop = looped(tirx.BufferStore(held.buffer, _NODES[kind](load(held, here).expr, element.expr), here))
    begun = tirx.BufferStore(held.buffer, first.expr, here)
    value = load(held, here)
    if value.dtype != target.dtype:
        value = converted(site.operands([], 0), value, target.dtype)
    stored = store(target, value, site.index_of(target))
    draft.features.add("accumulation")
    return sequence(tirx.AllocBuffer(held.buffer), begun, loop, stored)


def _in_place(site: Site, target: DraftTensor, wanted: _Accumulated, looped: Callable[[Stmt], Stmt]) -> Stmt:
    """A sum in the element that it is for: what other statements keep in its range passes it until the end."""
    source, here = site.draft.source, site.index_of(target)
    there = load(target, here)
    others = [t for t in site.tensors if t is not target and t.dtype == target.dtype and _can_be_added(t)]
    start = favour(source, "element", "number", "there")
    if start == "element" and others:
        other = site.near(others)
        first = load(other, site.index_of(other))
    else:
        first = there if start == "there" else constant(favour(source, 0, 1, 3, 2), target.dtype)
    fraction = max(wanted.element.fraction, first.fraction)
    total = replace(there, range=wanted.range_from(first), fraction=fraction)
    begun = sequence() if first is there else tirx.BufferStore(target.buffer, first.expr, here)
    step = tirx.BufferStore(target.buffer, _NODES[wanted.kind](there.expr, wanted.element.expr), here)
    kept = total.range.within(target.range.low, target.range.high) and fraction <= target.fraction
    return sequence(begun, looped(step), sequence() if kept else store(target, total, here))


def _can_hold(site: Site, target: DraftTensor, tensor: DraftTensor) -> bool:
    """Whether an element of `target` can be the sum of elements of `tensor` while it is made."""
    apart = site.memory.get(target.name, target.name) != site.memory.get(tensor.name, tensor.name)
    return apart and target.dtype == tensor.dtype and _can_be_added(target)


def _can_be_added(tensor: DraftTensor) -> bool:
    return not tensor.special and tensor.dtype in _DTYPES and tensor.range.magnitude <= _LARGEST and bool(tensor.dims)


@dataclass(frozen=True, slots=True)
class _Accumulated:
    """What is added up, or compared, in so many turns."""

    kind: str
    element: Term
    turns: int

    def range_from(self, first: Term) -> Range:
        """The range of all values that the accumulator holds. Raises Unfit where the dtype does not."""
        if self.kind != "sum":
            return first.range.hull(self.element.range)
        total = first.range + self.element.range.scaled(self.turns).including(0.0)
        if not fits(total, self.element.dtype, max(first.fraction, self.element.fraction)):
            raise Unfit("the sum does not fit")
        return total
