"""Ray as a campaign's cluster: a place is a node of Ray, with a seat for each of its CPUs.

A seat is an actor that Ray neither restarts nor retries; it ends with its node and with the campaign. `ray://HOST:PORT`
is what Ray calls so, a server for clients; `ray://auto` is the cluster that this machine is a node of.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import threading
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from fuzzer.engines.cluster import ClusterGone
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, packed, said_of
from fuzzer.errors import EnvironmentFault
from fuzzer.processes.scratch import scratch_folder

CLOSE_S = 5.0
"""Seconds that seats have to end their processes before Ray kills them."""
OBJECTS = 100 << 20
"""Bytes of shared memory for the objects of a local cluster: only the files of a plan are kept there."""
AUTO = "auto"
TOKEN = "RAY_AUTH_TOKEN"
"""A local cluster has one of its own, unless the user has set it; the one that Ray makes stays in the user's home."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def seat_actor() -> Any:
    """The class of a seat. Made here, it travels by value: a node without passfuzz says so by an ImportError."""

    class Seat:
        def __init__(self) -> None:
            self.parts: Any = None

        def open(self, opening: bytes, baggage: bytes) -> bytes:
            from fuzzer.engines import messages, node

            self.parts = node.open_seat(messages.opening_of(opening), baggage)
            return self.more()

        def obey(self, seat: str, task: int, command: bytes) -> bytes:
            from fuzzer.engines import node

            self.parts = node.obey(seat, task, command)
            return self.more()

        def more(self) -> bytes:
            from fuzzer.engines import messages

            return messages.packed(next(self.parts))

        def close(self, campaign: str) -> None:
            from fuzzer.engines import node

            node.close_campaign(campaign)

    # A second thread, so that a seat can be closed while it is busy.
    return ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, max_concurrency=2)(Seat)


class RayCluster:
    """A driver, or a client, of a Ray cluster. ends: what goes with a cluster that is of this campaign alone."""

    def __init__(self, baggage: bytes, name: str, ends: ExitStack | None = None) -> None:
        self.name = name
        self._ends = ends or ExitStack()
        self._actor = seat_actor()
        self._baggage = ray.put(baggage)
        self._seats: dict[str, Any] = {}
        self._campaigns: dict[str, str] = {}
        self._said: SimpleQueue[SeatSaid] = SimpleQueue()

    def places(self) -> Mapping[str, int]:
        """The nodes by host and id, and their CPUs. Raises ClusterGone."""
        try:
            nodes = ray.nodes()
        except (RayError, OSError, RuntimeError) as error:
            raise ClusterGone("it does not answer") from error
        return {place_of(node): int(node["Resources"].get("CPU", 0)) for node in nodes if node["Alive"]}

    def open_seat(self, place: str, opening: Opening) -> None:
        """Starts an actor on a node and opens a seat in it."""
        there = NodeAffinitySchedulingStrategy(node_id=place.rsplit("/", 1)[1], soft=False)
        actor = self._actor.options(scheduling_strategy=there).remote()
        self._seats[opening.seat], self._campaigns[opening.seat] = actor, opening.campaign
        self._hear(opening.seat, OPENING, actor.open.remote(packed(opening), self._baggage))

    def submit(self, place: str, seat: str, task: int, command: bytes) -> None:
        """Has an open seat carry out a command."""
        self._hear(seat, task, self._seats[seat].obey.remote(seat, task, command))

    def _hear(self, seat: str, task: int, answer: Any) -> None:
        answer.future().add_done_callback(partial(self._done, seat, task))

    def _done(self, seat: str, task: int, future: Any) -> None:
        """Called in a thread of Ray, in which nothing may be asked of it."""
        if future.cancelled():
            self._said.put(SeatSaid(seat, task, ended=True, lost="Ray has dropped its task"))
            return
        error = future.exception()
        if error is None:
            self._said.put(said_of(future.result()))
            return
        useless = isinstance(error, ImportError)
        first = (str(error).strip().splitlines() or [""])[0][:300]
        why = "passfuzz cannot be imported there" if useless else f"{type(error).__name__}: {first}"
        self._said.put(SeatSaid(seat, task, ended=True, lost=why, useless=useless))

    def heard(self, timeout_s: float) -> list[SeatSaid]:
        """What seats have said, waiting at most `timeout_s` for the first. Those not at their end are asked on."""
        heard: list[SeatSaid] = []
        try:
            heard.append(self._said.get(timeout=timeout_s) if timeout_s > 0 else self._said.get_nowait())
            while True:
                heard.append(self._said.get_nowait())
        except Empty:
            pass
        for said in heard:
            if not said.ended and said.seat in self._seats:
                self._hear(said.seat, said.task, self._seats[said.seat].more.remote())
        return heard

    def forget(self, place: str, seat: str) -> None:
        """Ends a seat; its actor goes with the last reference to it, once that is done."""
        actor = self._seats.pop(seat, None)
        if actor is not None:
            actor.close.remote(self._campaigns.pop(seat))

    def close(self, campaign: str, places: Collection[str]) -> None:
        """Ends the seats, their actors, and the connection."""
        try:
            ended = [actor.close.remote(campaign) for actor in self._seats.values()]
            if ended:
                ray.wait(ended, num_returns=len(ended), timeout=CLOSE_S)
            for actor in self._seats.values():
                ray.kill(actor)
        except (RayError, OSError, RuntimeError) as error:
            logging.getLogger("ray").debug("while leaving: %s", error)
        ray.shutdown()
        self._ends.close()


def place_of(node: Mapping[str, Any]) -> str:
    """A node as `ray.nodes` says it: the host, for people, and the id."""
    return f"{node['NodeManagerHostname']}/{node['NodeID']}"


def connect(address: str, baggage: bytes) -> RayCluster:
    """The cluster at `address`. Raises EnvironmentFault where none answers."""
    where = f"ray://{address}"
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    try:
        with _signals_kept(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The error says it, too.
            ray.init(address if address == AUTO else where, logging_level=logging.CRITICAL, log_to_driver=False)
    except (RayError, OSError, RuntimeError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        how = "`ray start --head` starts one" if address == AUTO else "its port for clients is usually 10001"
        raise EnvironmentFault(f"--on {where}: no Ray cluster answers there ({how}): {first}") from error
    return RayCluster(baggage, where)


def start(workers: int, baggage: bytes) -> RayCluster:
    """A cluster of this machine alone, which ends with the campaign. Raises EnvironmentFault."""
    ends = ExitStack()
    scratch = (
        ends.enter_context(scratch_folder("passfuzz-ray-")) / "r"
    )  # which Ray opens to all; the folder around is ours
    os.environ.setdefault(TOKEN, secrets.token_hex(32))
    try:
        with _signals_kept():
            ray.init(
                num_cpus=workers,
                object_store_memory=OBJECTS,
                include_dashboard=False,
                logging_level=logging.CRITICAL,
                log_to_driver=False,
                _temp_dir=str(scratch),
            )
    except (RayError, OSError, RuntimeError, ValueError) as error:
        ends.close()
        raise EnvironmentFault(f"--on ray: no local cluster can be started: {error}") from error
    return RayCluster(baggage, "ray", ends)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray takes SIGTERM for itself; a campaign ends in order (`fuzzer.campaign.interrupts`)."""
    kept = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in kept.items():
                signal.signal(number, handler)
