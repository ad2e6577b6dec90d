"""A drawn function with a drawn schedule, in this process: a step may end it. Campaigns draw the steps in a child."""

from __future__ import annotations

from generators.program import Program
from generators.source import Source
from generators.tir.relax_caller import draw_steps, draw_to_schedule, scheduled


def draw_scheduled_program(source: Source) -> Program:
    """The last step is one that TVM broke on, if one did. Raises Unavailable where no step applied."""
    program, first = draw_to_schedule(source, threads=False)
    return scheduled(program, draw_steps(source, program, first, threads=False))
