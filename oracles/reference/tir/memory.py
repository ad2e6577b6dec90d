"""Buffer accesses that need a check when they run, as called by generated code: bounds and initialisation.

An initialisation mask is None (every element is initialised) or a bool array of the buffer's shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from generators.dtypes import Array, Scalar
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.arithmetic import Mask, trap_where

Positions: TypeAlias = tuple[Array | int, ...]
"""An index: for each dimension a grid of positions, or one."""
InitMask: TypeAlias = Array | None
"""Which elements are initialised; None: all."""


def axis(extent: int, position: int) -> Array:
    """0 .. extent - 1 along the dimension `position` (counted from the right) of a grid."""
    return np.arange(extent, dtype=np.int64).reshape((extent,) + (1,) * (-position - 1))


def initialised(value: Array, known: Array, mask: Mask, site: str) -> Array:
    """`value`, of which `known` says what is initialised; `known` has the shape of `value`."""
    trap_where(~known, mask, "uninitialised", site)
    return value


class Units:
    """The initialisation mask of elements that other views see in smaller parts: a bool for each unit of an element,
    along one more dimension. Indexing is by element; an element counts as initialised when all its units are.
    """

    __slots__ = ("units",)

    def __init__(self, units: Array) -> None:
        self.units = units

    def __getitem__(self, index: slice | Positions) -> Units:
        return Units(self.units[index])

    def __setitem__(self, index: slice | Positions, value: bool) -> None:
        self.units[index] = value

    def __invert__(self) -> Array | Scalar:
        return ~self.units.all(axis=-1)

    def __bool__(self) -> bool:
        return bool(self.units.all())

    def transpose(self, *order: int) -> Units:
        """The dimensions of the elements in another order."""
        return Units(self.units.transpose(*order, len(order)))

    def reshape(self, *shape: int) -> Array:
        """The units themselves in another shape."""
        return self.units.reshape(*shape)

    def all(self) -> bool:
        """Whether everything is initialised."""
        return bool(self)


def nothing_in(shape: tuple[int, ...], count: int) -> Units:
    """The mask of fresh memory whose elements have `count` units each."""
    return Units(np.zeros((*shape, count), np.bool_))


def split(known: InitMask, count: int) -> Units | None:
    """A mask by element as one of `count` units for each element."""
    return None if known is None else Units(np.repeat(known[..., None], count, axis=-1))


def joined(known: Units | None, whole: Array) -> Array | None:
    """The mask by element that `split` was given, brought up to date; None if all is initialised."""
    if known is None:
        return None
    whole[...] = known.units.all(axis=-1)
    return whole


def mark(known: Array | Units, mask: Array) -> None:
    """Marks the elements that the mask selects as initialised."""
    if isinstance(known, Units):
        np.copyto(known.units, True, where=np.asarray(mask)[..., None])
    else:
        np.copyto(known, True, where=mask)


def load_one(buffer: Array, known: InitMask | Units, site: str, index: tuple[int, ...]) -> Scalar:
    """One element as a NumPy scalar, with both checks."""
    for position, extent in zip(index, buffer.shape, strict=True):
        if not 0 <= position < extent:
            raise Trap("out-of-bounds", f"{site}[{', '.join(map(str, index))}], shape {buffer.shape}")
    if known is not None and not known[index]:
        raise Trap("uninitialised", site)
    return buffer[index]


def store_one(buffer: Array, known: InitMask | Units, site: str, index: tuple[int, ...], value: npt.ArrayLike) -> None:
    """Stores one element, with a bounds check, and marks it."""
    for position, extent in zip(index, buffer.shape, strict=True):
        if not 0 <= position < extent:
            raise Trap("out-of-bounds", f"{site}[{', '.join(map(str, index))}], shape {buffer.shape}")
    buffer[index] = value
    if known is not None:
        known[index] = True


def _legal(buffer: Array, mask: Mask, site: str, index: Positions) -> tuple[Array, ...]:
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


def load_grid(buffer: Array, known: InitMask | Units, mask: Mask, site: str, index: Positions) -> Array:
    """A gather with both checks; elements that the mask excludes are arbitrary."""
    legal = _legal(buffer, mask, site, index)
    if buffer.size == 0:
        return np.zeros(np.broadcast_shapes(*(position.shape for position in legal)), buffer.dtype)
    values = buffer[legal]
    if known is not None:
        trap_where(~known[legal], mask, "uninitialised", site)
    return np.asarray(values)


def store_grid(
    buffer: Array, known: InitMask | Units, mask: Mask, site: str, index: Positions, value: npt.ArrayLike
) -> None:
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


def scatter(
    buffer: Array,
    known: InitMask | Units,
    mask: Mask,
    site: str,
    index: Positions,
    value: npt.ArrayLike,
    shape: tuple[int, ...],
) -> None:
    """`store_grid` for positions that may be the same: the last of a grid of this shape, in row-major order, counts."""
    legal = _legal(buffer, mask, site, index)
    chosen = slice(None) if mask is None else np.broadcast_to(mask, shape).reshape(-1)
    where = tuple(np.broadcast_to(position, shape).reshape(-1)[chosen] for position in legal)
    values = np.broadcast_to(value, shape).reshape(-1)[chosen]
    if values.size and not where:
        buffer[()] = values[-1]
    elif values.size:
        buffer[where] = values
    if known is not None and values.size:
        known[where] = True


def known_at(known: InitMask, shape: tuple[int, ...], mask: Mask, site: str, index: Positions) -> Array:
    """Which elements of a buffer of this shape are initialised."""
    held = np.broadcast_to(np.True_, shape) if known is None else known
    return held[_legal(held, mask, site, index)]


def forgotten(known: InitMask, shape: tuple[int, ...], mask: Mask, index: Positions) -> Array:
    """The initialisation mask of a buffer whose elements become uninitialised where `mask` holds."""
    held = np.ones(shape, np.bool_) if known is None else known
    if mask is None:
        held[index] = False
    else:
        where = tuple(np.broadcast_arrays(mask, *index))
        held[tuple(position[where[0]] for position in where[1:])] = False
    return held


def view_of(
    buffer: Array,
    known: InitMask | Units,
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    offset: int,
    unit: int,
    site: str,
) -> tuple[Array, InitMask | Units]:
    """The memory of a buffer from `offset` (in bytes) on in another shape and type, with its mask, which goes by
    `unit` bytes."""
    width = np.dtype(dtype).itemsize
    end = offset + math.prod(shape) * width
    if offset < 0 or end > buffer.nbytes:
        raise Trap("out-of-bounds", f"{site}: bytes {offset} to {end} of {buffer.nbytes}")
    if not buffer.flags.c_contiguous:
        raise Unsupported("view of an array that is not contiguous")
    view = buffer.reshape(-1).view(np.uint8)[offset:end].view(dtype).reshape(shape)
    if known is None:
        return view, None
    units = (known.units if isinstance(known, Units) else known).reshape(-1)[offset // unit : end // unit]
    return view, units.reshape(shape) if width == unit else Units(units.reshape(*shape, width // unit))


def settled(known: InitMask | Units) -> InitMask | Units:
    """None instead of a mask that is all true."""
    return None if known is None or known.all() else known


NAMES: dict[str, Callable[..., object]] = {
    f.__name__: f
    for f in (
        *(axis, initialised, load_one, store_one, load_grid, store_grid, view_of, settled),
        *(nothing_in, split, joined, mark),
        *(scatter, known_at, forgotten),
    )
}
