"""The strategies of the reducer on plain numbers: what is taken, and in how many attempts."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import log2

import pytest

from corpus.reduce.strategies import all_that_can_go, bisected, first_that_works, galloped


class Counted:
    """Takes edits unless one of them is needed; counts the attempts."""

    def __init__(self, can_go: Callable[[int], bool]) -> None:
        self.can_go = can_go
        self.gone: list[int] = []
        self.calls = 0

    def __call__(self, edits: Sequence[int]) -> bool:
        self.calls += 1
        if not all(self.can_go(edit) for edit in edits):
            return False
        self.gone += edits
        return True


@pytest.mark.parametrize(
    ("many", "needed", "most"),
    [(0, 0, 0), (1, 0, 1), (1, 1, 1), (51, 2, 24), (1000, 0, 1), (1000, 1, 24), (1000, 3, 66), (1000, 1000, 1020)],
)
@pytest.mark.parametrize("seed", range(8))
def test_all_that_can_go_goes_in_few_attempts(many: int, needed: int, most: int, seed: int) -> None:
    stays = set(random.Random(seed).sample(range(many), needed))
    attempt = Counted(lambda edit: edit not in stays)
    assert all_that_can_go(list(range(many)), attempt) == (needed < many)
    assert sorted(attempt.gone) == sorted(set(range(many)) - stays)
    assert attempt.calls <= most


def test_where_half_is_needed_an_attempt_each_is_enough() -> None:
    attempt = Counted(lambda edit: edit % 2 == 0)
    assert all_that_can_go(list(range(1000)), attempt)
    assert len(attempt.gone) == 500 and attempt.calls <= 1600


def test_eight_times_as_many_edits_cost_a_few_attempts_more() -> None:
    calls = []
    for many in (125, 1000):
        attempt = Counted(lambda edit, many=many: edit not in (many // 3, many // 2))  # type: ignore[misc]
        all_that_can_go(list(range(many)), attempt)
        calls.append(attempt.calls)
    assert calls[1] <= calls[0] + 4 * 3 + 2


@pytest.mark.parametrize("first", [0, 1, 2, 7, 8, 400, 998, 999, 1000])
@pytest.mark.parametrize("strategy", [bisected, galloped])
def test_the_first_alternative_that_works_is_found_where_all_later_ones_do(
    strategy: Callable[[Sequence[int], Counted], bool], first: int
) -> None:
    attempt = Counted(lambda edit: edit >= first)
    assert strategy(list(range(1000)), attempt) == (first < 1000)
    assert attempt.gone[-1:] == ([first] if first < 1000 else [])
    assert attempt.calls <= (11 if strategy is bisected else 2 * log2(first + 1) + 3)


def test_no_alternatives_are_no_success() -> None:
    for strategy in (bisected, galloped, first_that_works):
        attempt = Counted(lambda edit: True)
        assert not strategy([], attempt) and not attempt.calls
