"""Which special floats an operator has a meaning for: NaN, infinities, subnormal numbers. No TVM here.

A row of the operator table says what it takes. Inputs are drawn accordingly (`generators.relax.special_values`), and
the reference says nothing of results that TVM leaves open (`oracles.reference.left_open`).

IEEE 754 is what counts, less what TVM's sources set aside:
- src/arith/rewrite_simplify.cc cancels x - x, (x + y) - y, x - (x + y) and x == x for floats as well: "models should
  not encounter NaN in the first place". It takes the negation of a comparison for the opposite comparison, too.
- src/arith/const_fold.h folds a product with a literal zero, and a literal zero divided by anything, to zero.
- src/target/llvm/codegen_llvm.cc: a NaN is not unequal to anything (an ordered comparison), and Max and Min give their
  second operand where the first is NaN (apache/tvm#19579).
- A sign of NaN is 0, a cast of NaN or an infinity to integers anything, and the identity of `max` is the smallest
  finite number. Whether devices flush subnormal numbers to zero is theirs to say, so no arithmetic gets them.
Zeros with a minus sign are zeros: they need no leave, as no operator in its domain tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import numpy as np

from generators.dtypes import Array


class Special(Enum):
    """What an operand may hold besides finite normal numbers."""

    NAN = "nan"
    INFINITY = "infinity"
    SUBNORMAL = "subnormal"
    UNORDERED = "unordered"
    """The truth of a comparison with NaN: it may be moved and chosen by, not negated or joined with others."""


Set: TypeAlias = frozenset[Special]
NOTHING: Set = frozenset()
FLOATS: Set = frozenset({Special.NAN, Special.INFINITY, Special.SUBNORMAL})
EVERYTHING: Set = frozenset(Special)
ARITHMETIC: Set = frozenset({Special.NAN, Special.INFINITY})

LeftOpen: TypeAlias = Callable[..., Array]
"""For the carriers of the operands: where TVM leaves the result open. It broadcasts to the result."""


@dataclass(frozen=True, slots=True)
class Specials:
    """takes: what operands may hold. keeps: which of these results then hold. makes: what results may hold besides
    where operands hold one of `from_`. left_open: elements that are open all the same."""

    takes: Set
    keeps: Set
    makes: Set = NOTHING
    from_: Set = ARITHMETIC
    left_open: LeftOpen | None = None

    def operands_may_hold(self, results_may_hold: Set) -> Set:
        """What operands may hold where results may hold no more than these."""
        made = NOTHING if self.makes <= results_may_hold else self.from_
        return frozenset(s for s in self.takes - made if s not in self.keeps or s in results_may_hold)


def _both_nan(a: Array, b: Array) -> Array:
    return np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else np.zeros(np.broadcast(a, b).shape, np.bool_)


def _may_cancel(a: Array, b: Array) -> Array:
    """Neither is finite, and they are not infinities of two signs: one may be the other, or the other and a term more,
    as in (x + y) - y, which is NaN less an infinity where x and y are infinities of two signs."""
    return np.asarray(~np.isfinite(a) & ~np.isfinite(b) & ((a == b) | np.isnan(a) | np.isnan(b)))


def _zero_times_special(a: Array, b: Array) -> Array:
    return np.asarray(((a == 0) & ~np.isfinite(b)) | ((b == 0) & ~np.isfinite(a)))


NONE = Specials(NOTHING, NOTHING)
MOVED = Specials(EVERYTHING, EVERYTHING)
"""Elements travel as they are."""
SIZED = Specials(FLOATS, FLOATS)
"""The same for numbers, as a change of sign is."""
ASKED = Specials(FLOATS, NOTHING)
"""What kind of number it is."""
COMPARED = Specials(FLOATS, NOTHING, frozenset({Special.UNORDERED}), frozenset({Special.NAN}), _both_nan)
UNEQUAL = Specials(frozenset({Special.INFINITY, Special.SUBNORMAL}), NOTHING)
ORDERED = Specials(frozenset({Special.INFINITY, Special.SUBNORMAL}), frozenset({Special.INFINITY, Special.SUBNORMAL}))
"""The larger or the smaller number."""
CLIPPED = Specials(frozenset({Special.INFINITY, Special.SUBNORMAL}), frozenset({Special.SUBNORMAL}))
ROUNDED = Specials(ARITHMETIC, ARITHMETIC)
"""To a whole number, or to another dtype of floats."""
COMPUTED = Specials(ARITHMETIC, ARITHMETIC, frozenset({Special.NAN}))
"""Sums."""
SUBTRACTED = Specials(ARITHMETIC, ARITHMETIC, frozenset({Special.NAN}), left_open=_may_cancel)
MULTIPLIED = Specials(ARITHMETIC, ARITHMETIC, frozenset({Special.NAN}), left_open=_zero_times_special)
MULTIPLIED_AND_ADDED = Specials(
    ARITHMETIC,
    ARITHMETIC,
    frozenset({Special.NAN}),
    left_open=lambda a, b, c: _zero_times_special(a, b),
)
DIVIDED = Specials(
    ARITHMETIC,
    ARITHMETIC,
    frozenset({Special.NAN}),
    left_open=lambda a, b: np.asarray((a == 0) & np.isnan(b)),
)
