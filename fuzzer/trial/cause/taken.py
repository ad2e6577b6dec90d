"""A step with what was there before it, and the part of a pass that takes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from oracles.broken import Types, types_of
from oracles.trace import Position, Step
from oracles.workbench import Workbench

GoesWrong: TypeAlias = Callable[[Step, Workbench], bool]
"""Whether what is wrong shows after a step."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step from a copy of the module before it, which it may have changed; and the types that its bindings had."""

    step: Step
    types: Types


@dataclass(frozen=True, slots=True)
class Rule:
    """A part of a pass by its name, and the step that it takes: without any other part, or as the last of them.

    misdone: of a primitive, how it goes wrong (`oracles.ir.scheduled`).
    """

    name: str
    taken: Taken
    misdone: str = ""


def with_types(position: Position, steps: Iterator[Step]) -> Iterator[Taken]:
    """Each step with what was there before it."""
    before, types = position.module.clone(), types_of(position.module)
    for step in steps:
        yield Taken(replace(step, start=replace(step.start, module=before)), types)
        if step.after is not None:
            before, types = step.after.clone(), types_of(step.after)
