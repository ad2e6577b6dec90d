"""How long candidates are waited for: the first one for long, the others in proportion to those that ended: of a hang
to those that do not show it, of other failures to those that do."""

from __future__ import annotations

import resource
from collections import deque
from dataclasses import dataclass, field

FIRST_S = 4.0
"""Seconds after which the first candidate of a hang counts as hanging: stages that end take milliseconds."""
SHORTEST_S = 0.25
"""No candidate of a hang is waited for less than that."""
TIMES = 8
"""A candidate that takes so many times as long as the slowest of the last ones counts as hanging."""
RECENT = 3
"""So many of the last ones count: candidates become smaller, and end sooner."""


LONG = 2
"""A limit of so many times the shortest one is measured anew for a smaller candidate."""
PROMPT_S = 1.0
"""No candidate of a failure that is no hang is waited for less than that: what loses the step of a loop runs for ever,
in the reference or in what is built."""


@dataclass(slots=True)
class CandidateLimit:
    """whole_s: seconds for the first candidate. shortest_s: for any. recent: CPU seconds of the last candidates that
    count. shortened: whether any candidate has had less than the first one; the limit may be whole again since."""

    whole_s: float
    shortest_s: float
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    shortened: bool = False

    @classmethod
    def of_hang(cls, deadline_s: float) -> CandidateLimit:
        """deadline_s: seconds that a case may take."""
        return cls(min(deadline_s, FIRST_S), SHORTEST_S)

    @classmethod
    def of_failure(cls, deadline_s: float) -> CandidateLimit:
        """Of a failure that is no hang."""
        return cls(deadline_s, PROMPT_S)

    def took(self, seconds: float) -> None:
        """One more candidate counts, which took so many CPU seconds."""
        self.recent.append(seconds)
        self.shortened |= self.seconds < self.whole_s

    @property
    def is_long(self) -> bool:
        """Whether it is worth a measurement to wait for less: none has counted, or only larger ones."""
        return not self.recent or self.seconds >= LONG * self.shortest_s

    def forget(self) -> None:
        """The candidates so far were of another size than what comes."""
        self.recent.clear()

    @property
    def seconds(self) -> float:
        """Seconds for the next candidate. Nothing is known before one has counted."""
        if not self.recent:
            return self.whole_s
        return min(self.whole_s, max(self.shortest_s, TIMES * max(self.recent)))


def of_children_s() -> float:
    """CPU seconds of the children that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
