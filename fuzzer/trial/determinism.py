"""Determinism across processes: what another process is asked, and what a difference says. No TVM here.

A worker that judges a case of the sample says the digests of its modules. A second process, which is a worker with
another hash seed and another memory layout (a forked child would share both with its parent), draws the case again,
applies its passes and says its own digests; here they are compared. How digests are made is in `fuzzer.trial.digests`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from fuzzer.protocol import Failure, Sample
from generators.case import Tier
from oracles.evidence import AcrossProcesses
from oracles.verdict import ACROSS_PROCESSES, DETERMINISM, Failed


@dataclass(frozen=True, slots=True)
class Same:
    """Both processes get the same modules."""


@dataclass(frozen=True, slots=True)
class DrawnOtherwise:
    """The program itself is another one in the other process: a fault of ours."""


@dataclass(frozen=True, slots=True)
class NotAsked:
    """The difference is none of a pass under test; `reason` is a counter's key."""

    reason: str


@dataclass(frozen=True, slots=True)
class Differs:
    """A pass under test gives another module in the other process."""

    failure: Failure


Comparison: TypeAlias = Same | DrawnOtherwise | NotAsked | Differs


def hash_seeds(seed: int) -> tuple[int, int]:
    """PYTHONHASHSEED of the workers and of the second process: never the same, other ones in every campaign."""
    base = 2 * (seed % (1 << 31))
    return base, base + 1


def first_difference(one: tuple[str, ...], other: tuple[str, ...]) -> int | None:
    """The first place where two lists of digests differ, None for equal ones."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return None if len(one) == len(other) else min(len(one), len(other))


def compared(sample: Sample, digests: tuple[str, ...]) -> Comparison:
    """What the digests of the other process say of a sample."""
    place = first_difference(sample.digests, digests)
    if place is None:
        return Same()
    if place == 0:
        return DrawnOtherwise()
    if place == 1:
        return NotAsked("setup gives another module in another process")
    step = place - 2
    if not sample.counts[step]:
        return NotAsked(f"not under test: {sample.passes[step]}")
    here, there = sample.digests[place], digests[place:]
    return Differs(failure_of(sample.index, sample.passes[step], sample.tiers[step], step, here, there))


def failure_of(index: int, name: str, tier: Tier, step: int, here: str, there: tuple[str, ...]) -> Failure:
    """A pass that gives something else in another process."""
    message = "another process, with another hash seed and memory layout, gets something else"
    detail = f"structural hash of the result: {here} in one process, {there[0] if there else 'none'} in the other"
    verdict = Failed(ACROSS_PROCESSES, message, detail, evidence=AcrossProcesses())
    return Failure.of(index, DETERMINISM, verdict, name, tier, step=step)
