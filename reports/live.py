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
from corpus.number_of import number_of
from reports.causes import CauseRow, causes_of, headline
from reports.finding_row import FindingRow
from reports.severity import best, first_seen, severity
from reports.tally import Tally
from reports.terminal import Terminal, cell
from reports.words import progress_line, title

REDRAW_S = 0.25
LINE_S = 10.0
SHOWN_CAUSES = 6
TIME_UP = "the time is up: what was seen is reduced and confirmed"
"""Where no case is dealt out any more, and a run goes on for up to `fuzzer.campaign.loop.GRACE_S` seconds."""
ALL_JUDGED = "every case is judged: what was seen is reduced and confirmed"
"""The same where the number of cases was given."""


class LiveSettings(Protocol):
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
    """Cases, their rate and valid share, time left, how many causes are new and known, and the newest new ones."""

    def __init__(self, console: Terminal) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._limits: LiveSettings | None = None
        self._rows: dict[str, FindingRow] = {}
        self._news: list[CauseRow] = []
        self._headline = headline(())
        self._tally = Tally()
        self._shown_at = 0.0
        self._now: float | None = None
        """Seconds of the campaign; None before anything was judged, when what comes is what a resumed run had found."""
        self._settled, self._judged_s = 0, 0.0
        """How many cases had been counted, and when the last one was. (A campaign gives the same tally each time.)"""

    def on_begin(self) -> None: ...

    def on_start(self, settings: LiveSettings) -> None:
        self._limits = settings
        self._print(f"seed {settings.seed}, {number_of(settings.jobs, 'worker')}, results in {settings.out}")
        if self._live is not None:
            self._live.start()

    def on_limits(self, settings: LiveSettings) -> None:
        self._limits = settings

    def on_tally(self, tally: Tally, now: float) -> None:
        if tally.settled != self._settled:
            self._settled, self._judged_s = tally.settled, now
        self._tally, self._now = tally, now
        if now - self._shown_at < (LINE_S if self._live is None else REDRAW_S):
            return
        self._shown_at = now
        if self._live is None:
            self._print(self._status(now))
        else:
            self._live.update(self._screen(now), refresh=True)

    def on_finding(self, row: FindingRow) -> None:
        self._rows[row.signature] = row
        causes = causes_of(self._rows.values())
        news = [cause for cause in causes if not cause.known]
        self._headline = headline(self._rows.values())
        told, self._news = {cause.id for cause in self._news}, news
        if self._live is None:
            for cause in news:
                if cause.id not in told:
                    self._print(_new_line(cause, self._now))

    def on_end(self) -> None:
        if self._live is not None:
            self._live.stop()

    def _status(self, now: float) -> str:
        limits = self._limits
        ended = limits is not None and _all_dealt(limits, self._tally, now)
        parts = [progress_line(self._tally, self._judged_s if ended else now), self._headline]
        if limits is not None:
            parts += [left_line(limits, self._tally, now), number_of(limits.jobs, "worker")]
        return f"[{now:.0f} s] " + ", ".join(part for part in parts if part)

    def _screen(self, now: float) -> RenderableType:
        newest = sorted(self._news, key=first_seen, reverse=True)[:SHOWN_CAUSES]
        return Group(Text(self._status(now)), *([_causes_table(newest)] if newest else []))

    def _print(self, line: str) -> None:
        self._console.say(one_line(line))


def left_line(limits: LiveSettings, tally: Tally, now: float) -> str:
    """What is left of the time and of the cases, empty when neither is limited."""
    if _time_is_up(limits, now):
        return TIME_UP
    if _all_dealt(limits, tally, now):
        return ALL_JUDGED
    left = []
    if limits.time_s is not None:
        left.append(f"{limits.time_s - now:.0f} s left")
    if limits.cases is not None:
        left.append(f"{number_of(limits.cases - tally.settled, 'case')} left")
    return ", ".join(left)


def _time_is_up(limits: LiveSettings, now: float) -> bool:
    return limits.time_s is not None and now >= limits.time_s


def _all_dealt(limits: LiveSettings, tally: Tally, now: float) -> bool:
    """Whether no case is dealt out any more."""
    return _time_is_up(limits, now) or (limits.cases is not None and tally.settled >= limits.cases)


def _new_line(cause: CauseRow, now: float | None) -> str:
    """A new cause in a log, whose lines go forward in time: when it is told and not when it was seen."""
    when = "earlier" if now is None else f"{now:.0f} s"
    what = "returned" if cause.standing == "returned" else "new"
    where = f"{severity(cause)}: {best(cause).where}"
    return f"[{when}] {what}: {where}: {title(cause)}"


def _causes_table(causes: list[CauseRow]) -> Table:
    """What happens gets what is left of the width: the pass must never be squeezed out."""
    table = Table(box=None, header_style="bold", expand=True)
    for column in ("newest new cause", "pass", "seen"):
        table.add_column(column, no_wrap=True)
    table.add_column("what happens", no_wrap=True, overflow="ellipsis", ratio=1)
    for cause in causes:
        cells = (severity(cause), best(cause).where, f"{cause.count}", title(cause))
        table.add_row(*map(cell, cells), style="red")
    return table
