"""The rows of the table of schedule primitives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.tir.schedule_view import ScheduleView


@dataclass(frozen=True, slots=True)
class Primitive:
    """One primitive of `tvm.s_tir.Schedule`.

    draw: the step as text, an expression over `sch`; raises `NoPlace` where nothing has the form that it asks for.
    keeps: why the scheduled function means the same, and under which conditions that are drawn.
    rounds: whether the order of a reduction may change, so that inexact floats round otherwise. last: no other step is
    taken after it. threads: only for targets with thread axes, after all other steps. host: only for targets
    without them. plants: stages that give it a
    place (names of `generators.tir.functions.STAGES`), in their order. after: rows of which a step makes the place, to
    be taken first.
    """

    name: str
    draw: Callable[[ScheduleView], str]
    keeps: str
    weight: int = 1
    rounds: bool = False
    last: bool = False
    threads: bool = False
    host: bool = False
    plants: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExcludedPrimitive:
    """A public method of `tvm.s_tir.Schedule` that is drawn by no row, and why a TVM developer would agree."""

    name: str
    reason: str
