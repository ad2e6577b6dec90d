"""When a worker leaves the cases that are left alone, to reduce a failure or to confirm a finding, and for how long."""

from __future__ import annotations

from fuzzer.campaign.docket import Docket
from fuzzer.processes.workforce import Slot

ASIDE_SHARE = 0.6
"""Reducing and confirming take at most this share of a worker's time while there is time left to look for more."""
KNOWN_SHARE = 0.1
"""The same for what looks like a known cause: it is no news."""
FIRST_S = 2.0
"""Seconds that each worker may take aside at once, so that the first finding comes early."""
REDUCE_S = 15.0
"""CPU seconds that one reduction may take."""
REDUCE_NEW_S = 45.0
"""The same of what looks new, and at most a tenth of the time that the campaign has left: people read these."""
CEILING_S = 60.0
"""Seconds of the clock that it may take on a busy machine."""


def steps_aside(slot: Slot, docket: Docket, since_start_s: float) -> bool:
    """Whether an idle worker takes what waits in the docket before more cases."""
    if slot.aside_s > ASIDE_SHARE * since_start_s + FIRST_S:
        return False
    return docket.waits_new or (docket.waits and slot.known_s <= KNOWN_SHARE * since_start_s)


def reduction_limits(left_s: float, looks_known: bool) -> tuple[float, float]:
    """The seconds of CPU and of the clock that a reduction may take, where so many are left of the campaign."""
    cpu_s = REDUCE_S if looks_known else min(REDUCE_NEW_S, max(REDUCE_S, left_s / 10))
    ceiling = max(2.0, min(CEILING_S, left_s / 2))
    return min(cpu_s, ceiling), ceiling
