"""What a campaign sees of its workers, wherever they run: idle ones take commands, all of them answer, some end.

A campaign relies on nothing else. What a worker that has ended had not answered is dealt out again by the campaign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from fuzzer.protocol import Answer, Command


@dataclass(slots=True, eq=False)
class Slot:
    """One worker. busy: its command that it has not answered yet, None while idle. since: when it got it, in seconds of
    the campaign. aside_s: the seconds that it has spent on reducing and confirming, known_s: on what looked like a
    known cause. on_known: whether its command is about such. resembles: whether it knows the draws that cases are to
    resemble."""

    busy: Command | None = None
    ready: bool = False
    aside_s: float = 0.0
    known_s: float = 0.0
    on_known: bool = False
    resembles: bool = False
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker itself has ended. how: for people. was_ready: whether it had imported TVM before. killed: from outside,
    as for want of memory. stopped: it was ended since a signal had stopped it for long."""

    how: str
    was_ready: bool
    killed: bool = False
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class FromWorker:
    """What a worker said, or its end. about: the command that it was busy with."""

    slot: Slot
    answer: Answer | WorkerLost
    about: Command | None = None


class Workforce(Protocol):
    """Workers with one plan. batch: how many cases one is handed at once."""

    batch: int

    @property
    def slots(self) -> Sequence[Slot]:
        """The workers that live."""
        ...

    def command(self, slot: Slot, command: Command, now: float) -> None:
        """Sends an idle worker a command."""
        ...

    def answers(self, timeout_s: float) -> Iterator[FromWorker]:
        """What workers have said, waiting at most `timeout_s` for the first."""
        ...

    def replace(self) -> None:
        """Starts a worker in place of a lost one, where that can be done."""
        ...

    def close(self) -> None:
        """Ends every worker with all that it has started."""
        ...
