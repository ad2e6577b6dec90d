"""Which operators and nodes the code of a Python pass names: programs of those are where it has something to do.

Fuzzers take the words of an input language from the program under test in the same way (the dictionaries of AFL,
lcamtuf.blogspot.com/2015/01/afl-fuzz-making-up-grammar-with.html). Passes in C++ cannot be read like that.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

from generators.operators.table import OPERATORS
from generators.passes.row import PassRow

MOST = 24
"""Code that names more operators than this is about operators of all kinds."""
_PREFIX = "relax."
_NAMESPACE = "op"
"""What operators are attributes of, as in `relax.op.add`."""
_NESTED = ("tuples_of_tuples", "nested_outputs")
SHAPES = {
    "If": ("if_branches", "private_in_branch", *("if_on_truths",) * 4),
    "MatchCast": ("match_cast_redundant", "match_cast_defines_symbol"),
    "Tuple": ("tuple_bound", "tuple_nested", "nested_results", *_NESTED * 2),
    "TupleGetItem": ("tuple_bound", "several_outputs", "private_tuple_arguments", "nested_results", *_NESTED * 2),
    "GlobalVar": ("private_calls", "private_twins", "private_calls_symbolic"),
    "ShapeExpr": ("symbolic_shapes", "shape_of"),
}
"""The recipes that hold a node of Relax, those with the most to tell several times."""
_GROUPS = frozenset(parts[1] for parts in (name.split(".") for name in OPERATORS) if len(parts) > 2)


def with_vocabulary(row: PassRow, make: Callable[..., Any]) -> PassRow:
    """The row of a loaded pass with the operators that its factory's code names, and recipes with the nodes; passes of
    TIR have none of these."""
    if not row.fires.recipes:
        return row
    words = words_of(make)
    fires = replace(row.fires, operators=operators_named(words), shapes=shapes_named(words))
    return replace(row, fires=fires)


def operators_named(words: Set[str]) -> tuple[str, ...]:
    """The operators of the table among the words of some code. Sorted; none where these are more than MOST."""
    known = sorted(OPERATORS.keys() & {_PREFIX + name.removeprefix(_PREFIX) for name in words})
    return tuple(known) if len(known) <= MOST else ()


def shapes_named(words: Set[str]) -> tuple[str, ...]:
    """The recipes with the nodes of Relax among the words of some code."""
    return tuple(recipe for node, recipes in SHAPES.items() if node in words for recipe in recipes)


def words_of(make: Callable[..., Any]) -> set[str]:
    """What a function names, or those of its file that it uses: in strings ("relax.add", "add"), as attributes
    (`relax.op.add`), and nodes of Relax."""
    names = _Names(getattr(make, "__module__", ""))
    names.read(make)
    return names.found


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
            self.found.update(_attributes(value), (name for name in value.co_names if name in SHAPES))
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
