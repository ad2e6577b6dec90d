"""How long candidates are waited for: the first one for long, the others in proportion to those that ended: of a hang
to those that do not show it, of other failures to those that do."""

from __future__ import annotations

import resource
from collections import deque
from dataclasses import dataclass, field

FIRST_S = 4.0
"""Seconds after which the first candidate of a hang counts as hanging: stages that end take milliseconds."""
SHORTEST_S = 0.25
"""No candidate is waited for less than that."""
TIMES = 8
"""A candidate that takes so many times as long as the slowest of the last that ended counts as hanging."""
RECENT = 3
"""So many of the last that ended count: candidates become smaller, and end sooner."""


@dataclass(slots=True)
class HangLimit:
    """whole_s: seconds for the first candidate. ended: CPU seconds of the last candidates that ended. shortened:
    whether any candidate has had less than the first one; the limit may be whole again since."""

    whole_s: float
    ended: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    shortened: bool = False

    def took(self, seconds: float) -> None:
        """One more candidate has ended, after so many CPU seconds."""
        self.ended.append(seconds)
        self.shortened |= self.seconds < self.whole_s

    @property
    def is_long(self) -> bool:
        """Whether it is worth a measurement to wait for less: nothing has ended, or only what was larger."""
        return not self.ended or self.seconds >= LONG * SHORTEST_S

    def forget(self) -> None:
        """What has ended so far was larger than what comes."""
        self.ended.clear()

    @property
    def seconds(self) -> float:
        """Seconds for the next candidate. Nothing of what ends is known before one has ended."""
        if not self.ended:
            return self.whole_s
        return min(self.whole_s, max(SHORTEST_S, TIMES * max(self.ended)))


LONG = 2
"""A limit of so many times the shortest one is measured anew for a smaller candidate."""
PROMPT_S = 1.0
"""No candidate of a failure that is no hang is waited for less than that."""


@dataclass(slots=True)
class ShownLimit:
    """whole_s: seconds for the first candidate of a failure that is no hang. shown: CPU seconds of the last candidates
    that showed it. What loses the step of a loop runs for ever, in the reference or in what is built."""

    whole_s: float
    shown: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def took(self, seconds: float) -> None:
        """One more candidate has shown the failure, after so many CPU seconds."""
        self.shown.append(seconds)

    def restart(self) -> None:
        """Candidates as large as the first one come again."""
        self.shown.clear()

    @property
    def seconds(self) -> float:
        """Seconds for the next candidate."""
        if not self.shown:
            return self.whole_s
        return min(self.whole_s, max(PROMPT_S, TIMES * max(self.shown)))


def of_children_s() -> float:
    """CPU seconds of the children that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
