"""What makes passes fire that rarely do, where few are under test: some draws are tried before the campaign, and the
choices of those on which such a pass fires are kept. A share of the cases then repeats the choices of one, but for a
few. Worker processes only.

The trials depend on the plan alone, so that every worker finds the same, and a case stays a function of its seed and
index. They run in children, since a pass may end its process; a draw that does so is left out. With a draw that hangs
the trials end, so that a campaign begins after one deadline and not after one for each.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from fuzzer.processes.lines import Say, said_by
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.unjudged import unjudged_steps
from fuzzer.worker.draw import draw_from
from generators.passes.row import PLANTED_FLOOR
from generators.passes.table import PASSES
from generators.source import Choices, Echo, SeededSource
from generators.unavailable import Unavailable

TRIALS = 48
"""Draws that are tried: a pass that fires in one of twenty is seen in nine of ten campaigns."""
FEW = 4
"""With more passes under test than these, each gets its share of what is planted for all, and nothing is tried."""
KEPT = 6
"""The most draws that are kept for each target."""


class _AppliedDraw(msgspec.Struct, frozen=True, tag=True):
    """A draw that was applied. target: the one that it was for. fired: passes under test that changed the module."""

    target: str
    fired: tuple[str, ...]
    choices: Choices


class _NothingDrawn(msgspec.Struct, frozen=True, tag=True):
    """A trial in which no program could be drawn."""


def kin_of(plan: Plan, repertoire: Repertoire) -> Mapping[str, tuple[Choices, ...]]:
    """By target, the choices of draws on which passes under test fire that do so on less than PLANTED_FLOOR of them."""
    if not _wanted(plan, repertoire):
        return MappingProxyType({})
    trials = _tried(plan, repertoire)
    times = Counter(name for trial in trials for name in trial.fired)
    rare = {name for name, number in times.items() if number < PLANTED_FLOOR * len(trials)}
    kept: dict[str, tuple[Choices, ...]] = {}
    for trial in trials:
        if rare & set(trial.fired):
            kept[trial.target] = (*kept.get(trial.target, ()), trial.choices)[:KEPT]
    return kept


def _wanted(plan: Plan, repertoire: Repertoire) -> bool:
    """Whether something is tried: few passes are under test, one of them without shapes of program that are known to
    make it fire."""
    names = repertoire.under_test or ()
    known = [name for name in names if name in PASSES and PASSES[name].floor >= PLANTED_FLOOR]
    return 0 < len(names) <= FEW and plan.corpus is None and len(known) < len(names)


def _tried(plan: Plan, repertoire: Repertoire) -> list[_AppliedDraw]:
    """The trials up to one that hangs, without those whose draw ended its child."""
    found: list[_AppliedDraw] = []
    begun = 0
    current = mmap.mmap(-1, mmap.PAGESIZE)
    while begun < TRIALS:
        first = begun

        def work(say: Say, first: int = first) -> None:
            for number in range(first, TRIALS):
                current[0] = number
                say(_trial(plan, repertoire, number))

        answers, ended = said_by(work, _AppliedDraw | _NothingDrawn, plan.deadline_s, lambda: current[0])
        begun += len(answers) + (ended is not None)
        found += (answer for answer in answers if isinstance(answer, _AppliedDraw))
        if ended is not None and ended.hung:
            break
    return found


def _trial(plan: Plan, repertoire: Repertoire, number: int) -> _AppliedDraw | _NothingDrawn:
    """A trial. Numbered from -1 downwards, so that no case of a campaign has its seed."""
    index = -1 - number
    there = plan.at(index)
    source = Echo(SeededSource(plan.seed, index))
    try:
        experiment = draw_from(source, there, repertoire, index).experiment
    except Unavailable:
        return _NothingDrawn()
    under_test = set(repertoire.under_test or ())
    steps = unjudged_steps(experiment, repertoire, there.target)
    fired = {step.call.name for step in steps if step.changed} & under_test
    return _AppliedDraw(there.target, tuple(sorted(fired)), tuple(source.given) if fired else ())
