"""What runs on the nodes of a cluster: seats, each a thread that keeps one local worker process and its scratch folder.

Engines call `open_seat`, `obey` and `close_campaign` in processes of theirs. None of these raises: what goes wrong is
said as how the seat was lost. A seat ends with its process, with its campaign, or when it is idle for too long; what a
killed process has left on disk, the next seat of that machine removes. No TVM here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue

import msgspec
from typing_extensions import assert_never

from fuzzer.engines.baggage import Paths, unpack
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, versions
from fuzzer.processes.lines import line_of
from fuzzer.processes.pool import Pool
from fuzzer.processes.scratch import scratch_folder
from fuzzer.processes.workforce import WorkerLost
from fuzzer.protocol import (
    Begin,
    Command,
    Confirm,
    Done,
    JudgeCases,
    Ready,
    Reduce,
    Refused,
    Resemble,
    TakeDigests,
    TryDraws,
)

STREAM_S = 1.0
"""Answers are sent on after so many seconds, many at once: a message of an engine costs as much as judging does."""
IDLE_S = 120.0
"""After so many seconds without a task a seat ends: its campaign was killed."""
OPENING_S = 180.0
"""Seconds until a worker process has imported TVM."""
PATIENCE_S = 600.0
"""Seconds beyond its own limit that a command may take: a worker process ends its children long before."""
CLOSING_S = 3.0
"""Seconds that ending the seats of a campaign may take."""
_POLL_S = 0.2
_SCRATCH = "passfuzz-seat-"


class Seat:
    """One local worker process of a campaign elsewhere. It carries out one task at a time.

    The thread that starts the worker process lives as long as that: the kernel ends a child with the thread.
    """

    def __init__(self, opening: Opening, baggage: bytes) -> None:
        self.opening = opening
        self._baggage = baggage
        self._tasks: SimpleQueue[tuple[int, Command] | None] = SimpleQueue()
        self._said: SimpleQueue[SeatSaid] = SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._live, name=opening.seat, daemon=True)
        self._thread.start()

    def ask(self, task: int, command: Command) -> None:
        """Gives it a task; `said` then says what comes of it."""
        self._tasks.put((task, command))

    def said(self) -> SeatSaid:
        """The next report on its task. Waits for it; the wait always ends."""
        while True:
            try:
                return self._said.get(timeout=_POLL_S)
            except Empty:
                if not self._thread.is_alive() and self._said.empty():
                    return SeatSaid(self.opening.seat, -1, ended=True, lost="the seat has ended")

    def close(self) -> None:
        """Has it end, with its worker process. Does not wait."""
        self._closing.set()
        self._tasks.put(None)

    def join(self, seconds: float) -> None:
        """Waits for its end."""
        self._thread.join(max(0.0, seconds))

    def _live(self) -> None:
        task = [OPENING]
        try:
            with scratch_folder(_SCRATCH) as scratch:
                here = unpack(self._baggage, self.opening.plan, scratch)
                self._baggage = b""
                pool = Pool(here, 1, self.opening.hash_seed)
                try:
                    self._attend(pool, Paths(self.opening.plan, here), task)
                finally:
                    pool.close()
        except Exception as error:  # noqa: BLE001 - the boundary of a node: the campaign hears of it, the engine does not
            self._say(task[0], 0, [], lost=f"{type(error).__name__}: {error}")
        finally:
            _SEATS.pop(self.opening.seat, None)

    def _attend(self, pool: Pool, paths: Paths, task: list[int]) -> None:
        """Carries out tasks until it is closed, idle for too long, or its worker process has ended."""
        lives = self._carry_out(pool, paths, OPENING, OPENING_S)
        while lives and not self._closing.is_set():
            try:
                asked = self._tasks.get(timeout=IDLE_S)
            except Empty:
                return
            if asked is None:
                return
            task[0], command = asked
            pool.command(pool.slots[0], paths.arriving(command), 0.0)
            lives = self._carry_out(pool, paths, task[0], limit_s(command))

    def _carry_out(self, pool: Pool, paths: Paths, task: int, seconds: float) -> bool:
        """Sends on what the worker process says of a task; whether it lives and can take another."""
        part, lines = 0, list[bytes]()
        sent_at, end = time.monotonic(), time.monotonic() + seconds
        while not self._closing.is_set() and time.monotonic() < end:
            for heard in pool.answers(_POLL_S):
                if isinstance(heard.answer, WorkerLost):
                    self._say(task, part, lines, lost=f"worker process {heard.answer.how}")
                    return False
                lines.append(line_of(paths.leaving(heard.answer)))
                if isinstance(heard.answer, (Done, Ready, Refused)):
                    self._say(task, part, lines, ended=True)
                    return not isinstance(heard.answer, Refused)
            if lines and time.monotonic() - sent_at > STREAM_S:
                self._say(task, part, lines)
                part, lines, sent_at = part + 1, [], time.monotonic()
        self._say(task, part, lines, lost="closed" if self._closing.is_set() else f"no end within {seconds:g} s")
        return False

    def _say(self, task: int, part: int, lines: list[bytes], *, ended: bool = False, lost: str = "") -> None:
        own = versions() if task == OPENING else None
        joined = b"".join(lines)
        self._said.put(SeatSaid(self.opening.seat, task, part, joined, ended or bool(lost), lost, versions=own))


_SEATS: dict[str, Seat] = {}
"""The seats of this process by name."""


def open_seat(opening: Opening, baggage: bytes) -> Iterator[SeatSaid]:
    """Opens a seat, in place of one of the same name. Yields the reports on that."""
    seat = Seat(opening, baggage)
    old, _SEATS[opening.seat] = _SEATS.get(opening.seat), seat
    if old is not None:
        old.close()
    return _parts(seat, OPENING)


def obey(name: str, task: int, command: bytes) -> Iterator[SeatSaid]:
    """Has a seat of this process carry out a command, given as a line. Yields the reports on it.

    Where an engine has begun a task anew, in another process, the seat is not there, and is lost.
    """
    seat = _SEATS.get(name)
    if seat is None:
        return iter([SeatSaid(name, task, ended=True, lost="its process has ended, or it was idle for too long")])
    seat.ask(task, msgspec.json.decode(command, type=Command))
    return _parts(seat, task)


def _parts(seat: Seat, task: int) -> Iterator[SeatSaid]:
    while True:
        said = msgspec.structs.replace(seat.said(), task=task)
        yield said
        if said.ended:
            return


def close_campaign(campaign: str) -> None:
    """Ends the seats of a campaign in this process, with their worker processes and scratch folders."""
    seats = [seat for seat in list(_SEATS.values()) if seat.opening.campaign == campaign]
    for seat in seats:
        seat.close()
    end = time.monotonic() + CLOSING_S
    for seat in seats:
        seat.join(end - time.monotonic())


def limit_s(command: Command) -> float:
    """Seconds after which a command that has not ended is given up with its worker process."""
    match command:
        case JudgeCases(_, seconds):
            return seconds + PATIENCE_S
        case Reduce(_, _, budget_s):
            return 3 * budget_s + PATIENCE_S
        case Confirm() | TakeDigests() | TryDraws() | Resemble() | Begin():
            return PATIENCE_S
        case _:
            assert_never(command)
