"""What people see while a campaign runs: a table that redraws itself on a terminal, plain lines elsewhere.

An observer (see `fuzzer.campaign.observer`). It redraws only on an event: there is no thread of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from corpus.escapes import one_line
from reports.causes import headline
from reports.finding_row import FindingRow
from reports.tally import PASS_COLUMNS, Tally
from reports.terminal import Terminal, cell
from reports.words import finding_line, neediest_first, progress_line

REDRAW_S = 0.25
LINE_S = 10.0
SHOWN_FINDINGS = 6
SHOWN_PASSES = 10


class Limits(Protocol):
    """What the display needs to know of a campaign's settings."""

    @property
    def seed(self) -> int: ...
    @property
    def time_s(self) -> float | None: ...
    @property
    def cases(self) -> int | None: ...
    @property
    def jobs(self) -> int: ...
    @property
    def out(self) -> Path: ...


class LiveDisplay:
    """Cases per second, valid share, newest findings with their culprit, passes that fire least, time left."""

    def __init__(self, console: Terminal) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._limits: Limits | None = None
        self._rows: dict[str, FindingRow] = {}
        self._tally = Tally()
        self._shown_at = 0.0

    def on_start(self, settings: Limits) -> None:
        self._limits = settings
        self._print(f"seed {settings.seed}, {settings.jobs} workers, results in {settings.out}")
        if self._live is not None:
            self._live.start()

    def on_tally(self, tally: Tally, now: float) -> None:
        self._tally = tally
        if now - self._shown_at < (LINE_S if self._live is None else REDRAW_S):
            return
        self._shown_at = now
        if self._live is None:
            self._print(self._status(now))
        else:
            self._live.update(self._screen(now), refresh=True)

    def on_finding(self, row: FindingRow) -> None:
        is_news = row.signature not in self._rows
        self._rows[row.signature] = row
        if is_news and self._live is None:
            self._print(f"[{row.at_s:.0f} s] {finding_line(row)}")

    def on_end(self) -> None:
        if self._live is not None:
            self._live.stop()

    def _status(self, now: float) -> str:
        parts = [progress_line(self._tally, now), headline(self._rows.values())]
        if self._limits is not None:
            parts += [left_line(self._limits, self._tally, now), f"{self._limits.jobs} workers"]
        return f"[{now:.0f} s] " + ", ".join(part for part in parts if part)

    def _screen(self, now: float) -> RenderableType:
        findings = _findings_table(list(self._rows.values())[-SHOWN_FINDINGS:])
        return Group(Text(self._status(now)), findings, fire_table(self._tally, SHOWN_PASSES))

    def _print(self, line: str) -> None:
        self._console.say(one_line(line))


def left_line(limits: Limits, tally: Tally, now: float) -> str:
    """What is left of the time and of the cases, empty when neither is limited."""
    left = []
    if limits.time_s is not None:
        left.append(f"{max(0.0, limits.time_s - now):.0f} s left")
    if limits.cases is not None:
        left.append(f"{max(0, limits.cases - tally.cases)} cases left")
    return ", ".join(left)


def fire_table(tally: Tally, rows: int) -> Table:
    """How often each pass changed a module, the neediest passes first."""
    table = Table("pass that fires least", box=None, header_style="bold")
    for column in PASS_COLUMNS:
        table.add_column(column, justify="right")
    for name, counts in neediest_first(tally)[:rows]:
        table.add_row(cell(name), *(str(counts[column]) for column in PASS_COLUMNS))
    return table


def _findings_table(rows: list[FindingRow]) -> Table:
    """The message gets what is left of the width: the culprit must never be squeezed out."""
    table = Table(box=None, header_style="bold", expand=True)
    for column in ("newest finding", "symptom", "oracle", "tier", "seen"):
        table.add_column(column, no_wrap=True)
    table.add_column("message", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in reversed(rows):
        cells = (row.where, row.symptom, row.oracle, row.tier, f"{row.count}", row.message)
        table.add_row(*map(cell, cells), style="dim" if row.known else "red")
    return table
