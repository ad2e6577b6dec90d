"""The workforce of a cluster, on a cluster of the test's own: places come, go, and are left out; nothing is lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import msgspec
import pytest

from fuzzer.engines import cluster_workforce
from fuzzer.engines.cluster import ClusterGone
from fuzzer.engines.cluster_workforce import BATCH, SLICE_S, STRIKES, ClusterWorkforce, batch_of
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, versions
from fuzzer.errors import EnvironmentFault
from fuzzer.processes.lines import Lines, line_of
from fuzzer.processes.workforce import FromWorker, Slot, WorkerLost
from fuzzer.protocol import Answer, Command, Done, JudgeCases, Judged, Plan, Ready, Refused
from reports.tally import Tally

READY = line_of(Ready("0.27", "0.1", "1"))


@dataclass
class FakeCluster:
    """A cluster whose seats say what the test has them say. there: places and their seats; None where it is gone."""

    there: dict[str, int] | None
    name: str = "fake://here"
    opened: list[tuple[str, str]] = field(default_factory=list)
    given: list[tuple[str, str, int, Command]] = field(default_factory=list)
    waiting: list[SeatSaid] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    closed: list[tuple[str, set[str]]] = field(default_factory=list)

    def places(self) -> Mapping[str, int]:
        if self.there is None:
            raise ClusterGone("it does not answer")
        return self.there

    def open_seat(self, place: str, opening: Opening) -> None:
        self.opened.append((place, opening.seat))

    def submit(self, place: str, seat: str, task: int, command: bytes) -> None:
        self.given.append((place, seat, task, next(iter(Lines[Command](Command).take(command)))))

    def heard(self, timeout_s: float) -> list[SeatSaid]:
        heard, self.waiting = self.waiting, []
        return heard

    def forget(self, place: str, seat: str) -> None:
        self.forgotten.append(seat)

    def close(self, campaign: str, places: Collection[str]) -> None:
        self.closed.append((campaign, set(places)))

    # --- what the test has seats say

    def ready(self, *places: str) -> None:
        """The seats that were opened at these places last are ready."""
        for place, seat in self.opened:
            if place in places and seat not in self.forgotten:
                self.waiting.append(SeatSaid(seat, OPENING, 0, READY, ended=True, versions=versions()))

    def says(self, seat: str, task: int, part: int, *answers: Answer, lost: str = "") -> None:
        lines = b"".join(map(line_of, answers))
        ended = bool(lost) or any(isinstance(answer, Done) for answer in answers)
        self.waiting.append(SeatSaid(seat, task, part, lines, ended, lost))


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster is looked at each time."""
    monkeypatch.setattr(cluster_workforce, "LOOK_S", 0.0)


def workforce(cluster: FakeCluster, most: int = 100, cases: int | None = None) -> ClusterWorkforce:
    return ClusterWorkforce(cluster, Plan(1), 2, most, cases)


def hear(force: ClusterWorkforce) -> list[FromWorker]:
    return list(force.answers(0.0))


def opened(cluster: FakeCluster, *places: str) -> ClusterWorkforce:
    """A workforce whose seats at these places are ready."""
    force = workforce(cluster)
    hear(force)
    cluster.ready(*places)
    hear(force)
    return force


def judged(index: int) -> Judged:
    return Judged(index, Tally(generated=1, cases=1))


def test_each_place_gets_its_seats_and_they_are_slots_once_they_are_ready() -> None:
    cluster = FakeCluster({"a": 2, "b": 1})
    force = workforce(cluster)
    assert hear(force) == []
    assert [place for place, _ in cluster.opened] == ["a", "a", "b"]
    assert force.slots == []
    cluster.ready("a")
    assert [type(heard.answer) for heard in hear(force)] == [Ready, Ready]
    assert len(force.slots) == 2 and all(slot.ready for slot in force.slots)
    assert len(cluster.opened) == 3


def test_no_more_seats_than_jobs() -> None:
    cluster = FakeCluster({"a": 8, "b": 8})
    hear(workforce(cluster, most=3))
    assert len(cluster.opened) == 3


def test_a_command_is_a_task_and_its_answers_come_in_parts() -> None:
    cluster = FakeCluster({"a": 1})
    force = opened(cluster, "a")
    (slot,) = force.slots
    command = JudgeCases((3, 4), 1e9)
    force.command(slot, command, 7.0)
    assert (slot.busy, slot.since) == (command, 7.0)
    ((place, seat, task, sent),) = cluster.given
    assert (place, task, sent) == ("a", 1, JudgeCases((3, 4), SLICE_S))
    cluster.says(seat, 1, 0, judged(3))
    cluster.says(seat, 1, 1, judged(4), Done())
    heard = hear(force)
    assert [one.answer for one in heard] == [judged(3), judged(4), Done()]
    assert [one.about for one in heard] == [command] * 3
    assert slot.busy is None


