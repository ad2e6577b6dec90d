"""Random expressions over the values in scope: the ranges of operators are in `terms.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tvm import tirx

from generators.dtypes import FLOAT8, is_float
from generators.ranges import Range
from generators.source import Source, weighted
from generators.tir.function_draft import FunctionDraft
from generators.tir.swarm import Unusual
from generators.tir.terms import (
    BY_NAME,
    COMPARISONS,
    FLOAT_BINARY,
    INTEGER_BINARY,
    Binary,
    Term,
    apply,
    capacity,
    cast,
    chosen,
    clipped,
    constant,
    fits,
    truth,
)
from generators.tvm_api import Expr

_FAR = 1 << 15
"""As far as numbers in a row go: narrow types end before."""
_WIDEST_SHIFT = 3
_NARROWER = {"int16": ("int8",), "int32": ("int8", "int16"), "int64": ("int8", "int16", "int32")}


@dataclass(slots=True)
class Operands:
    """Where an expression is drawn: the values that it may use. `indices` are loop and block variables."""

    draft: FunctionDraft
    leaves: list[Term] = field(default_factory=list)
    indices: list[Term] = field(default_factory=list)
    lets: bool = True
    """Whether a Let may be drawn: not where the expression may be used twice, and its variable defined twice."""

    @property
    def source(self) -> Source:
        """The source of the function's choices."""
        return self.draft.source

    def with_leaves(self, *terms: Term) -> Operands:
        """The same with more values."""
        return Operands(self.draft, [*self.leaves, *terms], self.indices, self.lets)


def draw_value(operands: Operands, dtype: str, depth: int | None = None, beside: Term | None = None) -> Term:
    """A value of the dtype, exact and without overflow for all values of its operands; beside: see draw_leaf."""
    left = weighted(operands.source, operands.draft.knobs.depths) if depth is None else depth
    if dtype == "bool":
        return draw_condition(operands, left)
    if left <= 0:
        return draw_leaf(operands, dtype, beside)
    rows = _FLOAT if is_float(dtype) else _INTEGER
    term = weighted(operands.source, rows)(operands, dtype, left - 1)
    return term if fits(term.range, dtype, term.fraction) else clipped(term, capacity(dtype, term.fraction))


def draw_condition(operands: Operands, depth: int) -> Term:
    """A bool: most often a comparison of two numbers."""
    flags = [t for t in operands.leaves if t.dtype == "bool"]
    if flags and (depth <= 0 or operands.source.flip(operands.draft.knobs.expressions.flag_in_scope)):
        return operands.source.pick(flags)
    if depth > 0 and operands.source.flip(operands.draft.knobs.expressions.logic):
        a = draw_condition(operands, depth - 1)
        kind = operands.source.pick((tirx.And, tirx.Or, tirx.Not))
        operands.draft.features.add("logic")
        return truth(kind(a.expr) if kind is tirx.Not else kind(a.expr, draw_condition(operands, depth - 1).expr))
    numbers = sorted({t.dtype for t in (*operands.leaves, *operands.indices) if t.dtype != "bool"})
    dtype = operands.source.pick(numbers) if numbers else "int32"
    a = draw_value(operands, dtype, min(depth, 1))
    return truth(operands.source.pick(COMPARISONS)(a.expr, _compared(operands, a).expr))


def _compared(operands: Operands, term: Term) -> Term:
    """The other side of a comparison, chosen so that in most cases both answers occur."""
    low, high = max(math.ceil(term.range.low), -8), min(math.floor(term.range.high), 8)
    if low < high and operands.source.flip(operands.draft.knobs.expressions.compared_near):
        return constant(operands.source.integer(low, high), term.dtype)
    return draw_leaf(operands, term.dtype, term)


