"""Facts about integer expressions without running them: intervals and linear forms.

Intervals decide which bounds and overflow checks generated code needs; linear forms decide which accesses are
slices and which loops are independent. Not here: decisions about loops (`dependence.py`).
"""

from __future__ import annotations

from typing import NamedTuple

from oracles.reference.tir.nodes import Bin, Cast, Const, Expr, Load, Select, Var


class Interval(NamedTuple):
    """Inclusive bounds of a value. `safe`: no operation on the way can overflow or divide by zero, and
    nothing is loaded.
    """

    low: int
    high: int
    safe: bool


class Linear(NamedTuple):
    """`const` plus the sum of coefficient times term; terms are variables or expressions that are not linear."""

    terms: dict[Expr, int]
    const: int


class Bounds:
    """Intervals of the expressions of one function.

    `ranges` gives the inclusive range of each loop variable by key; `fragile` holds the variables that are
    defined inside an expression, so that nothing with them can be computed ahead of it.
    """

    def __init__(self) -> None:
        self.ranges: dict[int, tuple[int, int]] = {}
        self.fragile: set[int] = set()
        self._intervals: dict[int, tuple[Expr, Interval]] = {}
        self._linear: dict[int, tuple[Expr, Linear]] = {}

    def interval(self, expr: Expr) -> Interval:
        """The interval of an integer or bool expression; memoised by identity."""
        found = self._intervals.get(id(expr))
        if found is None:
            found = (expr, self._interval(expr))
            self._intervals[id(expr)] = found
        return found[1]

    def _interval(self, expr: Expr) -> Interval:
        dtype = expr.dtype
        match expr:
            case Const(value, _):
                return Interval(int(value), int(value), True)
            case Var(key, _, _):
                low, high = self.ranges.get(key, (dtype.low, dtype.high))
                return Interval(low, high, key not in self.fragile)
            case Bin(op, a, b, _):
                low, high, safe = _binary(op, self.interval(a), self.interval(b), expr)
            case Cast(a, _) if a.dtype.kind in "iub":
                low, high, safe = self.interval(a)
            case Select(_, then, other, _):
                one, two = self.interval(then), self.interval(other)
                low, high, safe = min(one.low, two.low), max(one.high, two.high), False
            case Load():
                return Interval(dtype.low, dtype.high, False)
            case _:
                return Interval(dtype.low, dtype.high, False)
        if dtype.kind == "u" and (low < dtype.low or high > dtype.high):
            return Interval(dtype.low, dtype.high, False)  # it may wrap
        if low < dtype.low or high > dtype.high:
            return Interval(max(low, dtype.low), min(high, dtype.high), False)
        return Interval(low, high, safe)

    def fits(self, expr: Bin) -> bool:
        """Whether the result of an addition, subtraction, multiplication or shift stays in its type for all
        operands.
        """
        low, high, _ = _binary(expr.op, self.interval(expr.a), self.interval(expr.b), expr)
        return expr.dtype.low <= low and high <= expr.dtype.high

    def linear(self, expr: Expr) -> Linear:
        """The linear form of an integer expression, with `c * (x // c) + x % c` put together again."""
        found = self._linear.get(id(expr))
        if found is None:
            terms: dict[Expr, int] = {}
            const = self._collect(expr, 1, terms)
            found = (expr, self.recombine(Linear(terms, const)))
            self._linear[id(expr)] = found
        return found[1]

    def _collect(self, expr: Expr, scale: int, terms: dict[Expr, int]) -> int:
        match expr:
            case Const(value, _):
                return int(value) * scale
            case Bin("add", a, b, _):
                return self._collect(a, scale, terms) + self._collect(b, scale, terms)
            case Bin("sub", a, b, _):
                return self._collect(a, scale, terms) + self._collect(b, -scale, terms)
            case Bin("mul", a, Const(value, _), _) | Bin("mul", Const(value, _), a, _):
                return self._collect(a, scale * int(value), terms)
            case Cast(a, dtype) if a.dtype.kind == "i" and dtype.kind == "i" and self._keeps(a, expr):
                return self._collect(a, scale, terms)
            case Bin("floormod", a, Const(value, _), _) if self._below(a, int(value)):
                return self._collect(a, scale, terms)
            case _:
                terms[expr] = terms.get(expr, 0) + scale
                return 0

    def _keeps(self, inner: Expr, cast: Expr) -> bool:
        low, high, _ = self.interval(inner)
        return cast.dtype.low <= low and high <= cast.dtype.high

    def _below(self, expr: Expr, modulus: int) -> bool:
        low, high, _ = self.interval(expr)
        return low >= 0 and high < modulus

    def recombine(self, form: Linear) -> Linear:
        """The same sum with every `c * (x // c) + x % c` replaced by `x`, without zero terms."""
        terms = form.terms if all(form.terms.values()) else {term: scale for term, scale in form.terms.items() if scale}
        for term, scale in terms.items():
            if not (isinstance(term, Bin) and term.op == "floormod" and isinstance(term.b, Const)):
                continue
            divisor = int(term.b.value)
            partner = Bin("floordiv", term.a, term.b, term.dtype)
            if divisor > 0 and terms.get(partner) == scale * divisor:
                terms = dict(terms)
                del terms[term], terms[partner]
                const = form.const + self._collect(term.a, scale, terms)
                return self.recombine(Linear(terms, const))
        return Linear(terms, form.const)

    def span(self, terms: dict[Expr, int]) -> tuple[int, int]:
        """Bounds of a sum of scaled terms."""
        low = high = 0
        for term, scale in terms.items():
            bounds = self.interval(term)
            ends = (bounds.low * scale, bounds.high * scale)
            low += min(ends)
            high += max(ends)
        return low, high