@pytest.mark.parametrize("how", ["seat", "place", "part"])
def test_a_lost_seat_is_a_lost_worker_with_its_command(how: str) -> None:
    """Its process has ended; its place has; an answer of it never came."""
    cluster = FakeCluster({"a": 1, "b": 1})
    force = opened(cluster, "a", "b")
    slot = next(slot for slot in force.slots if getattr(slot, "place", "") == "a")
    command = JudgeCases((3, 4), 1.0)
    force.command(slot, command, 0.0)
    seat = cluster.given[0][1]
    if how == "seat":
        cluster.says(seat, 1, 0, judged(3), lost="killed by SIGKILL")
    elif how == "place":
        cluster.there = {"b": 1}
    else:
        cluster.says(seat, 1, 1, judged(4), Done())
    heard = hear(force)
    (lost,) = [one for one in heard if isinstance(one.answer, WorkerLost)]
    assert isinstance(lost.answer, WorkerLost) and lost.answer.was_ready and lost.about == command
    assert [one.answer for one in heard if one is not lost] == ([judged(3)] if how == "seat" else [])
    assert len(force.slots) == 1 and cluster.forgotten == [seat]


def test_what_a_lost_seat_says_later_is_not_heard() -> None:
    cluster = FakeCluster({"a": 1})
    force = opened(cluster, "a")
    force.command(force.slots[0], JudgeCases((3,), 1.0), 0.0)
    seat = cluster.given[0][1]
    cluster.says(seat, 1, 0, lost="killed")
    cluster.says(seat, 1, 0, judged(3), Done())
    assert [type(one.answer) for one in hear(force)] == [WorkerLost]


def test_what_is_said_of_an_earlier_task_is_not_heard() -> None:
    cluster = FakeCluster({"a": 1})
    force = opened(cluster, "a")
    (slot,) = force.slots
    for task in (1, 2):
        force.command(slot, JudgeCases((task,), 1.0), 0.0)
        seat = cluster.given[0][1]
        cluster.says(seat, 1, 0, judged(1), Done())
        heard = hear(force)
    assert heard == [] and slot.busy is not None


