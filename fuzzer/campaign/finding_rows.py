"""The findings of a campaign: one row per signature and cause, with what is known of it, how often and in which tier.

Bookkeeping alone: no process, no clock, no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from corpus.causes.throw_site import ThrowSite, thrown_at
from corpus.finding import Finding
from corpus.issue import Similar
from fuzzer.known_causes import Known
from fuzzer.similar import similar
from generators.case import Tier
from reports.finding_row import FindingRow, row_of


class FindingRows:
    """by_signature: the rows, in the order of confirmation. notes: lines on what a reader must know of the registry."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self.by_signature: dict[str, FindingRow] = {}
        self.early: dict[str, int] = {}
        """Sightings of findings that are not confirmed yet, by signature, without the one that was reduced."""
        self._causes: dict[str, str] = {}
        """Of findings that wait for their confirmation, too; by signature."""
        self._tiers: dict[str, Tier] = {}
        """The best of all sightings of a signature."""
        self._notes: dict[str, None] = {}
        self._sites: dict[str, ThrowSite] = {}
        """Where findings of this run, not of one that it goes on with, were thrown; by signature."""

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)

    def __contains__(self, slug: str) -> bool:
        return slug in self.by_signature

    @property
    def counted(self) -> tuple[FindingRow, ...]:
        """The rows of a campaign that has ended: each was seen at least once."""
        return tuple(replace(row, count=max(1, row.count)) for row in self.by_signature.values())

    def go_on(self, rows: Iterable[FindingRow], stored: Iterable[FindingRow], early: Mapping[str, int]) -> None:
        """Takes over what an earlier campaign has found, by its last checkpoint and by its file of findings.

        What was confirmed after the checkpoint is seen again, too, when its cases are judged again.
        """
        self.early = dict(early)
        later = (replace(row, count=0) for row in stored)
        self.by_signature = {row.signature: row for row in (*later, *rows)}
        self._causes = {slug: row.cause for slug, row in self.by_signature.items()}

    def apart(self, finding: Finding) -> Finding:
        """The finding; under another signature where one with another cause has the same, so that none hides it."""
        signature, cause = finding.signature, finding.cause
        other = self._causes.setdefault(signature.slug, cause)
        if cause == other or not cause or not other:
            return finding
        signature = replace(signature, message=f"{signature.message}; {cause}")
        self._causes[signature.slug] = cause
        return replace(finding, signature=signature)

    def is_known(self, finding: Finding) -> bool:
        """Whether its cause is known, and nothing that makes a run red."""
        return self._known.told(row_of(finding), finding.verdict.detail).known

    def told(self, finding: Finding) -> FindingRow:
        """Keeps the row of a finding, with what is known of its cause and the best of its tiers."""
        row, said = row_of(finding), finding.verdict.detail
        before = self.by_signature[row.signature].count if row.signature in self else 0
        count = row.count + self.early.pop(row.signature, 0) + before
        row = replace(row, count=count, tier=min(row.tier, self._tiers.get(row.signature, row.tier)))
        if (site := thrown_at(said)) is not None:
            self._sites[row.signature] = site
        if (doubt := self._known.doubt(row, said)) != "":
            self._notes[doubt] = None
        row = self.by_signature[row.signature] = self._known.told(row, said)
        return row

    def similar(self, finding: Finding) -> tuple[Similar, ...]:
        """What the issue of a finding names: known causes, and findings that were told before."""
        return similar(finding, self._known.registry, self.by_signature.values(), self._sites)

    def seen_in(self, slug: str, tier: Tier) -> None:
        """A sighting of a finding in a sequence of some tier: the best counts."""
        best = self._tiers[slug] = min(tier, self._tiers.get(slug, tier))
        if slug in self and best < self.by_signature[slug].tier:
            self.by_signature[slug] = replace(self.by_signature[slug], tier=best)

    def seen_again(self, slug: str) -> None:
        """Counts a sighting of a finding, also of one that is not confirmed yet."""
        if slug in self:
            row = self.by_signature[slug]
            self.by_signature[slug] = replace(row, count=row.count + 1)
        else:
            self.early[slug] = self.early.get(slug, 0) + 1
