"""Integer expressions of the shapes that rewrite rules match: sums under divisions, remainders, bounds, comparisons.

The rules are those of rewrite_simplify.cc and canonical_simplify.cc and of the passes that call them. Other
expressions are drawn by `expressions.py`; the ranges of operators are in `terms.py`. A shape that might overflow for
some value of its operands raises Unfit and is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvm import tirx

from generators.ranges import Range
from generators.tir.function_draft import FunctionDraft, Unfit
from generators.tir.terms import BY_NAME, Term, apply, cast, chosen, constant, fits, truth
from generators.tvm_api import Expr

WIDER = {"int8": "int16", "int16": "int32", "int32": "int64", "uint8": "int32", "uint16": "int32", "uint32": "int64"}
"""A dtype that holds all that one holds, and more."""
_RELATIONS = {
    "lt": tirx.LT,
    "le": tirx.LE,
    "gt": tirx.GT,
    "ge": tirx.GE,
    "eq": tirx.EQ,
    "ne": tirx.NE,
}


@dataclass(frozen=True, slots=True)
class IntegerTerm:
    """A term with Python's operators. `division` is "floor" or "trunc", for // and %."""

    term: Term
    draft: FunctionDraft
    division: str

    def _with(self, name: str, other: IntegerTerm | int) -> IntegerTerm:
        right = self._term(other)
        row = BY_NAME[name]
        if row.right == "nonzero" and right.range.low <= 0 <= right.range.high:
            raise Unfit("a division by zero")
        if row.right == "amount" and not right.range.within(0, 7):
            raise Unfit("a shift too far")
        result = apply(row, self.term, right)
        if result is None:
            raise Unfit("an overflow")
        self.draft.features.add(name)
        if row.right == "nonzero" and self.term.range.low < 0:
            self.draft.features.add("negative_division")
        return IntegerTerm(result, self.draft, self.division)

    def __add__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with("add", other)

    def __sub__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with("sub", other)

    def __rsub__(self, other: int) -> IntegerTerm:
        return self.of(other)._with("sub", self)

    def __mul__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with("mul", other)

    def __floordiv__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with(f"{self.division}div", other)

    def __mod__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with(f"{self.division}mod", other)

    def __lshift__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with("shift_left", other)

    def __rshift__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with("shift_right", other)

    def __and__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with("bitwise_and", other)

    def __or__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with("bitwise_or", other)

    def __xor__(self, other: IntegerTerm | int) -> IntegerTerm:
        return self._with("bitwise_xor", other)

    def min(self, other: IntegerTerm | int) -> IntegerTerm:
        """The smaller one."""
        return self._with("min", other)

    def max(self, other: IntegerTerm | int) -> IntegerTerm:
        """The larger one."""
        return self._with("max", other)

    def of(self, value: int) -> IntegerTerm:
        """A constant of this dtype."""
        return IntegerTerm(self._term(value), self.draft, self.division)

    def _term(self, other: IntegerTerm | int) -> Term:
        if not isinstance(other, int):
            return other.term
        if not fits(Range(other, other, True), self.term.dtype):
            raise Unfit("a constant out of range")
        return constant(other, self.term.dtype)

    def to(self, dtype: str) -> IntegerTerm:
        """The value in another dtype, which must hold it."""
        if not fits(self.term.range, dtype):
            raise Unfit("a cast that changes the value")
        self.draft.features.add("cast")
        return IntegerTerm(cast(self.term, dtype), self.draft, self.division)

    def wider(self) -> IntegerTerm:
        """The value in a wider dtype."""
        if self.term.dtype not in WIDER:
            raise Unfit("no wider dtype")
        return self.to(WIDER[self.term.dtype])

    def is_(self, name: str, other: IntegerTerm | int) -> Term:
        """A comparison: "lt", "le", "gt", "ge", "eq" or "ne"."""
        right = self._term(other)
        self.draft.features.add(name)
        return truth(_RELATIONS[name](self.term.expr, right.expr))

    def where(self, condition: Term, other: IntegerTerm | int, *, lazily: bool = False) -> IntegerTerm:
        """This one where the condition holds, else the other."""
        right = self._term(other)
        self.draft.features.add("if_then_else" if lazily else "select")
        return IntegerTerm(chosen(condition.expr, self.term, right, lazily=lazily), self.draft, self.division)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a shape. x, y, z: operands of one dtype. c: a divisor, d: k times c, e and f: any constants, s: a
    number of bits. how, also: relations. condition: anything true or false."""

    x: IntegerTerm
    y: IntegerTerm
    z: IntegerTerm
    c: int
    k: int
    e: int
    f: int
    s: int
    how: str
    also: str
    condition: Term

    @property
    def d(self) -> int:
        """A multiple of the divisor."""
        return self.c * self.k


def _logic(node: Callable[..., Expr], *terms: Term) -> Term:
    return truth(node(*(term.expr for term in terms)))


def _unless_zero(p: Parts, divide: Callable[[IntegerTerm, IntegerTerm], IntegerTerm]) -> IntegerTerm:
    """A division that only a test keeps from dividing by zero: no pass may hoist it."""
    y = p.y
    if not y.term.range.low <= 0 <= y.term.range.high:
        raise Unfit("a divisor that is never zero")
    sides = [Range(1, y.term.range.high, True)] if y.term.range.high > 0 else []
    sides += [Range(y.term.range.low, -1, True)] if y.term.range.low < 0 else []
    if not sides:
        raise Unfit("a divisor that is always zero")
    quotients = [divide(p.x, IntegerTerm(Term(y.term.expr, y.term.dtype, side), y.draft, y.division)) for side in sides]
    values = quotients[0].term.range
    for other in quotients[1:]:
        values = values.hull(other.term.range)
    whole = IntegerTerm(Term(quotients[0].term.expr, y.term.dtype, values), y.draft, y.division)
    y.draft.features.add("guarded_division")
    return whole.where(y.is_("ne", 0), p.e, lazily=True)


NumberShape = Callable[[Parts], IntegerTerm]
ConditionShape = Callable[[Parts], Term]

SUMS: tuple[NumberShape, ...] = (
    lambda p: (p.x * p.d + p.y) // p.c,
    lambda p: (p.x * p.d + p.y) % p.c,
    lambda p: (p.x * p.c + p.y) // p.d,
    lambda p: (p.x * p.c + p.y) % p.d,
    lambda p: (p.x * p.c + p.e) // p.d,
    lambda p: (p.x * p.c + p.e) % p.d,
    lambda p: (p.x * p.c + p.y * p.d + p.e) // p.c,
    lambda p: (p.x * p.c + p.y * p.d + p.e) % p.c,
    lambda p: (p.x + p.e) // p.c - p.x // p.c,
    lambda p: (p.x + p.y) // p.c - p.y // p.c,
    lambda p: (p.x + p.c) % p.c + (p.x + p.d) // p.c,
    lambda p: (p.x + (p.c - 1)) // p.c,
    lambda p: (p.x * p.c) // p.d + (p.x * p.d) // p.c,
    lambda p: (p.x * p.k) % p.c,
    lambda p: (p.e - p.x) // p.c,
    lambda p: (p.e - p.x) % p.c,
    lambda p: (p.e - p.x * p.c - p.y) // p.d,
    lambda p: (0 - p.x) // p.c + p.x // p.c,
    lambda p: p.x * p.c + p.y * p.c - p.x * p.k,
    lambda p: (p.x + p.y) * p.c - p.y * p.c,
    lambda p: (p.x - p.y) * p.k + (p.y - p.x) * p.k,
    lambda p: (p.x + p.e) * (p.y + p.f) - p.x * p.y,
)
SPLITS: tuple[NumberShape, ...] = (
    lambda p: (p.x // p.c) * p.c + p.x % p.c,
    lambda p: p.x - (p.x // p.c) * p.c,
    lambda p: p.x - p.x % p.c,
    lambda p: (p.x // p.d) * p.k + (p.x % p.d) // p.c,
    lambda p: (p.x // p.c) // p.k,
    lambda p: (p.x // p.c) % p.k,
    lambda p: ((p.x // p.c) % p.k) * p.c + p.x % p.c,
    lambda p: (p.x % p.d) // p.c,
    lambda p: (p.x % p.d) % p.c,
    lambda p: (p.x % p.c) // p.k,
    lambda p: (p.x % p.c) % p.d,
    lambda p: (p.x // p.c + p.y) // p.k,
    lambda p: (p.x // p.c + p.e) % p.k,
    lambda p: (p.x % p.c + p.y) % p.c,
    lambda p: (p.x % p.c + p.y % p.c) // p.c,
    lambda p: ((p.x + p.e) % p.d) // p.c + ((p.x + p.f) // p.d) * p.k,
    lambda p: ((p.x * p.c + p.y % p.c) // p.c) * p.c + (p.x * p.c + p.y % p.c) % p.c,
    lambda p: (p.x * p.d + p.y * p.c + p.z % p.c) // p.d,
    lambda p: (p.x * p.d + p.y * p.c + p.z % p.c) % p.d // p.c,
)
GUARDED: tuple[NumberShape, ...] = (
    lambda p: _unless_zero(p, lambda x, y: x // y),
    lambda p: _unless_zero(p, lambda x, y: x % y),
)
BOUNDS: tuple[NumberShape, ...] = (
    lambda p: (p.x + p.e).min(p.y + p.e),
    lambda p: (p.x + p.e).max(p.x + p.f),
    lambda p: (p.x * p.c).min(p.y * p.c),
    lambda p: (p.x * p.k).max(p.y * p.k),
    lambda p: (p.x // p.c).min(p.y // p.c),
    lambda p: (p.x // p.c).max((p.x + p.e) // p.c),
    lambda p: p.x.max(p.e).min(p.f),
    lambda p: p.x.min(p.e).max(p.f),
    lambda p: ((p.x + (p.c - 1)) // p.c * p.c).min(p.x),
    lambda p: ((p.x + (p.c - 1)) // p.c * p.c).max(p.x),
    lambda p: (p.x // p.c * p.c).max(p.x + p.e),
    lambda p: (p.x // p.c * p.c + p.e).min(p.x),
    lambda p: p.x.min(p.y) - p.y,
    lambda p: p.x - p.x.min(p.y),
    lambda p: p.x.max(p.y) - p.x.min(p.y),
    lambda p: p.x.min(p.y) + p.x.max(p.y),
    lambda p: p.x.min(p.y.min(p.e)),
    lambda p: p.x.max(p.y).min(p.x),
    lambda p: p.x.min(p.y).min(p.x + p.e),
    lambda p: (p.x + p.e).max(p.f) - p.x,
    lambda p: (p.x * p.k).min(p.e),
    lambda p: (p.e - p.x).max(p.f - p.x),
    lambda p: (p.x + p.y).min(p.e) - p.x,
    lambda p: p.x.min(p.y + p.e) - p.y.max(p.x + p.f),
    lambda p: (p.x * p.c + p.y).min(p.x * p.c + p.z),
    lambda p: p.x.max(0) // p.c,
    lambda p: p.x.min(p.y).max(p.z.min(p.x)),
)
BITS: tuple[NumberShape, ...] = (
    lambda p: (p.x << p.s) >> p.s,
    lambda p: (p.x >> p.s) << p.s,
    lambda p: (p.x << p.s) + p.y,
    lambda p: (p.x << p.s) // 2**p.s,
    lambda p: p.x & (2**p.s - 1),
    lambda p: ((p.x >> p.s) << p.s) + (p.x & (2**p.s - 1)),
    lambda p: p.x % 2**p.s + (p.x >> p.s) * 2**p.s,
    lambda p: (p.x & p.y) + (p.x | p.y),
    lambda p: (p.x ^ p.y) ^ p.y,
    lambda p: (p.x & p.e) | (p.y & p.f),
    lambda p: (p.x << (p.y & 3)) >> 1,
)
CHOICES: tuple[NumberShape, ...] = (
    lambda p: p.x.where(p.condition, p.y) + p.y.where(p.condition, p.x),
    lambda p: p.x.where(p.condition, p.e) - p.y.where(p.condition, p.f),
    lambda p: p.x.where(p.x.is_(p.how, p.y), p.y),
    lambda p: p.x.where(p.x.is_(p.how, p.e), p.e),
    lambda p: p.x.where(p.condition, p.y).min(p.e),
    lambda p: (p.x + p.e).where(p.condition, p.x + p.f).max(p.x),
    lambda p: p.x.where(p.condition, p.x, lazily=True) + p.y,
    lambda p: p.x.where(p.x.is_("ge", p.e), p.y.where(p.x.is_("lt", p.f), p.z, lazily=True), lazily=True),
    lambda p: (p.x // p.c).where(p.x.is_("ge", 0), (0 - p.x) // p.c),
    lambda p: p.x.of(p.e).where(p.condition, p.f) + p.x,
    lambda p: (p.x.where(p.condition, p.y) * p.c + p.z) // p.c,
)
CASTS: tuple[NumberShape, ...] = (
    lambda p: ((p.x + p.y).wider() * p.c).to(p.x.term.dtype),
    lambda p: (p.x.wider() * p.c + p.y.wider()).to(p.x.term.dtype),
    lambda p: ((p.x.wider() * p.d + p.y.wider()) // p.c).to(p.x.term.dtype),
    lambda p: (p.x.wider() // p.c).to(p.x.term.dtype) - p.x // p.c,
    lambda p: (p.x.wider() % p.c + (p.y + p.e).wider()).to(p.x.term.dtype),
    lambda p: p.x.to("int8").to(p.x.term.dtype) + p.y,
    lambda p: ((p.x + p.e).to("int16") * p.k).to(p.x.term.dtype),
    lambda p: (p.x + p.e).to("uint8").to(p.x.term.dtype) % p.c,
    lambda p: (p.x.max(0).to("uint32") * 3).to(p.x.term.dtype),
)
CONDITIONS: tuple[ConditionShape, ...] = (
    lambda p: (p.x * p.k + p.e).is_(p.how, p.f),
    lambda p: (p.x * p.c).is_(p.how, p.d),
    lambda p: (p.x // p.c).is_(p.how, p.e),
    lambda p: (p.x // p.c).is_(p.how, p.y // p.c),
    lambda p: (p.x % p.c).is_(p.how, p.k - 1),
    lambda p: (p.x + p.e).is_(p.how, p.y + p.f),
    lambda p: (p.x * p.c).is_(p.how, p.y * p.c),
    lambda p: (p.x * p.d).is_(p.how, p.y * p.c + p.e),
    lambda p: (p.x // p.c * p.c).is_(p.how, p.x),
    lambda p: (p.x // p.c * p.c).is_(p.how, p.x + p.e),
    lambda p: (p.x // p.c * p.c + p.e).is_(p.how, p.y),
    lambda p: p.x.min(p.y).is_(p.how, p.e),
    lambda p: p.x.max(p.y).is_(p.how, p.x + p.e),
    lambda p: (p.x + p.y).min(p.e).is_(p.how, p.x),
    lambda p: (p.e - p.x).is_(p.how, p.f),
    lambda p: (p.x - p.y).is_(p.how, p.e),
    lambda p: (p.x * p.c + p.y % p.c).is_(p.how, p.z * p.c),
    lambda p: (p.x * p.c + p.y).is_(p.how, p.d),
    lambda p: (p.x * p.c + p.e).is_(p.how, p.y * p.d + p.f),
    lambda p: p.x.where(p.condition, p.e).is_(p.how, p.f),
    lambda p: (p.x.wider() + 1).is_(p.how, p.y.wider()),
)
LOGIC: tuple[ConditionShape, ...] = (
    lambda p: _logic(tirx.And, p.x.is_(p.how, p.e), p.x.is_(p.also, p.f)),
    lambda p: _logic(tirx.Or, p.x.is_(p.how, p.e), p.x.is_(p.also, p.f)),
    lambda p: _logic(tirx.And, p.x.is_(p.how, p.y), p.y.is_(p.also, p.x)),
    lambda p: _logic(tirx.Or, p.x.is_(p.how, p.y), p.x.is_(p.also, p.y + p.e)),
    lambda p: _logic(tirx.Not, p.x.is_(p.how, p.y)),
    lambda p: _logic(tirx.Not, _logic(tirx.And, p.x.is_(p.how, p.e), p.y.is_(p.also, p.f))),
    lambda p: _logic(tirx.And, (p.x // p.c).is_("eq", p.e), (p.x % p.c).is_(p.how, p.f)),
    lambda p: _logic(tirx.And, p.condition, _logic(tirx.Or, p.condition, p.x.is_(p.how, p.y))),
    lambda p: _logic(tirx.Or, p.condition, _logic(tirx.Not, p.condition)),
    lambda p: _logic(tirx.Or, _logic(tirx.And, p.condition, p.x.is_(p.how, p.e)), p.x.is_(p.also, p.e)),
    lambda p: _logic(tirx.And, p.x.is_("le", p.y), _logic(tirx.And, p.y.is_("le", p.z), p.x.is_(p.how, p.z))),
)
NUMBERS: tuple[tuple[tuple[NumberShape, ...], int], ...] = (
    (SUMS, 6),
    (SPLITS, 6),
    (BOUNDS, 5),
    (BITS, 2),
    (CHOICES, 3),
    (CASTS, 2),
    (GUARDED, 2),
)
"""Families of shapes with their weights."""
RELATIONS = tuple(_RELATIONS)
