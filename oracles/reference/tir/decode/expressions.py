"""Scalar expressions: numbers, variables, operators, choices, Let, loads, and calls of intrinsics."""

from __future__ import annotations

from generators import tvm_api
from oracles.ir.walk import items
from oracles.reference.errors import Trap
from oracles.reference.tir.constants import fold, fold_comparison, is_index
from oracles.reference.tir.decode.access import access, refuse_predicate
from oracles.reference.tir.decode.dispatch import current_lane, expression
from oracles.reference.tir.decode.state import DecodeState, ExpressionRule, Rules
from oracles.reference.tir.decode.tvm_objects import VSCALE, dtype_of, lanes_of, op_name, scalar_of
from oracles.reference.tir.decode.variables import fresh
from oracles.reference.tir.decode.vectors import vector_let
from oracles.reference.tir.libraries import LIBRARY_CALLS, TO_WHOLE, library_function
from oracles.reference.tir.nodes import BOOL, Call, Cast, Const, Expr, Let, Load, Logic, Not, Select

_BINARY = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "Mod": "mod",
    "FloorDiv": "floordiv",
    "FloorMod": "floormod",
    "Min": "min",
    "Max": "max",
    "BitwiseAnd": "band",
    "BitwiseOr": "bor",
    "BitwiseXor": "bxor",
    "LShift": "shl",
    "RShift": "shr",
}
_CALLED = {
    "bitwise_and": "band",
    "bitwise_or": "bor",
    "bitwise_xor": "bxor",
    "shift_left": "shl",
    "shift_right": "shr",
}
"""Operators that are intrinsics before TVM 0.27."""
_COMPARE = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


