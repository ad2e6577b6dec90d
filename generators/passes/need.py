"""How much a pass needs to be drawn: the seldomer it fires in an ordinary campaign, the more.

The weights follow from the measured rates of the rows (`Fires.rate`) and not from what a campaign has seen, so that a
case depends on its seed and its index alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from generators.passes.row import PassRow, Rate
from generators.passes.traits import Quiet
from generators.source import Source, weighted
from generators.targets import TargetRow

MOST = 16
"""Weight of a pass that never fires. The most common ones have weight 1: they stay under test among others."""
COMMON = 16
"""Fires in 1,000 cases from which on a pass has weight 1."""


def need(row: PassRow, target: TargetRow | None = None) -> int:
    """The weight of a row where one is drawn among others: the least where the pass changes nothing by design, and
    for a target for which none of the shapes can be planted that the pass fires on."""
    from generators.tir.recipes.table import fitting  # here, since it loads TVM: the table of passes is read without

    shapes = row.fires.prim_recipes
    if row.has(Quiet) or (target is not None and shapes and not fitting(shapes, target)):
        return 1
    return weight_of(row.fires.rate)


def weight_of(rate: Rate | None) -> int:
    """The weight of a row by its rate alone."""
    return min(MOST, max(1, round(COMMON / (1 + (0 if rate is None else rate.per_1000)))))


def pick_by_need(source: Source, rows: Sequence[PassRow], target: TargetRow | None = None) -> PassRow:
    """One of the rows. ValueError where there is none."""
    return weighted(source, [(row, need(row, target)) for row in rows])
