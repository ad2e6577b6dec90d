"""Ranks of operands: an operator that takes several gets each of 3 to 5, and rank 0 where it takes that."""

from __future__ import annotations

from functools import cache

import pytest

from generators import tvm_api
from generators.operators.table import OPERATORS
from generators.unavailable import Unavailable
from tests import operator_harness as harness
from tests.quick import one_in

DRAWS = 100
"""Calls in which each rank must be: one in thirty draws of a tensor has rank 0."""
ONE_RANK = 30
"""So many rows at least take one rank only: convolutions, pools, images, boxes."""


@cache
def ranks(name: str) -> frozenset[int]:
    """The largest ranks among the operands of drawn calls."""
    found: set[int] = set()
    for seed in range(DRAWS):
        try:
            call = harness.draw_row(OPERATORS[name], seed).call
        except Unavailable:
            continue
        fields = [f for a in call.args for f in (a.fields if isinstance(a, tvm_api.TupleExpr) else (a,))]
        types = [getattr(field, "ty", None) for field in fields]
        tensors = [int(ty.ndim) for ty in types if isinstance(ty, tvm_api.TensorType)]
        found |= {max(tensors)} if tensors else set()
    return frozenset(found)


@pytest.mark.parametrize("name", one_in(8, OPERATORS))
def test_an_operator_of_several_ranks_gets_each_from_3_to_5(name: str) -> None:
    drawn = ranks(name)
    assert len(drawn) <= 1 or drawn >= {3, 4, 5}


@pytest.mark.parametrize("name", one_in(4, (name for name, row in OPERATORS.items() if row.elementwise)))
def test_elementwise_operators_get_scalars(name: str) -> None:
    assert 0 in ranks(name)


OF_IMAGES = ("relax.image.", "relax.vision.roi", "relax.nn.conv", "relax.nn.max_pool", "relax.nn.avg_pool")


@pytest.mark.parametrize("name", [name for name in OPERATORS if name.startswith(OF_IMAGES)])
def test_operators_of_images_say_the_rank_that_they_ask_for(name: str) -> None:
    seen = {harness.draw_row(OPERATORS[name], seed).call.args[0].ty.ndim for seed in range(8)}
    assert seen == {OPERATORS[name].rank}


@pytest.mark.deep
def test_most_operators_take_several_ranks() -> None:
    assert sum(len(ranks(name)) > 1 for name in OPERATORS) > len(OPERATORS) - 2 * ONE_RANK
