"""What makes passes fire that rarely do, where few are under test: some draws are tried before the first case, and the
choices of those on which such a pass fires are kept. A share of the cases then repeats the choices of one, but for a
few. Worker processes only.

One worker tries them, and the campaign tells what it has found to every worker and keeps it with its checkpoint
(`fuzzer.campaign.kinship`): it is a part of the plan, as the trials of slow passes end with a clock. They run in
children, since a pass may end its process; a draw that does so is left out. With a draw that hangs the trials end, so
that a campaign begins after one deadline and not after one for each.
"""

from __future__ import annotations

import mmap
import time
from collections import Counter
from collections.abc import Set

import msgspec

from fuzzer.processes.lines import Say, said_by
from fuzzer.protocol import Plan, TriedDraws, TryDraws
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.unjudged import unjudged_steps
from fuzzer.worker.draw import draw_from
from generators.passes.row import PLANTED_FLOOR
from generators.passes.table import PASSES
from generators.source import Choices, Echo, SeededSource
from generators.unavailable import Unavailable

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


def kin_of(plan: Plan, repertoire: Repertoire, asked: TryDraws) -> TriedDraws:
    """The draws on which passes under test fire that do so on less than PLANTED_FLOOR of those that were tried."""
    trials, begun = _tried(plan, repertoire, asked)
    times = Counter(name for trial in trials for name in trial.fired)
    rare = {name for name, number in times.items() if number < PLANTED_FLOOR * len(trials)}
    kept: dict[str, tuple[Choices, ...]] = {}
    for trial in trials:
        if rare & set(trial.fired):
            kept[trial.target] = (*kept.get(trial.target, ()), trial.choices)[:KEPT]
    return TriedDraws(kept, begun, _wanted(asked, begun, set(times), repertoire))


def _wanted(asked: TryDraws, begun: int, fired: Set[str], repertoire: Repertoire) -> int:
    """How many trials there should be, after `begun` of them in which these passes have fired."""
    if begun < asked.most:
        return asked.most
    return begun if fired >= set(repertoire.under_test or ()) else max(begun, asked.most + asked.more)


def wants_trials(plan: Plan, repertoire: Repertoire) -> bool:
    """Whether something is tried: few passes are under test, one of them without shapes of program that are known to
    make it fire."""
    names = repertoire.under_test or ()
    known = [name for name in names if name in PASSES and PASSES[name].floor >= PLANTED_FLOOR]
    return 0 < len(names) <= FEW and plan.corpus is None and len(known) < len(names)


def _tried(plan: Plan, repertoire: Repertoire, asked: TryDraws) -> tuple[list[_AppliedDraw], int]:
    """The trials up to one that hangs or the end of their time, without those whose draw ended its child; and how many
    were begun."""
    found: list[_AppliedDraw] = []
    fired: set[str] = set()
    begun, until = 0, time.monotonic() + asked.seconds
    current = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
    while begun < _wanted(asked, begun, fired, repertoire) and time.monotonic() < until:
        first = begun

        def work(say: Say, first: int = first, fired: Set[str] = frozenset(fired)) -> None:
            number = first
            while number < _wanted(asked, number, fired, repertoire):
                if number > first and time.monotonic() >= until:
                    return
                current[0] = number
                trial = _trial(plan, repertoire, number)
                say(trial)
                fired = fired | set(trial.fired) if isinstance(trial, _AppliedDraw) else fired
                number += 1

        answers, ended = said_by(work, _AppliedDraw | _NothingDrawn, plan.deadline_s, lambda: current[0])
        begun += len(answers) + (ended is not None)
        found += (answer for answer in answers if isinstance(answer, _AppliedDraw))
        fired = {name for trial in found for name in trial.fired}
        if ended is not None and ended.hung:
            break
    return found, begun


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
