"""The headers of packed functions, which check every argument: their statements are decoded once for all the passes
behind MakePackedAPI, which leave most of them as they are.

What a statement of a header means depends on the arguments and on the statements before it, nothing else. Those that
only check, or only name a number or a pointer to an argument, are remembered by all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from itertools import count
from typing import Any

from oracles.reference.tir.decode_pointers import EMPTY, Arguments, Extents, Null, Pointer, TensorHandle
from oracles.reference.tir.decode_threads import ThreadDecoder, is_function_call
from oracles.reference.tir.nodes import Const, Stmt

LIMIT = 20_000
"""Statements of headers that are remembered at a time."""
OUTER = frozenset({"SeqStmt", "AttrStmt"})
"""What holds the statements of a header."""
HELD = frozenset({"AssertStmt", "Bind", "DeclBuffer", "IfThenElse"})
"""What headers are made of."""


LASTING = Arguments, TensorHandle, Extents, Null
"""Pointers that say the same in every decoding: they hold no buffer of one."""


@dataclass(frozen=True, slots=True)
class _Met:
    """A statement that was decoded. place: the place behind it. settled: it only makes the variable at the address
    `name`, if any, this number or pointer. node: keeps its address in use."""

    place: int
    settled: bool
    node: Any
    name: int = 0
    number: Const | None = None
    pointer: Pointer | None = None


_met: dict[tuple[int, int], _Met] = {}
_starts: dict[tuple[Any, ...], tuple[int, Any]] = {}
_places = count()


class HeaderDecoder(ThreadDecoder):
    """Adds the memory of headers. place: stands for all statements so far; None outside of a header."""

    place: int | None = None

    def begin_header(self, described: tuple[Any, ...], params: list[Any]) -> None:
        """The body of a function with these parameters, for such arguments, begins."""
        if len(_met) + len(_starts) > LIMIT:
            _met.clear()
            _starts.clear()
        key = (described, self.device_type, *[param.__chandle__() for param in params])
        self.place = _starts.setdefault(key, (next(_places), params))[0]

    def in_header(self, node: Any, kind: str, decode: Callable[[Any, Any], Stmt]) -> Stmt:
        """A statement that is met in a header, by `decode` where that is not settled."""
        if kind in OUTER:
            return decode(self, node)
        place, self.place = self.place, None
        if place is None or kind not in HELD or (kind == "Bind" and is_function_call(node.value)):
            return decode(self, node)
        key = place, node.__chandle__()
        met = _met.get(key)
        statement: Stmt = EMPTY
        if met is None or not met.settled:
            before = self._known()
            statement = decode(self, node)
            if met is None:
                met = _met[key] = self._learned(node, kind, statement, before)
        elif met.number is not None:
            self.env[met.name] = met.number
        elif met.pointer is not None:
            self.pointers[met.name] = met.pointer
        self.place = met.place
        return statement

    def _known(self) -> tuple[int, ...]:
        """What changes when a statement says more than its own variable."""
        held: tuple[Sized, ...] = (
            *(self.env, self.pointers, self.buffers, self.stacks),
            *(self.views, self.launches, self.calls),
        )
        return *map(len, held), self.slots, self.jumps, self.returns, self.ended

    def _learned(self, node: Any, kind: str, statement: Stmt, before: tuple[int, ...]) -> _Met:
        place, empty = next(_places), statement is EMPTY
        if kind != "Bind":
            return _Met(place, empty and kind != "DeclBuffer" and self._known() == before, node)
        name = node.var.__chandle__()
        number, pointer = self.env.get(name), self.pointers.get(name)
        if isinstance(number, Const):
            return _Met(place, empty, node, name, number)
        return _Met(place, empty and isinstance(pointer, LASTING), node, name, None, pointer)
