"""Packed functions that PrimFuncs call for their effect: TVM's sorts, with their meaning in
src/runtime/extra/contrib/sort/sort.cc, and one without an effect.

A function takes buffers as `BufferArgument` and Python values for the rest. The sorts are stable in both
directions. Data with NaN has no defined order in C++ and is Unsupported, as are the element types that TVM
refuses. bfloat16 alone is sorted here: operators take it, so a program means that, and no pass may make a sort of
other data of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from generators.dtypes import Array, is_float
from oracles.reference.errors import Trap, Unsupported

SORTABLE = ("float16", "bfloat16", "float32", "float64", "int32", "int64")


class BufferArgument(NamedTuple):
    """A buffer, its initialised elements (None: all), and the place of the call."""

    array: Array
    known: Array | None
    site: str

    def read(self) -> Array:
        """The contents; all must be initialised."""
        if self.known is not None and not self.known.all():
            raise Trap("uninitialised", self.site)
        return self.array

    def write(self, values: Array) -> None:
        """Replaces the contents; the shapes must agree."""
        if self.array.shape != values.shape:
            raise Trap("out-of-bounds", f"{self.site}: {values.shape} stored to shape {self.array.shape}")
        self.array[...] = values
        if self.known is not None:
            self.known[...] = True


def _order(data: Array, axis: int, ascending: bool) -> Array:
    """The stable order along `axis`."""
    if data.dtype.name not in SORTABLE:
        raise Unsupported(f"sort of {data.dtype.name}")
    if is_float(data.dtype.name) and np.isnan(data).any():
        raise Unsupported("sort of NaN")
    if ascending:
        return np.argsort(data, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(data, axis), axis=axis, kind="stable")
    order: Array = data.shape[axis] - 1 - np.flip(backwards, axis)
    return order


def sort(data: BufferArgument, out: BufferArgument, axis: int, ascending: bool) -> None:
    """Sorted values."""
    values = data.read()
    out.write(np.take_along_axis(values, _order(values, axis, ascending), axis))


def argsort(data: BufferArgument, out: BufferArgument, axis: int, ascending: bool) -> None:
    """Indices of the sorted values."""
    out.write(_order(data.read(), axis, ascending))


def topk(data: BufferArgument, *rest: Any) -> None:
    """The first k values, indices or both, in sorted order; k < 1 means all. Equal values keep their order."""
    *outputs, k, axis, which, ascending = rest
    values = data.read()
    order = _order(values, axis, ascending)
    if k >= 1:
        order = np.take(order, np.arange(min(k, order.shape[axis])), axis=axis)
    found = {"values": np.take_along_axis(values, order, axis), "indices": order}
    for output, name in zip(outputs, ("values", "indices") if which == "both" else (which,), strict=True):
        output.write(found[name])


def argsort_nms(data: BufferArgument, count: BufferArgument, out: BufferArgument, axis: int, ascending: bool) -> None:
    """Indices of the sorted first `count` values of each row; the positions after them hold themselves."""
    values = np.moveaxis(data.read(), axis, -1)
    counts = count.read().reshape(values.shape[:-1])
    order = np.broadcast_to(np.arange(values.shape[-1]), values.shape).copy()
    for row in np.ndindex(*values.shape[:-1]):
        used = int(counts[row])
        if used > values.shape[-1]:
            raise Trap("out-of-bounds", data.site)
        if used > 0:
            order[row][:used] = _order(values[row][:used], 0, ascending)
    out.write(np.moveaxis(order, -1, axis))


def echo(_first: object, *_rest: object) -> None:
    """TVM's FFI has it for tests and returns its first argument (`ffi/testing.cc`); the decoder replaces a result that
    is used (`decode/packed.py`)."""


PACKED: dict[str, Callable[..., None]] = {
    **{f"tvm.contrib.sort.{function.__name__}": function for function in (sort, argsort, topk, argsort_nms)},
    "testing.echo": echo,
}
