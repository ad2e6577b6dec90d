"""What a workforce needs of an engine: where seats may be, tasks on them, and what these say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from fuzzer.engines.messages import Opening, SeatSaid


class ClusterGone(Exception):
    """The cluster does not answer any more; the text is one line."""


class Cluster(Protocol):
    """A connection to a cluster, which an adapter of an engine gives. Nothing here waits for a task.

    A place is what the engine may lose as a whole: a worker process of Dask, a node of Ray. name: for people.
    """

    name: str

    def places(self) -> Mapping[str, int]:
        """The places that live, and how many seats each may have. Raises ClusterGone."""
        ...

    def open_seat(self, place: str, opening: Opening) -> None:
        """Opens a seat at a place; `heard` gives what it says of task OPENING."""
        ...

    def submit(self, place: str, seat: str, task: int, command: bytes) -> None:
        """Has an open seat carry out a command, given as a line, once: an engine may lose it, not begin it anew."""
        ...

    def heard(self, timeout_s: float) -> list[SeatSaid]:
        """What seats have said, waiting at most `timeout_s` for the first. A task that the engine has lost is said to
        have ended with its seat."""
        ...

    def forget(self, place: str, seat: str) -> None:
        """A seat is lost: ends what is left of it, if its place lives. Does not wait."""
        ...

    def close(self, campaign: str, places: Collection[str]) -> None:
        """Ends what the campaign has on these places, and a cluster of its own. Takes seconds, not minutes."""
        ...
