"""The values of expressions that stand in shapes."""

from __future__ import annotations

import pytest
from tvm import tirx

from generators.prim_expr import UnboundSymbol, UnknownPrimExpr, evaluate

N = tirx.Var("n", "int64")
ZERO = tirx.IntImm("int64", 0)


@pytest.mark.parametrize("n", [1, 5])
def test_a_lazy_choice_computes_the_side_that_is_taken(n: int) -> None:
    """TVM writes one into the length of a slice that it cannot prove to be in bounds. For n = 1 the other side divides
    by 0."""
    chosen = tirx.if_then_else(N < 3, N * 2, tirx.floordiv(N, N - 1))
    assert evaluate(chosen, {N: n}) == (2 if n == 1 else 1)


def test_what_no_shape_holds_is_named() -> None:
    with pytest.raises(UnknownPrimExpr, match="tirx.exp"):
        evaluate(tirx.exp(tirx.Var("x", "float32")), {})
    with pytest.raises(UnboundSymbol, match="n"):
        evaluate(tirx.if_then_else(N < 3, ZERO, N), {})
