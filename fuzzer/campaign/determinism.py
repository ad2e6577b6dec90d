"""Determinism across processes, the campaign's side: which cases are applied again elsewhere, and what differs. No TVM.

A worker that judges a case of the sample says the digests of its modules. A witness, which is a worker process with
another hash seed and another memory layout (a forked child would share both with its parent), draws the case again,
applies its passes and says its own; here they are compared. How digests are made is in `fuzzer.trial.digests`.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from fuzzer.campaign.pool import Answer, Pool
from fuzzer.protocol import Failure, Plan
from oracles.evidence import AcrossProcesses
from oracles.verdict import ACROSS_PROCESSES

ORACLE = "determinism"
SHARE = 0.02
"""How often a case is applied again."""
EARLY, EARLY_SHARE = 40, 0.2
"""So many cases of a campaign are in the sample more often: short campaigns want one, too."""
WAITING = 50
"""As many samples may wait for the witness; it is not to hold up a campaign with many workers."""
BATCH, BATCH_S = 8, 5.0
"""So many samples are asked for at once, or what there is after so many seconds: what the first use of a pass costs is
then paid once for all of them."""
LOST = 3
"""After so many ends of witnesses there is none any more."""

Said: TypeAlias = "Failure | dict[str, Any]"
"""A failure, or a delta for the tally."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What a worker has seen of a case. digests: of the module as drawn, after the setup, and after each pass.

    counts: for each pass, whether its failures count (False where it is not under test).
    """

    index: int
    digests: tuple[str, ...]
    passes: tuple[str, ...]
    tiers: tuple[str, ...]
    counts: tuple[bool, ...]

    @staticmethod
    def from_json(data: dict[str, Any]) -> Sample:
        return Sample(data["index"], *(tuple(data[name]) for name in ("digests", "passes", "tiers", "counts")))


def is_sampled(seed: int, index: int) -> bool:
    """Whether a case is applied again: a pure function of both."""
    share = EARLY_SHARE if index < EARLY else SHARE
    return random.Random(f"passfuzz/again/{seed}/{index}").random() < share


def hash_seeds(seed: int) -> tuple[int, int]:
    """PYTHONHASHSEED of the workers and of the witness: never the same, other ones in every campaign."""
    base = 2 * (seed % (1 << 31))
    return base, base + 1


def first_difference(one: tuple[str, ...], other: tuple[str, ...]) -> int | None:
    """The first place where two lists of digests differ, None for equal ones."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return None if len(one) == len(other) else min(len(one), len(other))


def judged(plan: Plan, sample: Sample, digests: tuple[str, ...]) -> Iterator[Said]:
    """What the digests of the witness say of a sample."""
    place = first_difference(sample.digests, digests)
    if place is None:
        yield {"oracles": {ORACLE: {"passed": 1}}}
    elif place == 0:
        yield _own_fault(plan, sample.index)
    elif place == 1:
        yield _skipped("setup gives another module in another process")
    elif not sample.counts[place - 2]:
        yield _skipped(f"not under test: {sample.passes[place - 2]}")
    else:
        step = place - 2
        name = sample.passes[step]
        yield {"oracles": {ORACLE: {"failed": 1}}, "passes": {name: {"failed": 1}}}
        yield failure_of(sample.index, name, sample.tiers[step], step, sample.digests[place], digests[place:])


def failure_of(index: int, name: str, tier: str, step: int, here: str, there: tuple[str, ...]) -> Failure:
    """A pass that gives something else in another process."""
    message = "another process, with another hash seed and memory layout, gets something else"
    detail = f"structural hash of the result: {here} in one process, {there[0] if there else 'none'} in the other"
    return Failure(index, ORACLE, ACROSS_PROCESSES, message, detail, name, tier, step, evidence=AcrossProcesses())


def _skipped(reason: str) -> dict[str, Any]:
    return {"oracles": {ORACLE: {"skipped": 1}}, "skipped": {reason: 1}}


def _own_fault(plan: Plan, index: int) -> dict[str, Any]:
    """A program that is drawn otherwise in another process: nothing that TVM did."""
    with (Path(plan.scratch).parent / "own-faults.txt").open("a") as file:
        file.write(f"case {index} of seed {plan.seed}: drawn otherwise in another process\n\n")
    return {"invalid": 1, "skipped": {"own fault: drawn otherwise in another process": 1}}


@dataclass(slots=True)
class Witness:
    """One process, started when there is something to ask it."""

    plan: Plan
    _waiting: deque[Sample] = field(default_factory=deque)
    _asked: dict[int, Sample] = field(default_factory=dict)
    _pool: Pool | None = None
    _lost: int = 0

    @property
    def idle(self) -> bool:
        """Whether everything has been answered."""
        return not self._waiting and not self._asked

    def ask(self, sample: Sample) -> None:
        """Queues a sample; one too many is left out."""
        if len(self._waiting) < WAITING and self._lost < LOST:
            self._waiting.append(sample)

    def answers(self, now: float, hurry: bool) -> Iterator[Said]:
        """What has been found out since the last time. Never waits. hurry: no more samples will come."""
        if self._pool is None:
            if not self._waiting:
                return
            self._pool = Pool(self.plan, 1, hash_seeds(self.plan.seed)[1])
        for answer in self._pool.answers(0.0):
            yield from self._take(answer)
        for slot in self._pool.slots if self._pool is not None else ():
            enough = len(self._waiting) >= BATCH or hurry or now - slot.since > BATCH_S
            if slot.ready and slot.busy is None and self._waiting and enough:
                batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
                self._asked = {sample.index: sample for sample in batch}
                self._pool.command(slot, {"do": "digests", "indices": list(self._asked)}, now)

    def _take(self, answer: Answer) -> Iterator[Said]:
        match answer.kind:
            case "digests":
                cpu_s = answer.payload["cpu_s"]
                yield {"cpu_s": cpu_s, "phases": {"again": cpu_s}}
                sample = self._asked.pop(answer.payload["index"])
                yield from judged(self.plan, sample, tuple(answer.payload["digests"]))
            case "done":
                yield from self._unanswered()
            case "lost" | "fault":
                yield from self._unanswered()
                self.close()
                self._lost += 1
                if self._lost >= LOST:
                    self._waiting.clear()

    def _unanswered(self) -> Iterator[Said]:
        yield from (_skipped("not applied again: the process ended") for _ in self._asked)
        self._asked = {}

    def close(self) -> None:
        """Ends the process."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None
