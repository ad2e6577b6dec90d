"""What watches while a failure is made small, and has a say in what is kept. Worker processes only."""

from __future__ import annotations

import os
import time
from typing import Protocol

from corpus.reduce import Candidate, Smallest
from fuzzer.protocol import Failure


class Watch(Protocol):
    """What watches. tries: how often a candidate is judged that does not fail at once.
    jobs: so many candidates are judged at the same time."""

    @property
    def tries(self) -> int: ...

    @property
    def jobs(self) -> int: ...

    @property
    def stopped(self) -> bool:
        """Whether a user has ended the reduction: what is there is told, and nothing more is asked about it."""
        ...

    def fits(self, failure: Failure) -> bool:
        """Whether a failure, in the same way as that of the case, may be kept."""
        ...

    def clock(self) -> float:
        """Seconds. Where it is ahead of the time for a reduction, that ends with the smallest so far."""
        ...

    def asks(self) -> None:
        """Called between candidates: what is due can be told."""
        ...

    def better(self, candidate: Candidate, failure: Failure, calls: int) -> None:
        """A smaller candidate fails in the same way, with this failure; `calls` were judged until then."""
        ...

    def met(self, failure: Failure) -> None:
        """A candidate fails in another way."""
        ...

    def searched(self, smallest: Smallest) -> None:
        """A search is at its end."""
        ...


class Unwatched:
    """Nothing watches, and every failure may be kept that is like that of the case."""

    tries = 1
    jobs = 1
    stopped = False

    def fits(self, failure: Failure) -> bool:
        return True

    def clock(self) -> float:
        return time.monotonic()

    def asks(self) -> None:
        pass

    def better(self, candidate: Candidate, failure: Failure, calls: int) -> None:
        pass

    def met(self, failure: Failure) -> None:
        pass

    def searched(self, smallest: Smallest) -> None:
        pass


UNWATCHED: Watch = Unwatched()


class Paced(Unwatched):
    """Nothing watches, and the time is the CPU's: of this process, and of the children that it has waited for. So what
    a failure reduces to does not follow what else the machine does.

    budget_s: CPU seconds for the reduction. ceiling_s: seconds of the clock after which its time is up too.
    """

    def __init__(self, budget_s: float, ceiling_s: float) -> None:
        self._rate = budget_s / ceiling_s if ceiling_s else 1.0
        self._used, self._began = _cpu_s(), time.monotonic()

    def clock(self) -> float:
        return max(_cpu_s() - self._used, (time.monotonic() - self._began) * self._rate)


def _cpu_s() -> float:
    return sum(os.times()[:4])
