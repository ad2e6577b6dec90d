"""Random schedules: primitives applied one after another, each recorded as text that replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import tvm
from tvm import s_tir

from generators import tvm_api
from generators.source import Source, weighted
from generators.tir.knobs import DEFAULT, TirKnobs
from generators.tir.prim_program import PrimProgram
from generators.tir.primitives import PRIMITIVES
from generators.tir.schedule_row import Primitive
from generators.tir.schedule_view import NoPlace, view_of
from generators.tvm_api import IRModule

_SEED = 1
BINDINGS = 40
"""The most steps that bind nests to threads, of which TVM refuses some."""


@dataclass(frozen=True, slots=True)
class ScheduleStep:
    """A primitive and the expression over `sch` that applies it."""

    primitive: str
    text: str


Before: TypeAlias = Callable[[tuple[ScheduleStep, ...]], None]


@dataclass(frozen=True, slots=True)
class BrokenStep:
    """A step that ended with something else than a refusal: a finding candidate."""

    step: ScheduleStep
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A function scheduled at random.

    program: with the scheduled module in place of the drawn one; it means the same, bit for bit unless `rounds`.
    steps: those that applied, in order. refused: ScheduleErrors and other diagnoses of arguments, by primitive; a step
    that is refused leaves the schedule as it was. broken: the step that ended the drawing with an internal error; the
    module is then the one before it.
    """

    program: PrimProgram
    original: PrimProgram
    steps: tuple[ScheduleStep, ...]
    refused: Counter[str]
    broken: BrokenStep | None
    rounds: bool

    def script(self) -> str:
        """The steps as Python over `mod` and `tvm`; gives `sch`."""
        begun = f"sch = tvm.s_tir.Schedule(mod, seed={_SEED})"
        return "\n".join([begun, *(step.text for step in self.steps)])


def draw_schedule(
    source: Source,
    program: PrimProgram,
    steps: int,
    *,
    threads: bool = False,
    rows: Sequence[Primitive] = PRIMITIVES,
    first: Sequence[str] = (),
    before: Before | None = None,
    knobs: TirKnobs = DEFAULT,
) -> Scheduled:
    """Applies up to `steps` primitives to a program of blocks.

    threads: whether the target has thread axes. Nests of loops are bound to them then, after the other steps, where
    TVM allows it.
    first: names of rows to begin with, in this order, each where it has a place; those steps come on top. before: hears
    just before each step the steps that have applied, and last that one, so that one that kills the process is known.
    Raises ValueError for a program without blocks.
    """
    if not program.schedulable:
        raise ValueError("the function has no blocks")
    try:
        schedule = _begun(program.module)
    except tvm_api.InternalError:  # passes that schedule the function die in the same place, which is judged there
        return Scheduled(program, program, (), Counter({"Schedule": 1}), None, False)
    drawing = _Drawing(source, program, threads, knobs, before, schedule)
    by_name = {row.name: row for row in rows}
    for name in first:
        drawing.insist(by_name[name])
    usable = [row for row in rows if not row.threads and not (threads and row.host)]
    for _ in range(steps):
        if drawing.ended or not usable or drawing.step(usable) is None:
            break
    binding = [row for row in rows if row.threads] if threads else []
    for _ in range(BINDINGS):
        if not binding or drawing.broken is not None or drawing.step(binding) is None:
            break
    rounds = any(by_name[step.primitive].rounds for step in drawing.taken)
    scheduled = replace(program, module=drawing.schedule.mod)
    return Scheduled(scheduled, program, tuple(drawing.taken), drawing.refused, drawing.broken, rounds)


def has_place(source: Source, program: PrimProgram, name: str, *, threads: bool = False) -> bool:
    """Whether the primitive has a place in the function as it is. Raises KeyError where no row has this name."""
    try:
        schedule = _begun(program.module)
    except tvm_api.InternalError:
        return False
    row = {row.name: row for row in PRIMITIVES}[name]
    return _Drawing(source, program, threads, DEFAULT, None, schedule).drawn([row]) is not None


@dataclass(slots=True)
class _Drawing:
    """A schedule while it is drawn. ended: no other step may follow."""

    source: Source
    program: PrimProgram
    threads: bool
    knobs: TirKnobs
    before: Before | None
    schedule: s_tir.Schedule
    taken: list[ScheduleStep] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    broken: BrokenStep | None = None
    ended: bool = False

    def insist(self, row: Primitive) -> None:
        """Takes a step of this row, in one of some places, where it has any."""
        for _ in range(self.knobs.schedules.insistence):
            if self.ended or self.step([row]) is not False:
                return

    def step(self, rows: Sequence[Primitive]) -> bool | None:
        """Whether a step of one of the rows applied; None where those that were tried have no place."""
        drawn = self.drawn(rows)
        if drawn is None:
            return None
        row, step = drawn
        if self.before is not None:
            self.before((*self.taken, step))
        outcome = _applied(self.schedule, step)
        if outcome is True:
            outcome = _checked(self.schedule, self.program, step)
        if isinstance(outcome, BrokenStep):
            self.broken, self.ended = outcome, True
            self.schedule = replayed(self.program.module, self.taken)
            return False
        if outcome:
            self.taken.append(step)
            self.ended = row.last
            return True
        self.refused[step.primitive] += 1
        if step.text.startswith("("):  # several calls, of which the first may have been made
            self.schedule = replayed(self.program.module, self.taken)
        return False

    def drawn(self, rows: Sequence[Primitive]) -> tuple[Primitive, ScheduleStep] | None:
        """A step for which there is a place, and its row; None where some rows had none."""
        applied = [step.primitive for step in self.taken]
        view = view_of(self.source, self.schedule, self.program, self.threads, applied, self.knobs)
        weights = [(row, row.weight) for row in rows]
        for _ in range(self.knobs.schedules.patience):
            row = weighted(self.source, weights)
            try:
                return row, ScheduleStep(row.name, row.draw(view))
            except NoPlace:
                continue
        return None


def replayed(module: IRModule, steps: Sequence[ScheduleStep]) -> s_tir.Schedule:
    """The schedule that the steps make of a module. Raises whatever a step raises."""
    schedule = _begun(module)
    for step in steps:
        eval(step.text, {"sch": schedule, "tvm": tvm})
    return schedule


def _begun(module: IRModule) -> s_tir.Schedule:
    """A schedule of a copy: steps inside a block in a block may write into the module that the schedule was made of."""
    module = tvm_api.copy_of(module)
    return s_tir.Schedule(module, seed=_SEED, error_render_level="fast")


def _applied(schedule: s_tir.Schedule, step: ScheduleStep) -> bool | BrokenStep:
    """Whether the step applied; False where TVM refuses it with a diagnosis."""
    try:
        eval(step.text, {"sch": schedule, "tvm": tvm})
    except s_tir.ScheduleError:
        return False
    except (ValueError, TypeError) as error:
        failed_check = str(error).lstrip().startswith("Check failed")
        return BrokenStep(step, type(error).__name__, str(error)) if failed_check else False
    except (tvm.error.InternalError, RuntimeError, IndexError, AttributeError, AssertionError, KeyError) as error:
        return BrokenStep(step, type(error).__name__, str(error))
    return True


def _checked(schedule: s_tir.Schedule, program: PrimProgram, step: ScheduleStep) -> bool | BrokenStep:
    """Whether the function is well-formed after the step."""
    try:
        s_tir.analysis.verify_well_formed(schedule.mod[program.function])
    except (ValueError, tvm.error.InternalError) as error:
        return BrokenStep(step, "ill-formed", str(error))
    return True
