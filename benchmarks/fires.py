"""Which passes fire in which cases of a campaign: each case is drawn as the campaign draws it, its passes are applied,
and nothing is judged.

A pass fires where the module differs after it, in structure and meaning of names, as a campaign counts it. Passes of
the setup do not count. Cases run in forked children, since a pass may end its process; such a case counts up to the
pass that ended it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

import msgspec
from typing_extensions import assert_never

from benchmarks.children import ToParent, in_child
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.unjudged import unjudged_steps
from fuzzer.worker.draw import draw_experiment
from generators.unavailable import Unavailable

BATCH = 24
BATCH_S = 120.0


@dataclass(slots=True)
class Fired:
    """What happened to the passes of one case.

    applied, changed, raised: how often each pass was applied, made another module of its own, or refused it. drawn:
    False where nothing was drawn.
    """

    index: int
    drawn: bool = False
    applied: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)


class _CaseBegun(msgspec.Struct, frozen=True, tag=True):
    index: int


class _Drawn(msgspec.Struct, frozen=True, tag=True):
    """The case that was begun last could be drawn."""


class _Applied(msgspec.Struct, frozen=True, tag=True):
    """A pass was applied in it."""

    name: str
    changed: bool
    raised: bool


_FireSaid: TypeAlias = _CaseBegun | _Drawn | _Applied


def fired(plan: Plan, repertoire: Repertoire, indices: Iterable[int], batch: int = BATCH) -> Iterator[Fired]:
    """The cases of these indices, in order. batch: cases that share a child."""
    left = iter(indices)
    while some := tuple(islice(left, batch)):
        while some:
            cases = _of_batch(plan, repertoire, some)
            yield from cases
            some = some[len(cases) :]


def _of_batch(plan: Plan, repertoire: Repertoire, batch: Sequence[int]) -> list[Fired]:
    """The first cases of the batch, up to the one that ends the child, if one does."""

    def work(say: ToParent[_FireSaid]) -> None:
        for index in batch:
            say(_CaseBegun(index))
            _apply(plan.at(index), repertoire, index, say)

    cases: list[Fired] = []
    for message in in_child(work, _FireSaid, BATCH_S).messages:
        match message:
            case _CaseBegun(index):
                cases.append(Fired(index))
            case _Drawn():
                cases[-1].drawn = True
            case _Applied(name, changed, raised):
                cases[-1].applied[name] += 1
                cases[-1].changed[name] += changed
                cases[-1].raised[name] += raised
            case _:
                assert_never(message)
    return cases or [Fired(batch[0])]


def _apply(plan: Plan, repertoire: Repertoire, index: int, say: ToParent[_FireSaid]) -> None:
    """Says what becomes of each pass of the case."""
    try:
        experiment = draw_experiment(plan, repertoire, index).experiment
    except Unavailable:
        return
    say(_Drawn())
    for step in unjudged_steps(experiment, repertoire, plan.target):
        say(_Applied(step.call.name, step.changed, step.error is not None))
