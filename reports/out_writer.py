"""Keeps the files under OUT current while a campaign runs, so that a kill at any moment loses seconds of counting."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reports.finding_row import FindingRow
from reports.reached import Reached
from reports.summary import Report, RunFacts, append_finding, write_findings, write_out
from reports.tally import Tally

INTERVAL_S = 5.0
MOST_OF_TIME = 0.02
"""The share of a campaign's time that goes into its reports, which are long after hundreds of findings."""


class OutWriter:
    """An observer of a campaign (see fuzzer.campaign.observer) that writes OUT/summary.json and OUT/findings.jsonl.

    A new finding is on disk at once; counters every `interval_s`, and with them what `others` writes, the reports, or
    later where this would take more than MOST_OF_TIME. rows: findings that there are already, of the campaign that this
    one goes on with. clock: seconds, of what writing takes. reached: what of TVM's own code has been reached after so
    many seconds of the campaign.
    """

    def __init__(
        self,
        out: Path,
        facts: RunFacts,
        interval_s: float = INTERVAL_S,
        others: Callable[[Path, Report], object] = lambda out, report: None,
        rows: Iterable[FindingRow] = (),
        clock: Callable[[], float] = time.perf_counter,
        reached: Callable[[float], Reached | None] = lambda now: None,
    ) -> None:
        self._out = out
        self._others = others
        self._facts = facts
        self._interval_s = interval_s
        self._tally = Tally()
        self._now = 0.0
        self._written_at = 0.0
        self._clock = clock
        self._reached = reached
        self._others_after = 0.0
        self._rows = {row.signature: row for row in rows}

    def on_begin(self) -> None:
        """Says that a run has begun, for who reads OUT of one that is killed before its first case."""
        write_out(self._out, self._report())

    def on_start(self, settings: object) -> None:
        self._write()

    def on_limits(self, settings: object) -> None: ...

    def on_tally(self, tally: Tally, now: float) -> None:
        self._tally, self._now = tally, now
        if now - self._written_at >= self._interval_s:
            self._write()

    def on_finding(self, row: FindingRow) -> None:
        seen = row.signature in self._rows
        self._rows[row.signature] = row
        if seen:
            write_findings(self._out, self._rows.values())
        else:
            append_finding(self._out, row)

    def on_end(self) -> None:
        """Nothing: who knows how the campaign ended writes it with `write`. Until then OUT says that it has not."""

    def _write(self) -> None:
        self._written_at = self._now
        report = self._report()
        write_out(self._out, report)
        if self._now >= self._others_after:
            self._write_others(report)

    def _report(self) -> Report:
        facts = replace(self._facts, wall_s=self._now, coverage=self._reached(self._now))
        return Report(facts, self._tally, tuple(self._rows.values()), facts.notes)

    def _write_others(self, report: Report) -> None:
        start = self._clock()
        try:
            self._others(self._out, report)
        finally:
            self._others_after = self._now + (self._clock() - start) / MOST_OF_TIME

    def write(self, report: Report) -> None:
        """Writes every file anew; summary.json last, which says how the run has ended. Raises OSError, of which that
        file tells where it can be written."""
        try:
            write_findings(self._out, report.findings)
            self._write_others(report)
        except OSError as error:
            why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            facts = replace(report.facts, ended="fault", own_fault=report.facts.own_fault or why)
            with suppress(OSError):
                write_out(self._out, replace(report, facts=facts))
            raise
        write_out(self._out, report)
