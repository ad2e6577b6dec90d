"""`passfuzz since CASE`: which releases of TVM show a case. Each that is known is asked, and what `--tvm` names."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version
from rich.table import Table

from corpus.escapes import one_line
from corpus.replayable import CORPUS
from corpus.store import CorruptCase, read_case
from fuzzer.commands.replay import replay
from fuzzer.errors import ExitStatus, UsageError
from fuzzer.render import console, print_json
from fuzzer.results import ReplayResult
from fuzzer.versions import KNOWN_PAIRS
from generators.json_values import JsonObject
from reports.matrix import Column, ReplayRow
from reports.terminal import cell

SHOWN: tuple[str, ...] = ("fails as known", "regressed")
"""Outcomes that show the case: what regressed fails where it was expected to pass."""


@dataclass(frozen=True, slots=True)
class Since:
    """What was found, oldest version first. first, last: the labels of the oldest and the newest TVM that show the
    case, "" for none; whole: every TVM that was asked has said whether it does."""

    case: str
    result: ReplayResult
    first: str
    last: str
    whole: bool

    @property
    def says(self) -> str:
        """One line."""
        asked = [column for column in self.result.columns if not column.fault]
        if not self.first:
            return f"{self.case}: no TVM that was asked shows it"
        since = "since, or before," if asked and self.first == asked[0].label else "since"
        until = "and still in" if asked and self.last == asked[-1].label else "and last in"
        return f"{self.case}: {since} {self.first} {until} {self.last}"

    def status(self) -> ExitStatus:
        """An own fault where a TVM could not be asked."""
        return ExitStatus.CLEAN if self.whole else ExitStatus.OWN_FAULT

    def to_json(self) -> JsonObject:
        rows = [asdict(row) for row in self.result.rows]
        columns = [asdict(column) for column in self.result.columns]
        return {"case": self.case, "first": self.first, "last": self.last, "rows": rows, "columns": columns}


def since_when(case: Path, versions: tuple[str, ...], known: Path | None, trust: bool = False) -> Since:
    """Replays one case on every known release and on `versions`. Raises UsageError where there is no such case."""
    folder = _folder(case)
    asked = (*sorted(KNOWN_PAIRS, key=Version), *versions)
    result = _in_order(replay(folder, asked, trust, known))
    shows = [row.tvm for row in result.rows if row.outcome in SHOWN]
    whole = not any(column.fault for column in result.columns) and all(row.outcome != "error" for row in result.rows)
    return Since(folder.name, result, shows[0] if shows else "", shows[-1] if shows else "", whole)


def _folder(case: Path) -> Path:
    """The folder of a case, which may be named as in the corpus of passfuzz. Raises UsageError where it is none."""
    shipped = CORPUS / case
    folder = next((one for one in (case, shipped) if (one / "case.json").is_file()), None)
    if folder is None:
        raise UsageError(f"{case}: no case folder, and no case of the corpus of passfuzz")
    try:
        read_case(folder)
    except CorruptCase as error:  # Each TVM would be started to say so.
        raise UsageError(f"not a case: {error}") from error
    return folder.absolute()


def _in_order(result: ReplayResult) -> ReplayResult:
    columns = tuple(sorted(result.columns, key=_age))
    places = {column.label: place for place, column in enumerate(columns)}
    rows: tuple[ReplayRow, ...] = tuple(sorted(result.rows, key=lambda row: places[row.tvm]))
    return ReplayResult(rows, columns, result.seconds)


def _age(column: Column) -> Version:
    try:
        return Version(column.version)
    except InvalidVersion:
        return Version("0")


def show_since(found: Since, as_json: bool) -> None:
    """A line for each TVM, and one for all."""
    if as_json:
        print_json(found.to_json())
        return
    table = Table("TVM", "outcome", "message", box=None, header_style="bold")
    rows = {row.tvm: row for row in found.result.rows}
    for column in found.result.columns:
        row = rows.get(column.label)
        outcome, message = ("error", column.fault) if row is None else (row.outcome, row.message)
        table.add_row(cell(column.label), cell(outcome), cell(message[:100]))
    terminal = console()
    terminal.print(table)
    terminal.say(one_line(found.says), "bold")
