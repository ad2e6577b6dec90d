"""The one cache of the project: results of a function by a key, a bounded number of them.

docs/caches.md says of each cache why it is sound and what it gains. Keys of TVM's objects are addresses, which TVM uses
again for another object once one is freed: so an entry holds the objects whose addresses are in its key.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeAlias, TypeVar

from generators.tvm_api import Node

T = TypeVar("T")
R = TypeVar("R")
N = TypeVar("N", bound=Node)
Key: TypeAlias = tuple[Hashable, object]
"""What entries go by, and the objects that must live as long as the entry."""


class Cache(Generic[T, R]):
    """What `compute` gives, by the `key` of its argument. The oldest entry goes when there are more than `limit`.

    An entry stays as it is when its argument changes in place, unless that changes the key.
    """

    __slots__ = ("_compute", "_entries", "_key", "_limit")

    def __init__(self, compute: Callable[[T], R], key: Callable[[T], Key], limit: int) -> None:
        self._compute = compute
        self._key = key
        self._limit = limit
        self._entries: OrderedDict[Hashable, tuple[object, R]] = OrderedDict()

    def of(self, argument: T) -> R:
        """The remembered result, computed where there is none. `compute` must not change the key; else see `fresh`."""
        key, held = self._key(argument)
        entry = self._entries.get(key)
        return self._keep(key, held, self._compute(argument)) if entry is None else entry[1]

    def get(self, argument: T) -> R | None:
        """The remembered result, None where there is none."""
        entry = self._entries.get(self._key(argument)[0])
        return None if entry is None else entry[1]

    def fresh(self, argument: T) -> R:
        """The result, computed and then remembered by the key that the argument has afterwards."""
        return self.put(argument, self._compute(argument))

    def put(self, argument: T, result: R) -> R:
        """Remembers a result that the caller knows."""
        key, held = self._key(argument)
        return self._keep(key, held, result)

    def resize(self, limit: int) -> None:
        """Holds at most so many entries from now on; 0 switches the cache off."""
        self._limit = limit
        while len(self._entries) > limit:
            self._entries.popitem(last=False)

    def _keep(self, key: Hashable, held: object, result: R) -> R:
        self._entries.pop(key, None)
        self._entries[key] = held, result
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)
        return result

    def __len__(self) -> int:
        return len(self._entries)


class CacheByAddress(Cache[N, R]):
    """By the object itself: for TVM's immutable objects, and for modules, of which an entry says what was true when it
    was made."""

    __slots__ = ()

    def __init__(self, compute: Callable[[N], R], limit: int) -> None:
        super().__init__(compute, lambda node: (node.__chandle__(), node), limit)

    def of(self, argument: N) -> R:
        # Nearly all lookups of judging are these, and nearly all misses. Without the calls they take half the time.
        address = argument.__chandle__()
        entry = self._entries.get(address)
        if entry is None:
            entry = self._entries[address] = argument, self._compute(argument)
            if len(self._entries) > self._limit:
                self._entries.popitem(last=False)
        return entry[1]


def addresses(parts: Sequence[Node | None]) -> tuple[int, ...]:
    """The addresses of objects; 0 for None."""
    return tuple([0 if part is None else part.__chandle__() for part in parts])


def parts(nodes: Sequence[Node | None]) -> Key:
    """By these objects, all of them."""
    return addresses(nodes), nodes
