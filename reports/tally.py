"""What a campaign has counted so far. Workers send deltas; shards and workers add up. No files, no display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Delta: TypeAlias = Mapping[str, Any]
"""Counts with the keys of FIELDS; absent keys count nothing. Plain JSON values, so that it crosses processes."""

FIELDS: dict[str, int] = {
    "cases": 0,
    "generated": 0,
    "invalid": 0,
    "seeded": 0,
    "numeric_verdicts": 0,
    "cpu_s": 0,
    "skipped": 1,
    "not_applicable": 1,
    "inconclusive": 1,
    "ops": 1,
    "phases": 1,
    "passes": 2,
    "oracles": 2,
}
"""Every counter and how many levels of names it has: 0 a number, 1 {name: n}, 2 {name: {column: n}}.

cases: judged. generated: drawn, valid or not. invalid: not well-formed before any pass, our fault.
seeded: of the judged cases those that start from a module of --corpus. numeric_verdicts: results compared by value.
skipped: verdicts by reason, and cases. not_applicable: those verdicts among them where there was nothing to judge.
cpu_s: CPU seconds of all workers. phases: CPU seconds by stage (generate, passes, reference, build, run, ...). passes
and oracles: see PASS_COLUMNS and ORACLE_COLUMNS.
"""

PASS_COLUMNS = ("applied", "changed", "rejected", "failed")
ORACLE_COLUMNS = ("passed", "failed", "skipped", "inconclusive")
_COLUMNS = {"passes": PASS_COLUMNS, "oracles": ORACLE_COLUMNS}


class Tally:
    """Mutable counters of a campaign.

    `add` takes a delta (see FIELDS) and raises ValueError for a key or column that is not in the table.
    `to_json` gives every field, and every column of a pass or oracle, also those that are 0.
    """

    def __init__(self, delta: Delta | None = None) -> None:
        self.cases = 0
        self.generated = 0
        self.invalid = 0
        self.seeded = 0
        self.numeric_verdicts = 0
        self.cpu_s = 0.0
        self.skipped: dict[str, int] = {}
        self.not_applicable: dict[str, int] = {}
        self.inconclusive: dict[str, int] = {}
        self.ops: dict[str, int] = {}
        self.phases: dict[str, float] = {}
        self.passes: dict[str, dict[str, int]] = {}
        self.oracles: dict[str, dict[str, int]] = {}
        self.add(delta or {})

    def add(self, delta: Delta) -> None:
        """Adds the counts of a delta."""
        for field, counted in delta.items():
            match FIELDS.get(field):
                case 0:
                    setattr(self, field, getattr(self, field) + counted)
                case 1:
                    _add_counts(getattr(self, field), counted)
                case 2:
                    self._add_table(field, counted)
                case _:
                    raise ValueError(f"no counter is called {field!r}")

    def merge(self, other: Tally) -> None:
        """Adds another tally, of another shard for example."""
        self.add(other.to_json())

    def to_json(self) -> dict[str, Any]:
        """The counters under the keys of FIELDS, names sorted; as `summary.json` holds them."""
        return {field: _plain(getattr(self, field), levels) for field, levels in FIELDS.items()}

    @property
    def invalid_share(self) -> float:
        """Invalid cases over generated ones, 0 before the first."""
        return self.invalid / self.generated if self.generated else 0.0

    def _add_table(self, field: str, counted: Mapping[str, Mapping[str, int]]) -> None:
        table: dict[str, dict[str, int]] = getattr(self, field)
        for name, row in counted.items():
            unknown = set(row) - set(_COLUMNS[field])
            if unknown:
                raise ValueError(f"{field} have no column {', '.join(sorted(unknown))}")
            _add_counts(table.setdefault(name, dict.fromkeys(_COLUMNS[field], 0)), row)


def _add_counts(into: dict[str, Any], counted: Mapping[str, Any]) -> None:
    for name, number in counted.items():
        into[name] = into.get(name, 0) + number


def _plain(value: Any, levels: int) -> Any:
    """A copy with sorted names, columns in their order, and times rounded to milliseconds."""
    if levels == 0:
        return round(value, 3) if isinstance(value, float) else value
    return {name: dict(value[name]) if levels == 2 else _plain(value[name], 0) for name in sorted(value)}
