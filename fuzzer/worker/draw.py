"""Draws the cases of a campaign: a case depends on (seed, index) and the plan alone. Worker processes only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuzzer.protocol import Plan
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.repertoire import Repertoire
from fuzzer.worker.knobs import KNOBS
from fuzzer.worker.programs import Wanted, draw_for
from fuzzer.worker.seeds import SeedProgram, draw_seed
from generators.case import Origin
from generators.passes.row import Role
from generators.passes.sequence_kinds import IN_CONTRACT
from generators.passes.sequences import PlannedPass, draw_names, instantiate, to_fire
from generators.program import Program
from generators.program_facts import Feature
from generators.source import Echo, SeededSource, Source
from generators.targets import TARGETS
from generators.tir.dead_prim_func import with_dead_prim_func
from generators.tir.hints import with_hints
from generators.unavailable import Unavailable


def _with_dead(source: Source, program: Program, steps: Sequence[PlannedPass], repertoire: Repertoire) -> Program:
    """The program, in some cases with a PrimFunc without callers; not after a schedule of all functions, which may die
    on it before anything is under test."""
    if any(step.setup and repertoire.rows[step.name].role is Role.BINDS_THREADS for step in steps):
        return program
    wanted = any(Feature.PRIM_FUNCS in row.fires.wants for row in to_fire(steps, repertoire.rows).drawn)
    some = wanted or repertoire.under_test is not None
    share = KNOBS.prim_func.dead_of_some if some else KNOBS.prim_func.dead
    return with_dead_prim_func(source, program) if source.flip(share) else program


def _with_hints(source: Source, program: Program, steps: Sequence[PlannedPass], repertoire: Repertoire) -> Program:
    """The program, in most cases with what the passes drawn one by one read from its PrimFuncs."""
    names = {name for row in to_fire(steps, repertoire.rows).drawn for name in row.fires.hints}
    return with_hints(source, program, names) if names and source.flip(KNOBS.prim_func.hinted) else program


def _without_tail(
    source: Source, steps: tuple[PlannedPass, ...], under_test: tuple[str, ...] | None
) -> tuple[PlannedPass, ...]:
    """The steps up to the last pass under test, in most cases."""
    if under_test is None:
        return steps
    ends = [place for place, step in enumerate(steps, 1) if step.name in under_test and not step.setup]
    whole = not ends or ends[-1] == len(steps) or source.flip(KNOBS.tail)
    return steps if whole else steps[: ends[-1]]


def origin_of(plan: Plan, index: int, program: Program) -> Origin:
    """Where a case comes from: the campaign, and the seed's folder where it started from one."""
    return Origin(plan.seed, index, program.folder if isinstance(program, SeedProgram) else None)


@dataclass(frozen=True, slots=True)
class DrawnCase:
    """A case, the program that it was made of, and the source that the judge goes on drawing from.

    left_out: why seeds that were picked before were of no use, and how many.
    """

    experiment: Experiment
    program: Program
    source: Source
    left_out: Counter[str]


def draw_experiment(plan: Plan, repertoire: Repertoire, index: int) -> DrawnCase:
    """Case `index` of the campaign. Raises Unavailable."""
    source = SeededSource(plan.seed, index)
    kin = repertoire.kin.get(plan.at(index).target, ())
    if kin and source.flip(KNOBS.kin.share):
        like = Echo(source, source.pick(kin), KNOBS.kin.anew)
        return replace(draw_from(like, plan, repertoire, index), source=source)
    return draw_from(source, plan, repertoire, index)


def draw_from(source: Source, plan: Plan, repertoire: Repertoire, index: int) -> DrawnCase:
    """The case with the choices of this source. Raises Unavailable."""
    kinds = plan.kinds or (IN_CONTRACT if plan.load else None)
    target = TARGETS[plan.at(index).target]
    seeded = bool(repertoire.seeds) and source.flip(KNOBS.seed.share)
    steps = draw_names(source, repertoire.rows, under_test=repertoire.under_test, kinds=kinds, target=target)
    steps = _without_tail(source, steps, repertoire.under_test)
    seed, useless = draw_seed(source, repertoire.seeds, plan.trust) if seeded else (None, Counter[str]())
    drawn_program = seed or draw_for(source, Wanted.by(steps, repertoire, target, plan.deadline_s))
    program = seed or _with_hints(source, _with_dead(source, drawn_program, steps, repertoire), steps, repertoire)
    drawn = instantiate(source, steps, program.facts, repertoire.rows, target)
    if not drawn.passes:
        raise Unavailable("no pass has anything to do in this program")
    experiment = Experiment(index, program.module, program.calls, drawn.setup, drawn.passes, drawn.tiers)
    return DrawnCase(experiment, program, source, useless)
