"""T.undef(): a number that may be any. What it is stored to is uninitialised from there on, so that a program which
uses it traps, and a pass may drop such stores (src/s_tir/transform/remove_store_undef.cc)."""

from __future__ import annotations

from generators import tvm_api
from oracles.reference.tir.decode.access import INT32
from oracles.reference.tir.decode.state import DecodeState, Rules
from oracles.reference.tir.decode.tvm_objects import dtype_of
from oracles.reference.tir.decode.views import new_owner
from oracles.reference.tir.dependence import subexpressions
from oracles.reference.tir.nodes import Const, Expr, Load


def _undefined(state: DecodeState, call: tvm_api.Expr) -> Expr:
    """A load from a buffer that is never written."""
    dtype = dtype_of(call.ty, state.here.lane)
    found = state.own.undefined.get(dtype.name)
    if found is None:
        found = state.own.undefined[dtype.name] = new_owner(state, f"undefined {dtype.name}", dtype, (1,))
    return Load(found, (Const(0, INT32),), dtype)


def is_undefined(state: DecodeState, value: Expr) -> bool:
    """Whether a number is made of T.undef()."""
    if not state.own.undefined:
        return False
    blanks = {buffer.slot for buffer in state.own.undefined.values()}
    return any(isinstance(node, Load) and node.buffer.slot in blanks for node in subexpressions(value))


RULES = Rules(calls={"undef": _undefined})
