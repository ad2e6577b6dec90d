"""How often a script shows a failure that depends on chance, and what follows for whoever runs it."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

SURE = 0.99
"""How likely a failure with the rate that was measured shows in `ReproRate.tries` runs."""
MOST_TRIES = 50


class ReproRate(msgspec.Struct, frozen=True):
    """times: how many of `runs` runs showed the failure. Other counts are refused where they are read."""

    times: Annotated[int, msgspec.Meta(ge=0)]
    runs: Annotated[int, msgspec.Meta(ge=1, le=10_000)]

    def __str__(self) -> str:
        return f"{self.times} of {self.runs}"

    def __post_init__(self) -> None:
        if self.times > self.runs:
            raise ValueError(f"{self}: more than each")

    @property
    def each_time(self) -> bool:
        return self.times == self.runs

    @property
    def tries(self) -> int:
        """How many runs show such a failure almost for sure."""
        if self.each_time:
            return 1
        rate = max(self.times, 0.5) / self.runs
        return min(MOST_TRIES, math.ceil(math.log(1 - SURE) / math.log(1 - rate)))
