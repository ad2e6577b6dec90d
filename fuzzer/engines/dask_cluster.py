"""Dask as a campaign's cluster: a place is a worker process of Dask, with a seat for each of its threads.

A task is a function that Dask runs once, at one worker; what a seat says comes back as events of one topic, through the
scheduler, so that no node need reach another one or the campaign's machine.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

import dask
from distributed import Client, Future, LocalCluster, Security
from distributed.comm import connect as open_comm
from distributed.core import send_recv

from fuzzer.engines.cluster import ClusterGone
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, packed, said_of
from fuzzer.errors import EnvironmentFault, UsageError

CONNECT_S = 10.0
"""Seconds in which a scheduler must answer."""
CLOSE_S = 10.0
"""Seconds that each step of ending a campaign on the cluster may take."""
INLINE = 1 << 16
"""Files of a plan that are larger in bytes travel from worker to worker, and once through the scheduler."""
_LOST = ("cancelled", "lost")
FRUGAL = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}
"""How a cluster of this machine alone watches itself: it costs CPU all the time, and nothing reads it."""


class DaskCluster:
    """A client of a Dask scheduler. local: the cluster, where it is of this campaign alone."""

    def __init__(self, client: Client, baggage: bytes, name: str, local: LocalCluster | None = None) -> None:
        self.name = name
        self._client = client
        self._local = local
        self._on_nodes = on_nodes()
        self._topic = f"passfuzz-{uuid.uuid4().hex}"
        self._said: SimpleQueue[SeatSaid] = SimpleQueue()
        self._tasks: dict[str, Future] = {}
        self._alive: frozenset[str] = frozenset()
        self._baggage: bytes | Future = baggage
        if len(baggage) > INLINE:
            # `bytes` is on every node, passfuzz may not be. Dask makes it again where its holder is lost.
            self._baggage = client.submit(bytes, baggage, key=f"passfuzz-{uuid.uuid4().hex}", retries=10)
        client.subscribe_topic(self._topic, lambda event: self._said.put(said_of(event[1])))

    def places(self) -> Mapping[str, int]:
        """The addresses of Dask's workers, and their threads. Raises ClusterGone."""
        try:
            found: dict[str, int] = self._client.nthreads(callback_timeout=CONNECT_S)
        except (OSError, RuntimeError, ValueError) as error:
            raise ClusterGone("its scheduler does not answer") from error
        self._alive = frozenset(found)
        return found

    def open_seat(self, place: str, opening: Opening) -> None:
        """Opens a seat at a worker."""
        self._submit(place, opening.seat, OPENING, self._on_nodes.open_here, packed(opening), self._baggage)

    def submit(self, place: str, seat: str, task: int, command: bytes) -> None:
        """Has an open seat carry out a command."""
        self._submit(place, seat, task, self._on_nodes.obey_here, seat, task, command)

    def _submit(self, place: str, seat: str, task: int, function: Callable[..., None], *given: object) -> None:
        """A restarted worker may have the address of the old one; then Dask begins the task anew, and `obey` says that
        the seat is not there."""
        future = self._client.submit(
            function,
            self._topic,
            *given,
            key=f"passfuzz-{seat}-{task}",
            workers=[place],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        self._tasks[seat] = future
        future.add_done_callback(partial(self._done, seat, task))

    def _done(self, seat: str, task: int, future: Future) -> None:
        """Reports what Dask itself says of a task; what its seat has said was reported before."""
        if future.status == "error":
            error = future.exception()
            useless = isinstance(error, ImportError)
            why = f"passfuzz cannot be imported there: {error}" if useless else f"{type(error).__name__}: {error}"
            self._said.put(SeatSaid(seat, task, ended=True, lost=why, useless=useless))
        elif future.status in _LOST:
            self._said.put(SeatSaid(seat, task, ended=True, lost="the scheduler has dropped its task"))

    def heard(self, timeout_s: float) -> list[SeatSaid]:
        """What seats have said, waiting at most `timeout_s` for the first."""
        said: list[SeatSaid] = []
        try:
            said.append(self._said.get(timeout=timeout_s) if timeout_s > 0 else self._said.get_nowait())
            while True:
                said.append(self._said.get_nowait())
        except Empty:
            return said

    def forget(self, place: str, seat: str) -> None:
        """Gives up the task of a seat that is lost: Dask drops what no client wants any more."""
        self._tasks.pop(seat, None)

    def close(self, campaign: str, places: Collection[str]) -> None:
        """Ends the campaign's seats at the workers that live, and the connection."""
        workers = [place for place in places if place in self._alive]
        steps: list[Callable[[], object]] = []
        if workers and self._client.status == "running":
            steps.append(
                partial(self._client.run, self._on_nodes.close_here, campaign, workers=workers, on_error="ignore")
            )
        steps.append(partial(self._client.close, timeout=CLOSE_S))
        if self._local is not None:
            steps.append(partial(self._local.close, timeout=CLOSE_S))
        for step in steps:
            _within(CLOSE_S, step)


def _within(seconds: float, step: Callable[[], object]) -> None:
    """Takes a step of ending, and leaves it where it takes too long or the cluster is gone."""

    def take() -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - whatever a cluster says that is being left
            logging.getLogger("distributed").debug("while leaving: %s", error)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    thread.join(seconds)


def connect(address: str, baggage: bytes) -> DaskCluster:
    """The cluster of the scheduler at `address`. Raises EnvironmentFault where none answers."""
    _quiet()
    where = f"dask://{address}"
    told: SimpleQueue[Client | Exception] = SimpleQueue()
    # In a thread: Dask waits without end for what takes a connection and says nothing.
    threading.Thread(target=lambda: told.put(_client_at(address)), daemon=True).start()
    try:
        found = told.get(timeout=3 * CONNECT_S)
    except Empty:
        found = TimeoutError("no answer")
    if isinstance(found, ValueError):
        raise UsageError(f"--on {where}: {found}") from found
    if isinstance(found, Exception):
        raise EnvironmentFault(
            f"--on {where}: no Dask scheduler answers there within {CONNECT_S:g} s; `dask scheduler` starts one"
        ) from found
    return DaskCluster(found, baggage, where)


def _client_at(address: str) -> Client | Exception:
    """A client, or what Dask raises: there may be anything at that address, and what it says is read as lengths."""
    try:
        asyncio.run(asyncio.wait_for(_greet(address), CONNECT_S))
        return Client(address, timeout=CONNECT_S, set_as_default=False, name="passfuzz")
    except Exception as error:  # noqa: BLE001 - the boundary to Dask
        return error


async def _greet(address: str) -> None:
    """Returns where a scheduler answers: a client that is half made cannot be ended without noise."""
    comm = await open_comm(address, timeout=CONNECT_S, **Security().get_connection_args("client"))
    said = await send_recv(comm, op="identity")
    if said["type"] != "Scheduler":
        raise OSError(f"a {said['type']} of Dask answers")


def start(workers: int, baggage: bytes) -> DaskCluster:
    """A cluster of this machine alone, which ends with the campaign. Raises EnvironmentFault."""
    _quiet()
    try:
        with dask.config.set(FRUGAL):
            local = LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
            )
        client = Client(local, set_as_default=False, name="passfuzz")
    except (OSError, RuntimeError) as error:
        raise EnvironmentFault(f"--on dask: no local cluster can be started: {error}") from error
    return DaskCluster(client, baggage, "dask", local)


