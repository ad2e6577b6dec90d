"""Remembering what was computed of a module, because `before` of a step was `after` of the step before.

Keyed on the object: a module that a pass changes in place keeps the entry that was true before the pass, which is
what "was the input all right?" asks for. `after` is therefore always computed anew (`fresh`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from generators import tvm_api as T

R = TypeVar("R")
SIZE = 8
"""Modules of which a Memo remembers something at a time."""
LIMIT = 20_000
"""Objects of which a ByAddress remembers something at a time."""
MODULES = 100
"""Modules of which it is remembered which functions they hold."""


class Memo(Generic[R]):
    """The last few results of one function of a module. Entries hold their module, so an identity is never reused."""

    def __init__(self, compute: Callable[[Any], R], size: int = SIZE) -> None:
        self._compute = compute
        self._size = size
        self._entries: OrderedDict[Any, R] = OrderedDict()

    def fresh(self, module: Any) -> R:
        """Computes and remembers."""
        return self.put(module, self._compute(module))

    def put(self, module: Any, result: R) -> R:
        """Remembers what the caller knows to be the result."""
        self._entries.pop(module, None)
        self._entries[module] = result
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)
        return result

    def known(self, module: Any) -> R:
        """The remembered result, computed when there is none."""
        found = self._entries.get(module)
        return self.fresh(module) if found is None else found


class ByAddress(Generic[R]):
    """What was read of TVM's immutable objects, by address. Entries hold their object: no address is used again."""

    def __init__(self, read: Callable[[Any], R], limit: int = LIMIT) -> None:
        self._read = read
        self._limit = limit
        self._known: dict[int, tuple[Any, R]] = {}

    def of(self, node: Any) -> R:
        """What `read` gives of the object, read once."""
        address = node.__chandle__()
        known = self._known.get(address)
        if known is None:
            if len(self._known) >= self._limit:
                self._known.clear()
            known = self._known[address] = (node, self._read(node))
        return known[1]


_ITEMS: ByAddress[list[Any]] = ByAddress(T.items_of)
_FUNCTIONS: ByAddress[list[tuple[Any, Any]]] = ByAddress(lambda functions: list(functions.items()), MODULES)


def items(array: Any) -> list[Any]:
    """What an array of TVM's holds, or a list; not to be changed."""
    return array if isinstance(array, list) else _ITEMS.of(array)


def named_functions(module: Any) -> list[tuple[Any, Any]]:
    """The (GlobalVar, function) pairs of a module; not to be changed. A pass that puts another function into it in
    place gives it another map, since this one is in use."""
    return _FUNCTIONS.of(module.functions)


def parts_of(function: Any) -> list[Any]:
    """All that a PrimFunc is made of, immutable objects."""
    return [function.body, function.attrs, function.ret_type, *items(function.params)]


class ByParts(Generic[R]):
    """What was read of objects, by the addresses of what they are made of: passes that change nothing in a function
    hand on another object of the same parts. Entries hold the parts, which for a PrimFunc are all that it has."""

    def __init__(self, read: Callable[..., R], size: int, parts: Callable[[Any], list[Any]] = parts_of) -> None:
        self._read = read
        self._size = size
        self._parts = parts
        self._known: OrderedDict[tuple[int, ...], tuple[list[Any], R]] = OrderedDict()

    def of(self, node: Any, *hints: Any) -> R:
        """What `read` gives of the object, read once for all of these parts; hints change nothing of that."""
        parts = self._parts(node)
        key = addresses(parts)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (parts, self._read(node, *hints))
            if len(self._known) > self._size:
                self._known.popitem(last=False)
        return known[1]


def addresses(parts: list[Any]) -> tuple[int, ...]:
    """Where they lie; 0 for None."""
    return tuple([0 if part is None else part.__chandle__() for part in parts])
