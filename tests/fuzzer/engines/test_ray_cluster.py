"""Ray as a cluster, with a Ray of the test's own in place of Ray. Real ones: `test_real_clusters.py`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
from ray.exceptions import RaySystemError

from fuzzer.engines import ray_cluster
from fuzzer.engines.cluster import ClusterGone
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, packed
from fuzzer.engines.ray_cluster import RayCluster
from fuzzer.protocol import Plan

NODE = {"NodeManagerHostname": "a", "NodeID": 28 * "f0", "Alive": True, "Resources": {"CPU": 4.0}}
PLACE = f"a/{28 * 'f0'}"


@dataclass
class FakeAnswer:
    """What a call of an actor gives: the test says what it becomes."""

    name: str
    given: tuple[Any, ...]
    becomes: Future[bytes] = field(default_factory=Future)

    def future(self) -> Future[bytes]:
        return self.becomes


@dataclass
class FakeMethod:
    name: str
    calls: list[FakeAnswer]

    def remote(self, *given: Any) -> FakeAnswer:
        self.calls.append(FakeAnswer(self.name, given))
        return self.calls[-1]


@dataclass
class FakeActor:
    """An actor, and its class: `options` and `remote` are those of the class."""

    calls: list[FakeAnswer] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def options(self, **options: Any) -> FakeActor:
        self.asked.append(options)
        return self

    def remote(self) -> FakeActor:
        return self

    def __getattr__(self, name: str) -> FakeMethod:
        return FakeMethod(name, self.calls)


@dataclass
class FakeRay:
    """What RayCluster asks of Ray."""

    there: list[dict[str, Any]] = field(default_factory=lambda: [NODE])
    actor: FakeActor = field(default_factory=FakeActor)
    options: dict[str, Any] = field(default_factory=dict)
    gone: bool = False
    did: list[str] = field(default_factory=list)

    def remote(self, **options: Any) -> Callable[[type], FakeActor]:
        self.options = options
        return lambda made: self.actor

    def put(self, value: bytes) -> tuple[str, bytes]:
        return ("put", value)

    def nodes(self) -> list[dict[str, Any]]:
        if self.gone:
            raise RaySystemError("gone")
        return self.there

    def wait(self, answers: list[FakeAnswer], num_returns: int, timeout: float) -> None:
        self.did.append(f"wait {num_returns}")

    def kill(self, actor: FakeActor) -> None:
        self.did.append("kill")

    def shutdown(self) -> None:
        self.did.append("shutdown")


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    fake = FakeRay()
    monkeypatch.setattr(ray_cluster, "ray", fake)
    return fake


@pytest.fixture
def cluster(ray: FakeRay) -> RayCluster:
    made = RayCluster(b"baggage", "ray://here")
    made.open_seat(PLACE, Opening("c", "c-1", Plan(1), 2))
    return made


def test_nodes_that_live_are_places_and_cpus_are_seats(ray: FakeRay, cluster: RayCluster) -> None:
    ray.there = [NODE, {**NODE, "NodeID": "dead", "Alive": False}, {**NODE, "NodeID": "f01", "Resources": {}}]
    assert cluster.places() == {PLACE: 4, "a/f01": 0}


def test_a_cluster_that_does_not_answer_is_gone(ray: FakeRay, cluster: RayCluster) -> None:
    ray.gone = True
    with pytest.raises(ClusterGone):
        cluster.places()


def test_a_seat_is_neither_restarted_nor_retried_and_stays_at_its_node(ray: FakeRay, cluster: RayCluster) -> None:
    assert ray.options == {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, "max_concurrency": 2}
    (options,) = ray.actor.asked
    assert (options["scheduling_strategy"].node_id, options["scheduling_strategy"].soft) == (28 * "f0", False)
    (opening,) = ray.actor.calls
    assert (opening.name, opening.given[1]) == ("open", ("put", b"baggage"))


def test_a_task_that_has_not_ended_is_asked_for_more(ray: FakeRay, cluster: RayCluster) -> None:
    ray.actor.calls.clear()
    cluster.submit(PLACE, "c-1", 1, b"line")
    parts = [SeatSaid("c-1", 1, 0, b"x"), SeatSaid("c-1", 1, 1, b"y", ended=True)]
    for number, name in enumerate(("obey", "more")):
        assert [call.name for call in ray.actor.calls][number:] == [name]
        ray.actor.calls[number].becomes.set_result(packed(parts[number]))
        assert cluster.heard(0.0) == [parts[number]]
    assert len(ray.actor.calls) == 2


@pytest.mark.parametrize(
    ("error", "useless", "how"),
    [
        (ModuleNotFoundError("No module named 'fuzzer'"), True, "passfuzz cannot be imported there"),
        (RaySystemError("the actor died\nand more"), False, "RaySystemError: "),
    ],
)
def test_a_call_that_ray_loses_is_a_lost_seat(
    ray: FakeRay, cluster: RayCluster, error: Exception, useless: bool, how: str
) -> None:
    ray.actor.calls[0].becomes.set_exception(error)
    (said,) = cluster.heard(0.0)
    assert (said.seat, said.task, said.ended, said.useless) == ("c-1", OPENING, True, useless)
    assert said.lost.startswith(how) and "\n" not in said.lost


def test_a_call_that_is_taken_back_is_a_lost_seat(ray: FakeRay, cluster: RayCluster) -> None:
    ray.actor.calls[0].becomes.cancel()
    (said,) = cluster.heard(0.0)
    assert said.ended and said.lost


def test_a_lost_seat_is_closed_and_not_asked_again(ray: FakeRay, cluster: RayCluster) -> None:
    cluster.forget(PLACE, "c-1")
    ray.actor.calls[0].becomes.set_result(packed(SeatSaid("c-1", 0, 0, b"x")))
    cluster.heard(0.0)
    assert [(call.name, call.given) for call in ray.actor.calls[1:]] == [("close", ("c",))]


def test_closing_ends_the_seats_before_ray_kills_them(ray: FakeRay, cluster: RayCluster) -> None:
    cluster.close("c", {PLACE})
    assert ray.actor.calls[-1].name == "close"
    assert ray.did == ["wait 1", "kill", "shutdown"]
