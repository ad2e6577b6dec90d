"""Vectorised execution against plain loops on random nests: the same bits, the same initialised elements, or
a trap in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.reference.errors import Trap
from oracles.reference.tir.dependence import Dependence
from oracles.reference.tir.engine import program_of, run_program
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import INT64, Bin, Buffer, Const, Expr, For, Function, Load, Stmt, Store, Var
from tests.oracles.reference.tir.random_loops import FLOAT, functions

Array = np.ndarray[Any, Any]


def inputs(function: Function, complete: bool) -> tuple[list[Array], list[Array | None]]:
    """Arrays with distinct values, and masks that leave parts of B and C uninitialised unless `complete`."""
    rng = np.random.default_rng(1)
    arrays: list[Array] = []
    known: list[Array | None] = []
    for param in function.params:
        assert isinstance(param, Buffer)
        if param.dtype.kind == "f":
            arrays.append(rng.permutation(np.arange(np.prod(param.shape))).reshape(param.shape).astype(np.float32) / 4)
        else:
            arrays.append(rng.integers(0, 6, param.shape).astype(param.dtype.numpy))
        known.append(rng.random(param.shape) < 0.9 if param.name in "BC" and not complete else None)
    return arrays, known


def outcome(function: Function, vectorise: bool, complete: bool) -> tuple[str, list[bytes]]:
    """ "trap", or the contents and the masks."""
    arrays, known = inputs(function, complete)
    program = program_of(function, vectorise)
    try:
        left, _ = run_program(program, arrays, known)
    except Trap:
        return "trap", []
    masks = [np.ones(a.shape, bool) if mask is None else mask for a, mask in zip(arrays, left, strict=True)]
    return "done", [a.tobytes() for a in arrays] + [mask.tobytes() for mask in masks]


OUTER, INNER = Var(1, "i", INT64), Var(2, "j", INT64)
LINE = Buffer(0, "A", FLOAT, (12,))
OUT = Buffer(1, "B", FLOAT, (24,))
SQUARE = Buffer(2, "C", FLOAT, (4, 6))


def plus(*terms: tuple[int, Expr] | int) -> Expr:
    """A sum of scaled variables and numbers."""
    parts: list[Expr] = [
        Const(t, INT64) if isinstance(t, int) else Bin("mul", t[1], Const(t[0], INT64), INT64) for t in terms
    ]
    total = parts[0]
    for part in parts[1:]:
        total = Bin("add", total, part, INT64)
    return total


def accumulate(buffer: Buffer, index: tuple[Expr, ...], other: tuple[Expr, ...] | None = None) -> Stmt:
    """buffer[index] = buffer[other or index] + A[i + j], which depends on the order wherever iterations meet."""
    current = Load(buffer, other or index, FLOAT)
    return Store(buffer, Bin("add", current, Load(LINE, (plus((1, OUTER), (1, INNER)),), FLOAT), FLOAT), index)


def split(divisor: int, expr: Expr) -> tuple[Expr, Expr]:
    """Quotient and remainder."""
    return (Bin("floordiv", expr, Const(divisor, INT64), INT64), Bin("floormod", expr, Const(divisor, INT64), INT64))


NESTS: dict[str, tuple[Stmt, bool, bool]] = {
    # The statement inside `for i in range(4): for j in range(3)`, and whether i and j are proved independent.
    "apart": (accumulate(OUT, (plus((3, OUTER), (1, INNER)),)), True, True),
    "apart with a gap": (accumulate(OUT, (plus((5, OUTER), (1, INNER), 2),)), True, True),
    "backwards": (accumulate(OUT, (plus((-3, OUTER), (1, INNER), 9),)), True, True),
    "one element shared": (accumulate(OUT, (plus((2, OUTER), (1, INNER)),)), False, True),
    "reduction over j": (accumulate(OUT, (plus((3, OUTER), 1),)), True, False),
    "reduction over i": (accumulate(OUT, (INNER,)), False, True),
    "all in one": (accumulate(OUT, (Const(5, INT64),)), False, False),
    "reads what j - 1 wrote": (
        accumulate(OUT, (plus((4, OUTER), (1, INNER), 1),), (plus((4, OUTER), (1, INNER)),)),
        True,
        False,
    ),
    "reads what i - 1 wrote": (
        accumulate(OUT, (plus((3, OUTER), (1, INNER), 3),), (plus((3, OUTER), (1, INNER)),)),
        False,
        False,
    ),
    "distance grows with i": (
        accumulate(OUT, (plus((2, OUTER), (1, INNER)),), (plus((1, OUTER), (1, INNER)),)),
        False,
        False,
    ),
    "two dimensions": (accumulate(SQUARE, (OUTER, INNER)), True, True),
    "transposed read": (accumulate(SQUARE, (OUTER, INNER), (INNER, OUTER)), False, False),
    "flattened": (accumulate(SQUARE, split(6, plus((6, OUTER), (1, INNER)))), True, True),
    "flattened across rows": (accumulate(SQUARE, split(6, plus((3, OUTER), (1, INNER)))), True, True),
    "flattened and shared": (accumulate(SQUARE, split(6, plus((2, OUTER), (1, INNER)))), False, True),
    "remainder alone": (
        accumulate(OUT, (Bin("floormod", plus((3, OUTER), (1, INNER)), Const(4, INT64), INT64),)),
        False,
        False,
    ),
    "quotient alone": (
        accumulate(OUT, (Bin("floordiv", plus((3, OUTER), (1, INNER)), Const(2, INT64), INT64),)),
        False,
        False,
    ),
}


def nest(body: Stmt) -> tuple[For, For]:
    """The two loops around a statement."""
    inner = For(INNER, Const(3, INT64), "serial", "", body)
    return For(OUTER, Const(4, INT64), "serial", "", inner), inner


@pytest.mark.parametrize("name", NESTS)
def test_independence_is_proved_only_where_it_holds(name: str) -> None:
    body, outer_free, inner_free = NESTS[name]
    outer, inner = nest(body)
    dependence = Dependence(Bounds())
    dependence.summary(outer)
    assert (dependence.independent(outer), dependence.independent(inner)) == (outer_free, inner_free)
    function = Function("nest", (LINE, OUT, SQUARE), outer)
    plain = outcome(function, False, True)
    assert plain[0] == "done"
    assert outcome(function, True, True) == plain


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(functions(), st.sampled_from([True, True, True, False]))
def test_vectorised_execution_is_plain_execution(function: Function, complete: bool) -> None:
    assert outcome(function, True, complete) == outcome(function, False, complete)


@pytest.mark.deep
@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(functions(), st.sampled_from([True, True, True, False]))
def test_vectorised_execution_of_many_functions(function: Function, complete: bool) -> None:
    assert outcome(function, True, complete) == outcome(function, False, complete)
