"""Accesses that are slices: each index is proven to be in bounds, and is a number or linear in one axis."""

from __future__ import annotations

from typing import NamedTuple

from oracles.reference.tir.emit.state import EmitState
from oracles.reference.tir.nodes import Buffer, Expr, Var


class _Dim(NamedTuple):
    """One index of a sliced access: a number, or a slice along the axis at `position` (0: a number)."""

    text: str
    position: int
    whole: bool


class Slices(NamedTuple):
    """A view of a buffer: an optional transposition, a subscript, and whether it covers the whole buffer."""

    order: tuple[int, ...] | None
    subscript: str
    covers: bool

    def of(self, name: str) -> str:
        """The view of the array called `name`."""
        base = name if self.order is None else f"{name}.transpose({', '.join(map(str, self.order))})"
        return base + self.subscript

    def target(self, name: str) -> str:
        """The view as the target of an assignment."""
        return self.of(name) if self.subscript else f"{self.of(name)}[...]"


def proven(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...]) -> bool:
    """Whether all indices are in bounds and computed without overflow, for all data."""
    for index, extent in zip(indices, buffer.shape, strict=True):
        low, high, safe = state.bounds.interval(index)
        if not safe or low < 0 or high >= extent:
            return False
    return True


def slices_of(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...]) -> Slices | None:
    """The sliced form of a proven access, or None if some index is no number and no multiple of one axis."""
    if not state.axes:
        return None
    dims: list[_Dim] = []
    for index, extent in zip(indices, buffer.shape, strict=True):
        dim = _dim(state, index, extent)
        if dim is None:
            return None
        dims.append(dim)
    positions = [dim.position for dim in dims if dim.position]
    if not positions or len(set(positions)) != len(positions):
        return None
    return _arranged(dims, buffer.shape)


def _dim(state: EmitState, index: Expr, extent: int) -> _Dim | None:
    form = state.bounds.linear(index)
    scale, axis, rest = 0, None, {}
    for term, factor in form.terms.items():
        found = state.axes.get(term.key) if isinstance(term, Var) else None
        if found is None:
            rest[term] = factor
        elif axis is not None:
            return None
        else:
            scale, axis = factor, found
    if axis is None:
        code = state.expr(index)
        return None if code.grid else _Dim(code.text, 0, False)
    start = _start(state, rest, form.const)
    if start is None:
        return None
    if isinstance(start, int):
        return _constant_slice(start, scale, axis.extent, axis.position, extent)
    if scale != 1:
        return None
    name = state.names.temporary()
    return _Dim(f"({name} := {start}):{name} + {axis.extent}", axis.position, False)


def _start(state: EmitState, rest: dict[Expr, int], const: int) -> int | str | None:
    """The first index along an axis: a number, or the code of a uniform expression; None if it is a grid."""
    if not rest:
        return const
    parts = [str(const)] if const else []
    for term, factor in rest.items():
        code = state.expr(term)
        if code.grid:
            return None
        parts.append(code.text if factor == 1 else f"{factor} * {code.text}")
    return " + ".join(parts)


def _constant_slice(start: int, scale: int, count: int, position: int, extent: int) -> _Dim:
    if start == 0 and scale == 1 and count == extent:
        return _Dim(":", position, True)
    stop = start + scale * (count - 1) + (1 if scale > 0 else -1)
    step = "" if scale == 1 else f":{scale}"
    return _Dim(f"{start}:{stop if stop >= 0 else ''}{step}", position, False)


def _arranged(dims: list[_Dim], shape: tuple[int, ...]) -> Slices:
    """Puts the sliced dimensions in the order of the axes and inserts the missing ones."""
    sliced = sorted((dim.position, number) for number, dim in enumerate(dims) if dim.position)
    fixed = [number for number, dim in enumerate(dims) if not dim.position]
    natural = [number for number, dim in enumerate(dims) if dim.position]
    wanted = [number for _, number in sliced]
    if natural == wanted:
        order, sequence = None, list(range(len(dims)))
    else:
        order = tuple(fixed + wanted)
        sequence = list(order)
    items: list[str] = []
    expected = sliced[0][0]
    for number in sequence:
        dim = dims[number]
        if dim.position:
            items.extend(["None"] * (dim.position - expected))
            expected = dim.position + 1
        items.append(dim.text)
    items.extend(["None"] * -expected)
    covers = all(dim.whole or extent == 1 for dim, extent in zip(dims, shape, strict=True))
    plain = all(dim.whole for dim in dims) and len(items) == len(dims)
    return Slices(order, "" if plain else f"[{', '.join(items)}]", covers)
