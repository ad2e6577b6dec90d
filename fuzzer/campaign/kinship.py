"""The draws that cases resemble where passes under test fire rarely: tried once, by one worker, before the first case.

What was found decides what the cases are, and may depend on a clock: it is kept with the campaign, so that one that is
gone on with has the same cases. What is tried, and why, is in `fuzzer.worker.kin`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from corpus.number_of import number_of
from fuzzer.errors import tell
from fuzzer.processes.workforce import Slot, Workforce
from fuzzer.protocol import Resemble, TriedDraws, TryDraws
from generators.source import Choices

TRIALS = 48
"""Draws that are tried: a pass that fires in one of twenty is seen in nine of ten campaigns."""
MORE_TRIALS = 144
"""Draws that are tried after these for a pass that has fired on none: one on which it fires brings others, and without
it the pass may fire in no case at all."""
TRYING_S = 60.0
"""Seconds after which no more draws are tried: of a pass that takes a second, the first cases are worth more."""
SAID_AFTER_S = 1.0
"""Seconds after which the user is told what is waited for."""
LOST = 2
"""So many workers may end while they try: then the campaign begins without."""


@dataclass(slots=True)
class Kinship:
    """What one campaign has tried. found: None as long as it is not known. seconds: that the trials have taken."""

    found: TriedDraws | None = None
    seconds: float = 0.0
    _trying: Slot | None = None
    _began: float = 0.0
    _told: bool = False
    _lost: int = 0

    @property
    def known(self) -> bool:
        """Whether cases can be dealt out: they do not change any more."""
        return self.found is not None

    def heard(self, tries: bool) -> None:
        """A worker is ready, and says whether there is anything to try."""
        if not tries:
            self.found = self.found or TriedDraws({}, 0, 0)

    @property
    def kin(self) -> dict[str, tuple[Choices, ...]]:
        """By target, the choices of the draws that cases resemble."""
        return {} if self.found is None else self.found.kin

    def employs(self, pool: Workforce, slot: Slot, now: float) -> bool:
        """Whether an idle worker has something to do before all else, which it is given, or has to wait for another."""
        if self.found is None:
            if self._trying is None:
                self._trying, self._began = slot, time.monotonic()
                pool.command(slot, TryDraws(TRIALS, TRYING_S, MORE_TRIALS), now)
            return True
        if slot.resembles or not self.found.kin:
            return False
        slot.resembles = True
        pool.command(slot, Resemble(self.found.kin), now)
        return True

    def take(self, tried: TriedDraws) -> None:
        """What the worker has found."""
        self.found = tried
        self.seconds += time.monotonic() - self._began

    def lost(self) -> TriedDraws | None:
        """The worker has ended: another one tries; after too many, what the campaign has to begin with."""
        self._lost += 1
        if self._lost >= LOST:
            return TriedDraws({}, 0, TRIALS)
        self._trying = None
        self.seconds += time.monotonic() - self._began
        return None

    def unanswered(self) -> TriedDraws | None:
        """The worker has done with it: as `lost`, where it has not said what it found."""
        return None if self.known else self.lost()

    def look(self) -> None:
        """Says what is waited for, once, where it takes long."""
        waiting = self._trying is not None and self.found is None
        if waiting and not self._told and time.monotonic() - self._began >= SAID_AFTER_S:
            self._told = True
            many = f"{number_of(TRIALS, 'draw')}, and up to {TRIALS + MORE_TRIALS} where a pass fires on none"
            tell(f"trying {many}, on the passes under test first, for up to {TRYING_S:g} s")

    @property
    def notes(self) -> tuple[str, ...]:
        """A line where the clock has had a say in what the cases are."""
        if self.found is None or self.found.tried == self.found.of:
            return ()
        tried = f"{self.found.tried} of {number_of(self.found.of, 'draw')} could be tried before the first case"
        return (f"{tried}: another run with this seed may have other cases; --resume has the same",)
