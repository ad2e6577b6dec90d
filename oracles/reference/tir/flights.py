"""Asynchronous copies that are under way, noted while a function runs.

A store inside of an `async_scope` is made by a copy that goes on beside the program. An `async_commit_queue_scope`
makes the copies issued in it a group of a queue, an `async_wait_queue_scope` with `async_wait_inflight_count` n waits
until all groups of the queue but the last n have arrived (include/tvm/s_tir/stmt.h; PTX ISA, cp.async.commit_group and
cp.async.wait_group). Until then the element holds anything: to load it, or to store to it, is a race with the copy.
What a copy reads is taken as read when it is issued. All threads commit and wait together.

TVM takes a wait for less than no group as none (src/tirx/transform/remove_no_op.cc).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from generators.dtypes import Array
from oracles.reference.errors import Trap
from oracles.reference.tir.arithmetic import Mask
from oracles.reference.tir.nodes import Copying, Function, Store
from oracles.reference.tir.threads import parts


def flying(function: Function) -> frozenset[int]:
    """The memories that asynchronous copies store to. Memory of one thread is not watched: values on their way to
    their place lie in such memory too."""
    copies = (inner for part in parts(function.body) if isinstance(part, Copying) for inner in parts(part.body))
    return frozenset(s.buffer.memory for s in copies if isinstance(s, Store) and s.buffer.scope != "local")


class Flights:
    """For each memory the group with which the copy to each of its units arrives; 0 where none is under way."""

    def __init__(self) -> None:
        self._group = 1
        self._arrives: dict[int, Array] = {}
        self._committed: dict[int, list[int]] = {}

    def fresh(self, memory: int) -> None:
        """The memory is allocated anew."""
        self._arrives.pop(memory, None)

    def load(self, value: Array, memory: int, element: Array | int, mask: Mask, units: int, site: str) -> Array:
        """Checks a load of `value`, which it gives back. units: into how many parts the memory divides an element."""
        self._check(memory, _units(element, mask, units), site, "loaded")
        return value

    def store(self, memory: int, element: Array | int, mask: Mask, units: int, site: str, copying: bool) -> None:
        """Checks a store that has been made; `copying`: by a copy, which is under way from here on."""
        where = _units(element, mask, units)
        self._check(memory, where, site, "stored to")
        if copying and where.size:
            self._until(memory, int(where.max()))[where] = self._group

    def commit(self, queue: int) -> None:
        """The copies issued since the last commit are a group."""
        self._committed.setdefault(queue, []).append(self._group)
        self._group += 1

    def wait(self, queue: int, left: int) -> None:
        """All groups of the queue but the last `left` arrive."""
        groups = self._committed.get(queue, [])
        if left < 0 or len(groups) <= left:
            return
        arrived, self._committed[queue] = groups[: len(groups) - left], groups[len(groups) - left :]
        for arrives in self._arrives.values():
            arrives[np.isin(arrives, arrived)] = 0

    def _until(self, memory: int, last: int) -> Array:
        """The groups of a memory's units, up to one at least."""
        known = self._arrives.get(memory, np.zeros(0, np.int64))
        if last >= known.size:
            known = self._arrives[memory] = np.concatenate([known, np.zeros(last + 1 - known.size, np.int64)])
        return known

    def _check(self, memory: int, where: Array, site: str, does: str) -> None:
        arrives = self._arrives.get(memory)
        if arrives is None:
            return
        where = where[(where >= 0) & (where < arrives.size)]
        under_way = where[arrives[where] != 0]
        if under_way.size:
            raise Trap(
                "data-race", f"{site}: unit {under_way[0]} is {does} while an asynchronous copy to it is under way"
            )


def _units(element: Array | int, mask: Mask, units: int) -> Array:
    """The numbers of the units that the mask lets be accessed."""
    elements, chosen = np.broadcast_arrays(element, True if mask is None else mask)
    flat: Array = elements.reshape(-1)[chosen.reshape(-1)].astype(np.int64)
    return flat if units == 1 else np.reshape(flat[:, None] * units + np.arange(units), -1)


NAMES: dict[str, Callable[..., object]] = {"Flights": Flights}
