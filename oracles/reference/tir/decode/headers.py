"""A memory for the headers of packed functions, which check every argument: the passes after MakePackedAPI leave most
of a header as it is, so that its statements are decoded once for all of them.

The meaning of a statement in a header depends on the arguments and on the statements before it, and on nothing else.
Statements that only check, or only name a number or a pointer to an argument, are remembered. All of this memory is
here: `begin_header` starts a header, `statement_in_header` decodes or recalls one of its statements.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from itertools import count

from generators import tvm_api
from oracles.reference.tir.decode.pointer_kinds import Arguments, Described, Extents, Null, Pointer, TensorHandle
from oracles.reference.tir.decode.state import EMPTY, DecodeState, StatementRule
from oracles.reference.tir.decode.tvm_objects import is_function_call
from oracles.reference.tir.nodes import Const, Stmt

LIMIT = 20_000
"""Statements that are remembered at a time."""
_OUTER = frozenset({"SeqStmt", "AttrStmt"})
"""Statements that hold the statements of a header."""
_HELD = frozenset({"AssertStmt", "Bind", "DeclBuffer", "IfThenElse"})
"""The statements of headers."""
_LASTING = Arguments, TensorHandle, Extents, Null
"""Pointers that hold no buffer, and so mean the same in every decoding."""


@dataclass(frozen=True, slots=True)
class _Met:
    """A statement that was decoded. place: the position after it. settled: all it does is to give the variable at the
    address `name`, if any, this number or pointer. node: keeps its address in use."""

    place: int
    settled: bool
    node: tvm_api.Stmt
    name: int = 0
    number: Const | None = None
    pointer: Pointer | None = None


_met: dict[tuple[int, int], _Met] = {}
"""By position and by the statement's address."""
_starts: dict[tuple[object, ...], tuple[int, list[tvm_api.Var]]] = {}
"""The first position of a header, by the arguments and the addresses of the parameters, which it holds."""
_places = count()


def begin_header(state: DecodeState, described: tuple[Described, ...], params: list[tvm_api.Var]) -> None:
    """Sets the state to the start of the body of a function with these parameters, for arguments so described."""
    if len(_met) + len(_starts) > LIMIT:
        _met.clear()
        _starts.clear()
    key = (described, state.device_type, *[param.__chandle__() for param in params])
    state.here.header = _starts.setdefault(key, (next(_places), params))[0]


def statement_in_header(state: DecodeState, node: tvm_api.Stmt, rule: StatementRule) -> Stmt:
    """Decodes a statement by its rule while `state.here.header` is set, or recalls its meaning."""
    kind = type(node).__name__
    if kind in _OUTER:
        return rule(state, node)
    place, state.here.header = state.here.header, None
    if place is None or kind not in _HELD or (kind == "Bind" and is_function_call(node.value)):
        return rule(state, node)
    key = place, node.__chandle__()
    met = _met.get(key)
    statement: Stmt = EMPTY
    if met is None or not met.settled:
        before = _extent_of(state)
        statement = rule(state, node)
        if met is None:
            met = _met[key] = _learned(state, node, kind, statement, before)
    elif met.number is not None:
        state.variables.scalars[met.name] = met.number
    elif met.pointer is not None:
        state.variables.pointers[met.name] = met.pointer
    state.here.header = met.place
    return statement


def _extent_of(state: DecodeState) -> tuple[int, ...]:
    """Numbers of which one changes if a statement does more than to set its own variable."""
    held: tuple[Sized, ...] = (
        *(state.variables.scalars, state.variables.pointers, state.buffers.known, state.buffers.stacks),
        *(state.own.views, state.inlined.kernels, state.inlined.prim_funcs),
    )
    return *map(len, held), state.own.slots, state.exits.jumps, state.exits.returns, state.here.ended


def _learned(state: DecodeState, node: tvm_api.Stmt, kind: str, statement: Stmt, before: tuple[int, ...]) -> _Met:
    place, empty = next(_places), statement is EMPTY
    if kind != "Bind":
        return _Met(place, empty and kind != "DeclBuffer" and _extent_of(state) == before, node)
    name = node.var.__chandle__()
    number, pointer = state.variables.scalars.get(name), state.variables.pointers.get(name)
    if isinstance(number, Const):
        return _Met(place, empty, node, name, number)
    return _Met(place, empty and isinstance(pointer, _LASTING), node, name, None, pointer)
