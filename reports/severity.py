"""How bad a cause is, and which of its findings shows it best: the order in which people read causes."""

from __future__ import annotations

from collections.abc import Iterable

from corpus.causes.severity import ODD_ORDER, SEVERITIES, Severity
from corpus.causes.severity import severity_of as severity_of_failure
from reports.causes import CauseRow
from reports.finding_row import FindingRow


def severity_of(row: FindingRow) -> Severity:
    """How bad one finding is by itself."""
    return severity_of_failure(row.symptom, row.evidence, row.tier)


def severity(cause: CauseRow) -> Severity:
    """That of its worst finding."""
    return severity_of(best(cause))


def is_odd(cause: CauseRow) -> bool:
    """Whether only an order of passes that no pipeline has shows it."""
    return severity(cause) == ODD_ORDER


def best(cause: CauseRow) -> FindingRow:
    """The finding that is shown for all: the worst, of the best tier, reduced furthest."""
    return min(cause.findings, key=_best_first)


def first_seen(cause: CauseRow) -> float:
    """Seconds into the campaign at the first sighting."""
    return min(row.at_s for row in cause.findings)


def worst_first(causes: Iterable[CauseRow]) -> tuple[CauseRow, ...]:
    """The causes as people read them: new and returned ones before known ones, then the worst, by pass, by time."""
    return tuple(sorted(causes, key=_worst_first))


def _best_first(row: FindingRow) -> tuple[object, ...]:
    size = row.reduced.get("bindings", 0) + row.reduced.get("statements", 0)
    return (SEVERITIES.index(severity_of(row)), row.tier, not row.reduced, size, len(row.passes), row.at_s)


def _worst_first(cause: CauseRow) -> tuple[object, ...]:
    shown = best(cause)
    return (cause.known, SEVERITIES.index(severity_of(shown)), shown.where, first_seen(cause), cause.id)
