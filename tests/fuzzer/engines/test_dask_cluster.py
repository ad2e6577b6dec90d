"""Dask as a cluster, with a client of the test's own in place of Dask's. Real ones: `test_real_clusters.py`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from typing import Any

import cloudpickle
import dask
import distributed
import pytest

from fuzzer.engines import dask_cluster
from fuzzer.engines.cluster import ClusterGone
from fuzzer.engines.dask_cluster import INLINE, DaskCluster, on_nodes
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, packed
from fuzzer.protocol import Plan
from tests.patience import HANGS_S


@dataclass
class FakeFuture:
    """A task of Dask, which the test ends."""

    key: str
    status: str = "pending"
    error: Exception | None = None
    callbacks: list[Callable[[Any], None]] = field(default_factory=list)

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self.callbacks.append(callback)

    def exception(self) -> Exception | None:
        return self.error

    def end(self, status: str, error: Exception | None = None) -> None:
        self.status, self.error = status, error
        for callback in self.callbacks:
            callback(self)


@dataclass
class FakeClient:
    """What DaskCluster asks of a client of Dask."""

    workers: dict[str, int] = field(default_factory=lambda: {"tcp://a:1": 2})
    status: str = "running"
    gone: bool = False
    tasks: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], FakeFuture]] = field(default_factory=list)
    topics: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    ran: list[tuple[Callable[..., Any], tuple[Any, ...], list[str]]] = field(default_factory=list)

    def submit(self, function: Callable[..., Any], *given: Any, key: str, **options: Any) -> FakeFuture:
        future = FakeFuture(key)
        self.tasks.append((function, given, options, future))
        return future

    def subscribe_topic(self, topic: str, handler: Callable[[Any], None]) -> None:
        self.topics[topic] = handler

    def nthreads(self, callback_timeout: float) -> dict[str, int]:
        if self.gone:
            raise OSError("closed")
        return self.workers

    def run(self, function: Callable[..., Any], *given: Any, workers: list[str], on_error: str) -> None:
        self.ran.append((function, given, workers))

    def close(self, timeout: float) -> None:
        self.status = "closed"

    def event(self, said: SeatSaid) -> None:
        for handler in self.topics.values():
            handler((1.0, packed(said)))


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


def cluster_of(client: FakeClient, baggage: bytes = b"") -> DaskCluster:
    return DaskCluster(client, baggage, "dask://here")  # type: ignore[arg-type]


def test_workers_are_places_and_threads_are_seats(client: FakeClient) -> None:
    assert cluster_of(client).places() == {"tcp://a:1": 2}


def test_a_scheduler_that_does_not_answer_is_gone(client: FakeClient) -> None:
    client.gone = True
    with pytest.raises(ClusterGone):
        cluster_of(client).places()


def test_a_task_runs_once_and_at_its_place_alone(client: FakeClient) -> None:
    cluster = cluster_of(client)
    cluster.open_seat("tcp://a:1", Opening("c", "c-1", Plan(1), 2))
    cluster.submit("tcp://a:1", "c-1", 1, b"line")
    assert [task[0].__name__ for task in client.tasks] == ["open_here", "obey_here"]
    assert client.tasks[1][1][1:] == ("c-1", 1, b"line")
    for _, _, options, _ in client.tasks:
        assert options == {"workers": ["tcp://a:1"], "allow_other_workers": False, "retries": 0, "pure": False}
    assert len({future.key for *_, future in client.tasks}) == 2


def test_what_a_seat_says_is_heard_in_order(client: FakeClient) -> None:
    cluster = cluster_of(client)
    parts = [SeatSaid("c-1", 1, 0, b"x"), SeatSaid("c-1", 1, 1, b"y", ended=True)]
    for part in parts:
        client.event(part)
    assert cluster.heard(0.0) == parts
    assert cluster.heard(0.0) == []


@pytest.mark.parametrize(
    ("status", "error", "useless", "how"),
    [
        ("error", ModuleNotFoundError("No module named 'fuzzer'"), True, "passfuzz cannot be imported there"),
        ("error", RuntimeError("killed"), False, "RuntimeError: killed"),
        ("cancelled", None, False, "the scheduler has dropped its task"),
        ("lost", None, False, "the scheduler has dropped its task"),
    ],
)
def test_a_task_that_dask_loses_is_a_lost_seat(
    client: FakeClient, status: str, error: Exception | None, useless: bool, how: str
) -> None:
    cluster = cluster_of(client)
    cluster.submit("tcp://a:1", "c-1", 4, b"line")
    client.tasks[0][3].end(status, error)
    (said,) = cluster.heard(0.0)
    assert (said.seat, said.task, said.ended, said.useless) == ("c-1", 4, True, useless)
    assert said.lost.startswith(how)


def test_a_task_that_dask_ends_well_says_nothing_more(client: FakeClient) -> None:
    cluster = cluster_of(client)
    cluster.submit("tcp://a:1", "c-1", 4, b"line")
    client.tasks[0][3].end("finished")
    assert cluster.heard(0.0) == []


def test_large_files_travel_once(client: FakeClient) -> None:
    cluster = cluster_of(client, b"x" * (INLINE + 1))
    cluster.open_seat("tcp://a:1", Opening("c", "c-1", Plan(1), 2))
    cluster.open_seat("tcp://a:1", Opening("c", "c-2", Plan(1), 2))
    (function, given, _, future), first, second = client.tasks
    assert function is bytes and given == (b"x" * (INLINE + 1),)
    assert first[1][2] is second[1][2] is future
    assert [task[0].__name__ for task in client.tasks[1:]] == ["open_here"] * 2


def test_closing_ends_seats_where_workers_live(client: FakeClient) -> None:
    cluster = cluster_of(client)
    cluster.places()
    cluster.close("c", {"tcp://a:1", "tcp://gone:1"})
    assert [(ran.__name__, given, workers) for ran, given, workers in client.ran] == [
        ("close_here", ("c",), ["tcp://a:1"])
    ]
    assert client.status == "closed"


def test_a_lost_connection_is_closed_without_asking(client: FakeClient) -> None:
    cluster = cluster_of(client)
    cluster.places()
    client.status = "connecting"
    cluster.close("c", {"tcp://a:1"})
    assert client.ran == [] and client.status == "closed"


def test_what_travels_to_a_node_needs_nothing_of_ours_to_arrive() -> None:
    """A worker of Dask ends itself where it cannot import the function that it is sent."""
    functions = astuple(on_nodes())
    code = "import pickle, sys; functions = pickle.loads(sys.stdin.buffer.read()); print('fuzzer' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input=cloudpickle.dumps(functions),
        capture_output=True,
        check=True,
        timeout=HANGS_S,
    )
    assert ended.stdout == b"False\n"


def test_on_the_node_each_part_is_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[tuple[str, bytes]] = []

    class Worker:
        def log_event(self, topic: str, data: bytes) -> None:
            events.append((topic, data))

    monkeypatch.setattr(distributed, "get_worker", Worker)
    on_nodes().obey_here("topic", "no-such-seat", OPENING + 1, b"line")
    ((topic, data),) = events
    assert topic == "topic" and b"its process has ended" in data


def test_a_cluster_of_this_machine_alone_does_not_watch_itself_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Dask does ten and fifty times a second takes a twentieth of a core, whatever its workers do."""
    profile, seen = "distributed.worker.profile.enabled", list[object]()
    before = dask.config.get(profile)
    monkeypatch.setattr(dask_cluster, "LocalCluster", lambda **_options: seen.append(dask.config.get(profile)))
    monkeypatch.setattr(dask_cluster, "Client", lambda *_given, **_options: FakeClient())
    dask_cluster.start(2, b"")
    assert (seen, dask.config.get(profile)) == ([False], before)
    assert all(dask.config.get(name) is not None for name in dask_cluster.FRUGAL), "names that Dask knows"
