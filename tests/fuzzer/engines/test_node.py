"""Seats on a node: they carry out commands in a local worker process, and say how they ended when they do."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import pytest

from corpus.finding_bytes import from_bytes, to_bytes
from fuzzer.engines import node
from fuzzer.engines.baggage import Paths, pack, unpack
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, opening_of, packed, said_of, versions
from fuzzer.processes.lines import Lines, line_of
from fuzzer.processes.workforce import FromWorker, Slot, WorkerLost
from fuzzer.protocol import (
    Answer,
    Command,
    Confirm,
    Confirmed,
    Done,
    JudgeCases,
    Judged,
    Plan,
    Ready,
    Reduced,
    Refused,
)
from generators.case import Origin
from reports.tally import Tally
from tests.reports.reports_data import finding

READY = Ready("0.27", "0.1", "1")


def judged(index: int) -> Judged:
    return Judged(index, Tally(generated=1, cases=1))


@dataclass
class FakePool:
    """A pool of one worker that judges each case at once. Case 13 ends it, case 14 has it stay silent."""

    plan: Plan
    jobs: int
    hash_seed: int
    slots: list[Slot] = field(default_factory=lambda: [Slot()])
    waiting: list[Answer | WorkerLost] = field(default_factory=lambda: [READY])
    closed: bool = False

    def __post_init__(self) -> None:
        POOLS.append(self)

    def command(self, slot: Slot, command: Command, now: float) -> None:
        assert isinstance(command, JudgeCases)
        for index in command.indices:
            if index in (13, 14):
                self.waiting += [WorkerLost("killed by SIGKILL", True)] if index == 13 else []
                return
            self.waiting.append(judged(index))
        self.waiting.append(Done())

    def answers(self, timeout_s: float) -> Iterator[FromWorker]:
        waiting, self.waiting = self.waiting, []
        yield from (FromWorker(self.slots[0], answer) for answer in waiting)

    def close(self) -> None:
        self.closed = True


POOLS: list[FakePool] = []


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for scratch folders of seats, which run on a fake pool."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(node, "Pool", FakePool)
    monkeypatch.setattr(node, "_POLL_S", 0.01)
    POOLS.clear()
    yield folder
    node.close_campaign("c")
    assert list(folder.iterdir()) == []
    assert all(pool.closed for pool in POOLS)


def opened(name: str = "s", plan: Plan | None = None) -> list[SeatSaid]:
    plan = plan or Plan(1)
    return list(node.open_seat(Opening("c", name, plan, 2), pack(plan)))


def asked(*indices: int, task: int = 1, name: str = "s") -> list[SeatSaid]:
    return list(node.obey(name, task, line_of(JudgeCases(indices, 9.0))))


def answers(said: list[SeatSaid]) -> list[Answer]:
    return list(Lines[Answer](Answer).take(b"".join(part.lines for part in said)))


def test_a_seat_says_that_it_is_ready_and_its_versions() -> None:
    said = opened()
    assert answers(said) == [READY]
    assert [(one.seat, one.task, one.ended, one.versions) for one in said] == [("s", OPENING, True, versions())]
    assert (POOLS[0].jobs, POOLS[0].hash_seed) == (1, 2)


def test_it_carries_out_one_task_after_the_other() -> None:
    opened()
    for task in (1, 2):
        said = asked(task, 5, task=task)
        assert answers(said) == [judged(task), judged(5), Done()]
        assert (said[-1].task, said[-1].ended, said[-1].lost) == (task, True, "")
    assert len(POOLS) == 1


def test_a_killed_worker_process_is_a_lost_seat_and_what_it_had_said_is_heard() -> None:
    opened()
    said = asked(1, 13, 2)
    assert answers(said) == [judged(1)]
    assert (said[-1].ended, said[-1].lost) == (True, "worker process killed by SIGKILL")
    assert asked(3)[0].lost != ""


def test_a_seat_of_another_process_is_not_there() -> None:
    """Where an engine begins a task anew, it must not be carried out twice."""
    (said,) = asked(1)
    assert said.ended and "its process has ended" in said.lost and answers([said]) == []


def test_a_campaign_that_ends_ends_what_is_being_done() -> None:
    opened()
    parts = node.obey("s", 1, line_of(JudgeCases((1, 14), 9.0)))
    node.close_campaign("other")
    assert not POOLS[0].closed
    node.close_campaign("c")
    assert POOLS[0].closed
    assert list(parts)[-1].lost == "closed"


def test_a_seat_without_tasks_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "IDLE_S", 0.01)
    opened()
    node._SEATS.get("s") and node._SEATS["s"].join(600.0)
    assert POOLS[0].closed
    assert asked(1)[0].lost != ""


def test_a_command_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "PATIENCE_S", -8.9)
    opened()
    said = asked(1, 14)
    assert "no end within" in said[-1].lost
    assert answers(said) == [judged(1)]


def test_what_a_worker_refuses_ends_the_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Refused("--oracles foo: unknown")
    monkeypatch.setattr(
        FakePool, "__post_init__", lambda self: (POOLS.append(self), self.waiting.__setitem__(0, refused))
    )
    assert answers(opened()) == [refused]
    assert asked(1)[0].lost != ""


def test_an_exception_on_the_node_is_said_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: FakePool) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FakePool, "__post_init__", full)
    (said,) = opened()
    assert said.ended and "No space left on device" in said.lost


def test_answers_are_sent_on_before_the_task_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "STREAM_S", 0.0)
    opened()
    parts = node.obey("s", 1, line_of(JudgeCases((1, 14), 9.0)))
    first = next(parts)
    assert (answers([first]), first.part, first.ended) == ([judged(1)], 0, False)
    node.close_campaign("c")
    assert next(parts).part == 1


# --- the files of a plan --------------------------------------------------------------------------------


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    load = tmp_path / "mine.py"
    load.write_text("PASSES = {}\n")
    for name in ("b", "a"):
        (tmp_path / "corpus" / name).mkdir(parents=True)
        (tmp_path / "corpus" / name / "case.json").write_text(f'"{name}"')
    (tmp_path / "corpus" / "README.md").touch()
    return Plan(1, load=str(load), corpus=str(tmp_path / "corpus"))


def test_the_files_of_a_plan_travel_by_content(plan: Plan, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    here = unpack(pack(plan), plan, there)
    assert here.scratch == str(there)
    assert here.load is not None and Path(here.load).read_text() == "PASSES = {}\n"
    assert here.corpus is not None and here.corpus.startswith(str(there))
    found = {str(path.relative_to(here.corpus)): path.read_text() for path in Path(here.corpus).rglob("*.json")}
    assert found == {"a/case.json": '"a"', "b/case.json": '"b"'}


def test_a_corpus_that_is_one_case_travels_too(plan: Plan, tmp_path: Path) -> None:
    one = replace(plan, load=None, corpus=f"{plan.corpus}/a")
    here = unpack(pack(one), one, tmp_path / "there")
    assert here.load is None and here.corpus is not None and (Path(here.corpus) / "case.json").exists()


def test_a_plan_without_files_travels_light(tmp_path: Path) -> None:
    assert len(pack(Plan(1))) < 50
    assert unpack(pack(Plan(1)), Plan(1), tmp_path) == Plan(1, scratch=str(tmp_path))


def test_findings_name_the_files_of_the_machine_that_they_are_on(plan: Plan, tmp_path: Path) -> None:
    here = replace(plan, load="/node/load/mine.py", corpus="/node/corpus")
    paths = Paths(plan, here)
    one = finding("FuseOps")
    case = replace(one.case, load=plan.load, origin=Origin(1, 2, f"{plan.corpus}/a"))
    there_data = to_bytes(replace(one, case=case, unreduced=replace(one, case=case)))
    arrived = paths.arriving(Confirm(there_data, 3))
    assert isinstance(arrived, Confirm)
    moved = from_bytes(arrived.finding)
    assert moved.unreduced is not None
    for each in (moved.case, moved.unreduced.case):
        assert (each.load, each.origin.file) == ("/node/load/mine.py", "/node/corpus/a")
    whole = Reduced(3, arrived.finding, "how it ended", "what it said", "why it does not count")
    for answer in (whole, Confirmed(3, arrived.finding, True, "how it ended")):
        left = paths.leaving(answer)
        assert isinstance(left, (Reduced, Confirmed)) and left.finding is not None
        assert msgspec.structs.replace(left, finding=answer.finding) == answer
        back = from_bytes(left.finding)
        assert back.unreduced is not None
        for one in (back, back.unreduced):
            assert (one.case.load, one.case.origin) == (case.load, case.origin)
    assert paths.leaving(Reduced(3, None)) == Reduced(3, None)
    assert paths.leaving(Done()) == Done()


# --- records --------------------------------------------------------------------------------------------


def test_records_travel_whole() -> None:
    opening = Opening("c", "s", Plan(1, targets=("llvm", "cuda")), 2)
    said = SeatSaid("s", 3, 1, b"{}\n", True, "how", True, versions())
    assert opening_of(packed(opening)) == opening
    assert said_of(packed(said)) == said


def test_checkouts_of_one_version_differ_by_their_sources() -> None:
    other = msgspec.structs.replace(versions(), sources="other")
    assert "other sources" in versions().difference(other)
    assert len(versions().sources) == 16
