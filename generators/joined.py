"""Recipes of several files in one table, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Named(Protocol):
    """A recipe."""

    @property
    def name(self) -> str: ...


Row = TypeVar("Row", bound=Named)


def join(rows: Iterable[Row]) -> dict[str, Row]:
    """The recipes by name. ValueError when two have the same name."""
    table: dict[str, Row] = {}
    for row in rows:
        if row.name in table:
            raise ValueError(f"recipe {row.name} has two entries")
        table[row.name] = row
    return table
