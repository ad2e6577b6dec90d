"""A search that looks ahead finds the same, with the same calls, and makes use of what was judged elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.reduce import Candidate, reduce
from corpus.reduce.ahead import Ahead, attempts_after
from corpus.reduce.strategies import all_that_can_go, bisected, first_that_works, galloped
from tests.corpus.test_reduce import TABLE, candidate
from tests.quick import one_in

STRATEGIES = (all_that_can_go, bisected, first_that_works, galloped)


@dataclass
class Judge:
    """Judges in this process, when it is asked. dropped: how many were begun for nothing."""

    interesting: Callable[[Candidate], bool]
    at_once: int = 2
    begun: int = 0
    asked: int = 0
    foreseen: int = 0
    dropped: int = 0
    open: int = 0
    most: int = 0

    def __call__(self, candidate: Candidate) -> JudgedLater:
        self.begun += 1
        self.open += 1
        self.most = max(self.most, self.open)
        return JudgedLater(self, candidate, self.asked)


@dataclass
class JudgedLater:
    judge: Judge
    candidate: Candidate
    asked_before: int

    def interesting(self) -> bool:
        self.judge.open -= 1
        self.judge.foreseen += self.asked_before < self.judge.asked
        self.judge.asked += 1
        return self.judge.interesting(self.candidate)

    def drop(self) -> None:
        self.judge.open -= 1
        self.judge.dropped += 1


@pytest.mark.parametrize("at_once", [2, pytest.param(4, marks=pytest.mark.deep)])
@pytest.mark.parametrize(("name", "interesting"), one_in(2, [row[:2] for row in TABLE]), ids=range(len(TABLE)))
def test_what_is_found_is_the_same(name: str, interesting: Callable[[Candidate], bool], at_once: int) -> None:
    judge = Judge(interesting, at_once)
    alone, together = reduce(candidate(name), interesting), reduce(candidate(name), interesting, elsewhere=judge)
    assert together.candidate.module.script() == alone.candidate.module.script()
    assert together.candidate.passes == alone.candidate.passes
    assert together.oracle_calls == alone.oracle_calls >= judge.asked
    assert judge.open == 0 and judge.most == at_once
    assert judge.begun == judge.asked + judge.dropped
    assert judge.foreseen > judge.asked / 4


@given(
    st.sampled_from(STRATEGIES), st.integers(0, 40), st.sets(st.integers(0, 39)), st.integers(0, 30), st.integers(1, 9)
)
def test_attempts_are_foreseen(
    strategy: Callable[..., bool], count: int, stays: set[int], known: int, most: int
) -> None:
    """After `known` answers, what follows is what the strategy really attempts when each is refused."""
    edits, asked, answers = list(range(count)), list[list[int]](), list[bool]()

    def attempt(some: Sequence[int]) -> bool:
        asked.append(list(some))
        answers.append(len(answers) < known and not stays.intersection(some))
        return answers[-1]

    strategy(edits, attempt)
    foreseen = attempts_after(strategy, edits, answers[:known], most)
    assert [list(some) for some in foreseen] == asked[known : known + most]


@dataclass
class Noted:
    key: int
    ends: list[str] = field(default_factory=list)

    def interesting(self) -> bool:
        self.ends.append(f"asked {self.key}")
        return self.key % 2 == 0

    def drop(self) -> None:
        self.ends.append(f"dropped {self.key}")


def test_what_the_answer_rules_out_is_dropped() -> None:
    ends = list[str]()

    class Elsewhere:
        at_once = 3

        def __call__(self, candidate: int) -> Noted:
            ends.append(f"begun {candidate}")
            return Noted(candidate, ends)

    ahead = Ahead[int](Elsewhere())
    assert ahead.interesting(0, 0, [((True,), 1, 1), ((False,), 2, 2), ((True, False), 3, 3)])
    assert not ahead.interesting(1, 1, [((False,), 4, 4), ((False, False), 5, 5), ((False, False, False), 6, 6)])
    assert ahead.interesting(8, 8, [])
    ahead.drop()
    first = ["begun 0", "begun 1", "begun 2", "asked 0", "dropped 2"]
    second = ["begun 4", "begun 5", "asked 1"]
    third = ["dropped 4", "begun 8", "asked 8", "dropped 5"]  # its turn has passed; what 8 rules out
    assert ends == [*first, *second, *third]