def _alike(state: DecodeState, op: str, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Operands of one operator. Raises Trap("type") for a float beside what is none: a constructor of TVM refuses that,
    but not a pass that puts a buffer of another dtype in place of one."""
    if (a.dtype.kind == "f") != (b.dtype.kind == "f"):
        raise Trap("type", f"{state.name}: {op} of {a.dtype.name} and {b.dtype.name}")
    return a, b


def _binary(op: str) -> ExpressionRule:
    """The rule of a binary operator."""

    def rule(state: DecodeState, node: tvm_api.Expr) -> Expr:
        a, b = _alike(state, op, expression(state, node.a), expression(state, node.b))
        return fold(op, a, b, a.dtype)

    return rule


def _binary_call(op: str) -> ExpressionRule:
    """The rule of a binary operator that was an intrinsic before it was a node of its own."""

    def rule(state: DecodeState, node: tvm_api.Expr) -> Expr:
        a, b = (expression(state, arg) for arg in items(node.args))
        return fold(op, a, b, a.dtype)

    return rule


def _comparison(op: str) -> ExpressionRule:
    """The rule of a comparison."""

    def rule(state: DecodeState, node: tvm_api.Expr) -> Expr:
        return fold_comparison(op, *_alike(state, op, expression(state, node.a), expression(state, node.b)))

    return rule


def _logic(op: str) -> ExpressionRule:
    """The rule of "and" or "or"."""

    def rule(state: DecodeState, node: tvm_api.Expr) -> Expr:
        a, b = expression(state, node.a), expression(state, node.b)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Const):
                return other if one.value == (op == "and") else one
        return Logic(op, a, b)

    return rule


def _int(state: DecodeState, node: tvm_api.Expr) -> Expr:
    dtype, value = scalar_of(node.ty), int(node.value)
    if dtype is BOOL:
        return Const(bool(value), BOOL)
    return Const(value + (1 << 64) if dtype.kind == "u" and value < 0 else value, dtype)


def _float(state: DecodeState, node: tvm_api.Expr) -> Expr:
    return Const(float(node.value), dtype_of(node.ty, state.here.lane))


def _variable(state: DecodeState, node: tvm_api.Var) -> Expr:
    handle = node.__chandle__()
    found = state.variables.scalars.get(handle)
    if found is not None:
        return found
    if handle in state.symbols:
        return Const(state.symbols[handle], dtype_of(node.ty, state.here.lane))
    vector = state.variables.vectors.get(handle)
    if vector is None:
        raise Trap("undefined-variable", f"{state.name}: {node.name}")
    return vector(current_lane(state, "vector variable"))


def _not(state: DecodeState, node: tvm_api.Expr) -> Expr:
    a = expression(state, node.a)
    return Const(not a.value, BOOL) if isinstance(a, Const) else Not(a)


def _bitwise_not(state: DecodeState, node: tvm_api.Expr) -> Expr:
    a = expression(state, node.a)
    return Call("bitwise_not", (a,), a.dtype)


def _cast(state: DecodeState, node: tvm_api.Expr) -> Expr:
    a, dtype = expression(state, node.value), dtype_of(node.ty, state.here.lane)
    if a.dtype is dtype:
        return a
    if isinstance(a, Const) and a.dtype.kind in "iu" and dtype.kind in "iu" and dtype.low <= a.value <= dtype.high:
        return Const(a.value, dtype)
    return Cast(a, dtype)


def _choice(state: DecodeState, condition: tvm_api.Expr, then: tvm_api.Expr, other: tvm_api.Expr) -> Expr:
    cond = expression(state, condition)
    if isinstance(cond, Const):
        return expression(state, then if cond.value else other)
    chosen = expression(state, then)
    return Select(cond, chosen, expression(state, other), chosen.dtype)


def _select(state: DecodeState, node: tvm_api.Expr) -> Expr:
    return _choice(state, node.condition, node.true_value, node.false_value)


def _if_then_else(state: DecodeState, node: tvm_api.Expr) -> Expr:
    return _choice(state, *items(node.args))


def _let(state: DecodeState, node: tvm_api.Expr) -> Expr:
    if lanes_of(node.value.ty) > 1:
        return vector_let(state, node)
    value = expression(state, node.value)
    if is_index(value):
        state.variables.scalars[node.var.__chandle__()] = value
        return expression(state, node.body)
    var = fresh(state, node.var, value.dtype)
    body = expression(state, node.body)
    return Let(var, value, body, body.dtype)


def _load(state: DecodeState, node: tvm_api.Expr) -> Expr:
    refuse_predicate(node)
    buffer, indices = access(state, node.source, node.indices)
    return Load(buffer, indices, buffer.dtype)


def _call(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """A call that gives a number: by its rule, or an intrinsic by its name."""
    name = op_name(node)
    rule = state.rules.calls.get(name)
    if rule is not None:
        return rule(state, node)
    args = node.args
    if name in LIBRARY_CALLS:
        name, args = library_function(name, args)
    if name in TO_WHOLE:
        value = expression(state, args[0])
        return Cast(Call(TO_WHOLE[name], (value,), value.dtype), dtype_of(node.ty, state.here.lane))
    return Call(name, tuple([expression(state, arg) for arg in items(args)]), dtype_of(node.ty, state.here.lane))


def _first_argument(state: DecodeState, node: tvm_api.Expr) -> Expr:
    return expression(state, node.args[0])


def _vscale(state: DecodeState, node: tvm_api.Expr) -> Expr:
    return Const(VSCALE, dtype_of(node.ty, state.here.lane))


RULES = Rules(
    expressions={
        "IntImm": _int,
        "FloatImm": _float,
        "Var": _variable,
        **{name: _binary(op) for name, op in _BINARY.items()},
        **{name: _comparison(op) for name, op in _COMPARE.items()},
        "And": _logic("and"),
        "Or": _logic("or"),
        "Not": _not,
        "BitwiseNot": _bitwise_not,
        "Cast": _cast,
        "Select": _select,
        "Let": _let,
        "TensorLoad": _load,
        "Call": _call,
    },
    calls={
        "if_then_else": _if_then_else,
        "likely": _first_argument,
        "ignore_loop_partition": _first_argument,
        "tvm_thread_invariant": _first_argument,
        "vscale": _vscale,
        **{name: _binary_call(op) for name, op in _CALLED.items() if tvm_api.has_operator(f"tirx.{name}")},
    },
)
