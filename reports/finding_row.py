"""A unique finding as reports show it: one object of OUT/findings.jsonl. The Finding itself is `corpus.finding`'s."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec

from corpus.escapes import is_finding_folder, is_finding_script, is_slug
from corpus.finding import Finding, stats_row
from corpus.migration import evidence_before_rows_had_it
from generators.case import Tier
from generators.json_values import JsonObject
from generators.targets import DEFAULT
from oracles.evidence import Evidence, to_json

NO_CULPRIT = "none"
Standing: TypeAlias = Literal["new", "known", "limitation", "returned"]
"""Of a cause: not in the registry; in it, open or not to be mended; a limit that TVM states; mended, and back again."""
KNOWN: tuple[Standing, ...] = ("known", "limitation")
"""Those that make no job red."""
AnyPlace = TypeVar("AnyPlace")

Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)] | Annotated[float, msgspec.Meta(ge=0, le=float(2**53))]
"""A count or a time in a file: finite, not negative, and exact as a float."""

WholeNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""The same of what is no fraction."""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One unique finding; its line in a file has these fields, and no others that are read.

    signature: its identity, fit for a file name. culprit: the pass, "none" when no pass is to blame.
    passes: the reduced pass sequence, as constructor expressions. at_s: seconds into the campaign at
    the first sighting. count: how often it was seen. known: by its cause or signature, so not a failure.
    case, repro: paths relative to OUT. reduced: bindings_before, bindings, statements_before, statements,
    passes_before, passes, oracle_calls, seconds; empty while it is not reduced.
    cause: what people count, as `str(corpus.causes.cause.Cause)`; "" in files of older versions. blames: whom that
    blames, "" for no pass; None in files of older versions. standing, title, link: of
    that cause, as the registry of known causes has it. entry: the ID of its entry there.
    evidence: what kind of wrong it is, as in `case.json`.
    """

    signature: str
    oracle: str
    culprit: str
    symptom: str
    message: str
    tier: Tier = "B"
    passes: tuple[str, ...] = ()
    target: str = DEFAULT
    at_s: Number = 0.0
    count: WholeNumber = 1
    known: bool = False
    case: str = ""
    repro: str = ""
    cause: str = ""
    standing: Standing = "new"
    title: str = ""
    link: str = ""
    entry: str = ""
    evidence: Evidence | None = None
    reduced: Mapping[str, Number] = field(default_factory=dict)
    blames: str | None = None

    def to_json(self) -> JsonObject:
        """Plain JSON values under the field names."""
        numbers = {"at_s": round(self.at_s, 3), "reduced": dict(self.reduced) or None}
        return {**asdict(self), "passes": list(self.passes), "evidence": to_json(self.evidence), **numbers}

    @staticmethod
    def from_json(data: Mapping[str, object]) -> FindingRow:
        """Reads what `to_json` wrote; unknown keys of newer versions are ignored, and paths that passfuzz does not
        write are left out.

        Raises ValueError for anything else: a missing or mistyped field, a signature that is no name of a folder.
        """
        given = msgspec.convert(data, JsonObject)
        if given.get("reduced", {}) is None:
            del given["reduced"]
        if not _is_known(given.get("evidence")):
            given["evidence"] = None
        row = msgspec.convert({"standing": "known" if given.get("known") is True else "new", **given}, FindingRow)
        if "evidence" not in given:
            row = replace(row, evidence=evidence_before_rows_had_it(row.symptom, given.get("died")))
        if not is_slug(row.signature):
            raise ValueError(f"signature {row.signature[:100]!r} is no name of a folder")
        case = row.case if is_finding_folder(row.case) else ""
        return replace(row, case=case, repro=row.script, known=row.standing in KNOWN)

    @property
    def where(self) -> str:
        """The culprit for people."""
        return "(no single pass)" if self.culprit == NO_CULPRIT else self.culprit

    @property
    def script(self) -> str:
        """`repro` where it is a path that passfuzz writes, else nothing: what a report may link and tell people to run.

        Letters, digits, `_`, `.`, `-` and `/`.
        """
        return self.repro if is_finding_script(self.repro) else ""

    def is_failure(self, fail_on: tuple[str, ...]) -> bool:
        """Whether it is new and of a tier that fails a campaign."""
        return not self.known and self.tier in fail_on


def _is_known(evidence: object) -> bool:
    """Whether it is evidence of a kind that this version has."""
    try:
        msgspec.convert(evidence, Evidence | None)
    except msgspec.ValidationError:
        return not (isinstance(evidence, dict) and isinstance(evidence.get("type"), str))
    return True


def row_of(finding: Finding) -> FindingRow:
    """The row of a live finding, as a new one."""
    case, failed, stats = finding.case, finding.verdict, finding.reduced
    return FindingRow(
        signature=finding.signature.slug,
        oracle=finding.oracle,
        culprit=finding.signature.culprit,
        symptom=failed.symptom,
        message=failed.message,
        tier=finding.tier,
        passes=tuple(map(str, case.passes)),
        target=case.target,
        at_s=round(finding.at_s, 3),
        count=finding.count,
        case=finding.folder,
        repro=f"{finding.folder}/repro.py",
        cause=finding.cause,
        blames=finding.blames if finding.cause else None,
        evidence=failed.evidence,
        reduced={} if stats is None else stats_row(stats, len(case.passes)),
    )


def merge_rows(rows: Iterable[FindingRow]) -> tuple[FindingRow, ...]:
    """One row per signature: the smallest reduction wins, counts add up, the first sighting is kept; sorted by time."""
    return tuple(row for row, _ in merge_sighted((row, None) for row in rows))


def merge_sighted(rows: Iterable[tuple[FindingRow, AnyPlace]]) -> list[tuple[FindingRow, AnyPlace]]:
    """The same for rows with where each is from: that of the row whose reduction won."""
    merged: dict[str, tuple[FindingRow, AnyPlace]] = {}
    for row, where in rows:
        seen = merged.get(row.signature)
        merged[row.signature] = (row, where) if seen is None else _merged(seen, (row, where))
    return sorted(merged.values(), key=lambda pair: pair[0].at_s)


def _merged(one: tuple[FindingRow, AnyPlace], other: tuple[FindingRow, AnyPlace]) -> tuple[FindingRow, AnyPlace]:
    best, where = min(one, other, key=lambda pair: _size(pair[0]))
    rows = (one[0], other[0])
    merged = replace(
        best,
        count=sum(row.count for row in rows),
        at_s=min(row.at_s for row in rows),
        tier=min(row.tier for row in rows),
    )
    told = next((row for row in rows if row.known), best)
    return replace(merged, known=told.known, standing=told.standing, title=told.title, link=told.link), where


def _size(row: FindingRow) -> tuple[bool, float, int]:
    """Reduced rows first, then the fewest bindings and statements, then the fewest passes."""
    size = row.reduced.get("bindings", 0) + row.reduced.get("statements", 0)
    return (not row.reduced, size, len(row.passes))
