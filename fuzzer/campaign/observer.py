"""Who watches a campaign: the live display and the files under OUT. The campaign calls them; they never answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fuzzer.settings import Settings
from reports.finding_row import FindingRow
from reports.tally import Tally


class Observer(Protocol):
    """Called with a campaign's events, from its one process and thread. `now` is seconds of the campaign, with those of
    the runs that it goes on with."""

    def on_begin(self) -> None:
        """Once, of a campaign that goes on with none, before there are workers. Raises OSError."""
        ...

    def on_start(self, settings: Settings) -> None:
        """Once, before the first case. The settings' time is when the campaign ends, as `now` counts; None, too, where
        that is not known yet."""
        ...

    def on_limits(self, settings: Settings) -> None:
        """Once, where draws were tried before the first case: when the campaign ends is known from now on."""
        ...

    def on_tally(self, tally: Tally, now: float) -> None:
        """Whenever counters moved; often, so observers do costly things now and then only."""
        ...

    def on_finding(self, row: FindingRow) -> None:
        """A finding with a new signature, or the same signature again when it changed (reduced, counted)."""
        ...

    def on_end(self) -> None:
        """Once, also after an interrupt or an error."""
        ...


@dataclass(frozen=True, slots=True)
class Observers:
    """Several observers as one, called in order; none is an observer that ignores everything."""

    members: tuple[Observer, ...] = ()

    def on_begin(self) -> None:
        for member in self.members:
            member.on_begin()

    def on_start(self, settings: Settings) -> None:
        for member in self.members:
            member.on_start(settings)

    def on_limits(self, settings: Settings) -> None:
        for member in self.members:
            member.on_limits(settings)

    def on_tally(self, tally: Tally, now: float) -> None:
        for member in self.members:
            member.on_tally(tally, now)

    def on_finding(self, row: FindingRow) -> None:
        for member in self.members:
            member.on_finding(row)

    def on_end(self) -> None:
        for member in self.members:
            member.on_end()