def _quiet() -> None:
    """What Dask logs about lost workers, we say ourselves."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)


# --- on the nodes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OnNodes:
    """What runs in Dask's workers: `open_here(topic, opening, baggage)` and `obey_here(topic, seat, task, command)` as
    tasks, `close_here(campaign)` beside them."""

    open_here: Callable[[str, bytes, bytes], None]
    obey_here: Callable[[str, str, int, bytes], None]
    close_here: Callable[[str], None]


def on_nodes() -> OnNodes:
    """Functions made here travel by value. A worker of Dask ends itself where it is sent one that it cannot import, and
    the cluster may be shared with others; these say by an ImportError that passfuzz is not there."""

    def open_here(topic: str, opening: bytes, baggage: bytes) -> None:
        from distributed import get_worker

        from fuzzer.engines import messages, node

        for said in node.open_seat(messages.opening_of(opening), baggage):
            get_worker().log_event(topic, messages.packed(said))

    def obey_here(topic: str, seat: str, task: int, command: bytes) -> None:
        from distributed import get_worker

        from fuzzer.engines import messages, node

        for said in node.obey(seat, task, command):
            get_worker().log_event(topic, messages.packed(said))

    def close_here(campaign: str) -> None:
        from fuzzer.engines import node

        node.close_campaign(campaign)

    return OnNodes(open_here, obey_here, close_here)
