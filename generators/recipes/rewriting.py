"""Recipes for passes that rewrite some operators into others: which they look for, their authors know."""

from __future__ import annotations

from generators.recipes.recipe import Recipe
from generators.relax.chains import draw_chains

RECIPES = (Recipe("chains", draw_chains),)
