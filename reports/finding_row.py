"""A unique finding as reports show it: one object of OUT/findings.jsonl. The Finding itself is `corpus.finding`'s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from corpus.finding import Finding, to_line
from generators.targets import DEFAULT

NO_CULPRIT = "none"


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One unique finding.

    signature: its identity, fit for a file name. culprit: the pass, "none" when no pass is to blame.
    passes: the reduced pass sequence, as constructor expressions. at_s: seconds into the campaign at
    the first sighting. count: how often it was seen. known: in the baseline, so not a failure.
    case, repro: paths relative to OUT. reduced: bindings_before, bindings, statements_before, statements,
    passes_before, passes, oracle_calls, seconds; empty while it is not reduced.
    """

    signature: str
    oracle: str
    culprit: str
    symptom: str
    message: str
    tier: str = "B"
    passes: tuple[str, ...] = ()
    target: str = DEFAULT
    at_s: float = 0.0
    count: int = 1
    known: bool = False
    case: str = ""
    repro: str = ""
    reduced: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values under the field names."""
        numbers = {"at_s": round(self.at_s, 3), "reduced": dict(self.reduced) or None}
        return {**asdict(self), "passes": list(self.passes), **numbers}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> FindingRow:
        """Reads what `to_json` wrote; unknown keys of newer versions are ignored. Raises TypeError for missing ones."""
        names = {f.name for f in fields(FindingRow)}
        known = {name: value for name, value in data.items() if name in names}
        return FindingRow(**{**known, "passes": tuple(known.get("passes", ())), "reduced": known.get("reduced") or {}})

    @property
    def where(self) -> str:
        """The culprit for people."""
        return "(no single pass)" if self.culprit == NO_CULPRIT else self.culprit

    def is_failure(self, fail_on: tuple[str, ...]) -> bool:
        """Whether it is new and of a tier that fails a campaign."""
        return not self.known and self.tier in fail_on


def row_of(finding: Finding) -> FindingRow:
    """The row of a live finding."""
    return FindingRow.from_json(to_line(finding))


def merge_rows(rows: tuple[FindingRow, ...]) -> tuple[FindingRow, ...]:
    """One row per signature: the smallest reduction wins, counts add up, the first sighting is kept; sorted by time."""
    merged: dict[str, FindingRow] = {}
    for row in rows:
        seen = merged.get(row.signature)
        merged[row.signature] = row if seen is None else _merged(seen, row)
    return tuple(sorted(merged.values(), key=lambda row: row.at_s))


def _merged(one: FindingRow, other: FindingRow) -> FindingRow:
    best = min(one, other, key=_size)
    return replace(best, count=one.count + other.count, at_s=min(one.at_s, other.at_s), known=one.known or other.known)


def _size(row: FindingRow) -> tuple[bool, float, int]:
    """Reduced rows first, then the fewest bindings and statements, then the fewest passes."""
    size = row.reduced.get("bindings", 0) + row.reduced.get("statements", 0)
    return (not row.reduced, size, len(row.passes))
