"""The files under OUT: summary.json, findings.jsonl; and the Report they hold. Written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec

from corpus.escapes import one_line
from corpus.named_errors import naming
from corpus.regular_files import MEBIBYTE, is_real_folder, read_regular
from corpus.store import LONGEST_REASON, UNREADABLE, why, write_atomically
from generators.json_values import JsonObject
from reports.causes import CauseRow, causes_of
from reports.finding_row import FindingRow, Number, WholeNumber
from reports.reached import Reached
from reports.tally import FIELDS, Tally, tally_of

SCHEMA = 1
SUMMARY_FILE = "summary.json"
FINDINGS_FILE = "findings.jsonl"
UNREDUCED_FILE = "unreduced.jsonl"
FINDINGS, UNCONFIRMED = "findings", "unconfirmed"
"""unconfirmed: what its own repro did not show: no finding, but a hint at a pass that remembers earlier calls, or at a
fault of ours."""
UNSHOWN_FILE = "failures.jsonl"
"""In the folder of what is unconfirmed: failures that did not show again when their reduction began, a line each."""
MOST = 256 * MEBIBYTE
"""Bytes of a file under OUT that are read."""
SHOWN_WRONG = 3
"""Corrupt lines that a note names."""

RunEnd: TypeAlias = Literal["done", "interrupted", "fault", "unknown"]
UNKNOWN: RunEnd = "unknown"
"""How a run ended whose files do not say it: an older passfuzz wrote them."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a campaign was, besides its counts; summary.json has these fields.

    tvm, passfuzz: versions. shard: "i/n". interrupted: ended by a signal.
    own_fault: one line when its results cannot be trusted.
    ended: how; None while it runs, and of a run that was killed. merged: several runs, by `report --merge`.
    unreduced: how many failures were seen that are neither findings nor known to be none; unreduced_known: those of
    them that look like known causes. unconfirmed: how many did not show a second time. notes: lines on what its
    reader must know, of the registry of known causes. fail_on: tiers whose new causes fail it. coverage: what it has
    reached of TVM's own code, None where that was not counted.
    """

    tvm: str
    passfuzz: str
    seed: int
    targets: tuple[str, ...]
    wall_s: Number = 0.0
    shard: str = "1/1"
    interrupted: bool = False
    own_fault: str | None = None
    ended: RunEnd | None = None
    unreduced: WholeNumber = 0
    unreduced_known: WholeNumber = 0
    unconfirmed: WholeNumber = 0
    merged: bool = False
    notes: tuple[str, ...] = ()
    fail_on: tuple[str, ...] = ("A", "B")
    coverage: Reached | None = None


FACTS: tuple[str, ...] = tuple(field.name for field in fields(RunFacts))
"""The fields of summary.json that are no counts."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the report formats show, from a campaign that has ended or from the files of one.

    notes: lines on what its reader must know: those of the facts, and of files that were read: corrupt lines, runs that
    were counted twice.
    """

    facts: RunFacts
    tally: Tally
    findings: tuple[FindingRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def new(self) -> tuple[FindingRow, ...]:
        """Findings that are not in the list of known ones."""
        return tuple(row for row in self.findings if not row.known)

    @property
    def known(self) -> tuple[FindingRow, ...]:
        """Findings that are in the list of known ones."""
        return tuple(row for row in self.findings if row.known)

    @property
    def causes(self) -> tuple[CauseRow, ...]:
        """The findings by their cause."""
        return causes_of(self.findings)

    def to_json(self) -> JsonObject:
        """The contents of summary.json."""
        facts = {**asdict(self.facts), "targets": list(self.facts.targets), "wall_s": round(self.facts.wall_s, 3)}
        facts.update(notes=list(self.facts.notes), fail_on=list(self.facts.fail_on))
        if self.facts.ended == UNKNOWN:
            del facts["ended"]
        if self.facts.coverage is None:
            del facts["coverage"]
        causes = [cause.to_json() for cause in self.causes]
        findings = [row.to_json() for row in self.findings]
        return {"schema": SCHEMA, **facts, **self.tally.to_json(), "causes": causes, "findings": findings}


@contextmanager
def begun_again(out: Path) -> Iterator[None]:
    """Says in summary.json that the run of a folder has not ended: it is gone on with. Where that is refused before
    anything else is written there, the file is what it was. Raises OSError."""
    path = out / SUMMARY_FILE
    try:
        before = read_regular(path, MOST)
        summary = json.loads(before)
        summary.update(ended=None, interrupted=False)
    except (FileNotFoundError, ValueError, AttributeError, RecursionError):
        yield  # what cannot be read is written anew once a worker is ready
        return
    after = json.dumps(summary, indent=1) + "\n"
    write_text(path, after)
    try:
        yield
    except BaseException:
        if path.exists() and path.read_bytes() == after.encode():
            write_atomically(path, before)
        raise


class UnreadableOut(Exception):
    """A folder that holds no readable results of passfuzz; the text is one line that says which file and why."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{one_line(path)}: {one_line(reason)[:LONGEST_REASON]}")


def write_out(out: Path, report: Report) -> None:
    """Writes summary.json and findings.jsonl into `out`, which is made if need be."""
    out.mkdir(parents=True, exist_ok=True)
    write_findings(out, report.findings)
    write_text(out / SUMMARY_FILE, json.dumps(report.to_json(), indent=1) + "\n")


