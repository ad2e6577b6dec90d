"""How bad a cause is, and which of its findings shows it best: the order in which people read causes."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from oracles.reference.errors import symptom_of
from oracles.verdict import WRONG_RESULT
from reports.causes import CauseRow
from reports.finding_row import FindingRow

Severity: TypeAlias = Literal["wrong", "native", "pipeline", "phase", "order"]
"""The worst first: a wrong result without an error, a process that a signal ended, an official pipeline that fails, a
pass that fails in its documented phase, an unusual order of passes."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

SILENT = frozenset(
    (
        WRONG_RESULT,
        *map(symptom_of, ("uninitialised", "out-of-bounds", "use-after-kill", "storage-overlap", "aliasing")),
        symptom_of("data-race"),
    )
)
"""Symptoms of a module that runs to its end and gives other values, or any."""
_SIGNALS = frozenset(one.name for one in signal.Signals)


def severity_of(row: FindingRow) -> Severity:
    """How bad one finding is by itself."""
    if row.tier == "C":
        return "order"
    if row.symptom in SILENT:
        return "wrong"
    if row.died in _SIGNALS:
        return "native"
    return "pipeline" if row.tier == "A" else "phase"


def severity(cause: CauseRow) -> Severity:
    """That of its worst finding."""
    return severity_of(best(cause))


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
