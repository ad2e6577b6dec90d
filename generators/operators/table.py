"""The operator table: one row per Relax operator that passfuzz draws, interprets and judges.

To add an operator, add one `Operator` row to a family file; to leave one out, say why in `excluded.py`.
"""

from __future__ import annotations

from generators.operators import (
    activation,
    attention,
    broadcast,
    casts,
    convolution,
    creation,
    elementwise,
    image,
    indexing,
    joining,
    linear,
    losses,
    normalisation,
    padding,
    pooling,
    reduction,
    regions,
    reshaping,
    scatter,
    search,
    shapes,
    slicing,
    vision,
)
from generators.operators.row import ExcludedOperator, Operator, Rounding, Unavailable

_FAMILIES = (
    elementwise,
    broadcast,
    activation,
    attention,
    convolution,
    image,
    losses,
    normalisation,
    padding,
    pooling,
    reduction,
    linear,
    casts,
    search,
    creation,
    reshaping,
    joining,
    indexing,
    scatter,
    slicing,
    shapes,
    vision,
    regions,
)


def _joined() -> dict[str, Operator]:
    table: dict[str, Operator] = {}
    for family in _FAMILIES:
        for row in family.OPERATORS:
            if row.name in table:
                raise ValueError(f"two rows for {row.name}")
            table[row.name] = row
    return table


OPERATORS: dict[str, Operator] = _joined()
"""Rows by operator name."""

__all__ = ["OPERATORS", "ExcludedOperator", "Operator", "Rounding", "Unavailable"]
