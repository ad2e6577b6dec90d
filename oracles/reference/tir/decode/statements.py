"""Sequences, stores, binds, conditionals, attributes, calls, asserts and returns. Loops and blocks have own files."""

from __future__ import annotations

from generators import tvm_api
from oracles.ir.walk import items
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import settled
from oracles.reference.tir.decode.access import access, refuse_predicate
from oracles.reference.tir.decode.callees import called
from oracles.reference.tir.decode.dispatch import expression, pointer, statement
from oracles.reference.tir.decode.lanes import bind_lanes, store_lanes
from oracles.reference.tir.decode.packed import returned_number, store_to_stack
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Rules
from oracles.reference.tir.decode.tvm_objects import POINTER_TYPE, is_function_call, lanes_of, op_name
from oracles.reference.tir.decode.undefined import is_undefined
from oracles.reference.tir.decode.variables import named, new_var
from oracles.reference.tir.nodes import Assert, Bind, Const, Expr, Forget, If, Seq, Stmt, Store

_SILENT_ATTRIBUTES = (
    "hand_threaded",
    "storage_alignment",
    "device_id",
    "device_type",
    "device_scope",
    "target",
    "compute_scope",
    "double_buffer_scope",
    "double_buffer_write",
)
"""Attributes that change no value: they tell passes and the code generator where code runs and how memory is laid
out."""
_NO_EFFECT = (
    *("tvm_access_ptr", "address_of", "prefetch", "print_buffer"),
    *("start_profile_intrinsic", "end_profile_intrinsic"),
)
"""Calls that change no value."""


def nested(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """A statement that may run never, or several times."""
    returns = state.exits.returns
    body = statement(state, node)
    if state.exits.returns != returns:
        raise Unsupported("tirx.Return[nested]")
    state.here.ended = False
    return body


def _sequence(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    body: list[Stmt] = []
    for child in items(node.seq):
        body.append(statement(state, child))
        if state.here.ended:
            break
    return Seq(tuple(body))


def _store(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    refuse_predicate(node)
    if node.buffer.__chandle__() in state.buffers.stacks:
        return store_to_stack(state, node)
    lanes = lanes_of(node.value.ty)
    if lanes > 1:
        return store_lanes(state, node, lanes)
    target, indices = access(state, node.buffer, node.indices)
    value = expression(state, node.value)
    if is_undefined(state, value):
        state.own.forgotten.add(target.slot)
        return Forget(target, indices)
    return Store(target, value, indices)


def _bind(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    if is_function_call(node.value):
        body, value = called(state, node.value)
        if value is None:
            raise Trap("type", f"{state.name}: {node.var.name} is bound to what returns nothing")
        before, state.variables.scalars[node.var.__chandle__()] = named(state, node.var, value)
        return Seq((body, *before))
    if type(node.var.ty).__name__ == POINTER_TYPE:
        state.variables.pointers[node.var.__chandle__()] = pointer(state, node.value)
        return EMPTY
    lanes = lanes_of(node.value.ty)
    if lanes > 1:
        return bind_lanes(state, node, lanes)
    value = settled(expression(state, node.value))
    if is_undefined(state, value):  # it has no value to keep: what it is stored to is forgotten
        state.variables.scalars[node.var.__chandle__()] = value
        return EMPTY
    before, value = named(state, node.var, value)
    state.variables.scalars[node.var.__chandle__()] = value
    return before[0] if before else EMPTY


def _if(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    cond = expression(state, node.condition)
    if isinstance(cond, Const):
        taken = node.then_case if cond.value else node.else_case
        return EMPTY if taken is None else statement(state, taken)
    other = None if node.else_case is None else nested(state, node.else_case)
    return If(cond, nested(state, node.then_case), other)


def _attribute(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    key = str(node.attr_key)
    rule = state.rules.attributes.get(key)
    if rule is not None:
        return rule(state, node)
    if not key.startswith("pragma_"):
        raise Unsupported(f"tirx.AttrStmt[{key}]")
    return statement(state, node.body)


def _body(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """An attribute that changes no value."""
    return statement(state, node.body)


def _evaluate(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    value = node.value
    if is_function_call(value):
        return called(state, value)[0]
    if type(value).__name__ != "Call":
        expression(state, value)
        return EMPTY
    name = op_name(value)
    rule = state.rules.effects.get(name)
    if rule is None:
        raise Unsupported(f"tirx.{name}")
    return rule(state, value)


def _nothing(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    return EMPTY


def _assume(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    return Assert(expression(state, call.args[0]), "assume")


def _assert(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    condition = expression(state, node.condition)
    if isinstance(condition, Const) and condition.value:
        return EMPTY
    state.here.ended = isinstance(condition, Const)
    return Assert(condition, "".join(str(part.value) for part in items(node.message_parts)))


def _return(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """The end of the function, and the number that it returns; a packed function returns 0 for success."""
    return _ended(state, expression(state, node.value))


def _returning_call(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """The same as an intrinsic, before 0.26."""
    return _ended(state, expression(state, call.args[0]))


def _ended(state: DecodeState, value: Expr) -> Stmt:
    state.exits.returns += 1
    state.here.ended = True
    if state.exits.returned is None:
        var = new_var("result", value.dtype)
        state.exits.result = var
        return Bind(var, value)
    if not isinstance(value, Const) or value.value != 0:
        raise Unsupported("tirx.Return[error]")
    state.exits.result = returned_number(state)
    return EMPTY


RULES = Rules(
    statements={
        "SeqStmt": _sequence,
        "BufferStore": _store,
        "Bind": _bind,
        "IfThenElse": _if,
        "AttrStmt": _attribute,
        "Evaluate": _evaluate,
        "AssertStmt": _assert,
        "Return": _return,
    },
    attributes=dict.fromkeys(_SILENT_ATTRIBUTES, _body),
    effects={
        **dict.fromkeys(_NO_EFFECT, _nothing),
        "assume": _assume,
        **({"ret": _returning_call} if tvm_api.has_operator("tirx.ret") else {}),
    },
)