def _binary(op: str, a: Interval, b: Interval, expr: Bin) -> Interval:
    safe = a.safe and b.safe
    match op:
        case "add":
            return Interval(a.low + b.low, a.high + b.high, safe)
        case "sub":
            return Interval(a.low - b.high, a.high - b.low, safe)
        case "mul":
            ends = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
            return Interval(min(ends), max(ends), safe)
        case "min":
            return Interval(min(a.low, b.low), min(a.high, b.high), safe)
        case "max":
            return Interval(max(a.low, b.low), max(a.high, b.high), safe)
        case "shl" if b.low >= 0 and b.high < expr.dtype.bits:
            ends = (a.low << b.low, a.low << b.high, a.high << b.low, a.high << b.high)
            return Interval(min(ends), max(ends), safe)
        case "shr" if b.low >= 0 and b.high < expr.dtype.bits:
            return Interval(min(a.low >> b.low, a.low >> b.high), max(a.high >> b.low, a.high >> b.high), safe)
        case "band" if a.low >= 0 or b.low >= 0:
            tops = [x.high for x in (a, b) if x.low >= 0]
            return Interval(0, min(tops), safe)
        case _ if b.low == b.high and b.low > 0:
            return _by_constant(op, a, b.low, safe, expr)
        case _:
            return Interval(expr.dtype.low, expr.dtype.high, False)


def _by_constant(op: str, a: Interval, divisor: int, safe: bool, expr: Bin) -> Interval:
    """Division and remainder by a positive constant."""
    match op:
        case "floordiv":
            return Interval(a.low // divisor, a.high // divisor, safe)
        case "floormod":
            if a.low >= 0 and a.high < divisor:
                return Interval(a.low, a.high, safe)
            return Interval(0, divisor - 1, safe)
        case "div":
            return Interval(_truncated(a.low, divisor), _truncated(a.high, divisor), safe)
        case "mod":
            low = 0 if a.low >= 0 else -min(divisor - 1, -a.low)
            return Interval(low, max(0, min(divisor - 1, a.high)), safe)
        case _:
            return Interval(expr.dtype.low, expr.dtype.high, False)


def _truncated(value: int, divisor: int) -> int:
    return value // divisor if value >= 0 else -(-value // divisor)
