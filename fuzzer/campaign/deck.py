"""The cases of a campaign: which is dealt out next, which is out, and which comes back because its worker has ended.

Bookkeeping alone: no process, no clock, no file. Each index is answered once, or given up after GIVE_UP ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from reports.tally import Count

GIVE_UP = 2
"""So many times may a case be in flight when its worker or child is killed, before it is left out: it may be the case
that eats the memory of the machine."""


class Deck(Struct):
    """Indices of cases: `index + count * k` for the shard `index` of `count`, k counted from 0.

    limit: so many cases at most, None for no limit. again: to be dealt again. suspects: the same, each alone.
    out: dealt and not answered.
    ends: how often a case was in flight when its process was killed. As a checkpoint holds it.
    """

    index: Count = 0
    count: Count = 1
    limit: Count | None = None
    fresh: Count = 0
    again: list[Count] = []
    suspects: list[Count] = []
    out: set[Count] = set()
    ends: dict[Count, Count] = {}

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
        self.ends.pop(index, None)
        return True

    def returned(self, indices: Iterable[int]) -> None:
        """Cases of a batch that was ended before it came to them: they are dealt again."""
        back = [index for index in indices if index in self.out]
        self.out.difference_update(back)
        self.again = sorted({*self.again, *back})

    def killed(self, index: int) -> bool:
        """A case whose child was killed: dealt again, alone. True where it is given up instead."""
        if index not in self.out:
            return False
        self.out.discard(index)
        self.ends[index] = self.ends.get(index, 0) + 1
        if self.ends[index] >= GIVE_UP:
            del self.ends[index]
            return True
        self.suspects.append(index)
        return False

    def lost(self, indices: Sequence[int]) -> int | None:
        """The worker with this batch has ended: what it has not answered is dealt again, the case in flight alone.

        The case that is given up, if any. A worker judges a batch in order, so the first open case was in flight.
        """
        open_ones = [index for index in indices if index in self.out]
        if not open_ones:
            return None
        first, *rest = open_ones
        self.returned(rest)
        return first if self.killed(first) else None

    def first_open(self) -> int:
        """Every case of the shard below this index is answered or given up."""
        fresh = self.index + self.count * self.fresh
        return min([fresh, *self.again, *self.suspects, *self.out])
