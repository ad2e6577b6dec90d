"""The pairs of a pass with an operator or a kind of TIR node that a campaign has not seen together while the pass
fired: the module that the pass was given held it, and the pass changed the module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reports.tally import MetCounts, Tally

MOST_NAMED = 12
"""Names in a cell of a table; the others are counted."""


@dataclass(frozen=True, slots=True)
class EmptyPairs:
    """Of one pass. empty: how many pairs of it are without a firing. met: those of them where the pass was given such a
    module and left it alone. some: names of the others' side, those that were met first."""

    name: str
    empty: int
    met: int
    some: tuple[str, ...]


def pairs_with_operators(tally: Tally) -> list[EmptyPairs]:
    """With the operators that were drawn, of passes that met any of them: the others come after all are lowered."""
    met = {name: row for name, row in tally.met_ops.items() if row.keys() & tally.ops.keys()}
    return _empty(met, tally.ops)


def pairs_with_nodes(tally: Tally) -> list[EmptyPairs]:
    """With the kinds of TIR nodes that any pass met."""
    return _empty(tally.met_nodes, {kind for row in tally.met_nodes.values() for kind in row})


def _empty(counted: Mapping[str, Mapping[str, MetCounts]], others: Iterable[str]) -> list[EmptyPairs]:
    found = []
    for name, row in sorted(counted.items()):
        left = sorted(other for other in others if other not in row or not row[other][1])
        met = [other for other in left if other in row]
        unmet = [other for other in left if other not in row]
        if left:
            found.append(EmptyPairs(name, len(left), len(met), tuple((met + unmet)[:MOST_NAMED])))
    return found
