"""Vector expressions: each is decoded for one lane at a time (`state.here.lane`, an int32 expression)."""

from __future__ import annotations

from collections.abc import Sequence

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.decode.access import INT32, access
from oracles.reference.tir.decode.dispatch import current_lane, expression, expression_at
from oracles.reference.tir.decode.state import DecodeState, Rules
from oracles.reference.tir.decode.tvm_objects import lanes_of, scalar_of
from oracles.reference.tir.decode.variables import new_var
from oracles.reference.tir.decode.views import new_owner
from oracles.reference.tir.nodes import DTYPES, INT64, Buffer, Call, Cast, Cmp, Const, DType, Expr, Let, Load, Select


def vector_let(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """A Let of a vector."""
    outer, handle = state.here.lane, node.var.__chandle__()
    if outer is None:
        state.variables.vectors[handle] = lambda lane: expression_at(state, node.value, lane)
        return expression(state, node.body)
    value = expression(state, node.value)
    var = new_var(str(node.var.name), value.dtype)
    state.variables.vectors[handle] = lambda lane: var if lane == outer else expression_at(state, node.value, lane)
    body = expression(state, node.body)
    return Let(var, value, body, body.dtype)


# --- nodes ------------------------------------------------------------------------------------------------------------


def _ramp(state: DecodeState, node: tvm_api.Expr) -> Expr:
    lane = current_lane(state, "prim.Ramp")
    base, stride = expression_at(state, node.base, None), expression_at(state, node.stride, None)
    return fold("add", base, fold("mul", _as(lane, base.dtype), stride, base.dtype), base.dtype)


def _broadcast(state: DecodeState, node: tvm_api.Expr) -> Expr:
    current_lane(state, "prim.Broadcast")
    return expression_at(state, node.value, None)


def _shuffle(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """The lanes at `indices` of all vectors in one row; a single index gives a scalar."""
    vectors = list(node.vectors)
    positions = [expression_at(state, index, None) for index in node.indices]
    known = [position.value for position in positions if isinstance(position, Const)]
    if len(known) != len(positions):
        raise Unsupported("prim.Shuffle[computed index]")
    lane = Const(0, INT32) if len(known) == 1 else current_lane(state, "prim.Shuffle")
    return _chosen(lane, [_element(state, vectors, int(position)) for position in known])


def _element(state: DecodeState, vectors: Sequence[tvm_api.Expr], position: int) -> Expr:
    for vector in vectors:
        lanes = lanes_of(vector.ty)
        if 0 <= position < lanes:
            return expression_at(state, vector, None if lanes == 1 else Const(position, INT32))
        position -= lanes
    raise Trap("out-of-bounds", f"{state.name}: a shuffle takes a lane that its vectors do not have")


def _chosen(lane: Expr, elements: list[Expr]) -> Expr:
    """The element whose number is `lane`."""
    if isinstance(lane, Const):
        return elements[int(lane.value)]
    result = elements[-1]
    for number, element in reversed(list(enumerate(elements[:-1]))):
        result = Select(Cmp("==", lane, Const(number, INT32)), element, result, element.dtype)
    return result


# --- calls ------------------------------------------------------------------------------------------------------------


def _low(state: DecodeState, node: tvm_api.Expr) -> Expr:
    return expression_at(state, node.args[0], current_lane(state, "tirx.vectorlow"))


def _high(state: DecodeState, node: tvm_api.Expr) -> Expr:
    half = Const(lanes_of(node.args[0].ty) // 2, INT32)
    return expression_at(state, node.args[0], fold("add", current_lane(state, "tirx.vectorhigh"), half, INT32))


def _combine(state: DecodeState, node: tvm_api.Expr) -> Expr:
    lane, half = current_lane(state, "tirx.vectorcombine"), Const(lanes_of(node.args[0].ty), INT32)
    first, second = node.args
    if isinstance(lane, Const):
        if lane.value < half.value:
            return expression_at(state, first, lane)
        return expression_at(state, second, _minus(lane, half))
    low = expression_at(state, first, lane)
    return Select(Cmp("<", lane, half), low, expression_at(state, second, _minus(lane, half)), low.dtype)


def _active(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """`get_active_lane_mask(base, limit)`: base + lane < limit, as unsigned numbers (LLVM Language Reference)."""
    lane = current_lane(state, "tirx.get_active_lane_mask")
    base, limit = (_unsigned(expression_at(state, arg, None)) for arg in node.args)
    return Cmp("<", fold("add", base, _as(lane, base.dtype), base.dtype), limit)


def _masked_load(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """`masked_load(buffer, indices..., mask)`. A lane that the mask leaves out is uninitialised; using it traps."""
    buffer, *indices, mask = node.args
    target, positions = access(state, buffer, indices)
    chosen = expression(state, mask)
    loaded = Load(target, positions, target.dtype)
    if isinstance(chosen, Const) and chosen.value:
        return loaded
    return Select(chosen, loaded, _uninitialised(state, target), target.dtype)


def _uninitialised(state: DecodeState, target: Buffer) -> Expr:
    """A load from a buffer that is never written."""
    found = state.own.blanks.get(target.dtype.name)
    if found is None:
        found = new_owner(state, f"masked lanes of {target.name}", target.dtype, (1,))
        state.own.blanks[target.dtype.name] = found
    return Load(found, (Const(0, INT32),), target.dtype)


def _reinterpret(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """The same bits as another number of lanes; the first lane has the lowest bits."""
    value, result = node.args[0], scalar_of(node.ty)
    source, had, gets = scalar_of(value.ty), lanes_of(value.ty), lanes_of(node.ty)
    if had == gets:
        if source.bits != result.bits:
            raise Trap("type", f"{state.name}: the bits of {source} as {result}")
        return Call("reinterpret", (expression(state, value),), result)
    lane = Const(0, INT32) if gets == 1 else current_lane(state, "tirx.reinterpret")
    if had * source.bits != gets * result.bits:
        raise Unsupported("tirx.reinterpret[bits]")
    if had > gets:
        whole = _joined(state, value, source, lane, had // gets)
    else:
        whole = _piece(state, value, None if had == 1 else lane, source, gets // had, lane)
    return whole if whole.dtype is result else Call("reinterpret", (whole,), result)


def _piece(state: DecodeState, value: tvm_api.Expr, lane: Expr | None, source: DType, count: int, wanted: Expr) -> Expr:
    """One of `count` parts of a lane, as an unsigned number."""
    parts, wide = Const(count, INT32), DTYPES[f"uint{source.bits}"]
    bits = _bits(expression_at(state, value, None if lane is None else fold("floordiv", lane, parts, INT32)))
    number = _as(fold("floormod", wanted, parts, INT32), wide)
    amount = fold("mul", number, Const(source.bits // count, wide), wide)
    return Cast(fold("shr", bits, amount, wide), DTYPES[f"uint{source.bits // count}"])


def _joined(state: DecodeState, value: tvm_api.Expr, source: DType, lane: Expr, count: int) -> Expr:
    """`count` lanes put together, as an unsigned number."""
    wide = DTYPES[f"uint{source.bits * count}"]
    first = fold("mul", lane, Const(count, INT32), INT32)
    total: Expr = Const(0, wide)
    for part in range(count):
        bits = Cast(_bits(expression_at(state, value, fold("add", first, Const(part, INT32), INT32))), wide)
        total = fold("bor", total, fold("shl", bits, Const(part * source.bits, wide), wide), wide)
    return total


# --- numbers of lanes -------------------------------------------------------------------------------------------------


def _as(lane: Expr, dtype: DType) -> Expr:
    """A number of lanes in another integer type."""
    if lane.dtype is dtype:
        return lane
    return Const(lane.value, dtype) if isinstance(lane, Const) else Cast(lane, dtype)


def _minus(lane: Expr, half: Const) -> Expr:
    return fold("sub", lane, half, INT32)


def _unsigned(value: Expr) -> Expr:
    """The unsigned number with an integer's bits, in a type that a lane's number can be added in."""
    if isinstance(value, Const) and value.value >= 0:
        return Const(value.value, INT64)
    wrapped = Cast(value, DTYPES[f"uint{value.dtype.bits}"])
    return wrapped if value.dtype.bits == 64 else Cast(wrapped, INT64)


def _bits(value: Expr) -> Expr:
    """The bits of a number as an unsigned one."""
    dtype = DTYPES[f"uint{value.dtype.bits}"]
    return value if value.dtype is dtype else Call("reinterpret", (value,), dtype)


RULES = Rules(
    expressions={"Ramp": _ramp, "Broadcast": _broadcast, "Shuffle": _shuffle},
    calls={
        "vectorlow": _low,
        "vectorhigh": _high,
        "vectorcombine": _combine,
        "get_active_lane_mask": _active,
        "masked_load": _masked_load,
        "reinterpret": _reinterpret,
    },
)
