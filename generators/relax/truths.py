"""Truths: boolean scalars that a condition is made of and that its branches read as data as well.

In a branch some of them are known, which passes make use of; where a pass takes the wrong one for known, or one in the
wrong branch, that branch gives another value.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvm import relax

from generators.ranges import TRUTH, Range
from generators.relax.scope import Drawn, Scope
from generators.relax.values import Value, number_value
from generators.source import favour
from generators.tvm_api import Expr
from generators.unavailable import Unavailable

_COMPARISONS = (relax.op.less, relax.op.greater, relax.op.less_equal, relax.op.greater_equal, relax.op.not_equal)
_JOINS = (relax.op.logical_and, relax.op.logical_or)


def draw_truths(s: Scope) -> list[Value]:
    """Two or three boolean scalars that no constant decides."""
    truths: list[Value] = []
    for _ in range(3 if s.source.flip(s.knobs.truths.three) else 2):
        truth = _compared(s) if s.source.flip(s.knobs.truths.compared) else _scalar(s, "bool", truths)
        truths.append(truth)
    return truths


def _compared(s: Scope) -> Value:
    """A comparison of two scalars, either way round with like odds."""
    one = _scalar(s, favour(s.source, "float32", "int32", "int64"), ())
    if s.source.flip():
        two = _scalar(s, one.dtype, (one,))
    else:
        middle = (one.range.low + one.range.high) // 2
        two = number_value(one.dtype, middle)
    return s.emit_tensor(Drawn(s.source.pick(_COMPARISONS)(one.expr, two.expr), TRUTH))


def _scalar(s: Scope, dtype: str, others: Sequence[Value]) -> Value:
    """A scalar variable that depends on a parameter and is none of the others."""
    near = [v for v in s.values if isinstance(v, Value) and v.dims == () and v.dtype == dtype and _varies(s, v)]
    near = [v for v in near if not any(v.expr.same_as(other.expr) for other in others)]
    if near and (s.source.flip(s.knobs.truths.in_scope) or not s.frame.open):
        return s.source.pick(near)
    if not s.frame.open:
        raise Unavailable("no parameter can be made here")
    value = s.frame.add_parameter((), dtype, s.draw_range(dtype))
    s.values.append(value)
    return value


def _varies(s: Scope, value: Value) -> bool:
    return isinstance(value.expr, relax.Var) and not s.frame.is_fixed(value.expr)


def draw_condition(s: Scope, truths: Sequence[Value]) -> Value:
    """All of the truths joined by logical_and and logical_or, or one alone, with negations here and there."""
    whole = truths[0]
    if s.source.flip(s.knobs.truths.negated):
        whole = _negated(s, whole)
    else:
        whole = _join(s, whole, truths[1])
    for other in truths[2:]:
        whole = _join(s, whole, other)
    return _negated(s, whole) if s.source.flip(s.knobs.truths.negated) else whole


def _join(s: Scope, one: Value, two: Value) -> Value:
    if s.source.flip(s.knobs.truths.negated):
        two = _negated(s, two)
    pair = (one, two) if s.source.flip(s.knobs.truths.in_order) else (two, one)
    return s.emit_tensor(Drawn(s.source.pick(_JOINS)(pair[0].expr, pair[1].expr), TRUTH))


def _negated(s: Scope, truth: Value) -> Value:
    return s.emit_tensor(Drawn(relax.op.logical_not(truth.expr), TRUTH))


def read_truths(s: Scope, value: Value, truths: Sequence[Value]) -> Value:
    """The value with some of the truths, at least one, computed into it: it differs with each of them."""
    read = [truth for truth in truths if s.source.flip(s.knobs.truths.read)] or [s.source.pick(truths)]
    for number, truth in enumerate(read):
        value = _with_truth(s, value, _derived(s, truth, truths), number + 1)
    return value


def _derived(s: Scope, truth: Value, truths: Sequence[Value]) -> Value:
    if not s.source.flip(s.knobs.truths.derived):
        return truth
    return _negated(s, truth) if s.source.flip() else _join(s, truth, s.source.pick(truths))


def _with_truth(s: Scope, value: Value, truth: Value, number: int) -> Value:
    """One value where the truth holds and another where it does not; `number` sets it apart from other truths."""
    if value.dtype == "bool":
        return s.emit_tensor(Drawn(relax.op.logical_xor(value.expr, truth.expr), TRUTH))
    step = Range(number, number, True)
    if s.source.flip():
        other = s.emit_tensor(
            Drawn(relax.op.add(value.expr, number_value(value.dtype, number).expr), value.range + step)
        )
        return _chosen(s, truth, value, other)
    as_number: Expr = relax.op.astype(truth.expr, value.dtype)
    weight = s.emit_tensor(Drawn(as_number, TRUTH))
    if number > 1:
        weight = s.emit_tensor(
            Drawn(relax.op.multiply(weight.expr, number_value(value.dtype, number).expr), TRUTH * step)
        )
    return s.emit_tensor(Drawn(relax.op.add(value.expr, weight.expr), value.range + weight.range))


def _chosen(s: Scope, truth: Value, one: Value, two: Value) -> Value:
    if s.source.flip():
        one, two = two, one
    return s.emit_tensor(Drawn(relax.op.where(truth.expr, one.expr, two.expr), one.range.hull(two.range)))
