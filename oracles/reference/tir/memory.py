"""Buffer accesses that need a check when they run, as called by generated code: bounds and initialisation.

An initialisation mask is None (every element is initialised) or a bool array of the buffer's shape.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.arithmetic import trap_where

Array = Any


@lru_cache(maxsize=4096)
def axis(extent: int, position: int) -> Array:
    """0 .. extent - 1 along the dimension `position` (counted from the right) of a grid; read-only."""
    values = np.arange(extent, dtype=np.int64).reshape((extent,) + (1,) * (-position - 1))
    values.flags.writeable = False
    return values


def initialised(value: Array, known: Array, mask: Array, site: str) -> Array:
    """`value`, of which `known` says what is initialised; `known` has the shape of `value`."""
    trap_where(~known, mask, "uninitialised", site)
    return value


def load_one(buffer: Array, known: Array, site: str, index: tuple[int, ...]) -> Any:
    """One element as a NumPy scalar, with both checks."""
    for position, extent in zip(index, buffer.shape, strict=True):
        if not 0 <= position < extent:
            raise Trap("out-of-bounds", f"{site}[{', '.join(map(str, index))}], shape {buffer.shape}")
    if known is not None and not known[index]:
        raise Trap("uninitialised", site)
    return buffer[index]


def store_one(buffer: Array, known: Array, site: str, index: tuple[int, ...], value: Any) -> None:
    """Stores one element, with a bounds check, and marks it."""
    for position, extent in zip(index, buffer.shape, strict=True):
        if not 0 <= position < extent:
            raise Trap("out-of-bounds", f"{site}[{', '.join(map(str, index))}], shape {buffer.shape}")
    buffer[index] = value
    if known is not None:
        known[index] = True


def _legal(buffer: Array, mask: Array, site: str, index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index with every position that the mask excludes made legal; traps on an illegal one."""
    legal = []
    for dim, (position, extent) in enumerate(zip(index, buffer.shape, strict=True)):
        position = np.asarray(position)
        if position.size and (int(position.min()) < 0 or int(position.max()) >= extent):
            wrong = (position < 0) | (position >= extent)
            trap_where(wrong, mask, "out-of-bounds", f"{site}, dimension {dim} of shape {buffer.shape}")
            position = np.where(wrong, 0, position)
        legal.append(position.astype(np.intp, copy=False))
    return tuple(legal)


def load_grid(buffer: Array, known: Array, mask: Array, site: str, index: tuple[Any, ...]) -> Array:
    """A gather with both checks; elements that the mask excludes are arbitrary."""
    legal = _legal(buffer, mask, site, index)
    if buffer.size == 0:
        return np.zeros(np.broadcast_shapes(*(position.shape for position in legal)), buffer.dtype)
    values = buffer[legal]
    if known is not None:
        trap_where(~known[legal], mask, "uninitialised", site)
    return np.asarray(values)


def store_grid(buffer: Array, known: Array, mask: Array, site: str, index: tuple[Any, ...], value: Any) -> None:
    """A scatter with a bounds check, where the mask allows; the positions are distinct."""
    legal = _legal(buffer, mask, site, index)
    if mask is None:
        if buffer.size:
            buffer[legal] = value
            if known is not None:
                known[legal] = True
        return
    shape = np.broadcast_shapes(mask.shape, *(position.shape for position in legal))
    chosen = np.broadcast_to(mask, shape)
    where = tuple(np.broadcast_to(position, shape)[chosen] for position in legal)
    if where[0].size:
        buffer[where] = np.broadcast_to(value, shape)[chosen]
        if known is not None:
            known[where] = True


def view_of(
    buffer: Array, known: Array, shape: tuple[int, ...], dtype: Any, offset: int, site: str
) -> tuple[Array, Array]:
    """The elements of a buffer from `offset` on in another shape and a type of the same size, with their mask."""
    size = math.prod(shape)
    if not 0 <= offset <= buffer.size - size:
        raise Trap("out-of-bounds", f"{site}: elements {offset} to {offset + size} of {buffer.size}")
    if not buffer.flags.c_contiguous:
        raise Unsupported("view of an array that is not contiguous")
    part = slice(offset, offset + size)
    view = buffer.reshape(-1)[part].view(dtype).reshape(shape)
    return view, None if known is None else known.reshape(-1)[part].reshape(shape)


def settled(known: Array) -> Array:
    """None instead of a mask that is all true."""
    return None if known is None or known.all() else known


NAMES: dict[str, Any] = {
    f.__name__: f for f in (axis, initialised, load_one, store_one, load_grid, store_grid, view_of, settled)
}
