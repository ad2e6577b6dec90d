"""Draws a program with a schedule of it. The steps are taken in a child, which one of them may end: then it is the last
step of the schedule, and what it does is judged as anything that a pass does. Worker processes only."""

from __future__ import annotations

import msgspec

from generators.program import Program
from generators.source import SeededSource, Source
from generators.targets import TargetRow
from generators.tir.relax_caller import draw_steps, draw_to_schedule, scheduled
from generators.tir.schedules import ScheduleStep
from oracles.forked import ChildRaised, Write, written_by


def draw_scheduled(source: Source, target: TargetRow, deadline_s: float) -> Program:
    """The program. Raises Unavailable where no step applied."""
    program, first = draw_to_schedule(source, target.threads)
    seed = source.array_seed()

    def work(write: Write) -> None:
        def say(steps: tuple[str, ...]) -> None:
            write(msgspec.json.encode(steps) + b"\n")

        def before(steps: tuple[ScheduleStep, ...]) -> None:
            say(tuple(step.text for step in steps))

        say(draw_steps(SeededSource(seed), program, first, target.threads, before))

    ended, data = written_by(work, deadline_s)
    if ended is not None and ended.raised:
        raise ChildRaised(ended.what)
    lines = data.split(b"\n")[:-1]  # what ends without one was cut off
    return scheduled(program, msgspec.json.decode(lines[-1], type=tuple[str, ...]) if lines else ())
