"""How far the reference follows a test suite: what counts as interpreted, and what no interpreter could."""

from __future__ import annotations

import pytest

from fuzzer.plugin.pairs import INTERPRETED, Pairs, is_by_nature
from fuzzer.trial.unpromised_numbers import GONE

COUNTED = {
    INTERPRETED: 6,
    "reference: relax.grad.take_backward": 2,
    "reference trap: out-of-bounds": 3,
    "reference: packed function mine": 1,
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
    ("reason", "nature"),
    [
        ("reference trap: uninitialised", True),
        ("reference: call_packed tvm.mine", True),
        ("reference trap: out-of-bounds behind a pass that promises nothing", False),
        ("reference trap: type", False),
        ("reference trap: match-cast", False),
        ("no inputs: more than 16777216 elements", False),
        ("the judge ended: hang in numeric", False),
        ("reference: relax.ccl.allreduce", True),
        (GONE, True),
    ],
)
def test_what_is_the_tests_own_nature(reason: str, nature: bool) -> None:
    assert is_by_nature(reason) is nature
