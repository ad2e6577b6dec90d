"""Draws the cases of a campaign: a case depends on (seed, index) and the plan alone. Worker processes only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from fuzzer.protocol import Plan
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.repertoire import Repertoire
from fuzzer.worker.knobs import KNOBS
from fuzzer.worker.scheduled import draw_scheduled
from fuzzer.worker.seeds import SeedProgram, draw_seed
from generators.case import Origin
from generators.passes.need import pick_by_need
from generators.passes.row import PassRow, Role
from generators.passes.sequence_kinds import IN_CONTRACT
from generators.passes.sequences import PlannedPass, ToFire, draw_names, instantiate, to_fire
from generators.passes.table import PASSES, the
from generators.program import Program
from generators.program_facts import Feature
from generators.recipes.table import RECIPES, Recipe
from generators.relax.body import plant
from generators.relax.chains import draw_chains
from generators.relax.relax_program import draw_program
from generators.relax.scope import Scope
from generators.source import Echo, SeededSource, Source, weighted
from generators.targets import TARGETS, TargetRow
from generators.tir.dead_prim_func import with_dead_prim_func
from generators.tir.hints import with_hints
from generators.tir.integers import draw_integer_func
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.table import ON_BLOCKS, ON_LOOPS, draw_recipe, fitting
from generators.tir.relax_caller import draw_prim_program, wrapped
from generators.unavailable import Unavailable


@dataclass(frozen=True, slots=True)
class Planting:
    """Plants recipes into one block, of the kind that those need to which it matters."""

    recipes: tuple[Recipe, ...]

    @property
    def plain(self) -> bool:
        """Whether the block must be no dataflow block."""
        return any(recipe.plain for recipe in self.recipes)

    @property
    def dataflow(self) -> bool:
        """Whether the block must be a dataflow block."""
        return any(recipe.dataflow for recipe in self.recipes)

    @property
    def wants(self) -> Feature | None:
        """The feature that they all need."""
        return self.recipes[0].wants

    def takes(self, recipe: Recipe) -> bool:
        """Whether one more can stand in the block."""
        conflict = (self.plain and recipe.dataflow) or (self.dataflow and recipe.plain)
        return not conflict and recipe.wants == self.wants

    def __call__(self, scope: Scope) -> None:
        """Plants them in order."""
        for recipe in self.recipes:
            plant(scope, recipe)


def _firing(source: Source, rows: ToFire) -> tuple[PassRow, ...]:
    """The rows whose shapes are planted: some of those drawn one by one, and some steps of the pipeline after them."""
    drawn = () if source.flip(KNOBS.shape.plain) else _some(source, rows.drawn, KNOBS.shape.firing)
    rare = _some(source, [row for row in rows.pipeline if row.place.gives is None], KNOBS.shape.firing_in_pipelines)
    return (*drawn, *(row for row in rare if not _costly(row) or source.flip(KNOBS.shape.costly)))


def _costly(row: PassRow) -> bool:
    return any(RECIPES[name].costly for name in row.fires.recipes)


def _some(source: Source, rows: Sequence[PassRow], most: int) -> tuple[PassRow, ...]:
    left = [row for row in rows if row.fires.recipes]
    chosen: list[PassRow] = []
    while left and len(chosen) < most:
        chosen.append(pick_by_need(source, left))
        left.remove(chosen[-1])
    return tuple(chosen)


def _plantings(source: Source, firing: Sequence[PassRow], features: set[Feature]) -> list[Planting]:
    """One recipe of each of these rows and some of any, more of any where there are no rows; some share a block."""
    anything = [
        (n, _weight(n)) for n, r in RECIPES.items() if not r.costly and (r.wants is None or r.wants in features)
    ]
    chosen = [_recipe_of(source, row) for row in firing]
    chosen += [
        RECIPES[source.pick(row.fires.vocabulary.shapes)]
        for row in firing
        if row.fires.vocabulary.shapes and source.flip(KNOBS.shape.nodes)
    ]
    fewest, most = (max(0, number - len(chosen)) for number in (KNOBS.shape.fewest, KNOBS.shape.most))
    chosen += [RECIPES[weighted(source, anything)] for _ in range(source.integer(fewest, most))]
    plantings: list[Planting] = []
    for recipe in chosen:
        if plantings and plantings[-1].takes(recipe) and source.flip():
            plantings[-1] = Planting((*plantings[-1].recipes, recipe))
        else:
            plantings.append(Planting((recipe,)))
    return plantings


def _recipe_of(source: Source, row: PassRow) -> Recipe:
    """What the pass fires on: chains of the operators that it mainly looks for, where they are known."""
    named = row.fires.vocabulary.operators
    if named and source.flip(KNOBS.shape.named):
        return Recipe(f"chains of what {row.name} names", lambda scope: draw_chains(scope, named))
    return RECIPES[source.pick((*row.fires.recipes, *row.fires.favoured))]


@cache
def _asked_for() -> frozenset[str]:
    return frozenset(recipe for row in PASSES.values() for recipe in row.fires.recipes)


def _weight(name: str) -> int:
    """Shapes that no row of the table asks for are planted here or nowhere, hence more often; so are some others."""
    return KNOBS.shape.unasked if RECIPES[name].for_any or name not in _asked_for() else 1


def _program_for(
    source: Source, steps: Sequence[PlannedPass], repertoire: Repertoire, target: TargetRow, deadline_s: float
) -> Program:
    """A program in which there is usually something for these passes to do."""
    rows = to_fire(steps, repertoire.rows)
    if any(Feature.SCHEDULE in row.fires.wants for row in rows.drawn):
        return draw_scheduled(source, target, deadline_s)
    planted = _planted_func(source, rows, target)
    if planted is not None:
        return wrapped(planted)
    rewriting = bool(rows.drawn) and all(Feature.INTEGERS in row.fires.wants for row in rows.drawn)
    if rewriting and not target.threads and source.flip(KNOBS.prim_func.integers):
        return wrapped(draw_integer_func(source))
    under_test = [repertoire.rows[step.name] for step in steps if not step.setup]
    lowering = any(not row.of_relax or Feature.ANY_PRIM_FUNCS in row.fires.wants for row in under_test)
    share = KNOBS.prim_func.lowering if lowering else KNOBS.prim_func.relax
    scheduled = any(Feature.PRIM_FUNCS in row.fires.wants for row in rows.drawn)
    parts = any(Feature.PART_BLOCKS in row.fires.wants for row in rows.drawn)
    if (lowering or parts) and source.flip(KNOBS.prim_func.in_order):
        named = [shape for row in rows.drawn for shape in row.fires.vocabulary.prim_shapes]
        recipes = fitting((*ON_BLOCKS, *(() if scheduled else ON_LOOPS), *named), target)
        in_order = draw_recipe(source, source.pick(recipes)) if recipes else None
        if in_order is not None:
            return wrapped(in_order)
    if source.flip(KNOBS.prim_func.scheduled if scheduled else share):
        rules = scheduled or target.threads
        synchronised = any(step.setup and repertoire.rows[step.name].role is Role.SYNCHRONISES for step in steps)
        return draw_prim_program(
            source, for_schedules=rules, parts=parts, threads=target.threads, barriers=synchronised
        )
    firing = _firing(source, rows)
    if lowering and target.threads:
        firing += (the(Role.BINDS_THREADS),)  # its shapes become kernels in which threads work together
    wants = {want for row in (*rows.drawn, *firing) for want in row.fires.wants}
    features = {*wants, *(w for w, share in KNOBS.feature.shares if source.flip(share))}
    return draw_program(source, patterns=_plantings(source, firing, features), wants=frozenset(features))


def _planted_func(source: Source, rows: ToFire, target: TargetRow) -> PrimProgram | None:
    """A shape of PrimFunc that one of the passes fires on, in a share of the cases that have such a pass."""
    for passes, share in ((rows.drawn, KNOBS.prim_func.planted), (rows.pipeline, KNOBS.prim_func.planted_in_pipelines)):
        choices = [row for row in passes if fitting(row.fires.prim_recipes, target)]
        if choices and source.flip(share):
            row = pick_by_need(source, choices, target)
            names = (*row.fires.prim_recipes, *row.fires.favoured)
            return draw_recipe(source, source.pick(fitting(names, target)))
    return None


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
    drawn_program = seed or _program_for(source, steps, repertoire, target, plan.deadline_s)
    program = seed or _with_hints(source, _with_dead(source, drawn_program, steps, repertoire), steps, repertoire)
    drawn = instantiate(source, steps, program.facts, repertoire.rows, target)
    if not drawn.passes:
        raise Unavailable("no pass has anything to do in this program")
    experiment = Experiment(index, program.module, program.calls, drawn.setup, drawn.passes, drawn.tiers)
    return DrawnCase(experiment, program, source, useless)
