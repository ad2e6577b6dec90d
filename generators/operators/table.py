"""The operator table: one row per Relax operator that passfuzz draws, interprets and judges.

To add an operator, add one `Operator` row to a family file; a new family file is one line in FAMILIES. To leave an
operator out, say why in `excluded.py`.
"""

from __future__ import annotations

from importlib import import_module

from generators import tvm_api
from generators.operators.row import Operator

FAMILIES = (
    "elementwise",
    "broadcast",
    "activation",
    "attention",
    "convolution",
    "image",
    "losses",
    "normalisation",
    "padding",
    "pooling",
    "reduction",
    "linear",
    "casts",
    "search",
    "creation",
    "reshaping",
    "joining",
    "indexing",
    "scatter",
    "slicing",
    "shapes",
    "vision",
    "regions",
    "gradients",
)
"""The family files of this folder. Their order is that of the table, which the programs of a seed depend on: add a new
family at the end."""


def _joined() -> dict[str, Operator]:
    table: dict[str, Operator] = {}
    for family in FAMILIES:
        rows: tuple[Operator, ...] = import_module(f"generators.operators.{family}").OPERATORS
        for row in rows:
            if row.name in table:
                raise ValueError(f"two rows for {row.name}")
            if tvm_api.has_operator(row.name):
                table[row.name] = row
    return table


OPERATORS: dict[str, Operator] = _joined()
"""Rows by operator name."""
