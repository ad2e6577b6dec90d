"""Findings as people count them: by cause, the worst first. The cause itself is `corpus.cause`'s."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from oracles.reference.errors import symptom_of
from oracles.verdict import CRASH, WRONG_RESULT
from reports.finding_row import FindingRow, Standing

Severity: TypeAlias = Literal["wrong", "native", "pipeline", "phase", "order"]
"""How bad a cause is, the worst first: a wrong result without a word, a process that a signal ended, an official
pipeline that stops, a pass that stops in its documented phase, an unusual order of passes."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

SILENT = frozenset(
    (
        WRONG_RESULT,
        *map(symptom_of, ("uninitialised", "out-of-bounds", "use-after-kill", "storage-overlap", "aliasing")),
        symptom_of("data-race"),
    )
)
"""Symptoms of a module that would run to its end and give other values, or any."""
_SIGNALS = frozenset(one.name for one in signal.Signals)


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """A cause with the findings that show it.

    cause: as `str(corpus.cause.Cause)`; in files of older versions, which have none, a signature. rows: at least one,
    the one that shows it best first: of the best tier, then the one reduced furthest.
    """

    cause: str
    rows: tuple[FindingRow, ...]

    @property
    def best(self) -> FindingRow:
        """The row that is shown for all."""
        return self.rows[0]

    @property
    def id(self) -> str:
        """A short name that stays the same from run to run: 8 hexadecimal digits of a hash of the cause."""
        return hashlib.sha256(self.cause.encode("utf-8", "backslashreplace")).hexdigest()[:8]

    @property
    def tier(self) -> str:
        """The best of all sightings."""
        return min(row.tier for row in self.rows)

    @property
    def count(self) -> int:
        """How often it was seen."""
        return sum(row.count for row in self.rows)

    @property
    def at_s(self) -> float:
        """Seconds into the campaign at the first sighting."""
        return min(row.at_s for row in self.rows)

    @property
    def standing(self) -> Standing:
        """What the registry of known causes says of it; one word of a shard is enough."""
        said = {standing_of(row) for row in self.rows}
        order: tuple[Standing, ...] = ("returned", "known", "limitation", "new")
        return next(one for one in order if one in said)

    @property
    def is_news(self) -> bool:
        """Whether somebody must look: new, or mended and back again."""
        return self.standing in ("new", "returned")

    @property
    def severity(self) -> Severity:
        """That of its worst finding, where its tier lets any count."""
        return min(map(severity_of, self.rows), key=SEVERITIES.index)

    @property
    def title(self) -> str:
        """One line: what the registry calls it, or what its best finding says."""
        named = next((row.title for row in self.rows if row.title), "")
        return named or self.best.message or self.best.symptom

    @property
    def link(self) -> str:
        """Where it is discussed, as the registry has it; may be any text."""
        return next((row.link for row in self.rows if row.link), "")


def standing_of(row: FindingRow) -> Standing:
    """That of the row's cause. Files of older versions say only whether it is known."""
    return "known" if row.known and row.standing == "new" else row.standing


def severity_of(row: FindingRow) -> Severity:
    """How bad one finding is by itself."""
    if row.tier == "C":
        return "order"
    if row.symptom in SILENT:
        return "wrong"
    if row.symptom == CRASH and by_signal(row.message):
        return "native"
    return "pipeline" if row.tier == "A" else "phase"


def by_signal(message: str) -> bool:
    """Whether the message of a crash is of a process that a signal ended: its first word is the signal's name. A line
    of findings.jsonl has no field for that."""
    return message.partition(" ")[0] in _SIGNALS


def group_by_cause(rows: Iterable[FindingRow]) -> tuple[CauseGroup, ...]:
    """The causes of the rows: the worst first, then by pass, then by the time of the first sighting."""
    rows_of: dict[str, list[FindingRow]] = {}
    for row in rows:
        rows_of.setdefault(row.cause or row.signature, []).append(row)
    groups = (CauseGroup(cause, tuple(sorted(found, key=_best_first))) for cause, found in rows_of.items())
    return tuple(sorted(groups, key=_worst_first))


def _best_first(row: FindingRow) -> tuple[object, ...]:
    size = row.reduced.get("bindings", 0) + row.reduced.get("statements", 0)
    return (SEVERITIES.index(severity_of(row)), row.tier, not row.reduced, size, len(row.passes), row.at_s)


def _worst_first(group: CauseGroup) -> tuple[object, ...]:
    return (SEVERITIES.index(group.severity), group.best.where, group.at_s, group.cause)
