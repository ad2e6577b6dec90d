"""Adding newer names to an older TVM: rows that say where each thing is instead, and the record of what was added."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import Any

SUPPLIED: set[str] = set()
"""Dotted names that this TVM does not have itself. A script that runs without passfuzz cannot use them."""

ROOTS = {"relax": "tvm.relax", "tirx": "tvm.tirx", "s_tir": "tvm.s_tir", "dpl": "tvm.relax.dpl", "script": "tvm.script"}
"""The short names that expressions of passes use."""


@dataclass(frozen=True, slots=True)
class Name:
    """`new` is what `old` was called before: modules, classes or functions, by their dotted names."""

    new: str
    old: str


@dataclass(frozen=True, slots=True)
class Field:
    """Objects of the class `owner` have what `new` gives in the field `old`."""

    owner: str
    new: str
    old: str


@dataclass(frozen=True, slots=True)
class Made:
    """`new` does not exist in any form; `thing` stands in for it with the same contract."""

    new: str
    thing: Any


Row = Name | Field | Made


def found(dotted: str) -> Any:
    """What a dotted name stands for. AttributeError or ModuleNotFoundError where there is no such thing."""
    parts = dotted.split(".")
    held = import_module(parts[0])
    for count, part in enumerate(parts[1:], 2):
        if not hasattr(held, part):
            try:
                import_module(".".join(parts[:count]))
            except ModuleNotFoundError:
                raise AttributeError(f"TVM has no {dotted}") from None
        held = getattr(held, part)
    return held


def there(dotted: str) -> bool:
    """Whether there is something of this name, supplied or not."""
    try:
        found(dotted)
    except (AttributeError, ModuleNotFoundError):
        return False
    return True


def classes(*names: str) -> tuple[type, ...]:
    """The classes of these names that there are, each once."""
    return tuple(dict.fromkeys(found(name) for name in names if there(name)))


def supply(rows: Iterable[Row]) -> None:
    """Adds the names of these rows that are missing, in order: a row may build on an earlier one. What is under neither
    name stays missing: the import that wants it says so."""
    for row in rows:
        match row:
            case Field(owner, new, old):
                if there(owner) and not hasattr(found(owner), new):
                    setattr(found(owner), new, property(attrgetter(old)))
            case Name(new, old):
                if not there(new) and there(old):
                    _add(new, found(old))
            case Made(new, thing):
                if not there(new):
                    _add(new, thing)


def _add(dotted: str, thing: Any) -> None:
    owner, _, name = dotted.rpartition(".")
    setattr(found(owner), name, thing)
    SUPPLIED.add(dotted)
    if isinstance(thing, type(sys)):
        sys.modules.setdefault(dotted, thing)
