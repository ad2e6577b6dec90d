"""The campaign's second process, in which sampled cases are applied again. No TVM here.

Which cases these are says the row of the oracle; what a difference says is in `fuzzer.trial.determinism`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from typing_extensions import assert_never

from fuzzer.campaign.kinship import Kinship
from fuzzer.processes.pool import Pool
from fuzzer.processes.workforce import WorkerLost
from fuzzer.protocol import (
    Answer,
    CandidateDigests,
    CaseDigests,
    Confirmed,
    Done,
    Judged,
    Killed,
    Plan,
    Ready,
    Reduced,
    Refused,
    Sample,
    TakeDigests,
    TriedDraws,
    Warned,
)
from fuzzer.trial.determinism import Differs, DrawnOtherwise, NotAsked, Same, compared, hash_seeds
from oracles.verdict import DETERMINISM
from reports.tally import Tally

WAITING = 50
"""The most samples that wait: the second process must not slow down a campaign with many workers."""
BATCH, BATCH_S = 8, 5.0
"""The number of samples in one request, and the seconds after which fewer are sent: the cost of the first use of a pass
is then paid once for all of them."""
LOST = 3
"""After so many ends of second processes none is started any more."""
LEFT_OUT = "the second process was too slow, or was lost too often"
TRIES = 2
"""So many ends of a second process may a sample see: the first of those not answered was being applied."""


@dataclass(slots=True)
class SecondProcess:
    """One worker process that applies sampled cases again; started when there is something to ask it."""

    plan: Plan
    kinship: Kinship = field(default_factory=lambda: Kinship(TriedDraws({}, 0, 0)))
    _waiting: deque[Sample] = field(default_factory=deque)
    _asked: dict[int, Sample] = field(default_factory=dict)
    _tries: dict[int, int] = field(default_factory=dict)
    _pool: Pool | None = None
    _lost: int = 0

    @property
    def idle(self) -> bool:
        """Whether everything has been answered."""
        return not self._waiting and not self._asked

    @property
    def open(self) -> list[Sample]:
        """What has not been answered."""
        return [*self._asked.values(), *self._waiting]

    def ask(self, sample: Sample) -> Tally:
        """Queues a sample. One too many is left out, and counted."""
        if len(self._waiting) < WAITING and self._lost < LOST:
            self._waiting.append(sample)
            return Tally()
        return _skipped(sample.index, LEFT_OUT).counts

    def answers(self, now: float, hurry: bool) -> Iterator[Judged]:
        """What has been found out since the last time. Never waits. hurry: no more samples will come."""
        if self._pool is None:
            if not self._waiting:
                return
            self._pool = Pool(self.plan, 1, hash_seeds(self.plan.seed)[1])
        for heard in self._pool.answers(0.0):
            yield from self._take(heard.answer)
        for slot in self._pool.slots if self._pool is not None else ():
            if not (slot.ready and slot.busy is None and self.kinship.known):
                continue
            if self.kinship.employs(self._pool, slot, now):
                continue
            enough = len(self._waiting) >= BATCH or hurry or now - slot.since > BATCH_S
            if self._waiting and enough:
                batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
                self._asked = {sample.index: sample for sample in batch}
                self._pool.command(slot, TakeDigests(tuple(self._asked)), now)

    def _take(self, answer: Answer | WorkerLost) -> Iterator[Judged]:
        match answer:
            case CaseDigests(index, digests, cpu_s) if index in self._asked:
                yield Judged(index, Tally(cpu_s=cpu_s, phases={"second process": cpu_s}))
                yield from self._compared(self._asked.pop(index), digests)
            case Done():
                yield from self._unanswered()
            case WorkerLost() | Refused():
                self.close()
                yield from self._unanswered()
                self._lost += 1
                if self._lost >= LOST:
                    yield from (_skipped(sample.index, LEFT_OUT) for sample in self._waiting)
                    self._waiting.clear()
            case (
                Ready()
                | Warned()
                | Judged()
                | Killed()
                | Reduced()
                | Confirmed()
                | CaseDigests()
                | CandidateDigests()
                | TriedDraws()
            ):
                pass  # It is asked for digests of cases only, and says those it has; code in it may say anything.
            case _:
                assert_never(answer)

    def _compared(self, sample: Sample, digests: tuple[str, ...]) -> Iterator[Judged]:
        found, counts = compared(sample, digests), Tally()
        match found:
            case Same():
                counts.count_oracle(DETERMINISM, "passed")
                yield Judged(sample.index, counts)
            case DrawnOtherwise():
                reason = "drawn otherwise in another process"
                yield Judged(sample.index, Tally(invalid=1, skipped={f"own fault: {reason}": 1}), own_fault=reason)
            case NotAsked(reason):
                yield _skipped(sample.index, reason)
            case Differs(failure):
                counts.count_oracle(DETERMINISM, "failed")
                counts.count_pass(failure.culprit, "failed")
                yield Judged(sample.index, counts, (failure,))
            case _:
                assert_never(found)

    def _unanswered(self) -> Iterator[Judged]:
        """The process or its child has ended: samples that it has not answered are sent again."""
        for number, (index, sample) in enumerate(self._asked.items()):
            self._tries[index] = self._tries.get(index, 0) + (number == 0)
            if self._tries[index] < TRIES and self._lost + 1 < LOST:
                self._waiting.append(sample)
            else:
                yield _skipped(index, "not applied again: the process ended")
        self._asked = {}

    def close(self) -> None:
        """Ends the process."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def _skipped(index: int, reason: str) -> Judged:
    counts = Tally(skipped={reason: 1})
    counts.count_oracle(DETERMINISM, "skipped")
    return Judged(index, counts)
