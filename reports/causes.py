"""Findings counted by their cause: what a headline counts, and what makes a job red."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from corpus.escapes import one_line
from corpus.number_of import number_of
from corpus.registry import cause_id
from generators.json_values import JsonObject
from reports.finding_row import KNOWN, FindingRow, Standing

LONGEST_TITLE = 120
_WORST_FIRST: tuple[Standing, ...] = ("returned", "new", "known", "limitation")


@dataclass(frozen=True, slots=True)
class CauseRow:
    """The findings of a run that have one cause, at least one, in the order of their first sighting.

    cause: "" of a finding that an older version wrote, which is a cause of its own.
    """

    cause: str
    findings: tuple[FindingRow, ...]

    @property
    def id(self) -> str:
        """Eight digits to be typed: of the entry in the registry, where there is one."""
        return self.findings[0].entry or cause_id(self.cause or self.findings[0].signature)

    @property
    def ids(self) -> frozenset[str]:
        """That, and those that its findings' causes would have alone."""
        return frozenset((self.id, *(cause_id(row.cause or row.signature) for row in self.findings)))

    @property
    def standing(self) -> Standing:
        """The worst of its findings: one is enough to make a job red."""
        return min((row.standing for row in self.findings), key=_WORST_FIRST.index)

    @property
    def known(self) -> bool:
        """Whether it makes no job red."""
        return self.standing in KNOWN

    @property
    def tier(self) -> str:
        """The best of its findings."""
        return min(row.tier for row in self.findings)

    @property
    def count(self) -> int:
        """How often it was seen."""
        return sum(row.count for row in self.findings)

    @property
    def title(self) -> str:
        """As in the registry, else what the first finding says, in one line."""
        first = self.findings[0]
        said = next((row.title for row in self.findings if row.title), "")
        return said or one_line(f"{first.where}: {first.symptom}: {first.message}")[:LONGEST_TITLE]

    @property
    def link(self) -> str:
        """An issue or pull request, "" where none is known."""
        return next((row.link for row in self.findings if row.link), "")

    def is_failure(self, fail_on: tuple[str, ...]) -> bool:
        """Whether it is new, or has returned, and is of a tier that fails a campaign."""
        return not self.known and self.tier in fail_on

    def to_json(self) -> JsonObject:
        """Its object in summary.json; `findings` are signatures."""
        names = ("id", "cause", "standing", "title", "link", "tier", "count")
        return {
            **{name: getattr(self, name) for name in names},
            "findings": [row.signature for row in self.findings],
        }


def causes_of(rows: Iterable[FindingRow]) -> tuple[CauseRow, ...]:
    """The causes of findings, in the order of their first findings. What one entry of the registry has is one cause."""
    found: dict[tuple[str, str], list[FindingRow]] = {}
    for row in rows:
        key = ("entry", row.entry) if row.entry else ("cause", row.cause) if row.cause else ("finding", row.signature)
        found.setdefault(key, []).append(row)
    return tuple(CauseRow(members[0].cause, tuple(members)) for members in found.values())


def headline(rows: Iterable[FindingRow]) -> str:
    """How many causes are new, have returned, and are known: "2 new causes (3 findings), 35 known"."""
    causes = causes_of(rows)
    new = [cause for cause in causes if cause.standing == "new"]
    returned = sum(cause.standing == "returned" for cause in causes)
    findings = sum(len(cause.findings) for cause in new)
    said = f"{number_of(len(new), 'new cause')} ({number_of(findings, 'finding')})" if new else "0 new causes"
    back = f"{returned} returned, " if returned else ""
    return f"{said}, {back}{sum(cause.known for cause in causes)} known"