def draw_leaf(operands: Operands, dtype: str, beside: Term | None = None) -> Term:
    """A value in scope, converted where none has the dtype, or a constant; rarely `beside`, the other
    operand, with which most operators give a constant.
    """
    same = [t for t in (*operands.leaves, *operands.indices) if t.dtype == dtype]
    if beside is not None and not operands.source.flip(operands.draft.knobs.expressions.same_operand):
        same = [t for t in same if not t.expr.same_as(beside.expr)]
    if same and not operands.source.flip(operands.draft.knobs.expressions.no_value_in_scope):
        return operands.source.pick(same)
    others = [t for t in (*operands.leaves, *operands.indices) if t.dtype != dtype]
    if others and operands.source.flip():
        return converted(operands, operands.source.pick(others), dtype)
    return draw_constant(operands, dtype)


def draw_constant(operands: Operands, dtype: str) -> Term:
    """A small number; in 10 % of the cases a large one."""
    source = operands.source
    if dtype == "bool":
        return truth(tirx.IntImm("bool", source.integer(0, 1)))
    value = source.integer(0, 7) if source.flip() else source.integer(-5, 5)
    if source.flip(operands.draft.knobs.expressions.large_constant):
        value = source.pick((16, 100, 1000, 65536, 2**31 + 5, -(2**33)))
    if not fits(Range(value, value, True), dtype):
        value = abs(value) % 8
    if is_float(dtype) and source.flip(operands.draft.knobs.expressions.half):
        return constant(value + 0.5, dtype) if abs(value) < 8 else constant(0.25, dtype)
    return constant(value, dtype)


def converted(operands: Operands, term: Term, dtype: str) -> Term:
    """The value in another dtype, brought into its range where it may be out of it."""
    if dtype == "bool":
        return truth(tirx.NE(term.expr, constant(0, term.dtype).expr))
    operands.draft.features.add("cast")
    fraction = term.fraction if is_float(dtype) else 0
    bound = math.floor(min(capacity(dtype, fraction), capacity(term.dtype, term.fraction)))
    if bound < 1:
        return draw_constant(operands, dtype)
    low = 0 if dtype.startswith("u") else -bound
    if term.range.within(low, bound):
        return cast(term, dtype)
    if not is_float(term.dtype) and not term.dtype.startswith("u") and operands.source.flip():
        wrapped = apply(BY_NAME["floormod"], term, constant(min(bound, 11), term.dtype))
        if wrapped is not None:
            return cast(wrapped, dtype)
    inside = clipped(term, float(bound))
    if low == 0 and inside.range.low < 0:
        floor = tirx.Max(inside.expr, constant(0, inside.dtype).expr)
        inside = Term(floor, inside.dtype, inside.range.clipped(0, bound), inside.fraction)
    return cast(inside, dtype)


def _binary(rows: tuple[Binary, ...]) -> Callable[[Operands, str, int], Term]:
    def draw(operands: Operands, dtype: str, depth: int) -> Term:
        row = operands.source.pick(rows)
        a = draw_value(operands, dtype, depth)
        if row.right == "nonzero":
            a = _lowered(operands, a)
        b = _right_operand(operands, row, a, depth)
        drawn = apply(row, a, b)
        if drawn is None:
            bound = _operand_bound(row, dtype, a, b)
            if bound < 1:
                return a
            a = clipped(a, bound)
            drawn = apply(row, a, b if row.right != "any" else clipped(b, bound))
        if drawn is None:
            return a
        operands.draft.features.add(row.name)
        if row.right == "nonzero" and a.range.low < 0:
            operands.draft.features.add("negative_division")
        return drawn

    return draw


def _operand_bound(row: Binary, dtype: str, a: Term, b: Term) -> int:
    """How large operands may be for the result to fit."""
    if row.name == "mul":
        return math.isqrt(int(max(capacity(dtype, a.fraction + b.fraction), 0)))
    top = int(capacity(dtype, max(a.fraction, b.fraction)))
    return top >> _WIDEST_SHIFT if row.name == "shift_left" else top // 2


def _lowered(operands: Operands, term: Term) -> Term:
    """The number less one that it may be: then the kinds of division differ."""
    if (
        term.dtype.startswith("u")
        or term.range.low < 0
        or not operands.source.flip(operands.draft.knobs.expressions.lowered_dividend)
    ):
        return term
    less = constant(operands.source.integer(1, max(1, min(8, int(term.range.high)))), term.dtype)
    return apply(BY_NAME["sub"], term, less) or term


