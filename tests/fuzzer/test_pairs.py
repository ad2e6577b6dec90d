"""How far the reference follows a test suite: what counts as interpreted, and what no interpreter could."""

from __future__ import annotations

import pytest

from fuzzer.plugin.pairs import Pairs
from fuzzer.trial.foreign.gaps import Gap, gap_of
from oracles.evidence import NotInterpreted, ReferenceTrap, Stop

COUNTED = {
    None: 6,
    Gap("reference: relax.grad.take_backward"): 2,
    Gap("reference trap: out-of-bounds", by_nature=True): 3,
    Gap("reference: packed function mine", by_nature=True): 1,
}


def test_both_shares_are_printed() -> None:
    pairs = Pairs.of(COUNTED)
    assert (pairs.whole, pairs.possible, pairs.interpreted) == (12, 8, 6)
    assert pairs.missing == {"reference: relax.grad.take_backward": 2}
    assert list(pairs.by_nature) == ["reference trap: out-of-bounds", "reference: packed function mine"]
    assert "6 of 12 pairs (50 %), 75 % of those that can be" in pairs.line()
    assert pairs.to_json()["pairs"] == 12


def test_a_suite_without_pairs_has_no_share() -> None:
    assert Pairs.of({}).line().count("none") == 2


@pytest.mark.parametrize(
    ("stop", "nature"),
    [
        (ReferenceTrap("uninitialised"), True),
        (ReferenceTrap("type"), False),
        (ReferenceTrap("match-cast"), False),
        (NotInterpreted("call_packed tvm.mine", outside=True), True),
        (NotInterpreted("relax.ccl.allreduce"), True),
        (NotInterpreted("relax.grad.take_backward"), False),
        (None, False),
    ],
)
def test_what_is_the_tests_own_nature(stop: Stop | None, nature: bool) -> None:
    assert gap_of("said", stop) == Gap("said", nature)
