"""What the reference says of a module: it has no meaning, agrees with the starting one, is wrong, or is unclear."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from oracles.evidence import Evidence, KernelTrapKind, ReferenceTrap, Stop, TrapKind
from oracles.reference.compare import Agreement
from oracles.reference.errors import Trap, Unsupported, symptom_of
from oracles.verdict import Inconclusive, Skipped

OPEN: tuple[TrapKind, ...] = ("integer-overflow", "fuel")
"""Traps of valid programs: TVM leaves the result of overflow open (apache/tvm#12383), and some run for long."""
DISCARDS: tuple[TrapKind, ...] = (*OPEN, "float8-range", "domain")
"""Traps that say nothing against a pass: those of valid programs; and values that no input is drawn
from."""
TOO_WIDE = "every bound is wider than its value"


@dataclass(frozen=True, slots=True)
class NoMeaning:
    """Why the starting module has no reference result: a trap (ours or the program's) or an unknown construct.

    trap: the trap's words, and kind: its kind; None for an unknown construct.
    """

    reason: str
    trap: str | None = None
    kind: TrapKind | KernelTrapKind | None = None
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A module gives another result, or none: `symptom`, one line, and the entry call that shows it."""

    symptom: str
    message: str
    call: int
    evidence: Evidence | None = None
    how: str = ""
    """What the bound is, where it is not the worst case."""
    traceback: str = ""
    """Of what was raised before anything ran."""


@dataclass(frozen=True, slots=True)
class Unsure:
    """Nothing can be said of a module: `skipped` when it was not run, else the bounds were infinite or too wide.

    width: how many times as wide as the values the bounds are; 0 where that is not the reason.
    """

    reason: str
    skipped: bool = True
    stop: Stop | None = None
    width: float = 0.0

    @property
    def verdict(self) -> Skipped | Inconclusive:
        """What an oracle says of it."""
        if self.skipped:
            return Skipped(self.reason, stop=self.stop)
        return Inconclusive(self.reason, f"{self.width:.3g} times as wide" if self.width else "")


Outcome: TypeAlias = "None | Wrong | Unsure"
"""What is said of a module beside the starting one; None where all results agree."""


def no_meaning(error: Trap | Unsupported) -> NoMeaning:
    """What is said of the starting module where its run ends so."""
    match error:
        case Unsupported():
            return NoMeaning(f"reference: {error.node}", stop=error.stop)
        case Trap():
            trap = f"{error.kind}: {error.detail}"
            stop = error.evidence if isinstance(error.evidence, ReferenceTrap) else None
            return NoMeaning(symptom_of(error.kind), trap, error.kind, stop)


def without_result(error: Trap | Unsupported, call: int) -> Wrong | Unsure:
    """What is said of another module where the run of an entry call ends so."""
    match error:
        case Unsupported():
            return Unsure(f"reference: {error.node}", stop=error.stop)
        case Trap(kind=kind) if kind in DISCARDS:
            return Unsure(f"discarded: {kind}")
        case Trap():
            return Wrong(symptom_of(error.kind), error.detail, call, error.evidence)


def no_difference(outcome: Outcome) -> bool:
    """Whether a module was run and nothing was found, though bounds may have been too wide to find anything."""
    return outcome is None or (isinstance(outcome, Unsure) and outcome.width > 0)


def undecided(agreed: list[Agreement]) -> Unsure | None:
    """What is said of entry calls that agree: Unsure where a finite bound is too wide for an output of one of them, or
    where the bounds of all outputs of all of them are."""
    if not agreed:
        return None
    if min(agreement.undecided for agreement in agreed) >= 1.0:
        return Unsure("every bound is infinite", skipped=False)
    finite = [w for agreement in agreed for w in agreement.widths if math.isfinite(w)]
    if any(finite):
        return Unsure(TOO_WIDE, skipped=False, width=max(finite))
    silent = [min(agreement.widths, default=0.0) for agreement in agreed]
    return Unsure(TOO_WIDE, skipped=False, width=min(silent)) if min(silent) > 0 else None