def _right_operand(operands: Operands, row: Binary, left: Term, depth: int) -> Term:
    dtype = left.dtype
    if row.right == "any":
        return draw_value(operands, dtype, depth, left)
    if row.right == "amount":
        top = _WIDEST_SHIFT
        if operands.source.flip(operands.draft.knobs.expressions.constant_shift):
            return constant(operands.source.integer(0, top), dtype)
        inner = draw_value(operands, dtype, 0)
        masked = apply(BY_NAME["bitwise_and"], inner, constant(top, dtype))
        return constant(1, dtype) if masked is None else masked
    return _divisor(operands, dtype, depth)


def _divisor(operands: Operands, dtype: str, depth: int) -> Term:
    """A number of one sign, never 0: most often a constant."""
    source = operands.source
    if source.flip(operands.draft.knobs.expressions.constant_divisor):
        value = source.pick((2, 3, 4, 5, 7, 8, 1, 16))
        negative = not dtype.startswith("u") and source.flip(operands.draft.knobs.expressions.negative_divisor)
        return constant(-value if negative else value, dtype)
    term = draw_value(operands, dtype, min(depth, 1))
    if term.range.low > 0 or term.range.high < 0:
        return term
    expr = tirx.Max(term.expr, constant(1, dtype).expr)
    return Term(expr, dtype, term.range.clipped(1, max(term.range.high, 1)))


def _leaf(operands: Operands, dtype: str, _depth: int) -> Term:
    return draw_leaf(operands, dtype)


def _chosen(operands: Operands, dtype: str, depth: int) -> Term:
    """Select, which evaluates both sides, or if_then_else, which does not."""
    lazily = Unusual.LAZY in operands.draft.unusual and operands.source.flip()
    operands.draft.features.add("if_then_else" if lazily else "select")
    condition = draw_condition(operands, min(depth, 1)).expr
    if Unusual.LIKELY in operands.draft.unusual and operands.source.flip(operands.draft.knobs.expressions.likely):
        condition = tirx.likely(condition)
        operands.draft.features.add("likely")
    then = draw_value(operands, dtype, depth)
    return chosen(condition, then, draw_value(operands, dtype, depth, then), lazily=lazily)


def _let(operands: Operands, dtype: str, depth: int) -> Term:
    """A named value, and an expression that uses it."""
    if not operands.lets or Unusual.LET not in operands.draft.unusual:
        return draw_leaf(operands, dtype)
    numbers = sorted({t.dtype for t in operands.leaves if t.dtype != "bool"} | {dtype})
    value = draw_value(operands, operands.source.pick(numbers), depth)
    var = tirx.Var(operands.draft.new_name("x"), value.dtype)
    named = Term(var, value.dtype, value.range, value.fraction)
    body = draw_value(operands.with_leaves(named, named), dtype, max(depth, 1))
    operands.draft.features.add("let")
    return Term(tirx.Let(var, value.expr, body.expr), dtype, body.range, body.fraction)


def _converted(operands: Operands, dtype: str, depth: int) -> Term:
    options = sorted({t.dtype for t in (*operands.leaves, *operands.indices) if t.dtype not in (dtype, "bool")})
    if not options:
        return draw_leaf(operands, dtype)
    return converted(operands, draw_value(operands, operands.source.pick(options), depth), dtype)


def _widened(operands: Operands, dtype: str, _depth: int) -> Term:
    """A product that the type of its operands may be too narrow for."""
    narrow = [t for t in operands.leaves if t.dtype in _NARROWER.get(dtype, ())]
    if not narrow:
        return draw_leaf(operands, dtype)
    one = operands.source.pick(narrow)
    other = operands.source.pick([t for t in narrow if t.dtype == one.dtype])
    product = apply(BY_NAME["mul"], cast(one, dtype), cast(other, dtype))
    operands.draft.features.add("widened")
    return cast(one, dtype) if product is None else product


