"""The recipe table: every recipe that a pass row names exists, draws well-formed programs, and plants its shape."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections.abc import Iterable
from functools import cache

import pytest
from tvm import relax

from generators import tvm_api
from generators.joined import join
from generators.passes.sequences import PlannedPass, to_fire
from generators.passes.table import PASSES
from generators.program import Program
from generators.program_facts import Feature
from generators.recipes.recipe import Recipe
from generators.recipes.table import RECIPES, patterns_for
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from tests.generators.recipe_predicates import PREDICATES, main_of

SEEDS = 12
MOST = 9


def rows(names: Iterable[str]) -> list[object]:
    quick = {*tuple(RECIPES)[::3]}
    return [name if name in quick else pytest.param(name, marks=pytest.mark.deep) for name in names]


def draw(recipe: Recipe, index: int) -> Program:
    wants = frozenset({recipe.wants} if recipe.wants else ())
    return draw_program(SeededSource(11, index), patterns=[recipe], wants=wants)


@cache
def programs(name: str) -> tuple[Program, ...]:
    return tuple(draw(RECIPES[name], index) for index in range(SEEDS))


def test_every_recipe_that_a_row_names_exists() -> None:
    assert {name for row in PASSES.values() for name in row.fires.recipes} <= set(RECIPES)


def test_most_recipes_have_a_predicate() -> None:
    assert set(PREDICATES) <= set(RECIPES)
    assert len(PREDICATES) > 0.8 * len(RECIPES)


@pytest.mark.parametrize("name", rows(RECIPES))
def test_programs_are_well_formed_and_nothing_is_refused(name: str) -> None:
    for program in programs(name):
        relax.analysis.well_formed(program.module)
        assert dict(program.rejected) == {}


@pytest.mark.parametrize("name", rows(RECIPES))
def test_recipe_succeeds_for_most_seeds(name: str) -> None:
    assert sum(name in program.features for program in programs(name)) >= MOST


@pytest.mark.parametrize("name", rows(PREDICATES))
def test_recipe_plants_its_shape_for_most_seeds(name: str) -> None:
    assert sum(PREDICATES[name](program) for program in programs(name)) >= MOST


@pytest.mark.parametrize("name", rows(RECIPES))
def test_programs_differ_between_seeds(name: str) -> None:
    assert len({tvm_api.structural_hash(program.module) for program in programs(name)}) > SEEDS // 2


@pytest.mark.parametrize("name", [n for n, row in PASSES.items() if row.fires.recipes])
def test_row_names_draw_programs_with_its_features(name: str) -> None:
    rows = to_fire((PlannedPass(name, "B"),), PASSES)
    program = draw_program(SeededSource(3, 1), patterns=patterns_for(rows.recipes[:1]), wants=rows.wants)
    relax.analysis.well_formed(program.module)
    assert set(rows.recipes) & program.features
    known = {
        *(Feature.NUM_INPUT, Feature.VDEVICE, Feature.SCALAR_LOSS),
        *(Feature.CONSTANTS, Feature.FLOAT32_ONLY),
    }
    assert known & rows.wants <= program.facts.features


def test_facts_hold_the_arguments_and_the_weights_come_last() -> None:
    program = draw(RECIPES["weight_transform"], 0)
    arguments = program.calls[0].arguments
    for parameter, argument in zip(program.facts.parameters, arguments, strict=True):
        assert parameter.value is (argument if parameter.is_tensor else None)
    assert program.facts.num_input == int(main_of(program).attrs["num_input"])
    assert program.facts.num_input < len(arguments)


def test_external_workspace_is_what_the_pass_takes() -> None:
    program = draw(RECIPES["external_workspace"], 0)
    after = relax.transform.AllocateWorkspace()(program.module)
    assert not tvm_api.structural_equal(after, program.module)
    assert not any(f.attrs and "WorkspaceSize" in f.attrs for f in after.functions.values())


def test_two_recipes_of_one_name_are_refused() -> None:
    recipe = Recipe("twice", lambda scope: None)
    with pytest.raises(ValueError, match="twice"):
        join([recipe, recipe])


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        patterns_for(["no such recipe"])
