"""The files under OUT: summary.json, findings.jsonl; and the Report they hold. Written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from corpus.named_errors import naming
from corpus.store import write_atomically
from reports.finding_row import FindingRow
from reports.tally import FIELDS, Tally, tally_of

Ended: TypeAlias = Literal["done", "interrupted", "fault"]

SCHEMA = 1
SUMMARY_FILE = "summary.json"
FINDINGS_FILE = "findings.jsonl"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a campaign was, besides its counts.

    tvm, passfuzz: versions. shard: "i/n". interrupted: ended by a signal.
    own_fault: one line when its results cannot be trusted. ended: how; None while it runs, and when it was killed.
    unreduced: how many failures were seen that are neither findings nor known to be none.
    """

    tvm: str
    passfuzz: str
    seed: int
    targets: tuple[str, ...]
    wall_s: float = 0.0
    shard: str = "1/1"
    interrupted: bool = False
    own_fault: str | None = None
    ended: Ended | None = None
    unreduced: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the report formats show, from a campaign that has ended or from the files of one."""

    facts: RunFacts
    tally: Tally
    findings: tuple[FindingRow, ...]

    @property
    def new(self) -> tuple[FindingRow, ...]:
        """Findings that are not in the list of known ones."""
        return tuple(row for row in self.findings if not row.known)

    @property
    def known(self) -> tuple[FindingRow, ...]:
        """Findings that are in the list of known ones."""
        return tuple(row for row in self.findings if row.known)

    def to_json(self) -> dict[str, Any]:
        """The contents of summary.json."""
        facts = {**asdict(self.facts), "targets": list(self.facts.targets), "wall_s": round(self.facts.wall_s, 3)}
        findings = [row.to_json() for row in self.findings]
        return {"schema": SCHEMA, **facts, **self.tally.to_json(), "findings": findings}


class UnreadableOut(Exception):
    """A folder that holds no readable results of passfuzz; the text says which file and why."""


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


def read_out(out: Path) -> Report:
    """Reads the files of a campaign. findings.jsonl is the newer one where both tell of findings.

    Raises UnreadableOut.
    """
    path, what = out / SUMMARY_FILE, "a summary"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] > SCHEMA:
            raise UnreadableOut(f"{path}: schema {data['schema']} is newer than this passfuzz, which reads {SCHEMA}")
        facts = {field.name: data[field.name] for field in fields(RunFacts) if field.name in data}
        tally = tally_of({name: data[name] for name in FIELDS if name in data})
        rows = tuple(FindingRow.from_json(row) for row in data["findings"])
        path, what = out / FINDINGS_FILE, "findings"
        rows = read_findings(out) or rows
        return Report(RunFacts(**{**facts, "targets": tuple(facts["targets"])}), tally, rows)
    except FileNotFoundError:
        raise UnreadableOut(f"{path}: no such file; is {out} the --out folder of a run?") from None
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise UnreadableOut(f"{path}: not {what} of passfuzz ({type(error).__name__}: {error})") from error


def read_findings(out: Path) -> tuple[FindingRow, ...]:
    """The last row of each signature; a line cut off by a kill is at the end and is left out."""
    path = out / FINDINGS_FILE
    if not path.exists():
        return ()
    rows: dict[str, FindingRow] = {}
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            row = FindingRow.from_json(json.loads(line))
            rows[row.signature] = row
    return tuple(rows.values())


def _line(row: FindingRow) -> str:
    return json.dumps(row.to_json()) + "\n"
