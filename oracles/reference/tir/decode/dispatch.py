"""Decoding any statement, expression or pointer: looks up the rule of its class in the state's tables.

Families of nodes import this file for the parts of their nodes, so that none of them imports another for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.decode.headers import statement_in_header
from oracles.reference.tir.decode.pointer_kinds import BufferAddress, ElementAddress, Pointer
from oracles.reference.tir.decode.state import DecodeState
from oracles.reference.tir.decode.tvm_objects import op_name
from oracles.reference.tir.nodes import Buffer, Const, Expr, Stmt


def statement(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """Any statement. Unsupported if no rule knows it."""
    name = type(node).__name__
    rule = state.rules.statements.get(name)
    if rule is None:
        raise Unsupported(f"tirx.{name}")
    return rule(state, node) if state.here.header is None else statement_in_header(state, node, rule)


def expression(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """Any expression that gives a number. Unsupported if no rule knows it."""
    name = type(node).__name__
    rule = state.rules.expressions.get(name)
    if rule is None:
        raise Unsupported(f"tirx.{name}")
    return rule(state, node)


def constant(state: DecodeState, node: tvm_api.Expr, what: str) -> int:
    """An integer that is known while decoding. Unsupported(what) if it is not."""
    value = expression(state, node)
    if not isinstance(value, Const):
        raise Unsupported(what)
    return int(value.value)


def pointer(state: DecodeState, node: tvm_api.Expr) -> Pointer:
    """Any expression that gives a pointer. Unsupported if no rule knows it."""
    name = type(node).__name__
    if name == "Var":
        found = state.variables.pointers.get(node.__chandle__())
        if found is not None:
            return found
        if node.__chandle__() in state.buffers.known:
            return data_of(state, node)
        raise Trap("undefined-variable", f"{state.name}: {node.name}")
    if name != "Call":
        raise Unsupported(f"pointer from tirx.{name}")
    rule = state.rules.pointers.get(op_name(node))
    if rule is None:
        raise Unsupported(f"pointer from tirx.{op_name(node)}")
    return rule(state, node)


def buffer_of(state: DecodeState, tvm_buffer: tvm_api.Buffer) -> tuple[Buffer, tuple[Expr, ...] | None]:
    """The buffer of ours for a TVM buffer, and the offset of a matched region. Trap if it is not defined here."""
    found = state.buffers.known.get(tvm_buffer.__chandle__())
    if found is None:
        name = getattr(tvm_buffer, "name", type(tvm_buffer).__name__)
        raise Trap("undefined-variable", f"{state.name}: buffer {name}")
    return found


def data_of(state: DecodeState, tvm_buffer: tvm_api.Buffer) -> Pointer:
    """The address of the memory of a buffer; a matched buffer has that of its source, and an offset besides."""
    buffer = buffer_of(state, tvm_buffer)[0]
    place = state.buffers.placed.get(tvm_buffer.__chandle__())
    return BufferAddress(buffer) if place is None else ElementAddress(buffer, place.first, buffer.dtype)


# --- lanes ------------------------------------------------------------------------------------------------------------


@contextmanager
def at_lane(state: DecodeState, lane: Expr | None) -> Iterator[None]:
    """Inside, vectors are decoded for this lane; None allows scalars only."""
    outer, state.here.lane = state.here.lane, lane
    yield
    state.here.lane = outer


def expression_at(state: DecodeState, node: tvm_api.Expr, lane: Expr | None) -> Expr:
    """One lane of a vector expression, or a scalar expression for None."""
    outer, state.here.lane = state.here.lane, lane
    value = expression(state, node)
    state.here.lane = outer
    return value


def current_lane(state: DecodeState, what: str) -> Expr:
    """The lane that vectors are decoded for. Unsupported, with the name of the construct, if there is none."""
    if state.here.lane is None:
        raise Unsupported(f"{what} outside a statement of lanes")
    return state.here.lane
