"""What the issue of a finding names beside it: known causes and other findings that a reader may take for the same bug.

Bookkeeping alone: no process, no clock, no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from corpus.causes.throw_site import ThrowSite, thrown_at
from corpus.escapes import issue_url
from corpus.finding import Finding
from corpus.issue import Similar
from corpus.registry import KnownCause, Registry
from reports.causes import causes_of
from reports.finding_row import NO_CULPRIT, FindingRow

MOST = 5
FAR = 3
"""How near something is to a finding: 0, the same cause; 1, the same function of TVM throws; 2, the same pass; FAR."""


def similar(
    finding: Finding, registry: Registry, rows: Iterable[FindingRow], sites: Mapping[str, ThrowSite]
) -> tuple[Similar, ...]:
    """At most MOST: the nearest first, and known causes before other findings. rows: of the run; sites: where they
    were thrown, by signature, as far as that is known."""
    site = thrown_at(finding.verdict.detail)
    said = f"{finding.verdict.message}\n{finding.verdict.detail}"
    of_causes = [
        (_near(finding, entry.matches(finding.cause, said), _is_at(site, entry), entry.passes), _of_entry(entry))
        for entry in registry.entries
    ]
    of_findings = [
        (
            _near(finding, bool(row.cause) and row.cause == finding.cause, _is(site, sites.get(slug)), (row.culprit,)),
            _of_row(row),
        )
        for row in rows
        if (slug := row.signature) != finding.signature.slug
    ]
    near = sorted((one for one in (*of_causes, *of_findings) if one[0] < FAR), key=lambda one: one[0])
    return tuple(shown for _, shown in near[:MOST])


def _near(finding: Finding, same_cause: bool, same_site: bool, passes: Iterable[str]) -> int:
    culprit = finding.signature.culprit
    return (same_cause, same_site, culprit != NO_CULPRIT and culprit in passes, True).index(True)


def _is(site: ThrowSite | None, other: ThrowSite | None) -> bool:
    return site is not None and site == other


def _is_at(site: ThrowSite | None, entry: KnownCause) -> bool:
    """Whether the root of a known cause is this function. A person has written it, with or without namespaces."""
    if site is None:
        return False
    file, _, function = entry.root.partition(":")
    name = site.function.rpartition("::")[2]
    return bool(function) and PurePosixPath(file).name == PurePosixPath(site.file).name and name in _names(function)


def _names(function: str) -> list[str]:
    return function.replace("::", " ").replace("(", " ").split()


def _of_entry(entry: KnownCause) -> Similar:
    return entry.title, issue_url(entry.link) or entry.root


def _of_row(row: FindingRow) -> Similar:
    (cause,) = causes_of([row])
    return cause.title, row.case
