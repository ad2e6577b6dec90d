"""Where the memory of threads lies: one buffer for all threads, with leading dimensions for those that have their own
part, and expressions that access it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod

from oracles.reference.tir.constants import fold
from oracles.reference.tir.nodes import INT64, Alloc, Buffer, Const, DType, Expr, Stmt, View
from oracles.reference.tir.rewrite import substitute
from oracles.reference.tir.threads import EMPTY, Kernel

WORD = 8
"""Bytes of the largest element."""
PRIVATE = 1 << 20
"""Elements of thread memory that a schedule may allocate outside of its loops, at most: one copy for each thread."""


def new_buffer(kernel: Kernel, name: str, dtype: DType, shape: tuple[int, ...], scope: str) -> Buffer:
    """A buffer that the program does not have. Scope local: each thread has its own part."""
    kernel.memory.slots += 1
    if scope == "local":
        kernel.memory.local.add(kernel.memory.slots - 1)
    return Buffer(kernel.memory.slots - 1, name, dtype, shape, scope=scope)


def per_thread(kernel: Kernel, name: str, dtype: DType) -> tuple[Buffer, tuple[Expr, ...]]:
    """A temporary with one element for each thread, and where that is."""
    lead = kernel.lead("local")
    buffer = new_buffer(kernel, name, dtype, tuple(extent for _, extent in lead), "local")
    return buffer, tuple(index for index, _ in lead)


def allocate(kernel: Kernel, buffer: Buffer) -> Stmt:
    """Allocates the memory of threads for `buffer`."""
    scope = _shared_by(buffer.scope)
    lead = kernel.lead(scope)
    flat = buffer.slot in kernel.memory.viewed
    shape = (_flat_size(buffer, buffer.slot in kernel.memory.units),) if flat else buffer.shape
    home = new_buffer(kernel, buffer.name, buffer.dtype, (*(extent for _, extent in lead), *shape), scope)
    kernel.memory.homes[buffer.slot] = home, tuple(index for index, _ in lead), flat
    if buffer.slot in kernel.memory.units:
        kernel.memory.units[home.slot] = kernel.memory.units[buffer.slot]
    if buffer.slot in kernel.memory.doubtful:
        kernel.memory.unsure.add(home.slot)
    return Alloc(home)


def _shared_by(scope: str) -> str:
    """Who shares memory of a scope: "local" for one thread. The fragments of mma instructions are the warp's until
    TransformMmaBufferLayout gives each thread its part."""
    if scope.startswith("m16n8k8"):
        return "warp"
    return scope if scope == "warp" or scope.startswith("shared") else "local"


def view_for_all(kernel: Kernel, buffer: Buffer) -> Stmt:
    """A view of memory of threads, as a view of the memory of all threads."""
    home, _, _ = kernel.memory.homes[buffer.memory]
    if buffer.dtype is home.dtype:
        return EMPTY
    *lead, last = home.shape
    width = buffer.dtype.numpy.itemsize
    found = kernel.memory.recast.get((home.slot, buffer.dtype.name))
    if found is None:
        shape = (*lead, last * home.dtype.numpy.itemsize // width)
        found = new_buffer(kernel, buffer.name, buffer.dtype, shape, home.scope)
        found = replace(found, source=home)
        kernel.memory.recast[home.slot, buffer.dtype.name] = found
    return View(found)


def placed(kernel: Kernel, buffer: Buffer, indices: tuple[Expr, ...]) -> tuple[Buffer, tuple[Expr, ...]]:
    """Where an element of a buffer of the kernel lies. Indices are already changed."""
    found = kernel.memory.homes.get(buffer.memory)
    if found is None:
        return buffer, indices
    home, lead, flat = found
    if buffer.dtype is not home.dtype:
        home = kernel.memory.recast[home.slot, buffer.dtype.name]
    if not flat:
        return home, (*lead, *indices)
    offset: Expr = Const(buffer.start // home.dtype.numpy.itemsize, INT64)
    stride = 1
    for extent, index in zip(reversed(buffer.shape), reversed(indices), strict=True):
        offset = fold("add", offset, fold("mul", index, Const(stride, INT64), INT64), INT64)
        stride *= extent
    return home, (*lead, offset)


def converted(kernel: Kernel, expr: Expr) -> Expr:
    """An expression as it is in loops over the threads."""
    return substitute(expr, kernel.by, partial(placed, kernel))


def _flat_size(buffer: Buffer, mixed: bool) -> int:
    """How many elements; with `mixed`, as many as fill whole words, since others may be larger."""
    size, width = prod(buffer.shape), int(buffer.dtype.numpy.itemsize)
    return -(-size * width // WORD) * WORD // width if mixed else size
