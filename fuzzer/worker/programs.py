"""What kind of program a case has: one in which there is usually something for its passes to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzer.trial.repertoire import Repertoire
from fuzzer.worker.knobs import KNOBS
from fuzzer.worker.plantings import draw_plantings, rows_to_fire
from fuzzer.worker.scheduled import draw_scheduled
from generators.passes.need import pick_by_need
from generators.passes.row import Role
from generators.passes.sequences import PlannedPass, ToFire, to_fire
from generators.passes.table import the
from generators.program import Program
from generators.program_facts import Feature
from generators.relax.relax_program import draw_program
from generators.source import Source
from generators.targets import TargetRow
from generators.tir.integers import draw_integer_func
from generators.tir.recipes.table import ON_BLOCKS, ON_LOOPS, draw_recipe, fitting
from generators.tir.relax_caller import draw_prim_program, wrapped


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a program is drawn for. rows: those of the passes that are to fire. deadline_s: seconds of CPU for a
    schedule."""

    steps: Sequence[PlannedPass]
    rows: ToFire
    repertoire: Repertoire
    target: TargetRow
    deadline_s: float

    @staticmethod
    def by(steps: Sequence[PlannedPass], repertoire: Repertoire, target: TargetRow, deadline_s: float) -> Wanted:
        """What these passes want."""
        return Wanted(steps, to_fire(steps, repertoire.rows), repertoire, target, deadline_s)

    def some_want(self, feature: Feature) -> bool:
        """Whether one of the passes that are drawn one by one needs the feature."""
        return any(feature in row.fires.wants for row in self.rows.drawn)

    @property
    def all_rewrite_integers(self) -> bool:
        """Whether each of them is about integers."""
        return bool(self.rows.drawn) and all(Feature.INTEGERS in row.fires.wants for row in self.rows.drawn)

    @property
    def lowers(self) -> bool:
        """Whether a pass under test is one of TIR, or takes any PrimFunc."""
        rows = (self.repertoire.rows[step.name] for step in self.steps if not step.setup)
        return any(not row.of_relax or Feature.ANY_PRIM_FUNCS in row.fires.wants for row in rows)

    @property
    def is_synchronised(self) -> bool:
        """Whether the setup has put barriers in."""
        return any(step.setup and self.repertoire.rows[step.name].role is Role.SYNCHRONISES for step in self.steps)


def draw_for(source: Source, wanted: Wanted) -> Program:
    """The program of the first kind that is for these passes, and has its turn by its share."""
    drawn = (draw(source, wanted) for draw in _KINDS)
    return next((program for program in drawn if program is not None), None) or _of_relax(source, wanted)


def _with_schedule(source: Source, wanted: Wanted) -> Program | None:
    """A schedule is drawn with its program."""
    if not wanted.some_want(Feature.SCHEDULE):
        return None
    return draw_scheduled(source, wanted.target, wanted.deadline_s)


def _planted_func(source: Source, wanted: Wanted) -> Program | None:
    """A shape of PrimFunc that one of the passes fires on, in a share of the cases that have such a pass."""
    rows, shares = wanted.rows, KNOBS.prim_func
    for passes, share in ((rows.drawn, shares.planted), (rows.pipeline, shares.planted_in_pipelines)):
        choices = [row for row in passes if fitting(row.fires.prim_recipes, wanted.target)]
        if choices and source.flip(share):
            row = pick_by_need(source, choices, wanted.target)
            names = (*row.fires.prim_recipes, *row.fires.favoured)
            drawn = draw_recipe(source, source.pick(fitting(names, wanted.target)))
            return None if drawn is None else wrapped(drawn)
    return None


def _of_integers(source: Source, wanted: Wanted) -> Program | None:
    """Arithmetic on integers, for passes that rewrite it."""
    if not wanted.all_rewrite_integers or wanted.target.threads or not source.flip(KNOBS.prim_func.integers):
        return None
    return wrapped(draw_integer_func(source))


def _in_order(source: Source, wanted: Wanted) -> Program | None:
    """A PrimFunc whose iterations need each other, or which a loaded pass names."""
    if not (wanted.lowers or wanted.some_want(Feature.PART_BLOCKS)) or not source.flip(KNOBS.prim_func.in_order):
        return None
    named = [shape for row in wanted.rows.drawn for shape in row.fires.vocabulary.prim_shapes]
    loops = () if wanted.some_want(Feature.PRIM_FUNCS) else ON_LOOPS
    recipes = fitting((*ON_BLOCKS, *loops, *named), wanted.target)
    telling = [shape for row in wanted.rows.drawn for shape in row.fires.vocabulary.telling_shapes]
    if (special := fitting(telling, wanted.target)) and source.flip(KNOBS.prim_func.telling):
        recipes = special
    drawn = draw_recipe(source, source.pick(recipes)) if recipes else None
    return None if drawn is None else wrapped(drawn)


def _of_prim_func(source: Source, wanted: Wanted) -> Program | None:
    """A drawn PrimFunc with its caller, more often where passes take PrimFuncs."""
    scheduled, shares = wanted.some_want(Feature.PRIM_FUNCS), KNOBS.prim_func
    if not source.flip(shares.scheduled if scheduled else shares.lowering if wanted.lowers else shares.relax):
        return None
    return draw_prim_program(
        source,
        for_schedules=scheduled or wanted.target.threads,
        parts=wanted.some_want(Feature.PART_BLOCKS),
        threads=wanted.target.threads,
        barriers=wanted.is_synchronised,
    )


_KINDS: tuple[Callable[[Source, Wanted], Program | None], ...] = (
    _with_schedule,
    _planted_func,
    _of_integers,
    _in_order,
    _of_prim_func,
)
"""In the order in which they have their turn. None: another kind has."""


def _of_relax(source: Source, wanted: Wanted) -> Program:
    """A Relax program with shapes that the passes fire on."""
    firing = rows_to_fire(source, wanted.rows)
    if wanted.lowers and wanted.target.threads:
        firing += (the(Role.BINDS_THREADS),)  # its shapes become kernels in which threads work together
    wants = {want for row in (*wanted.rows.drawn, *firing) for want in row.fires.wants}
    named = dict.fromkeys(feature for row in wanted.rows.drawn for feature in row.fires.vocabulary.features)
    wants |= {feature for feature in named if source.flip(KNOBS.feature.named)}
    features = {*wants, *(want for want, share in KNOBS.feature.shares if source.flip(share))}
    return draw_program(source, patterns=draw_plantings(source, firing, features), wants=frozenset(features))
