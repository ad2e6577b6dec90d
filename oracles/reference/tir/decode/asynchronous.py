"""Asynchronous copies: the attributes that mark, group and await them, and what InjectPTXAsyncCopy makes of them.

Their meaning is in `oracles/reference/tir/flights.py`.
"""

from __future__ import annotations

from math import prod

from generators import tvm_api
from oracles.reference.errors import Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.decode.dispatch import constant, expression, pointer, statement
from oracles.reference.tir.decode.pointer_kinds import BufferAddress
from oracles.reference.tir.decode.state import DecodeState, Rules
from oracles.reference.tir.decode.variables import new_var
from oracles.reference.tir.decode.views import part_of
from oracles.reference.tir.nodes import (
    DTYPES,
    Buffer,
    Cast,
    Commit,
    Const,
    Copying,
    Expr,
    For,
    Load,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    Wait,
)

_INFLIGHT = "async_wait_inflight_count"


def _copying(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """The body, whose stores copies make."""
    return Copying(statement(state, node.body))


def _commit(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """The body, whose copies are a group of a queue."""
    return Seq((statement(state, node.body), Commit(constant(state, node.value, "computed queue"))))


def _wait(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """The body of the attribute inside, which says how many groups may be under way, after a wait."""
    inner = node.body
    if str(getattr(inner, "attr_key", "")) != _INFLIGHT:
        raise Unsupported("tirx.AttrStmt[async_wait_queue_scope] without a count")
    wait = Wait(constant(state, node.value, "computed queue"), expression(state, inner.value))
    return Seq((wait, statement(state, inner.body)))


def _raw_copy(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`cp_async_raw(target, offset, source, offset, bytes[, condition])`: copies so many bytes; where the condition
    does not hold it stores zeros. Offsets count elements (python/tvm/backend/cuda/cpp/asm.py)."""
    target, to, source, begin, size, *condition = tvm_api.items_of(call.args)
    before, there = _flat(state, target)
    again, here = _flat(state, source)
    width = here.dtype.numpy.itemsize
    count = constant(state, size, "cp_async_raw of a computed size")
    if there.dtype is not here.dtype or count % width:
        raise Unsupported("cp_async_raw between types")
    var = new_var("lane", DTYPES["int32"])
    value: Expr = Load(here, (_beyond(state, begin, var),), here.dtype)
    if condition:
        nothing = Const(0.0 if here.dtype.kind == "f" else 0, here.dtype)
        value = Select(expression(state, condition[0]), value, nothing, here.dtype)
    copied = Store(there, value, (_beyond(state, to, var),))
    lanes = Const(count // width, var.dtype)
    return Seq((before, again, Copying(For(var, lanes, "vectorized", "", copied))))


def _flat(state: DecodeState, node: tvm_api.Expr) -> tuple[Stmt, Buffer]:
    """The memory at a pointer as a buffer of one dimension, and the statement that makes it."""
    where = pointer(state, node)
    if not isinstance(where, BufferAddress):
        raise Unsupported("cp_async_raw[pointer]")
    whole = where.buffer
    flat, made = part_of(state, whole.name, whole, whole.dtype, (prod(whole.shape),), 0)
    return made, flat


def _beyond(state: DecodeState, offset: tvm_api.Expr, lane: Var) -> Expr:
    start = expression(state, offset)
    return fold("add", start, Cast(lane, start.dtype) if start.dtype is not lane.dtype else lane, start.dtype)


RULES = Rules(
    attributes={"async_scope": _copying, "async_commit_queue_scope": _commit, "async_wait_queue_scope": _wait},
    effects={"s_tir.cp_async_raw": _raw_copy},
)
