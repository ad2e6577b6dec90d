"""Shapes of Relax programs that passes fire on, planted among other bindings: which ones a program gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from fuzzer.worker.knobs import KNOBS
from generators.passes.need import pick_by_need
from generators.passes.row import PassRow
from generators.passes.sequences import ToFire
from generators.passes.table import PASSES
from generators.program_facts import Feature
from generators.recipes.table import RECIPES, Recipe
from generators.relax.body import plant
from generators.relax.chains import draw_chains
from generators.relax.scope import Scope
from generators.source import Source, weighted


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


def rows_to_fire(source: Source, rows: ToFire) -> tuple[PassRow, ...]:
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


def draw_plantings(source: Source, firing: Sequence[PassRow], features: set[Feature]) -> list[Planting]:
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
    """What the pass fires on: chains of the operators that it mainly looks for, or on the dtypes, where these are
    known."""
    named, dtypes = row.fires.vocabulary.operators, row.fires.vocabulary.dtypes
    if (named and source.flip(KNOBS.shape.named)) or (dtypes and not named and source.flip(KNOBS.shape.named_dtypes)):
        return Recipe(f"chains of what {row.name} names", lambda scope: draw_chains(scope, named, dtypes))
    return RECIPES[source.pick((*row.fires.recipes, *row.fires.favoured))]


@cache
def _asked_for() -> frozenset[str]:
    return frozenset(recipe for row in PASSES.values() for recipe in row.fires.recipes)


def _weight(name: str) -> int:
    """Shapes that no row of the table asks for are planted here or nowhere, hence more often; so are some others."""
    return KNOBS.shape.unasked if RECIPES[name].for_any or name not in _asked_for() else 1
