"""What threads may not do together, as called by generated code: divergent barriers and data races.

Two accesses of one element by different threads of a block race if at least one is a store and no barrier lies between
them (CUDA C++ Programming Guide, "Memory Fence Functions", and PTX ISA, "Memory Consistency Model": no causality
order). A barrier of the block orders all of its threads, one of the warp those of a warp. Accesses are noted as they
happen, with element and thread, and judged at every barrier of the block and at the end of the kernel, so that loops
need no care.

Not a race: threads that store the same value last, and stores of the value that the element has. TVM relies on both
(LowerThreadAllreduce: "all threads are uniformly writing the same result", and `buf[0] = buf[0]` where it has put the
result into shared memory; ThreadSync never orders two stores). Nor what the threads of one warp load and store in one
statement, loads first: TVM's cumsum for GPUs scans so, with no barrier that could stand in between. Blocks are not
compared with each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from generators.dtypes import Array, Scalar
from oracles.reference.errors import Trap
from oracles.reference.tir.arithmetic import Mask
from oracles.reference.tir.memory import InitMask

AccessPlace: TypeAlias = tuple[Array | int, Array | int, Array | int]
WARP = 32
"""The threads of a warp."""


class _Access(NamedTuple):
    """One statement's accesses of one memory: element, thread, bits of the value stored and whether that changes the
    element, all of one length."""

    element: Array
    block: Array
    thread: Array
    bits: Array | None
    changes: Array | None
    phase: int
    statement: int
    site: str


class Races:
    """The accesses of one kernel since the last barrier of the block, by memory."""

    def __init__(self) -> None:
        self._noted: dict[int, list[_Access]] = {}
        self._phase = 0

    def load(
        self, value: Array, memory: int, place: AccessPlace, statement: int, site: str, mask: Mask, parts: int
    ) -> Array:
        """Notes a load of `value`, which it gives back. place: element, block, thread. parts: into how many units the
        memory divides an element (views may see it as smaller elements)."""
        element, block, thread, _ = _by_unit(parts, *_chosen(place, mask, 0))
        self._note(memory, _Access(element, block, thread, None, None, self._phase, statement, site))
        return value

    def store(
        self,
        value: Array | Scalar,
        memory: int,
        place: AccessPlace,
        statement: int,
        site: str,
        mask: Mask,
        parts: int,
        held: tuple[Array, InitMask, int],
    ) -> None:
        """Notes a store that is to come. held: the array, its initialisation mask and where its first element lies."""
        array, known, start = held
        if array.size == 0:
            return  # the store itself reports that it is out of bounds
        element, block, thread, values = _chosen(place, mask, np.asarray(value).astype(array.dtype))
        where = np.clip(element - start, 0, array.size - 1)  # the store itself reports an index out of bounds
        bits = _bits(values)
        changes = bits != _bits(array.reshape(-1)[where])
        if known is not None:
            changes |= ~known.reshape(array.size, -1)[where].all(axis=1)
        element, block, thread, bits, changes = _by_unit(parts, element, block, thread, bits, changes)
        self._note(memory, _Access(element, block, thread, bits, changes, self._phase, statement, site))

    def _note(self, memory: int, access: _Access) -> None:
        if access.element.size:
            self._noted.setdefault(memory, []).append(access)

    def warp_barrier(self) -> None:
        """A barrier of every warp."""
        self._phase += 1

    def barrier(self) -> None:
        """A barrier of every block: judges what happened since the last one."""
        noted, self._noted, self._phase = self._noted, {}, 0
        for accesses in noted.values():
            if any(access.bits is not None for access in accesses):
                _judge(accesses)


def _by_unit(parts: int, element: Array, *others: Array) -> tuple[Array, ...]:
    """The same accesses, unit by unit."""
    if parts == 1:
        return element, *others
    units = np.asarray(element)[:, None] * parts + np.arange(parts)
    return units.reshape(-1), *(np.repeat(other, parts) for other in others)


def _chosen(place: AccessPlace, mask: Mask, value: Array | Scalar) -> tuple[Array, ...]:
    """Element, block, thread and value of each access that the mask lets happen."""
    *parts, chosen = np.broadcast_arrays(*place, value, True if mask is None else mask)
    return tuple(part.reshape(-1)[chosen.reshape(-1)] for part in parts)


def _bits(values: Array) -> Array:
    """Equal for equal values; a NaN is a NaN."""
    if values.dtype.kind == "b":
        return values.astype(np.uint64)
    if values.dtype.kind not in "iu":
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").astype(np.uint64)


def _judge(accesses: list[_Access]) -> None:
    element = np.concatenate([a.element for a in accesses]).astype(np.int64)
    block = np.concatenate([a.block for a in accesses]).astype(np.int64)
    thread = np.concatenate([a.thread for a in accesses]).astype(np.int64)
    sizes = [len(a.element) for a in accesses]
    source = np.repeat(np.arange(len(accesses)), sizes)
    bits = np.concatenate(
        [np.zeros(n, np.uint64) if a.bits is None else a.bits for a, n in zip(accesses, sizes, strict=True)]
    )
    stores = np.repeat([a.bits is not None for a in accesses], sizes)
    none = [np.zeros(n, np.bool_) for n in sizes]
    changes = np.concatenate([n if a.changes is None else a.changes for a, n in zip(accesses, none, strict=True)])
    noted = _MemoryAccesses(element, block, thread, bits, stores, changes, source)
    warp = thread // WARP
    _conflict([element, block], warp, noted, accesses, False)
    phase = np.repeat([a.phase for a in accesses], sizes)
    _conflict([element, block, warp, phase], thread, noted, accesses, True)


class _MemoryAccesses(NamedTuple):
    """All accesses of one memory: one entry each."""

    element: Array
    block: Array
    thread: Array
    bits: Array
    stores: Array
    changes: Array
    source: Array


def _conflict(keys: list[Array], who: Array, noted: _MemoryAccesses, accesses: list[_Access], one_warp: bool) -> None:
    """Traps where accesses with the same keys are by different `who`, unless they only store the same."""
    order = np.lexsort((np.arange(len(who)), who, *keys))
    same = np.ones(len(order), np.bool_)
    same[0] = False
    for key in keys:
        same[1:] &= key[order][1:] == key[order][:-1]
    group = np.cumsum(~same) - 1
    count = int(group[-1]) + 1
    who, stores, bits = who[order], noted.stores[order], noted.bits[order]
    first_store, last_store = _span(group[stores], who[stores], count)
    first_load, last_load = _span(group[~stores], who[~stores], count)
    loaded = first_load <= last_load
    changed = np.zeros(count, np.bool_)
    changed[group[noted.changes[order]]] = True
    wrong = changed & loaded & ((first_store != last_store) | (first_load != last_load) | (first_store != first_load))
    places = np.flatnonzero(stores)
    final = np.ones(len(places), np.bool_)  # the last store of each thread to each element
    final[:-1] = (group[places][1:] != group[places][:-1]) | (who[places][1:] != who[places][:-1])
    least, greatest = _span(group[places][final], bits[places][final], count)
    unlike = changed & (first_store != last_store) & (least != greatest)
    for number in np.flatnonzero(wrong | unlike):
        entries = order[group == number]
        if unlike[number] or not one_warp or not _in_lock_step(entries, noted, accesses):
            _report(entries, noted, accesses)


def _in_lock_step(entries: Array, noted: _MemoryAccesses, accesses: list[_Access]) -> bool:
    """Whether the threads of a warp meet at an element in one statement only: its loads come before its stores."""
    statement = np.array([accesses[source].statement for source in noted.source[entries]])
    thread, stores = noted.thread[entries], noted.stores[entries]
    for number in np.unique(statement[stores]):
        here = thread[stores & (statement == number)]
        there = thread[~stores & (statement != number)]
        if there.size and (here.min() != here.max() or (there != here[0]).any()):
            return False
    return True


def _span(group: Array, value: Array, count: int) -> tuple[Array, Array]:
    """The least and the greatest value of each group; the greatest below the least where there is none."""
    wide = np.uint64 if value.dtype == np.uint64 else np.int64
    least = np.full(count, np.iinfo(wide).max, wide)
    greatest = np.full(count, np.iinfo(wide).min, wide)
    np.minimum.at(least, group, value)
    np.maximum.at(greatest, group, value)
    return least, greatest


def _report(entries: Array, noted: _MemoryAccesses, accesses: list[_Access]) -> None:
    """Traps with a store, and another thread's access of the same element."""
    store = next(
        entry for entry in entries if noted.stores[entry] and (noted.thread[entries] != noted.thread[entry]).any()
    )
    others = [entry for entry in entries if noted.thread[entry] != noted.thread[store]]
    other = next((entry for entry in others if not noted.stores[entry]), others[0])
    does = "stores to it" if noted.stores[other] else "loads it"
    raise Trap(
        "data-race",
        f"{accesses[noted.source[store]].site}: element {noted.element[store]} is stored to by thread "
        f"{noted.thread[store]} of block {noted.block[store]}, thread {noted.thread[other]} {does}, no barrier between",
    )


def same_for_all(arrives: Array, blocks: int, site: str) -> None:
    """Traps at a barrier that some threads of a block reach and others do not.

    CUDA C++ Programming Guide, "Synchronization Functions": __syncthreads() is allowed in conditional code only if the
    condition evaluates identically across the entire thread block.
    """
    by_block = arrives.reshape(blocks, -1)
    some, every = by_block.any(axis=1), by_block.all(axis=1)
    if (some != every).any():
        block = int((some != every).argmax())
        there, missing = by_block[block].argmax(), by_block[block].argmin()
        raise Trap("divergent-barrier", f"{site}: reached by thread {there} of block {block}, not by thread {missing}")


NAMES: dict[str, Callable[..., object]] = {"same_for_all": same_for_all, "Races": Races}
