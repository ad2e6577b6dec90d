"""Failures: each is reduced, counted as one that is known, or stands among the unsettled; none is lost by an end."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fuzzer.campaign.docket import SAME_PLACE, TRIES, Docket, FailureKey, Open
from fuzzer.protocol import Failure
from oracles.verdict import WRONG_RESULT

CRASH = Failure(3, "survives", "crash", "Check failed: x", "", "FuseOps", "A")
WRONG = Failure(5, "numeric", WRONG_RESULT, "1 is not 2", "", "CSE", "B")


def taken(docket: Docket) -> tuple[FailureKey, Open]:
    key, work = docket.take()
    return key, work


def test_a_failure_is_reduced_then_confirmed_then_settled() -> None:
    docket = Docket()
    assert docket.sighted(CRASH, 1.5) is None
    key, work = taken(docket)
    assert (work.stage, work.failure, work.at_s) == ("reducing", CRASH, 1.5)
    assert docket.reduced(key, b"finding", "slug", found="new") == []
    assert docket.is_on_its_way("slug")
    key, work = taken(docket)
    assert (work.stage, work.finding) == ("confirming", b"finding")
    docket.confirmed(key, shown=True)
    assert docket.idle and docket.unsettled == []
    assert docket.sighted(replace(CRASH, index=9), 2.0) == "slug"
    assert docket.idle


def test_what_is_seen_while_it_is_reduced_or_confirmed_is_counted() -> None:
    docket = Docket()
    docket.sighted(CRASH, 0.0)
    key, _ = taken(docket)
    assert [docket.sighted(replace(CRASH, index=index), 0.0) for index in (1, 2)] == [None, None]
    assert docket.reduced(key, b"f", "slug", found="new") == ["slug", "slug"]
    assert docket.sighted(replace(CRASH, index=3), 0.0) == "slug"  # before its turn to be confirmed
    key, _ = taken(docket)
    assert docket.sighted(replace(CRASH, index=4), 0.0) == "slug"
    assert docket.confirmed(key, shown=True) == []


def test_sightings_of_what_has_not_shown_again_are_counted_until_it_has() -> None:
    docket = Docket()
    for index in range(5):
        docket.sighted(replace(CRASH, index=index), 0.0)
    docket.sighted(replace(WRONG, culprit="FuseTIR"), 0.0)
    assert docket.sightings_unshown(("FuseOps", "FuseTIR")) == {}
    work = [taken(docket) for _ in range(2)]
    keys = {one.failure.culprit: key for key, one in work}
    docket.not_reduced(keys["FuseOps"], unshown=True)
    docket.not_reduced(keys["FuseTIR"], unshown=False)  # for a reason, which is counted elsewhere
    assert docket.sightings_unshown(("FuseOps", "FuseTIR")) == {"FuseOps": 5}
    assert docket.sightings_unshown(("FuseTIR",)) == {}
    while not docket.waits:
        docket.sighted(replace(CRASH, index=9), 0.0)
    seen = docket.sightings_unshown(("FuseOps",))["FuseOps"]
    docket.reduced(taken(docket)[0], b"f", "slug", found="new")
    docket.confirmed(taken(docket)[0], shown=False)
    docket.sighted(replace(CRASH, index=10), 0.0)
    assert docket.sightings_unshown(("FuseOps",))["FuseOps"] == seen + 1 > 6
    docket.places[keys["FuseOps"]].slug = None
    while not docket.waits:
        docket.sighted(replace(CRASH, index=11), 0.0)
    docket.reduced(taken(docket)[0], b"f", "slug", found="new")
    docket.confirmed(taken(docket)[0], shown=True)
    assert docket.sightings_unshown(("FuseOps",)) == {}


def test_what_was_dropped_is_counted_once_there_is_a_finding() -> None:
    docket = Docket()
    docket.sighted(CRASH, 0.0)
    docket.not_reduced(taken(docket)[0], unshown=False)
    seen: list[str] = []
    for index in range(1, 10):
        assert docket.sighted(replace(CRASH, index=index), 0.0) is None
        if docket.waits:
            seen += docket.reduced(taken(docket)[0], b"f", "slug", found="new")
    assert seen == ["slug"] * 8  # of ten sightings one did not show again and one is the finding


def test_an_end_while_reducing_costs_no_failure() -> None:
    docket = Docket()
    docket.sighted(CRASH, 1.0)
    key, _ = taken(docket)
    docket.ended_early(key, "SIGKILL")
    assert docket.waits
    key, work = taken(docket)
    assert work.failure == CRASH
    docket.reduced(key, b"f", "slug", found="new")
    key, _ = taken(docket)
    docket.ended_early(key, "SIGKILL")  # while it is confirmed: the reduction is not lost
    _, work = taken(docket)
    assert (work.stage, work.finding) == ("confirming", b"f")


def test_what_ends_its_processes_every_time_is_given_up_and_stays_in_sight() -> None:
    docket = Docket()
    docket.sighted(CRASH, 1.0)
    for _ in range(TRIES):
        key, _ = taken(docket)
        docket.ended_early(key, "SIGKILL")
    assert not docket.waits and docket.idle
    (left,) = docket.unsettled
    assert (left.failure, left.stage, left.why) == (CRASH, "given up", "SIGKILL")
    docket.sighted(replace(CRASH, index=8), 3.0)  # and its place is not muted
    assert docket.waits


def test_everything_that_was_given_up_at_one_place_is_taken_up_again() -> None:
    docket, again = Docket(), Docket()
    for index in (7, 8):
        docket.sighted(replace(CRASH, index=index), float(index))
        for _ in range(TRIES):
            docket.ended_early(taken(docket)[0], "SIGKILL")
    again.go_on(docket.places.items(), docket.given_up)
    indices = []
    while again.waits:
        key, work = taken(again)
        indices.append(work.failure.index)
        for _ in range(TRIES - 1):
            again.ended_early(key, "SIGKILL")
            taken(again)
        again.ended_early(key, "SIGKILL")
    assert indices == [7, 8]
    assert [one.stage for one in again.unsettled] == ["given up"] * 2


def test_what_does_not_show_again_is_tried_again_rarely() -> None:
    docket = Docket()
    docket.sighted(CRASH, 0.0)
    tried = 0
    for index in range(40):
        if docket.waits:
            tried += 1
            docket.not_reduced(taken(docket)[0], unshown=False)
        docket.sighted(replace(CRASH, index=index), 0.0)
    assert tried == 1 + 40 // 10


def test_wrong_results_are_reduced_until_nothing_new_comes() -> None:
    docket = Docket()
    reductions = 0
    for index in range(9 + SAME_PLACE):
        docket.sighted(replace(WRONG, index=index), 0.0)
        if docket.waits:
            reductions += 1
            docket.reduced(taken(docket)[0], b"f", "same", found="told" if reductions > 1 else "new")
            if docket.waits:
                docket.confirmed(taken(docket)[0], shown=True)
    assert reductions == 1 + SAME_PLACE + 1  # the tenth sighting is one of those that are tried


def test_new_places_come_first() -> None:
    docket = Docket(in_order=True)
    for index in range(3):
        docket.sighted(replace(WRONG, index=index), 0.0)
    docket.not_reduced(taken(docket)[0], unshown=False)
    docket.sighted(CRASH, 0.0)
    assert taken(docket)[1].failure.culprit == "FuseOps"


def test_what_is_reduced_is_confirmed_before_anything_else_is_reduced() -> None:
    docket = Docket()
    docket.sighted(CRASH, 0.0)
    key, _ = taken(docket)
    docket.sighted(WRONG, 0.0)
    docket.reduced(key, b"f", "slug", found="new")
    assert [taken(docket)[1].stage for _ in range(2)] == ["confirming", "reducing"]


@given(st.data())
def test_in_order_what_is_found_does_not_hang_on_when_reductions_end(data: st.DataObject) -> None:
    """Each failure reduces to what its index says; workers end and answer whenever they like."""
    failures = [replace(data.draw(st.sampled_from([CRASH, WRONG])), index=index) for index in range(14)]

    def found(eager: bool) -> set[str]:
        docket, slugs, todo = Docket(in_order=True), set[str](), list(failures)
        while todo or docket.waits:
            if todo and (not docket.waits or (not eager and data.draw(st.booleans()))):
                docket.sighted(todo.pop(0), 0.0)
                continue
            key, work = docket.take()
            if not eager and work.tries == 0 and data.draw(st.booleans()):
                docket.ended_early(key, "SIGKILL")
            elif work.finding is not None:
                docket.confirmed(key, shown=True)
            else:
                slug = f"{work.failure.culprit}-{work.failure.index % 3}"
                docket.reduced(key, b"f", slug, found="told" if slug in slugs else "new")
                slugs.add(slug)
        assert docket.idle and docket.unsettled == []
        return slugs

    assert found(eager=True) == found(eager=False)


@given(st.lists(st.tuples(st.sampled_from([CRASH, WRONG]), st.integers(0, 4)), max_size=30))
def test_a_place_that_was_seen_is_found_out_or_unsettled(events: list[tuple[Failure, int]]) -> None:
    docket, known = Docket(), set[str]()
    for number, (failure, event) in enumerate(events):
        docket.sighted(replace(failure, index=number), float(number))
        if not docket.waits:
            continue
        key, work = docket.take()
        if event < 2:
            docket.ended_early(key, "SIGKILL")
        elif work.finding is not None:
            docket.confirmed(key, shown=True)
            known.add(work.failure.culprit)
        elif event == 2:
            docket.not_reduced(key, unshown=False)
            known.add(work.failure.culprit)
        else:
            docket.reduced(key, b"f", work.failure.culprit, found="new")
    seen = {failure.culprit for failure, _ in events}
    assert seen <= known | {one.failure.culprit for one in docket.unsettled}


def test_what_our_code_has_raised_stays_with_what_was_given_up() -> None:
    docket = Docket()
    docket.sighted(CRASH, 1.0)
    for _ in range(TRIES):
        key, _ = taken(docket)
        docket.ended_early(key, "ended by an exception", "Traceback: KeyError")
    (left,) = docket.unsettled
    assert (left.why, left.said) == ("ended by an exception", "Traceback: KeyError")


def test_silent_wrong_results_have_their_turn_before_what_anybody_sees() -> None:
    docket = Docket()
    others = [replace(CRASH, message=f"Check failed: {letter}") for letter in "xy"]
    for failure in (*others, WRONG):
        docket.sighted(failure, 0.0)
    assert [taken(docket)[1].failure for _ in range(3)] == [WRONG, *others]
