"""Draws the cases of a campaign: a case depends on (seed, index) and the plan alone. Worker processes only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from fuzzer.protocol import Plan
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.repertoire import Repertoire
from fuzzer.worker.scheduled import draw_scheduled
from fuzzer.worker.seeds import SHARE as SEEDED_SHARE
from fuzzer.worker.seeds import SeedProgram, draw_seed
from generators.case import Origin
from generators.passes.need import pick_by_need
from generators.passes.row import PassRow, Role
from generators.passes.sequences import Kind, PlannedPass, ToFire, draw_names, instantiate, to_fire
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
from generators.tir.integers import draw_integer_func
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.table import draw_recipe, fitting
from generators.tir.relax_caller import draw_prim_program, wrapped
from generators.unavailable import Unavailable

PLAIN_SHARE = 0.25
"""The share of programs without a recipe of their passes: what fires on a shape must not fire on others."""


FEATURES = (
    (Feature.NUM_INPUT, 0.1),
    (Feature.VDEVICE, 0.08),
    (Feature.PRIVATE_FUNCTIONS, 0.1),
    (Feature.SYMBOLIC, 0.1),
    (Feature.LOCAL_FUNCTIONS, 0.04),
)
"""Features with the share of programs that get them though no pass of the sequence asks for them."""
IN_CONTRACT: tuple[Kind, ...] = ("single", "walk", "walk_then_pipeline", "pipeline")
"""Kinds of sequence for loaded passes: their contracts say where they may stand, so odd orders prove nothing."""
FIRING = 2
"""How many of the passes drawn one by one get a shape that they fire on."""
FIRING_IN_PIPELINES = 2
"""The same for those steps of a pipeline that may have nothing to do: those that lead to another phase always have."""
NAMED_SHARE = 0.75
"""The share of chains among the shapes for a pass, where the operators that it looks for are known."""
NODES_SHARE = 0.75
"""The share of passes that get a second shape with the nodes that they look for, where these are known."""
COSTLY_SHARE = 0.6
"""The share of chosen pipeline steps that get a shape, where it costs as much as the rest of a case."""
PRIM_SHARE, PRIM_SHARE_RELAX = 0.5, 0.03
"""The share of programs that are a drawn PrimFunc with a Relax caller: where TIR passes are under test, and else."""
DEAD_SHARE, DEAD_SHARE_SOME = 0.03, 0.25
"""The share of programs with a PrimFunc without callers: where everything is under test; where some passes are, or one
that schedules PrimFuncs."""
PRIM_SHARE_SCHEDULED = 0.35
"""PRIM_SHARE where a pass schedules PrimFuncs: few drawn ones have the shapes that a rule is for."""
PLANTED_SHARE, PLANTED_SHARE_PIPELINE = 0.6, 0.35
"""The share of programs that are a shape of PrimFunc that a pass fires on, where it was drawn by itself and has such a
shape; where it is a step of a pipeline."""
INTEGER_SHARE = 0.7
"""The share of programs that go through small ranges of integers, where only rewrites of integer expressions are under
test."""
KIN_SHARE = 0.5
"""The share of cases that resemble a draw on which a pass fired that seldom does, where such draws were found."""
KIN_ANEW = 0.005
"""The share of the choices of such a case that are made anew, of some 600: of draws with four in a hundred no more than
one in seven fires."""
SHAPES = (1, 2)
"""The fewest shapes to plant and, unless the passes fire on more, the most: every pass must also keep quiet on what it
does not fire on."""


UNASKED_WEIGHT = 5
"""Weight of the shapes that no pass of TVM asks for: they come from bugs of any pass."""


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
    drawn = () if source.flip(PLAIN_SHARE) else _some(source, rows.drawn, FIRING)
    seldom = _some(source, [row for row in rows.pipeline if row.place.gives is None], FIRING_IN_PIPELINES)
    return (*drawn, *(row for row in seldom if not _costly(row) or source.flip(COSTLY_SHARE)))


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
        RECIPES[source.pick(row.fires.shapes)] for row in firing if row.fires.shapes and source.flip(NODES_SHARE)
    ]
    fewest, most = (max(0, number - len(chosen)) for number in SHAPES)
    chosen += [RECIPES[weighted(source, anything)] for _ in range(source.integer(fewest, most))]
    plantings: list[Planting] = []
    for recipe in chosen:
        if plantings and plantings[-1].takes(recipe) and source.flip():
            plantings[-1] = Planting((*plantings[-1].recipes, recipe))
        else:
            plantings.append(Planting((recipe,)))
    return plantings


def _recipe_of(source: Source, row: PassRow) -> Recipe:
    """What the pass fires on: chains of the operators that it looks for mostly, where they are known."""
    if row.fires.operators and source.flip(NAMED_SHARE):
        return Recipe(f"chains of what {row.name} names", lambda scope: draw_chains(scope, row.fires.operators))
    return RECIPES[source.pick(row.fires.recipes)]


@cache
def _asked_for() -> frozenset[str]:
    return frozenset(recipe for row in PASSES.values() for recipe in row.fires.recipes)


def _weight(name: str) -> int:
    """Shapes that no row of the table asks for are planted here or nowhere, hence more often."""
    return 1 if name in _asked_for() else UNASKED_WEIGHT


def _program_for(
    source: Source, steps: Sequence[PlannedPass], repertoire: Repertoire, target: TargetRow, deadline_s: float
) -> Program:
    """A program in which there is something for these passes to do, mostly."""
    rows = to_fire(steps, repertoire.rows)
    if any(Feature.SCHEDULE in row.fires.wants for row in rows.drawn):
        return draw_scheduled(source, target, deadline_s)
    planted = _planted_func(source, rows, target)
    if planted is not None:
        return wrapped(planted)
    rewriting = bool(rows.drawn) and all(Feature.INTEGERS in row.fires.wants for row in rows.drawn)
    if rewriting and not target.threads and source.flip(INTEGER_SHARE):
        return wrapped(draw_integer_func(source))
    under_test = [repertoire.rows[step.name] for step in steps if not step.setup]
    lowering = any(not row.of_relax or Feature.ANY_PRIM_FUNCS in row.fires.wants for row in under_test)
    share = PRIM_SHARE if lowering else PRIM_SHARE_RELAX
    scheduled = any(Feature.PRIM_FUNCS in row.fires.wants for row in rows.drawn)
    if source.flip(PRIM_SHARE_SCHEDULED if scheduled else share):
        parts = any(Feature.PART_BLOCKS in row.fires.wants for row in rows.drawn)
        rules = scheduled or target.threads
        synchronised = any(step.setup and repertoire.rows[step.name].role is Role.SYNCHRONISES for step in steps)
        return draw_prim_program(
            source, for_schedules=rules, parts=parts, threads=target.threads, barriers=synchronised
        )
    firing = _firing(source, rows)
    if lowering and target.threads:
        firing += (the(Role.BINDS_THREADS),)  # its shapes become kernels in which threads work together
    wants = {want for row in (*rows.drawn, *firing) for want in row.fires.wants}
    features = {*wants, *(w for w, share in FEATURES if source.flip(share))}
    return draw_program(source, patterns=_plantings(source, firing, features), wants=frozenset(features))


def _planted_func(source: Source, rows: ToFire, target: TargetRow) -> PrimProgram | None:
    """A shape of PrimFunc that one of the passes fires on, in a share of the cases that have such a pass."""
    for passes, share in ((rows.drawn, PLANTED_SHARE), (rows.pipeline, PLANTED_SHARE_PIPELINE)):
        choices = [row for row in passes if fitting(row.fires.prim_recipes, target)]
        if choices and source.flip(share):
            row = pick_by_need(source, choices, target)
            return draw_recipe(source, source.pick(fitting(row.fires.prim_recipes, target)))
    return None


def _with_dead(source: Source, program: Program, steps: Sequence[PlannedPass], repertoire: Repertoire) -> Program:
    """The program, in some cases with a PrimFunc without callers; not after a schedule of all functions, which may die
    on it before anything is under test."""
    if any(step.setup and repertoire.rows[step.name].role is Role.BINDS_THREADS for step in steps):
        return program
    wanted = any(Feature.PRIM_FUNCS in row.fires.wants for row in to_fire(steps, repertoire.rows).drawn)
    some = wanted or repertoire.under_test is not None
    return with_dead_prim_func(source, program) if source.flip(DEAD_SHARE_SOME if some else DEAD_SHARE) else program


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
    if kin and source.flip(KIN_SHARE):
        like = Echo(source, source.pick(kin), KIN_ANEW)
        return replace(draw_from(like, plan, repertoire, index), source=source)
    return draw_from(source, plan, repertoire, index)


def draw_from(source: Source, plan: Plan, repertoire: Repertoire, index: int) -> DrawnCase:
    """The case with the choices of this source. Raises Unavailable."""
    kinds = cast("tuple[Kind, ...] | None", plan.kinds or (IN_CONTRACT if plan.load else None))
    target = TARGETS[plan.at(index).target]
    seeded = bool(repertoire.seeds) and source.flip(SEEDED_SHARE)
    steps = draw_names(source, repertoire.rows, under_test=repertoire.under_test, kinds=kinds, target=target)
    seed, useless = draw_seed(source, repertoire.seeds, plan.trust) if seeded else (None, Counter[str]())
    drawn_program = seed or _program_for(source, steps, repertoire, target, plan.deadline_s)
    program = seed or _with_dead(source, drawn_program, steps, repertoire)
    drawn = instantiate(source, steps, program.facts, repertoire.rows, target)
    if not drawn.passes:
        raise Unavailable("no pass has anything to do in this program")
    experiment = Experiment(index, program.module, program.calls, drawn.setup, drawn.passes, drawn.tiers)
    return DrawnCase(experiment, program, source, useless)
