"""Which operators the code of a Python pass names: programs of those are where the pass has something to do.

Fuzzers take the words of an input language from the program under test in the same way (the dictionaries of AFL,
lcamtuf.blogspot.com/2015/01/afl-fuzz-making-up-grammar-with.html). Passes in C++ cannot be read like that.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

from generators.operators.table import OPERATORS

MOST = 24
"""Code that names more operators than this is about operators of all kinds."""
_PREFIX = "relax."
_NAMESPACE = "op"
"""What operators are attributes of, as in `relax.op.add`."""
_GROUPS = frozenset(parts[1] for parts in (name.split(".") for name in OPERATORS) if len(parts) > 2)


def operators_named(make: Callable[..., Any]) -> tuple[str, ...]:
    """The operators of the table that a function names, or that those of its file name which it uses: in strings
    ("relax.add", "add") and as attributes (`relax.op.add`). Sorted; none where it names more than MOST.
    """
    names = _Names(getattr(make, "__module__", ""))
    names.read(make)
    known = sorted(OPERATORS.keys() & {_PREFIX + name.removeprefix(_PREFIX) for name in names.found})
    return tuple(known) if len(known) <= MOST else ()


class _Names:
    """Every word of the literals and every operator's attribute in the code of one module that something uses."""

    def __init__(self, module: str) -> None:
        self.found: set[str] = set()
        self._module = module
        self._seen: set[int] = set()

    def read(self, value: Any) -> None:
        """Adds what is in a value that code uses: a function, a class, a literal or a container of these."""
        if isinstance(value, str):
            self.found.update(value.split())
        if isinstance(value, str) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, CodeType):
            self.found.update(_attributes(value))
            self._each(value.co_consts)
        elif isinstance(value, FunctionType | type):
            if value.__module__ == self._module:
                self._own(value)
        elif isinstance(value, dict):
            self._each([*value, *value.values()])
        elif isinstance(value, tuple | list | set | frozenset):
            self._each(value)

    def _each(self, values: Iterable[Any]) -> None:
        for value in values:
            self.read(value)

    def _own(self, value: FunctionType | type) -> None:
        if isinstance(value, type):
            self._each(part for part in vars(value).values() if isinstance(part, FunctionType))
            return
        self.read(value.__code__)
        self._each(_content(cell) for cell in value.__closure__ or ())
        self._each(value.__globals__.get(name) for name in _global_names(value.__code__))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _global_names(code: CodeType) -> Iterator[str]:
    """The global names of the code and of the functions inside."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _attributes(code: CodeType) -> Iterator[str]:
    """The operators that are attributes: `op.add`, `op.nn.relu`."""
    instructions = [(i.opname, str(i.argval)) for i in dis.get_instructions(code) if i.opname != "CACHE"]
    for (_, owner), (kind, name) in pairwise(instructions):
        if kind not in ("LOAD_ATTR", "LOAD_METHOD"):
            continue
        if owner == _NAMESPACE:
            yield name
        elif owner in _GROUPS:
            yield f"{owner}.{name}"
