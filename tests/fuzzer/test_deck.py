"""Cases that are dealt out: each is answered once, or given up, whatever ends the workers."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.campaign.deck import GIVE_UP, Deck, GivenUp
from fuzzer.protocol import Failure


def test_a_shard_deals_its_own_cases_up_to_the_limit() -> None:
    deck = Deck(1, 3, limit=5)
    assert deck.deal(2) == (1, 4)
    assert not deck.empty
    assert deck.deal(48) == (7, 10, 13)
    assert deck.empty
    assert deck.deal(48) == ()


def test_without_a_limit_it_is_never_empty() -> None:
    deck = Deck()
    for _ in range(3):
        deck.deal(1000)
    assert not deck.empty


def test_the_case_in_flight_comes_back_alone_and_the_others_in_order() -> None:
    deck = Deck(limit=8)
    batch = deck.deal(5)
    assert deck.answered(0) and deck.answered(1)
    assert deck.lost(batch) is None
    assert deck.deal(48) == (2,)
    assert deck.deal(48) == (3, 4)
    assert deck.deal(48) == (5, 6, 7)


def test_a_case_that_ends_its_worker_again_and_again_is_given_up() -> None:
    deck = Deck(limit=1)
    given_up = [deck.lost(deck.deal(1)) for _ in range(GIVE_UP)]
    assert given_up == [None] * (GIVE_UP - 1) + [GivenUp(0)]
    assert deck.empty and not deck.out
    assert deck.notes == ("1 case given up, whose process was killed each time: 0",)


def accused(culprit: str) -> Failure:
    return Failure(0, "survives", "crash", "SIGKILL", "", culprit, "B")


MINE, OTHER = accused("Mine"), accused("Other")


@pytest.mark.parametrize(
    ("ends", "given_up"),
    [
        ([MINE, MINE], GivenUp(0, MINE)),
        ([MINE, OTHER], GivenUp(0)),
        ([None, None], GivenUp(0)),
        ([None, MINE, MINE], GivenUp(0, MINE)),  # A worker was killed, which says nothing of the pass.
        ([MINE, None, MINE], GivenUp(0, MINE)),
        ([None, MINE, None], GivenUp(0)),
        ([MINE, None, None], GivenUp(0)),
    ],
)
def test_a_pass_that_kills_its_process_twice_is_accused_whatever_else_is_killed_and_whenever_it_is_gone_on_with(
    ends: list[Failure | None], given_up: GivenUp
) -> None:
    deck = Deck(limit=1)
    for number, if_again in enumerate(ends):
        assert deck.deal(48) == (0,)
        ended = deck.lost((0,)) if if_again is None else deck.killed(0, if_again)
        assert ended == (given_up if number == len(ends) - 1 else None)
        deck = msgspec.json.decode(msgspec.json.encode(deck), type=Deck)
    assert deck.empty and not deck.accused and not deck.ends


def test_what_is_said_of_a_case_that_is_not_out_is_not_kept() -> None:
    deck = Deck(limit=3)
    deck.deal(1)
    assert deck.killed(99, MINE) is None
    assert deck.answered(0) and deck.killed(0, MINE) is None
    assert not deck.accused and not deck.ends


def test_an_answer_counts_once() -> None:
    deck = Deck(limit=3)
    batch = deck.deal(3)
    assert deck.answered(0)
    assert not deck.answered(0)
    assert not deck.answered(99)
    deck.returned(batch)
    assert not deck.answered(1)  # It came back before its answer was heard, so it will be judged again.
    assert deck.deal(48) == (1, 2)


def test_the_first_open_case_bounds_what_is_settled() -> None:
    deck = Deck(limit=6)
    one, other = deck.deal(2), deck.deal(2)
    for index in other:
        deck.answered(index)
    assert deck.first_open() == 0
    deck.lost(one)
    assert deck.first_open() == 0
    for index in (*deck.deal(1), *deck.deal(1)):
        deck.answered(index)
    assert deck.first_open() == 4


@given(st.data())
def test_whatever_happens_each_case_is_answered_once_or_given_up(data: st.DataObject) -> None:
    limit = data.draw(st.integers(0, 40))
    deck = Deck(data.draw(st.integers(0, 2)), 3, limit)
    wanted = {deck.index + 3 * k for k in range(limit)}
    busy: list[tuple[int, ...]] = []
    answered: list[int] = []
    given_up: list[int] = []
    for _ in range(2000):
        if deck.empty and not busy:
            break
        if not deck.empty and (not busy or data.draw(st.booleans())):
            busy.append(deck.deal(data.draw(st.integers(1, 8))))
            continue
        batch = busy.pop(data.draw(st.integers(0, len(busy) - 1)))
        for index in batch[: data.draw(st.integers(0, len(batch)))]:
            if deck.answered(index):
                answered.append(index)
        match data.draw(st.sampled_from(["lost", "returned", "killed", "done"])):
            case "lost":
                given_up += [ended.index for ended in [deck.lost(batch)] if ended is not None]
            case "killed":
                if_again = data.draw(st.sampled_from([None, MINE, OTHER]))
                given_up += [index for index in batch[-1:] if deck.killed(index, if_again)]
                deck.returned(batch)
            case _:
                deck.returned(batch)
    else:
        return  # Nothing but ends: no case gets through, and none is lost.
    assert sorted([*answered, *given_up]) == sorted(wanted)
