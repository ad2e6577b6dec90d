"""While loops that nothing in them can end."""

from __future__ import annotations

import pytest

from oracles.ir.endless import endless_loops
from tests.oracles.oracle_bench import module_of

FUNCTION = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(k: T.Buffer((2,), "int32"), n: T.Buffer((2,), "int32"), x: T.Buffer((8,), "float32")):
        while {condition}:
            {body}
"""
COUNTS = "k[0] = k[0] + 1"


@pytest.mark.parametrize(
    ("condition", "body", "endless"),
    [
        ("k[0] < 8", COUNTS, 0),
        ("k[0] < n[0]", "n[0] = n[0] - 1", 0),
        ("k[0] < 8", "k[0] = 8", 0),
        ("k[0] < 8", "x[k[0]] = T.exp(x[k[0]])", 1),
        ("k[0] < 8", "x[0] = T.if_then_else(k[0] < 3, x[1], x[2])", 1),
        ("k[0] < 8", "k[0] = k[0]", 1),
        ("k[0] < 8", "k[0] = k[1]", 0),
        ("k[0] < 8", "n[0] = n[0] + 1", 1),
        ("1 < T.Add(1, 2)", COUNTS, 1),
        ("k[0] < 8", "T.call_extern('int32', 'f', k.data)", 0),
        ("k[0] < 8", "T.evaluate(T.break_loop())", 0),
    ],
)
def test_a_loop_is_endless_if_nothing_in_it_changes_its_condition(condition: str, body: str, endless: int) -> None:
    assert endless_loops(module_of(FUNCTION.format(condition=condition, body=body))) == endless
