"""The table of the code generator: the function that emits each kind of node, joined from the files of the families.

To add a node, write its function in the file of its family and add it to the table at the end of that file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from oracles.reference.tir.emit import (
    arithmetic,
    blocks,
    conversions,
    declarations,
    effects,
    loads,
    loops,
    stores,
    values,
)
from oracles.reference.tir.emit.state import EmitExpr, EmitStmt, Tables

E = TypeVar("E")


def joined(families: Iterable[Mapping[type, E]]) -> dict[type, E]:
    """One table of all. Raises ValueError for a kind of node that two families have."""
    table: dict[type, E] = {}
    for family in families:
        for kind, emit in family.items():
            if kind in table:
                raise ValueError(f"two functions emit {kind.__name__}")
            table[kind] = emit
    return table


EXPRESSIONS: dict[type, EmitExpr] = joined(family.EXPRESSIONS for family in (values, arithmetic, conversions, loads))
STATEMENTS: dict[type, EmitStmt] = joined(
    family.STATEMENTS for family in (stores, declarations, blocks, loops, effects)
)
TABLES = Tables(EXPRESSIONS, STATEMENTS)
