"""What raises in our own code while more is asked of a failure that is certain: the finding outlives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from oracles.forked import ChildRaised, in_a_line

T = TypeVar("T")


@dataclass(slots=True)
class OwnFaults:
    """The faults met so far, each a line that says what was asked."""

    lines: list[str] = field(default_factory=list)

    def unless_at_fault(self, what: str, ask: Callable[[], T], unknown: T) -> T:
        """The answer, or `unknown` where asking raises. what: what is asked, for readers, as in "looking for ..."."""
        try:
            return ask()
        except ChildRaised as fault:
            self.lines.append(f"{what}: {fault}")
        except Exception as fault:  # noqa: BLE001  Whatever it is, it is ours, and no reason to lose a finding.
            self.lines.append(f"{what}: {in_a_line(fault)}")
        return unknown

    def __str__(self) -> str:
        return "; ".join(self.lines)
