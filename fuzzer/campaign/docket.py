"""The failures of a campaign: which of them are reduced, in which order, and what became of each.

Failures that look alike before reduction share a place; of a place one is reduced at a time. Bookkeeping alone: no
process, no clock, no file. What is neither dropped here nor settled is in `open`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from corpus.causes.cause import cause_of
from corpus.causes.signature import signature_of
from fuzzer.protocol import Failure
from oracles.verdict import CRASH, HANG, WRONG_RESULT, Failed

SAME_PLACE = 4
"""Failures of one oracle and pass that may differ by operator only: so many reductions in a row may find
nothing new before only every tenth of them is tried."""
TRIES = 2
"""So many processes may end early over a failure before it is left as it was seen."""

DocketStage: TypeAlias = Literal["waiting", "reducing", "confirming", "given up"]
ReducedTo: TypeAlias = Literal["new", "told", "on its way"]
"""What a finding is when a failure has been reduced to it: told means that it is a finding of the campaign already, on
its way that its script has yet to show it."""


class FailureKey(NamedTuple):
    """What failures have in common before reduction: their signature without operators, and their cause where it is
    certain without a reduction."""

    oracle: str
    symptom: str
    culprit: str
    message: str
    cause: str = ""


class Open(Struct):
    """A failure that is neither settled nor dropped. number: of its sighting, at its place. at_s: when it was seen.

    finding: what it was reduced to, in bytes. why: what ended the processes that worked on it. said: what the last of
    them printed, where our code raised. looks_known: whether it is likely to be of a known cause; of a finding, whether
    it is.
    """

    failure: Failure
    number: int
    at_s: float
    stage: DocketStage = "waiting"
    finding: bytes | None = None
    tries: int = 0
    why: str = ""
    looks_known: bool = False
    said: str = ""


class AlikeFailures(Struct):
    """Failures that look alike before reduction.

    looked_at: how many sightings had their turn. fruitless: reductions in a row that found nothing new.
    slug: of its last finding. open: being worked on. held: seen since then, to be looked at afterwards.
    unnamed: sightings that were dropped before there was a finding that they are sightings of. unshown: the last
    one that was worked on did not show again. sightings: how many there were.
    """

    looked_at: int = 0
    fruitless: int = 0
    slug: str | None = None
    open: Open | None = None
    held: list[tuple[Failure, float]] = []
    unnamed: int = 0
    unshown: bool = False
    sightings: int = 0


class Docket:
    """What is done about failures. in_order: none is dropped because another of its place is being worked on, so that
    what is found does not follow when a reduction ends; it costs more reductions. looks_known: whether a failure is
    likely to be of a known cause, so that its turn comes after the others. changes: counts what changes `unsettled`."""

    def __init__(self, in_order: bool = False, looks_known: Callable[[Failure], bool] = lambda _failure: False) -> None:
        self.in_order = in_order
        self._looks_known = looks_known
        self.places: dict[FailureKey, AlikeFailures] = {}
        self.given_up: list[Open] = []
        self._waiting: list[tuple[bool, int, bool, int, FailureKey]] = []
        self._arrived = 0
        self.changes = 0

    def go_on(self, places: Iterable[tuple[FailureKey, AlikeFailures]], given_up: Iterable[Open]) -> None:
        """Takes over what an earlier campaign has left: what it was working on, and what it had given up, waits."""
        self.places = dict(places)
        for key, place in self.places.items():
            if place.open is not None:
                place.open.tries = 0
                self._queue(key)
        for one in given_up:
            place = self.places.setdefault(place_of(one.failure), AlikeFailures())
            if place.open is None:
                one.tries = 0
                place.open = one
                self._queue(place_of(one.failure))
            else:
                place.held.append((one.failure, one.at_s))

    def sighted(self, failure: Failure, at_s: float) -> str | None:
        """A failure was seen: the slug of the finding that it is another sighting of, None where there is none."""
        key = place_of(failure)
        place = self.places.setdefault(key, AlikeFailures())
        place.sightings += 1
        if place.slug is not None and not _differs_by_operator(failure):
            return place.slug
        if place.open is not None:
            if self.in_order:
                place.held.append((failure, at_s))
                self.changes += 1
                return None
            place.looked_at += 1
            return self._dropped(place, failure)
        return self._look_at(key, place, failure, at_s)

    def _look_at(self, key: FailureKey, place: AlikeFailures, failure: Failure, at_s: float) -> str | None:
        place.looked_at += 1
        rarely = place.fruitless >= (SAME_PLACE if _differs_by_operator(failure) else 1)
        if rarely and not self._has_its_turn(place.looked_at):
            return self._dropped(place, failure)
        place.open = Open(failure, place.looked_at, at_s, looks_known=self._looks_known(failure))
        self._queue(key)
        return None

    def _dropped(self, place: AlikeFailures, failure: Failure) -> str | None:
        if place.slug is None and not _differs_by_operator(failure):
            place.unnamed += 1
        return place.slug

    def _has_its_turn(self, number: int) -> bool:
        """Whether a sighting is looked at where earlier ones brought nothing new: every tenth. In order none is dropped
        meanwhile, so that there are many more: the 8th, the 16th, the 32nd and so on."""
        return number.bit_count() == 1 if self.in_order else number % 10 == 0

    def _queue(self, key: FailureKey) -> None:
        work = self.work_at(key)
        work.stage = "waiting"
        self.changes += 1
        self._arrived += 1
        turn = 0 if work.finding is not None else work.number
        loud = work.failure.symptom != WRONG_RESULT
        heapq.heappush(self._waiting, (work.looks_known, turn, loud, self._arrived, key))

    @property
    def waits(self) -> bool:
        """Whether there is something for `take`."""
        return bool(self._waiting)

    @property
    def waits_new(self) -> bool:
        """Whether there is something for `take` that does not look known."""
        return bool(self._waiting) and not self._waiting[0][0]

    def take(self) -> tuple[FailureKey, Open]:
        """The next: what looks new before what looks known; to be confirmed before to be reduced; new places first; of
        these silent wrong results first, which nobody sees without us."""
        key = heapq.heappop(self._waiting)[-1]
        work = self.work_at(key)
        self.changes += 1
        work.stage = "reducing" if work.finding is None else "confirming"
        return key, work

    def work_at(self, key: FailureKey) -> Open:
        """What is being worked on at a place."""
        work = self.places[key].open
        assert work is not None
        return work

    def is_on_its_way(self, slug: str) -> bool:
        """Whether a finding waits for its confirmation, or is being confirmed."""
        return any(
            place.slug == slug and place.open is not None and place.open.finding is not None
            for place in self.places.values()
        )

    def not_reduced(self, key: FailureKey, *, unshown: bool) -> list[str]:
        """A reduction has come to nothing: the failure did not show again (unshown), or a reason is counted elsewhere.
        The slugs that were seen again."""
        place = self.places[key]
        place.unshown = place.unshown or unshown
        place.fruitless += 1
        return self._settled(key, place)

    def reduced(
        self, key: FailureKey, finding: bytes, slug: str, *, found: ReducedTo, known: bool = False
    ) -> list[str]:
        """A reduction has come to a finding. known: its cause is. The slugs that were seen again."""
        place, work = self.places[key], self.work_at(key)
        place.unshown = place.unshown and found != "told"
        seen, place.unnamed, place.slug = [slug] * place.unnamed, 0, slug
        if found != "new":
            place.fruitless += 1
            return [*seen, slug, *self._settled(key, place)]
        place.fruitless = 0
        work.finding, work.tries, work.looks_known = finding, 0, known
        self._queue(key)
        return seen

    def confirmed(self, key: FailureKey, *, shown: bool) -> list[str]:
        """It has been decided whether the finding of a place is shown by its script. The slugs that were seen again."""
        self.places[key].unshown = not shown
        return self._settled(key, self.places[key])

    def ended_early(self, key: FailureKey, why: str, said: str = "") -> list[str]:
        """The process that worked on it has ended: it is tried again, or given up. The slugs that were seen again."""
        place, work = self.places[key], self.work_at(key)
        work.tries += 1
        work.why, work.said = why, said
        if work.tries < TRIES:
            self._queue(key)
            return []
        work.stage = "given up"
        self.given_up.append(work)
        if work.finding is not None:
            place.slug = None  # Another sighting may be confirmed.
        return self._settled(key, place)

    def _settled(self, key: FailureKey, place: AlikeFailures) -> list[str]:
        place.open = None
        self.changes += 1
        seen: list[str] = []
        while place.held and place.open is None:
            failure, at_s = place.held.pop(0)
            if place.slug is not None and not _differs_by_operator(failure):
                slug: str | None = place.slug
            else:
                slug = self._look_at(key, place, failure, at_s)
            seen += [slug] if slug is not None else []
        return seen

    @property
    def idle(self) -> bool:
        """Whether nothing waits or is being worked on."""
        return not any(place.open for place in self.places.values())

    def sightings_unshown(self, culprits: Collection[str]) -> dict[str, int]:
        """By pass, of these, how often it raised or died in a way that has not shown again. What the reference alone
        sees may be no failure of a pass, where no script shows it."""
        found: Counter[str] = Counter()
        for key, place in self.places.items():
            if place.unshown and key.culprit in culprits and key.symptom in (CRASH, HANG):
                found[key.culprit] += place.sightings
        return dict(found)

    @property
    def unsettled(self) -> list[Open]:
        """What was seen and is neither a finding nor known to be none, in the order of sighting."""
        being = [place.open for place in self.places.values() if place.open is not None]
        held = [Open(failure, place.looked_at, at_s) for place in self.places.values() for failure, at_s in place.held]
        return sorted([*being, *held, *self.given_up], key=lambda one: one.at_s)


def place_of(failure: Failure) -> FailureKey:
    """The key that a failure shares with those that look alike."""
    verdict = Failed(failure.symptom, failure.message, failure.detail, evidence=failure.evidence)
    signature = signature_of(failure.oracle, verdict, failure.culprit)
    cause = cause_of(failure.oracle, verdict, failure.culprit)
    certain = str(cause) if cause.certain else ""
    return FailureKey(signature.oracle, signature.symptom, signature.culprit, signature.message, certain)


def _differs_by_operator(failure: Failure) -> bool:
    """Wrong results are distinguished by the operators of the reduced module, which are not known yet."""
    return failure.symptom == WRONG_RESULT
