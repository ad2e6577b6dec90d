"""A campaign's workforce whose workers are seats on a cluster (`fuzzer.engines.cluster`). No TVM here.

The places of the cluster come and go: new ones get seats, the seats of those that are gone are lost workers, whose
commands the campaign deals out again. A place that cannot work, or not as this machine does, is left out with a line.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

import msgspec

from fuzzer.engines.cluster import Cluster, ClusterGone
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, versions
from fuzzer.errors import EnvironmentFault, tell
from fuzzer.processes.lines import Lines, line_of
from fuzzer.processes.workforce import FromWorker, Slot, WorkerLost
from fuzzer.protocol import Answer, Command, Done, JudgeCases, Plan, Ready, Refused

BATCH = 48
"""Cases of a task on a small cluster: some seconds of work, as for a local worker."""
CASES_PER_SEAT_S = 15.0
"""About so many cases a second does one seat judge (docs/scale.md)."""
TASKS_PER_S = 100.0
"""A large cluster gets larger tasks, so that together they are about so many a second: a third of what client and
scheduler of Dask take (docs/scale.md)."""
SLICE_S = 60.0
"""A task begins no case after so many seconds."""
LOOK_S = 2.0
"""So often is the cluster asked for its places."""
STRIKES = 3
"""So often in a row may all seats of a place be lost, none of which ends a task, before the place is left out."""
EMPTY_S = 60.0
"""A cluster without a place that works is waited for so long."""


@dataclass(slots=True, eq=False)
class ClusterSlot(Slot):
    """A worker on the cluster. task: its number. part: the number of the next report on it."""

    name: str = field(kw_only=True)
    place: str = field(kw_only=True)
    task: int = OPENING
    part: int = 0
    lines: Lines[Answer] = field(default_factory=lambda: Lines(Answer))


class ClusterWorkforce:
    """Seats with one plan, and one seed of Python's hashes, on all places of a cluster.

    most: so many seats at most. cases: how many the campaign has, None for no limit.
    """

    def __init__(self, cluster: Cluster, plan: Plan, hash_seed: int, most: int, cases: int | None) -> None:
        self._cluster = cluster
        self._plan = plan
        self._hash_seed = hash_seed
        self._most = most
        self._cases = cases
        self._campaign = uuid.uuid4().hex[:12]
        self._seats: dict[str, ClusterSlot] = {}
        self._open: dict[str, ClusterSlot] = {}
        self._opened = 0
        self._used: set[str] = set()
        self._left_out: dict[str, str] = {}
        self._refused: Refused | None = None
        self._strikes: Counter[str] = Counter()
        self._sizes: dict[str, int] = {}
        self._versions = versions()
        self._tvm: str | None = None
        self._looked_at = -inf
        self._works_at = time.monotonic()
        self.batch = BATCH

    @property
    def slots(self) -> list[Slot]:
        """The seats that are open."""
        return list(self._open.values())

    def command(self, slot: Slot, command: Command, now: float) -> None:
        """Sends an idle seat a command."""
        assert isinstance(slot, ClusterSlot)
        slot.busy, slot.since = command, now
        slot.task, slot.part = slot.task + 1, 0
        if isinstance(command, JudgeCases):
            command = msgspec.structs.replace(command, seconds=min(command.seconds, SLICE_S))
        self._cluster.submit(slot.place, slot.name, slot.task, line_of(command))

    def answers(self, timeout_s: float) -> Iterator[FromWorker]:
        """What seats have said, waiting at most `timeout_s` for the first.

        Raises EnvironmentFault where no seat has ever been open and none will be.
        """
        if time.monotonic() - self._looked_at >= LOOK_S:
            yield from self._look()
            self._looked_at = time.monotonic()
        for said in self._cluster.heard(timeout_s):
            yield from self._take(said)

    def replace(self) -> None:
        """Nothing: the place of a lost seat, or another one, gets a seat when it is looked for places next."""

    def close(self) -> None:
        """Ends every seat with all that it has started."""
        self._cluster.close(self._campaign, self._used)

    # --- places -----------------------------------------------------------------------------------------

    def _look(self) -> Iterator[FromWorker]:
        """Gives new places their seats, and takes away those of places that are gone."""
        try:
            places = self._cluster.places()
        except ClusterGone as gone:
            yield from self._nothing_left(str(gone))
            return
        for seat in [seat for seat in self._seats.values() if seat.place not in places]:
            yield from self._lost(seat, "its node, or the engine's process there, has ended")
        there = Counter(seat.place for seat in self._seats.values())
        self._sizes.update(places)
        for place, number in places.items():
            for _ in range(0 if place in self._left_out else number - there[place]):
                if len(self._seats) < self._most:
                    self._open_at(place)
        if self._seats:
            self._works_at = time.monotonic()
        elif places and all(place in self._left_out for place in places):
            yield from self._nothing_left(self._left_out[min(places)])
        elif time.monotonic() - self._works_at > EMPTY_S:
            yield from self._nothing_left("it has no worker")

    def _open_at(self, place: str) -> None:
        self._opened += 1
        seat = ClusterSlot(name=f"{self._campaign}-{self._opened}", place=place)
        self._seats[seat.name] = seat
        self._used.add(place)
        self._cluster.open_seat(place, Opening(self._campaign, seat.name, self._plan, self._hash_seed))

    def _nothing_left(self, why: str) -> Iterator[FromWorker]:
        """The campaign ends: by its own fault if it had begun."""
        if self._tvm is not None:
            yield FromWorker(Slot(), Refused(f"{self._cluster.name} cannot be used any more: {why}", usage=False))
        elif self._refused is not None and self._refused.usage:
            yield FromWorker(Slot(), self._refused)
        else:
            raise EnvironmentFault(f"{self._cluster.name} cannot be used: {why}")

    def _leave_out(self, place: str, why: str) -> None:
        """Says why a place gets no seats, once one that works has shown that others do."""
        if place in self._left_out:
            return
        self._left_out[place] = why
        if self._tvm is not None:
            self._tell(place)

    def _tell(self, place: str) -> None:
        tell(f"warning: {self._cluster.name}: {place} left out: {self._left_out[place]}")

    # --- seats ------------------------------------------------------------------------------------------

    def _take(self, said: SeatSaid) -> Iterator[FromWorker]:
        seat = self._seats.get(said.seat)
        if seat is None or said.task != seat.task:
            return  # of a seat that is lost
        if said.versions is not None and (why := self._versions.difference(said.versions)):
            self._leave_out(seat.place, why)
            self._drop(seat)
            return
        if said.part != seat.part and not said.lost:
            yield from self._lost(seat, "an answer of it was lost on its way")
            return
        seat.part += 1
        about = seat.busy
        for answer in seat.lines.take(said.lines):
            if isinstance(answer, Ready):
                yield from self._ready(seat, answer)
            elif isinstance(answer, Refused):
                self._refused = answer
                self._leave_out(seat.place, answer.message)
                self._drop(seat)
            else:
                yield from self._heard(seat, answer, about)
        if said.lost and said.seat in self._seats:
            if said.useless:
                self._leave_out(seat.place, said.lost)
            yield from self._lost(seat, said.lost)

    def _heard(self, seat: ClusterSlot, answer: Answer, about: Command | None) -> Iterator[FromWorker]:
        if isinstance(answer, Done):
            seat.busy = None
            del self._strikes[seat.place]
        yield FromWorker(seat, answer, about)

    def _ready(self, seat: ClusterSlot, ready: Ready) -> Iterator[FromWorker]:
        if self._tvm is None:
            self._tvm = ready.tvm
            for place in self._left_out:
                self._tell(place)
        if ready.tvm != self._tvm:
            self._leave_out(seat.place, f"it has TVM {ready.tvm}, others {self._tvm}")
            self._drop(seat)
            return
        seat.ready = True
        self._open[seat.name] = seat
        self.batch = batch_of(len(self._open), self._cases)
        yield FromWorker(seat, ready)

    def _lost(self, seat: ClusterSlot, how: str) -> Iterator[FromWorker]:
        """A seat is gone; the campaign hears of those that it knew."""
        self._drop(seat)
        self._strikes[seat.place] += 1
        strikes = self._strikes[seat.place]
        if strikes >= STRIKES * self._sizes[seat.place]:
            self._leave_out(seat.place, f"{strikes} workers have ended there in a row, the last one: {how}")
        if seat.ready:
            yield FromWorker(seat, WorkerLost(f"{how} ({seat.place})", was_ready=True), seat.busy)

    def _drop(self, seat: ClusterSlot) -> None:
        del self._seats[seat.name]
        self._open.pop(seat.name, None)
        self._cluster.forget(seat.place, seat.name)


def batch_of(seats: int, cases: int | None) -> int:
    """How many cases a seat is handed at once: more on a large cluster, less where few cases are to be shared."""
    large = max(BATCH, round(seats * CASES_PER_SEAT_S / TASKS_PER_S))
    return large if cases is None else max(1, min(large, cases // (2 * max(1, seats))))
