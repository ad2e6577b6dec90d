"""Draws a program with a schedule of it. The steps are taken in a child, which one of them may end: then it is the last
step of the schedule, and what it does is judged as anything that a pass does. Worker processes only."""

from __future__ import annotations

import msgspec

from fuzzer.processes.lines import Say, said_by
from generators.program import Program
from generators.source import SeededSource, Source
from generators.targets import TargetRow
from generators.tir.relax_caller import draw_steps, draw_to_schedule, scheduled
from generators.tir.schedules import ScheduleStep
from oracles.forked import ChildRaised


class _Taken(msgspec.Struct, frozen=True, tag=True):
    """The steps up to the one that begins, or all."""

    steps: tuple[str, ...]


def draw_scheduled(source: Source, target: TargetRow, deadline_s: float) -> Program:
    """The program. Raises Unavailable where no step applied."""
    program, first = draw_to_schedule(source, target.threads)
    seed = source.array_seed()

    def work(say: Say) -> None:
        def before(steps: tuple[ScheduleStep, ...]) -> None:
            say(_Taken(tuple(step.text for step in steps)))

        say(_Taken(draw_steps(SeededSource(seed), program, first, target.threads, before)))

    said, ended = said_by(work, _Taken, deadline_s)
    if ended is not None and ended.raised:
        raise ChildRaised(ended.what)
    return scheduled(program, said[-1].steps if said else ())
