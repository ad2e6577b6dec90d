"""The recipe table: every recipe of this room by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from generators.joined import join
from generators.recipes import (
    bindings,
    callers,
    convolution,
    elementwise,
    filled_operands,
    functions,
    kernels,
    layouts,
    losses,
    lowered,
    matmul,
    nested_values,
    recursion,
    schedulable,
    siblings,
    symbolic,
    turned_products,
    twins,
    unused_outputs,
    weights,
    wrapped_integers,
)
from generators.recipes.recipe import Recipe as Recipe
from generators.relax.chains import draw_chains
from generators.relax.scope import Scope

RECIPES: dict[str, Recipe] = join(
    matmul.RECIPES
    + convolution.RECIPES
    + siblings.RECIPES
    + turned_products.RECIPES
    + elementwise.RECIPES
    + filled_operands.RECIPES
    + bindings.RECIPES
    + functions.RECIPES
    + callers.RECIPES
    + unused_outputs.RECIPES
    + twins.RECIPES
    + weights.RECIPES
    + symbolic.RECIPES
    + lowered.RECIPES
    + schedulable.RECIPES
    + (Recipe("chains", draw_chains),)
    + nested_values.RECIPES
    + layouts.RECIPES
    + kernels.RECIPES
    + recursion.RECIPES
    + losses.RECIPES
    + wrapped_integers.RECIPES
)


def patterns_for(names: Iterable[str]) -> list[Callable[[Scope], None]]:
    """The recipes of these names, for `draw_program`. KeyError for an unknown name."""
    return [RECIPES[name] for name in names]