def test_a_place_that_comes_gets_seats_and_so_does_one_that_lost_one() -> None:
    cluster = FakeCluster({"a": 1})
    force = opened(cluster, "a")
    cluster.there = {"a": 1, "b": 1}
    cluster.waiting.append(SeatSaid(cluster.opened[0][1], OPENING, 0, ended=True, lost="killed"))
    hear(force)
    hear(force)
    assert sorted(place for place, _ in cluster.opened) == ["a", "a", "b"]


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("tvm", "TVM 9.9"),
        ("ffi", "apache-tvm-ffi 9.9"),
        ("passfuzz", "passfuzz 9.9"),
        ("python", "Python 9.9"),
        ("sources", "other sources of passfuzz"),
    ],
)
def test_a_node_with_other_versions_is_left_out_with_one_line(
    field: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = FakeCluster({"a": 1, "b": 2})
    force = workforce(cluster)
    hear(force)
    other = msgspec.structs.replace(versions(), **{field: "9.9"})
    for place, seat in cluster.opened:
        if place == "b":
            cluster.waiting.append(SeatSaid(seat, OPENING, 0, READY, ended=True, versions=other))
    cluster.ready("a")
    hear(force)
    hear(force)
    assert len(force.slots) == 1 and len(cluster.opened) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("passfuzz: warning: fake://here: b left out: it has ") and said in line


def test_a_node_whose_own_tvm_differs_from_the_others_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster({"a": 1, "b": 1})
    force = opened(cluster, "a")
    seat = next(seat for place, seat in cluster.opened if place == "b")
    built = line_of(Ready("0.28.dev0", "0.1", "1"))
    cluster.waiting.append(SeatSaid(seat, OPENING, 0, built, ended=True, versions=versions()))
    assert hear(force) == []
    assert "b left out: it has TVM 0.28.dev0, others 0.27" in capsys.readouterr().err


def test_where_no_node_is_left_the_campaign_does_not_begin() -> None:
    cluster = FakeCluster({"a": 1})
    force = workforce(cluster)
    hear(force)
    cluster.waiting.append(
        SeatSaid(cluster.opened[0][1], OPENING, 0, ended=True, lost="no passfuzz there", useless=True)
    )
    hear(force)
    with pytest.raises(EnvironmentFault, match="^fake://here cannot be used: no passfuzz there$"):
        hear(force)


def test_what_every_node_refuses_is_refused() -> None:
    cluster = FakeCluster({"a": 1})
    force = workforce(cluster)
    hear(force)
    refused = Refused("--oracles foo: unknown oracle")
    said = SeatSaid(cluster.opened[0][1], OPENING, 0, line_of(refused), ended=True, versions=versions())
    cluster.waiting.append(said)
    hear(force)
    assert [one.answer for one in hear(force)] == [refused]


def test_a_node_that_refuses_alone_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster({"a": 1, "b": 1})
    force = opened(cluster, "a")
    seat = next(seat for place, seat in cluster.opened if place == "b")
    refused = line_of(Refused("mine.py: ModuleNotFoundError: No module named 'scipy'"))
    cluster.waiting.append(SeatSaid(seat, OPENING, 0, refused, ended=True, versions=versions()))
    assert hear(force) == []
    assert "b left out: mine.py: ModuleNotFoundError" in capsys.readouterr().err


def test_a_place_whose_seats_end_one_after_the_other_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster({"a": 1, "b": 1})
    force = opened(cluster, "a")
    for _ in range(STRIKES + 2):
        for place, seat in cluster.opened:
            if place == "b" and seat not in cluster.forgotten:
                cluster.waiting.append(SeatSaid(seat, OPENING, 0, ended=True, lost="no memory"))
        assert hear(force) == []
    assert [place for place, _ in cluster.opened].count("b") == STRIKES
    assert capsys.readouterr().err.count("b left out") == 1


@pytest.mark.parametrize("how", ["the place", "its process"])
def test_a_place_of_many_seats_that_ends_and_comes_back_is_used_again(
    how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker of Dask with several threads that was killed and started again at its old address; its seats are seen to
    go with the place, or by their tasks."""
    cluster = FakeCluster({"a": 4})
    force = opened(cluster, "a")
    if how == "the place":
        cluster.there = {}
    else:
        cluster.waiting = [SeatSaid(seat, OPENING, 1, ended=True, lost="killed") for _, seat in cluster.opened]
    assert [type(heard.answer) for heard in hear(force)] == [WorkerLost] * 4
    cluster.there = {"a": 4}
    hear(force)
    cluster.ready("a")
    hear(force)
    assert len(force.slots) == 4
    assert capsys.readouterr().err == ""


def test_work_that_ends_well_takes_the_strikes_back() -> None:
    cluster = FakeCluster({"a": 1})
    force = opened(cluster, "a")
    for number in range(2 * STRIKES):
        (slot,) = force.slots
        force.command(slot, JudgeCases((number,), 1.0), 0.0)
        _, seat, task, _ = cluster.given[-1]
        cluster.says(seat, task, 0, judged(number), Done())
        hear(force)
        force.command(slot, JudgeCases((number,), 1.0), 0.0)
        cluster.says(seat, task + 1, 0, lost="killed")
        hear(force)
        hear(force)
        cluster.ready("a")
        hear(force)
    assert len(force.slots) == 1


@pytest.mark.parametrize("begun", [False, True])
def test_a_cluster_that_goes_ends_the_campaign(begun: bool) -> None:
    """In order where it had begun: what was found is kept."""
    cluster = FakeCluster({"a": 1})
    force = opened(cluster, "a") if begun else workforce(cluster)
    cluster.there = None
    if begun:
        (heard,) = hear(force)
        assert heard.answer == Refused("fake://here cannot be used any more: it does not answer", usage=False)
        assert heard.slot not in force.slots and isinstance(heard.slot, Slot)
    else:
        with pytest.raises(EnvironmentFault, match="fake://here cannot be used: it does not answer"):
            hear(force)


def test_a_cluster_without_workers_is_waited_for_and_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    force = workforce(FakeCluster({}))
    assert hear(force) == []
    monkeypatch.setattr(cluster_workforce, "EMPTY_S", -1.0)
    with pytest.raises(EnvironmentFault, match="it has no worker"):
        hear(force)


def test_closing_ends_what_was_opened_anywhere() -> None:
    cluster = FakeCluster({"a": 1})
    force = opened(cluster, "a")
    cluster.there = {"b": 1}
    hear(force)
    force.close()
    assert [places for _, places in cluster.closed] == [{"a", "b"}]


def test_a_large_cluster_gets_large_tasks_and_few_cases_are_shared() -> None:
    """At 15 cases a second of each seat, 320 seats end 100 tasks a second; so do 10,000 (docs/scale.md)."""
    assert batch_of(2, None) == batch_of(320, None) == BATCH
    assert batch_of(10_000, None) == 1500
    assert batch_of(4, 40) == 5
    assert batch_of(100, 40) == 1
    assert batch_of(0, 0) == 1


def test_equal_versions_do_not_differ() -> None:
    assert versions().difference(replace_nothing()) == ""


def replace_nothing() -> object:
    return msgspec.structs.replace(versions())
