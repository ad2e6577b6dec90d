"""The cases of a campaign: which is dealt out next, which is out, and which comes back because its worker has ended.

Bookkeeping alone: no process, no clock, no file. Each index is answered once, or given up after GIVE_UP ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from corpus.number_of import number_of
from fuzzer.protocol import Failure
from reports.tally import Count

GIVE_UP = 2
"""So many times may a case be in flight when its worker or child is killed, before it is left out: it may be the case
that eats the memory of the machine. Once more where a pass may have done one of them."""
NAMED = 5
"""So many cases that were given up are named; more are counted."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A case that is left out. failure: of the pass that was running both times when its child was killed."""

    index: int
    failure: Failure | None = None


class Deck(Struct):
    """Indices of cases: `index + count * k` for the shard `index` of `count`, k counted from 0.

    limit: so many cases at most, None for no limit. again: to be dealt again. suspects: the same, each alone.
    out: dealt and not answered.
    ends: how often a case was in flight when its process was killed. accused: by case, what a pass did when its child
    was killed, if that happens again. given_up: those that were left out without a failure. As a checkpoint holds it.
    """

    index: Count = 0
    count: Count = 1
    limit: Count | None = None
    fresh: Count = 0
    again: list[Count] = []
    suspects: list[Count] = []
    out: set[Count] = set()
    ends: dict[Count, Count] = {}
    accused: dict[Count, Failure] = {}
    given_up: list[Count] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """A line on the cases that were given up."""
        if not self.given_up:
            return ()
        which = ", ".join(map(str, self.given_up[:NAMED])) + (", ..." if len(self.given_up) > NAMED else "")
        cases = number_of(len(self.given_up), "case")
        return (f"{cases} given up, whose process was killed each time: {which}",)

    @property
    def empty(self) -> bool:
        """Whether nothing is left to deal."""
        return not self.again and not self.suspects and self.limit is not None and self.fresh >= self.limit

    def deal(self, size: int) -> tuple[int, ...]:
        """The next cases, at most `size`: a suspect alone, then what came back, then fresh ones; () when empty."""
        if self.suspects:
            dealt = [self.suspects.pop(0)]
        elif self.again:
            dealt, self.again = self.again[:size], self.again[size:]
        else:
            last = self.fresh + size if self.limit is None else min(self.fresh + size, self.limit)
            dealt = [self.index + self.count * k for k in range(self.fresh, last)]
            self.fresh = max(self.fresh, last)
        self.out.update(dealt)
        return tuple(dealt)

    def answered(self, index: int) -> bool:
        """Notes an answer; False where the case had been answered before, so that this one does not count."""
        if index not in self.out:
            return False
        self.out.discard(index)
        self._forget(index)
        return True

    def _forget(self, index: int) -> None:
        self.ends.pop(index, None)
        self.accused.pop(index, None)

    def returned(self, indices: Iterable[int]) -> None:
        """Cases of a batch that was ended before it came to them: they are dealt again."""
        back = [index for index in indices if index in self.out]
        self.out.difference_update(back)
        self.again = sorted({*self.again, *back})

    def killed(self, index: int, if_again: Failure | None = None) -> GivenUp | None:
        """A case whose process was killed: it is dealt again, alone, or given up.

        if_again: what the pass did that was running then, if it is killed there again; None where it was no pass.
        """
        if index not in self.out:
            return None
        self.out.discard(index)
        before = self.accused.get(index)
        self.ends[index] = self.ends.get(index, 0) + 1
        if self.ends[index] < GIVE_UP + ((before is None) != (if_again is None)):
            self.suspects.append(index)
            if if_again is not None:
                self.accused[index] = if_again
            return None
        self._forget(index)
        if if_again is not None and before is not None and before.culprit == if_again.culprit:
            return GivenUp(index, if_again)
        self.given_up.append(index)
        return GivenUp(index)

    def lost(self, indices: Sequence[int]) -> GivenUp | None:
        """The worker with this batch has ended: what it has not answered is dealt again, the case in flight alone.

        The case that is given up, if any. A worker judges a batch in order, so the first open case was in flight.
        """
        open_ones = [index for index in indices if index in self.out]
        if not open_ones:
            return None
        first, *rest = open_ones
        self.returned(rest)
        return self.killed(first)

    def first_open(self) -> int:
        """Every case of the shard below this index is answered or given up."""
        fresh = self.index + self.count * self.fresh
        return min([fresh, *self.again, *self.suspects, *self.out])
