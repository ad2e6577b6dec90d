"""The table of shapes of PrimFunc: every recipe of this room by name."""

from __future__ import annotations

from collections.abc import Iterable

from generators.joined import join
from generators.source import Source
from generators.targets import TargetRow
from generators.tir.function_draft import Unfit
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes import (
    assumptions,
    auto_copies,
    callees,
    carried_lives,
    dependences,
    double_buffers,
    fragments,
    kernel_blocks,
    loop_headers,
    matched_regions,
    moved_elements,
    narrow_floats,
    no_ops,
    ordered_blocks,
    overwritten,
    partial_blocks,
    partitions,
    permuted_layouts,
    pipelines,
    pointers,
    remains,
    rewritten_weights,
    rounds,
    shared_memory,
    shared_statements,
    thread_allreduce,
    thread_axes,
    thread_reductions,
    turns,
    undefined_stores,
    vector_loops,
    virtual_threads,
    vtcm_buffers,
)
from generators.tir.recipes.recipe import PrimRecipe

TRIES = 4
"""How often a recipe is drawn again where what it drew did not go together."""


PRIM_RECIPES: dict[str, PrimRecipe] = join(
    (
        *assumptions.RECIPES,
        *auto_copies.RECIPES,
        *callees.RECIPES,
        *carried_lives.RECIPES,
        *dependences.RECIPES,
        *double_buffers.RECIPES,
        *fragments.RECIPES,
        *kernel_blocks.RECIPES,
        *loop_headers.RECIPES,
        *matched_regions.RECIPES,
        *moved_elements.RECIPES,
        *narrow_floats.RECIPES,
        *no_ops.RECIPES,
        *ordered_blocks.RECIPES,
        *overwritten.RECIPES,
        *partial_blocks.RECIPES,
        *partitions.RECIPES,
        *permuted_layouts.RECIPES,
        *pipelines.RECIPES,
        *pointers.RECIPES,
        *remains.RECIPES,
        *rewritten_weights.RECIPES,
        *rounds.RECIPES,
        *shared_memory.RECIPES,
        *shared_statements.RECIPES,
        *thread_allreduce.RECIPES,
        *thread_axes.RECIPES,
        *thread_reductions.RECIPES,
        *turns.RECIPES,
        *undefined_stores.RECIPES,
        *vector_loops.RECIPES,
        *virtual_threads.RECIPES,
        *vtcm_buffers.RECIPES,
    )
)


ON_BLOCKS, ON_LOOPS = (
    ("partial_blocks", "moved_elements", "ordered_blocks"),
    ("dependences", "turns", "rounds", "remains"),
)
"""Shapes of which no pass looks for any, and nearly every one that changes blocks or loops has to leave some alone."""


def fitting(names: Iterable[str], target: TargetRow) -> list[PrimRecipe]:
    """Those of these names that the target can run. KeyError for an unknown name."""
    return [recipe for recipe in (PRIM_RECIPES[name] for name in names) if recipe.fits(target)]


def draw_recipe(source: Source, recipe: PrimRecipe) -> PrimProgram | None:
    """A function of this shape; None where it did not go together in TRIES draws."""
    for _ in range(TRIES):
        try:
            return recipe.draw(source)
        except Unfit:
            continue
    return None
