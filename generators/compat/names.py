"""Adding newer names to an older TVM: rows that say where each thing is instead, and the record of what was added."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
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


@dataclass(frozen=True, slots=True)
class Computed:
    """Objects of the class `owner` have what `new` gives by way of `compute`."""

    owner: str
    new: str
    compute: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Either:
    """`new` is one class where there were `olds`: an object of any of them is one of it, and the first is made."""

    new: str
    olds: tuple[str, ...]


Row = Name | Field | Computed | Either | Made


class _Joined(type):
    """The class of classes that stand for several."""

    olds: tuple[type, ...]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.olds)

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, cls.olds)

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return cls.olds[0](*args, **named)


def joined(name: str, olds: Iterable[str]) -> type:
    """A class of this name that stands for those."""
    return _Joined(name, (), {"olds": tuple(found(old) for old in olds)})


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


def either(*names: str) -> Any:
    """What the first of these names that there is stands for."""
    return found(next(name for name in names if there(name)))


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
            case Computed(owner, new, compute):
                if there(owner) and not hasattr(found(owner), new):
                    setattr(found(owner), new, property(compute))
            case Either(new, olds):
                if not there(new) and all(map(there, olds)):
                    _add(new, joined(new.rpartition(".")[2], olds))
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
