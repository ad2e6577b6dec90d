"""Random schedules: primitives applied one after another, each recorded as text that replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class ScheduleStep:
    """A primitive and the expression over `sch` that applies it."""

    primitive: str
    text: str


@dataclass(frozen=True, slots=True)
class Broken:
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
    broken: Broken | None
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
    before: Callable[[ScheduleStep], None] | None = None,
    knobs: TirKnobs = DEFAULT,
) -> Scheduled:
    """Applies up to `steps` primitives to a program of blocks; `before` hears of each step just before it is taken,
    so that a step that kills the process is known.

    threads: whether the target has thread axes. first: names of rows of which the first step is one where they have a
    place. Raises ValueError for a program without blocks.
    """
    if not program.schedulable:
        raise ValueError("the function has no blocks")
    taken: list[ScheduleStep] = []
    refused: Counter[str] = Counter()
    usable = [row for row in rows if threads or not row.threads]
    try:
        schedule = _begun(program.module)
    except tvm_api.InternalError:  # passes that schedule the function die in the same place, which is judged there
        return Scheduled(program, program, (), Counter({"Schedule": 1}), None, False)
    broken: Broken | None = None
    by_name = {row.name: row for row in usable}
    begins = [row for row in usable if row.name in first]
    for number in range(steps):
        begun = _drawn(source, schedule, program, threads, taken, begins, knobs) if begins and number == 0 else None
        step = begun or _drawn(source, schedule, program, threads, taken, usable, knobs)
        if step is None:
            break
        if before is not None:
            before(step)
        outcome = _applied(schedule, step)
        if outcome is True:
            outcome = _checked(schedule, program, step)
        if isinstance(outcome, Broken):
            broken = outcome
            schedule = replayed(program.module, taken)
            break
        if outcome:
            taken.append(step)
        else:
            refused[step.primitive] += 1
            if step.text.startswith("("):  # several calls, of which the first may have been made
                schedule = replayed(program.module, taken)
        if outcome and by_name[step.primitive].last:
            break
    rounds = any(by_name[step.primitive].rounds for step in taken)
    return Scheduled(replace(program, module=schedule.mod), program, tuple(taken), refused, broken, rounds)


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


def _drawn(
    source: Source,
    schedule: s_tir.Schedule,
    program: PrimProgram,
    threads: bool,
    taken: list[ScheduleStep],
    rows: Sequence[Primitive],
    knobs: TirKnobs,
) -> ScheduleStep | None:
    """A step for which there is a place; None where some rows had none."""
    view = view_of(source, schedule, program, threads, [step.primitive for step in taken], knobs)
    weights = [(row, row.weight) for row in rows]
    for _ in range(knobs.schedules.patience):
        row = weighted(source, weights)
        try:
            return ScheduleStep(row.name, row.draw(view))
        except NoPlace:
            continue
    return None


def _applied(schedule: s_tir.Schedule, step: ScheduleStep) -> bool | Broken:
    """Whether the step applied; False where TVM refuses it with a diagnosis."""
    try:
        eval(step.text, {"sch": schedule, "tvm": tvm})
    except s_tir.ScheduleError:
        return False
    except (ValueError, TypeError) as error:
        failed_check = str(error).lstrip().startswith("Check failed")
        return Broken(step, type(error).__name__, str(error)) if failed_check else False
    except (tvm.error.InternalError, RuntimeError, IndexError, AttributeError, AssertionError, KeyError) as error:
        return Broken(step, type(error).__name__, str(error))
    return True


def _checked(schedule: s_tir.Schedule, program: PrimProgram, step: ScheduleStep) -> bool | Broken:
    """Whether the function is well-formed after the step."""
    try:
        s_tir.analysis.verify_well_formed(schedule.mod[program.function])
    except (ValueError, tvm.error.InternalError) as error:
        return Broken(step, "ill-formed", str(error))
    return True
