"""`passfuzz coverage`: what runs and commands have reached of TVM's own code, by folder, pass and file. No TVM here."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from corpus.escapes import one_line
from fuzzer.coverage.command import count_command
from fuzzer.coverage.count import CoverageRow, by_file, by_folder, by_pass, rows
from fuzzer.coverage.ground import NoCoverage, ground
from fuzzer.coverage.hits import Hits, UnreadableHits, together
from fuzzer.errors import EnvironmentFault, UsageError, tell
from fuzzer.render import console, print_json
from generators.json_values import JsonObject
from generators.passes.table import PASSES
from reports.terminal import Terminal, cell
from reports.words import share


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was reached. passes: the blocks of the source files that a pass's row names. files, passes: those first of
    which most is missed, by the other or, without one, at all."""

    build_id: str
    compared: bool
    folders: tuple[CoverageRow, ...]
    passes: tuple[CoverageRow, ...]
    files: tuple[CoverageRow, ...]

    def to_json(self) -> JsonObject:
        tables = {"folders": self.folders, "passes": self.passes, "files": self.files}
        rows = {name: list(map(asdict, table)) for name, table in tables.items()}
        return {"build_id": self.build_id, "compared": self.compared, **rows}


def count(command: str, output: Path, as_json: bool) -> None:
    """Runs a command and leaves what it reaches in a file; says so on stderr, as stdout is the command's. Raises
    EnvironmentFault where nothing can be counted, or nothing was."""
    try:
        counted = count_command(_words(command), output, ground(lambda line: tell(line)))
    except NoCoverage as error:
        raise EnvironmentFault(f"--of: {error}") from error
    except OSError as error:
        raise EnvironmentFault(f"--output {output}: {error.strerror}") from error
    if not counted.hits.hit.any():
        output.unlink()
        raise EnvironmentFault(
            f"--of: the command ended with status {counted.status}, and no process of it has loaded "
            f"{counted.hits.library} of build {counted.hits.build_id[:12]}"
        )
    found = _looked_at(counted.hits, None)
    if as_json:
        print_json({"status": counted.status, "output": str(output), **found.to_json()})
        return
    shares = ", ".join(f"{row.name} {share(row.reached, row.blocks)}" for row in found.folders)
    tell(f"the command ended with status {counted.status}; reached, of TVM's basic blocks: {shares}; in {output}")


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--of {command}: {error}") from error


def look(outs: Sequence[Path], against: Sequence[Path], most: int, as_json: bool) -> None:
    """Shows what the runs have reached together, and with `against` what only one side has. most: rows of a table of
    passes or files. Raises UsageError for what holds no hits."""
    try:
        found = _looked_at(together(outs), together(against) if against else None)
    except UnreadableHits as error:
        raise UsageError(str(error)) from error
    if as_json:
        print_json(found.to_json())
        return
    terminal = console()
    for title, of, limit in (
        ("folder", found.folders, len(found.folders)),
        ("pass (its source files)", found.passes, most),
        ("file", found.files, most),
    ):
        terminal.print(_table(title, of[:limit], found.compared))
        if len(of) > limit:
            terminal.say(f"and {len(of) - limit} more: --rows, --json", "dim")
        terminal.say("")
    _explain(terminal, found.compared)


def _looked_at(hits: Hits, other: Hits | None) -> Coverage:
    if other is not None and (other.build_id, len(other.hit)) != (hits.build_id, len(hits.hit)):
        raise UnreadableHits(f"--against: of build {other.build_id[:12]}, and the others of {hits.build_id[:12]}")
    reasons = {name: row.why for name, row in PASSES.items()}
    sides = tuple(_neediest(rows(hits, named, other)) for named in (by_pass(reasons), by_file(hits)))
    return Coverage(hits.build_id, other is not None, tuple(rows(hits, by_folder(hits), other)), *sides)


def _neediest(found: list[CoverageRow]) -> tuple[CoverageRow, ...]:
    return tuple(sorted(found, key=lambda row: (-row.missed, row.name)))


def _table(title: str, found: Sequence[CoverageRow], compared: bool) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column(title)
    numbers = ["blocks", "reached", "share", *(["only here", "only there", "there"] if compared else ["not reached"])]
    for column in numbers:
        table.add_column(column, justify="right")
    for row in found:
        table.add_row(*map(cell, (row.name, row.blocks, row.reached, share(row.reached, row.blocks), *_last(row))))
    return table


def _last(row: CoverageRow) -> tuple[int | str, ...]:
    if row.theirs is None or row.both is None:
        return (row.missed,)
    return row.reached - row.both, row.missed, share(row.theirs, row.blocks)


def _explain(terminal: Terminal, compared: bool) -> None:
    there = "; there: what --against has reached" if compared else ""
    terminal.say(one_line(f"Blocks that a verifier or a build reaches count as those of a pass do{there}."), "dim")
