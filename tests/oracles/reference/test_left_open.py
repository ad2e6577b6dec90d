"""What TVM's simplifier makes of two operators on floats is what the reference says, wherever that says something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from tvm import tirx
from tvm.sym import Analyzer
from tvm.tirx import const

from generators.dtypes import Array
from generators.operators.table import OPERATORS
from generators.prim_expr import evaluate
from generators.tvm_api import Expr
from oracles.reference.left_open import left_open
from oracles.reference.values import Tensor
from tests.quick import one_in

NUMBERS = np.array(list(product((np.nan, np.inf, -np.inf, 0.0, 2.0, -3.0), repeat=2)))
"""What x and y are, in each line."""
X, Y = (tirx.Var(name, "float32") for name in "xy")
BUILD = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": tirx.max,
    "minimum": tirx.min,
    "equal": tirx.EQ,
    "less": tirx.LT,
    "less_equal": tirx.LE,
}


@dataclass(frozen=True)
class Term:
    """An expression, its values, and where they are open."""

    expr: Expr
    values: Array
    is_open: Array


def combined(name: str, a: Term, b: Term) -> Term:
    """An operator of these, as its row says."""
    row, given = OPERATORS[f"relax.{name}"], (a.values, b.values)
    with np.errstate(invalid="ignore"):
        values: Any = row.meaning(*given)
        opened = left_open(row, [Tensor(one, "float32", None) for one in given], row.meaning, [values])[0]
    return Term(BUILD[name](a.expr, b.expr), values, a.is_open | b.is_open | (False if opened is None else opened))


def terms() -> Iterator[Term]:
    never = np.zeros(len(NUMBERS), np.bool_)
    yield from (Term(X, NUMBERS[:, 0], never), Term(Y, NUMBERS[:, 1], never))
    yield from (Term(const(one, "float32"), np.full(len(NUMBERS), one), never) for one in (0.0, 1.0, 2.0))


@pytest.mark.parametrize("outer", one_in(2, BUILD))
def test_what_the_simplifier_gives_is_right_or_open(outer: str) -> None:
    rewritten = 0
    for inner, a, b, c in product(("add", "subtract", "multiply", "maximum", "minimum"), terms(), terms(), terms()):
        both = combined(inner, a, b)
        for term in (combined(outer, both, c), combined(outer, c, both)):
            plain = Analyzer().simplify(term.expr)
            if plain.same_as(term.expr):
                continue
            rewritten += 1
            for (x, y), value, unjudged in zip(NUMBERS, term.values, term.is_open, strict=True):
                if not unjudged and not (np.isfinite(x) and np.isfinite(y)):
                    given = evaluate(plain, {X: float(x), Y: float(y)})
                    same = given == value or (np.isnan(given) and np.isnan(value))
                    assert same, f"{term.expr} is {plain} to TVM: {given}, not {value}, at x = {x}, y = {y}"
    assert rewritten
