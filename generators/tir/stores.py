"""Statements that store: a value, an element changed by what it was, and a value passed on from store to store."""

from __future__ import annotations

from typing import Any

from tvm import tirx

from generators.ranges import Range
from generators.tir.draft import Tensor, Unfit, load
from generators.tir.expressions import converted
from generators.tir.place import Inner, Place, sequence, store
from generators.tir.reads import can_read
from generators.tir.terms import Term, capacity

_REGISTER = 0.5
"""A value is passed on through a buffer of one element this often, where there is one."""


def writable(place: Place) -> Tensor:
    """A tensor to store to, whose dims can be counted here. Raises Unfit where there is none."""
    lengths = [point.extent for point in place.points]
    options = [t for t in place.writable if can_read(t, lengths)]
    if not options:
        raise Unfit("nothing to write")
    return place.near(options)


def memory(place: Place, tensor: Tensor) -> str:
    """The name of the buffer that it lies in."""
    return place.memory.get(tensor.name, tensor.name)


def draw_store(place: Place, _inner: Inner) -> Any:
    """A store anywhere in a tensor."""
    tensor = writable(place)
    return stored(place, tensor, place.index_of(tensor))


def stored(place: Place, tensor: Tensor, indices: list[Any]) -> Any:
    """A store of any value to the element."""
    statement = store(tensor, place.value(tensor.dtype), indices)
    place.remember(tensor, indices)
    return statement


def draw_update(place: Place, _inner: Inner) -> Any:
    """An element changed by what it was."""
    tensor = writable(place)
    return updated(place, tensor, place.index_of(tensor))


def updated(place: Place, tensor: Tensor, indices: list[Any]) -> Any:
    """The element changed by what it was. Raises Unfit where that might overflow."""
    now = load(tensor, indices)
    if tensor.dtype == "bool":
        return tirx.BufferStore(tensor.buffer, tirx.Not(now.expr), indices)
    node, values = place.draft.source.pick(
        ((tirx.Add, Range.__add__), (tirx.Sub, Range.__sub__), (tirx.Max, Range.maximum), (tirx.Min, Range.minimum))
    )
    other = place.value(tensor.dtype)
    top = capacity(tensor.dtype, max(tensor.fraction, other.fraction))
    if values(now.range, other.range).magnitude > top or tensor.dtype.startswith("u") and node is tirx.Sub:
        raise Unfit("an update would overflow")
    changed = Term(
        node(now.expr, other.expr), tensor.dtype, values(now.range, other.range), max(now.fraction, other.fraction)
    )
    place.draft.features.add("accumulate")
    place.remember(tensor, indices)
    return store(tensor, changed, indices)


def draw_chain(place: Place, _inner: Inner) -> Any:
    """Two stores one behind the other, the second of what the first has stored."""
    source = place.draft.source
    registers = [t for t in place.writable if t.role == "alloc" and t.elements == 1]
    tensor = source.pick(registers) if registers and source.flip(_REGISTER) else writable(place)
    others = [t for t in place.writable if memory(place, t) != memory(place, tensor)]
    if not others:
        raise Unfit("nothing else to write")
    indices = place.index_of(tensor)
    first = stored(place, tensor, indices)
    target = source.pick(others)
    now = load(tensor, indices)
    value = now if tensor.dtype == target.dtype else converted(place.site([], 0), now, target.dtype)
    place.draft.features.add("chain")
    where = place.index_of(target)
    place.remember(target, where)
    return sequence(first, store(target, value, where))
