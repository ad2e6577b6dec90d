"""Why the reference has not run both sides of a pass, and what of that lies in the module itself. No TVM here."""

from __future__ import annotations

import msgspec
from typing_extensions import assert_never

from oracles.evidence import NotInterpreted, ReferenceTrap, Stop

TRAPS = frozenset({"out-of-bounds", "uninitialised", "division-by-zero"})
"""What a module does on every input tried where it means nothing."""

NODES = (
    *("relax.ccl.", "relax.dist."),  # several devices
    *("tirx.ptx", "tirx.s_tir.cp_async", "tirx.start_profile_intrinsic"),  # instructions of a device
    "tirx.call_extern",  # a function of another library
    "tirx.undef",  # undefined on purpose
)
"""How the names begin of TVM's operators that no interpreter can run on a CPU alone."""


class Gap(msgspec.Struct, frozen=True):
    """A reason, as it is counted. by_nature: no interpreter could do better."""

    reason: str
    by_nature: bool = False


def gap_of(reason: str, stop: Stop | None) -> Gap:
    """The gap that a stop of the reference leaves; None where it did not stop. Not for a module after a pass on the
    inputs of the one before it: what traps then may be the pass's doing."""
    match stop:
        case None:
            return Gap(reason)
        case ReferenceTrap(kind):
            return Gap(reason, kind in TRAPS)
        case NotInterpreted(node, outside):
            return Gap(reason, outside or node.startswith(NODES))
        case _:
            assert_never(stop)
