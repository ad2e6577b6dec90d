"""When the workers that end are too many. No process, no clock.

A node of a cluster that goes takes many workers at once, and a campaign of days sees many go one by one; both go on.
Where workers end and nothing is answered meanwhile, nothing ever will be.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus.number_of import number_of

LOST_PER_WORKER = 10
"""So many workers may end in a row, for each that there was at once, before the campaign ends by its own fault."""


@dataclass(slots=True)
class Losses:
    """in_a_row: workers that have ended since one has last answered a case or carried out a command. most: that there
    were at once. all: that have ended."""

    in_a_row: int = 0
    most: int = 0
    all: int = 0

    def worked(self) -> None:
        """A case was answered, or a command carried out."""
        self.in_a_row = 0

    def another(self, left: int) -> bool:
        """One more has ended, and so many are left. Whether that is one too many."""
        self.most = max(self.most, left + 1)
        self.in_a_row += 1
        self.all += 1
        return self.in_a_row > LOST_PER_WORKER * self.most

    @property
    def notes(self) -> tuple[str, ...]:
        """A line on the workers that were lost and replaced."""
        if not self.all:
            return ()
        went = "ended before its time, or was" if self.all == 1 else "ended before their time, or were"
        return (f"{number_of(self.all, 'worker process', 'worker processes')} {went} stopped for good",)