def write_findings(out: Path, rows: Iterable[FindingRow]) -> None:
    """Writes findings.jsonl anew."""
    write_text(out / FINDINGS_FILE, "".join(_line(row) for row in rows))


def append_finding(out: Path, row: FindingRow) -> None:
    """Adds one line to findings.jsonl, on disk when this returns. An OSError names the file."""
    path = out / FINDINGS_FILE
    with naming(path), path.open("a", encoding="utf-8") as file:
        file.write(_line(row))
        file.flush()
        os.fsync(file.fileno())


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole or not at all; what UTF-8 cannot hold becomes "?"."""
    write_atomically(path, text.encode("utf-8", "replace"))


# --- reading --------------------------------------------------------------------------------------------


class _SummarySchema(msgspec.Struct):
    schema: Annotated[int, msgspec.Meta(ge=1)]


def read_out(out: Path) -> Report:
    """Reads the files of a campaign. findings.jsonl is the newer one where both tell of findings, and unreduced.jsonl
    and the folder of what is unconfirmed where the run has not ended.

    A corrupt line of a finding is named in the report's notes, and the others count. Raises UnreadableOut.
    """
    path = out / SUMMARY_FILE
    if out.is_file():
        raise UnreadableOut(out, "is a file; the --out folder of a run is wanted")
    try:
        data = read_regular(path, MOST)
        schema = msgspec.json.decode(data, type=_SummarySchema).schema
        if schema > SCHEMA:
            raise UnreadableOut(path, f"schema {schema} is newer than this passfuzz, which reads {SCHEMA}")
        raw = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        facts = msgspec.convert({"ended": UNKNOWN, **_decoded(raw, FACTS)}, RunFacts)
        tally = tally_of(_decoded(raw, FIELDS))
        lines = msgspec.json.decode(raw["findings"], type=list[msgspec.Raw])
    except FileNotFoundError:
        raise UnreadableOut(path, f"no such file; is {out} the --out folder of a run?") from None
    except UNREADABLE as error:
        raise UnreadableOut(path, f"not a summary of passfuzz ({why(error)})") from error
    if facts.ended is None:
        facts = replace(
            facts,
            unreduced=_lines_in(out / UNREDUCED_FILE),
            unreduced_known=0,
            unconfirmed=unconfirmed_in(out),
        )
    newer, notes = _read_findings(out / FINDINGS_FILE)
    if newer:
        return Report(facts, tally, newer, (*facts.notes, *notes))
    rows, more = _rows(path, "finding", enumerate(map(bytes, lines), 1))
    return Report(facts, tally, rows, (*facts.notes, *notes, *more))


def _decoded(raw: Mapping[str, msgspec.Raw], names: Iterable[str]) -> JsonObject:
    return {name: msgspec.json.decode(raw[name]) for name in names if name in raw}


def read_findings(out: Path) -> tuple[FindingRow, ...]:
    """The last row of each signature. Raises UnreadableOut."""
    return _read_findings(out / FINDINGS_FILE)[0]


def unconfirmed_in(out: Path) -> int:
    """How many failures were seen in a run that did not show a second time."""
    try:
        unshown = len(read_regular(out / UNCONFIRMED / UNSHOWN_FILE, MOST).splitlines())
    except OSError:
        unshown = 0
    kept = out / UNCONFIRMED / FINDINGS
    return unshown + (sum(1 for _ in kept.glob("*/")) if is_real_folder(kept) else 0)


def _lines_in(path: Path) -> int:
    """How many lines a file of one row each has. Raises UnreadableOut."""
    return _content(path, "cannot be counted").count(b"\n")


def _content(path: Path, wrong: str) -> bytes:
    """What a file holds; nothing where it is not there. Raises UnreadableOut, which says what is wrong."""
    try:
        return read_regular(path, MOST)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UnreadableOut(path, f"{wrong} ({why(error)})") from error


def _read_findings(path: Path) -> tuple[tuple[FindingRow, ...], tuple[str, ...]]:
    """The last row of each signature, and the notes; a line cut off by a kill is at the end and is left out."""
    *lines, _ = _content(path, "not findings of passfuzz").split(b"\n")
    return _rows(path, "line", ((number, line) for number, line in enumerate(lines, 1) if line.strip()))


def _rows(path: Path, what: str, lines: Iterable[tuple[int, bytes]]) -> tuple[tuple[FindingRow, ...], tuple[str, ...]]:
    """The last row of each signature, and a note on the lines that are corrupt, which names the first ones."""
    rows: dict[str, FindingRow] = {}
    wrong: list[str] = []
    for number, line in lines:
        try:
            row = FindingRow.from_json(msgspec.json.decode(line))
        except UNREADABLE as error:
            wrong.append(f"{what} {number}: {why(error)}"[:LONGEST_REASON])
        else:
            rows[row.signature] = row
    return tuple(rows.values()), (_note(path, wrong),) if wrong else ()


def _note(path: Path, wrong: list[str]) -> str:
    more = f"; and {len(wrong) - SHOWN_WRONG} more" if len(wrong) > SHOWN_WRONG else ""
    findings = "1 corrupt finding is" if len(wrong) == 1 else f"{len(wrong)} corrupt findings are"
    return one_line(f"{path}: {findings} left out: {'; '.join(wrong[:SHOWN_WRONG])}{more}")


def _line(row: FindingRow) -> str:
    return json.dumps(row.to_json()) + "\n"