def _constants_in_a_row(operands: Operands, dtype: str, depth: int) -> Term:
    """A value plus or less some numbers, one after the other. Each of them and each step fits into the dtype; two
    numbers together may not, so that joining them is not always right."""
    source, knobs = operands.source, operands.draft.knobs.expressions
    term = draw_value(operands, dtype, min(depth, 1))
    bound = min(int(capacity(dtype, term.fraction)), int(capacity(dtype, 0)), _FAR)
    for _ in range(source.integer(*knobs.constants_in_a_row)):
        down = math.ceil((0 if dtype.startswith("u") else -bound) - term.range.low)
        up = math.floor(bound - term.range.high)
        by = source.pick((down, up, source.integer(min(down, 0), max(up, 0))))
        by = max(-bound, min(bound, by))
        row = BY_NAME["sub" if by < 0 else "add"]
        term = apply(row, term, constant(abs(by), dtype)) or term
    operands.draft.features.add("constants_in_a_row")
    return term


def _flag(operands: Operands, dtype: str, depth: int) -> Term:
    """A condition as a number."""
    operands.draft.features.add("cast")
    return cast(draw_condition(operands, depth), dtype)


def _cut(operands: Operands, dtype: str, depth: int) -> Term:
    """A float through an integer and back, as quantisation does it."""
    term = draw_value(operands, dtype, depth)
    return converted(operands, converted(operands, term, operands.source.pick(("int32", "int64", "int8"))), dtype)


def _integer_unary(operands: Operands, dtype: str, depth: int) -> Term:
    term = draw_value(replace(operands, lets=False), dtype, depth)  # abs takes its operand twice
    options = ["popcount"] if dtype in ("int32", "int64") else []
    if not dtype.startswith("u"):
        options += ["bitwise_not", "negative", "abs"]
    if not options:
        return term
    kind = operands.source.pick(options)
    operands.draft.features.add(kind)
    match kind:
        case "bitwise_not":
            return Term(tirx.BitwiseNot(term.expr), dtype, Range(-1 - term.range.high, -1 - term.range.low, True))
        case "negative":
            return Term(tirx.Sub(constant(0, dtype).expr, term.expr), dtype, -term.range)
        case "abs":
            return Term(tirx.abs(term.expr), dtype, term.range.absolute())
        case _:
            return Term(tirx.popcount(term.expr), dtype, Range(0, 64, True))


def _float_unary(operands: Operands, dtype: str, depth: int) -> Term:
    term = draw_value(operands, dtype, depth)
    kinds = ("abs", "negative", "half", "floor", "ceil", "trunc", "nearbyint")
    kind = operands.source.pick(kinds[1:] if dtype in FLOAT8 else kinds)  # TVM has no abs of these
    operands.draft.features.add(kind)
    if kind == "half":
        halved = apply(FLOAT_BINARY[2], term, constant(0.5, dtype))
        return term if halved is None else halved
    if kind == "negative":
        return Term(tirx.Sub(constant(0, dtype).expr, term.expr), dtype, -term.range, term.fraction)
    if kind == "abs":
        return Term(tirx.abs(term.expr), dtype, term.range.absolute(), term.fraction)
    whole = Range(math.floor(term.range.low), math.ceil(term.range.high), True)
    call: Callable[..., Expr] = getattr(tirx, kind)
    return Term(call(term.expr), dtype, whole)


_Rows = tuple[tuple[Callable[[Operands, str, int], Term], int], ...]
_INTEGER: _Rows = (
    (_binary(INTEGER_BINARY), 12),
    (_leaf, 3),
    (_chosen, 2),
    (_converted, 3),
    (_let, 1),
    (_flag, 1),
    (_widened, 1),
    (_constants_in_a_row, 2),
    (_integer_unary, 2),
)
_FLOAT: _Rows = (
    (_binary(FLOAT_BINARY), 10),
    (_leaf, 3),
    (_chosen, 2),
    (_converted, 4),
    (_let, 1),
    (_flag, 1),
    (_float_unary, 3),
    (_cut, 1),
    (_constants_in_a_row, 1),
)
