"""OUT: used twice, by two runs at a time, with what killed runs have left."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from corpus import own
from fuzzer.campaign import begin, disk
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.checkpoint import CHECKPOINT_FILE, read_checkpoint
from fuzzer.campaign.docket import Docket
from fuzzer.campaign.observer import Observer, Observers
from fuzzer.campaign.out_folder import held
from fuzzer.campaign.plan import plan_of
from fuzzer.commands.run import run_and_report
from fuzzer.coverage.hits import HITS_FILE
from fuzzer.errors import EnvironmentFault, ExitStatus, UsageError
from fuzzer.protocol import Plan
from fuzzer.settings import Settings
from reports.summary import UNREDUCED_FILE, read_findings, read_out
from reports.tally import Tally
from tests.fuzzer.fake_campaigns import assert_whole, campaign, settings, slugs, with_fake_workers, writer
from tests.quick import one_in

pytestmark = pytest.mark.warm


@pytest.fixture(autouse=True)
def fake_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fake_workers(monkeypatch)


def test_a_run_that_cannot_write_what_is_left_says_so_in_its_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that fills up, whichever file meets it first: the run ends with 3 and does not read as going on."""
    writes, out = disk.write_unreduced, tmp_path / "out"

    def full(folder: Path, seed: int, docket: Docket) -> None:
        if docket.changes > 0:
            raise OSError(28, "No space left on device", str(folder / UNREDUCED_FILE))
        writes(folder, seed, docket)

    monkeypatch.setattr(disk, "write_unreduced", full)
    assert run_and_report(settings(out, cases=60), as_json=True) is ExitStatus.OWN_FAULT
    told = read_out(out).facts
    assert (told.ended, told.own_fault) == ("fault", f"{out / UNREDUCED_FILE}: no space left on device")


def test_a_used_folder_is_refused_unless_asked(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = campaign(out, cases=60)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"--out .*: holds \S+ of an earlier run; --fresh .* --resume"):
        campaign(out, cases=60)
    assert slugs(first) and (out / "findings").exists()
    again = campaign(out, cases=3, fresh=True)
    assert {row.signature for row in read_findings(out)} == slugs(again)
    assert {path.name for path in (out / "findings").iterdir()} == slugs(again)
    assert (out / "notes.txt").read_text() == "mine"


def test_a_link_in_a_used_folder_is_removed_and_not_followed(tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    other.mkdir()
    (other / "precious").write_text("")
    out.mkdir()
    (out / "findings").symlink_to(other)
    with held(out, fresh=True, resume=False):
        assert not (out / "findings").exists()
    assert (other / "precious").exists()


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with held(tmp_path, fresh=False, resume=False):
        with pytest.raises(UsageError, match="another run is writing there"):
            campaign(tmp_path, cases=1)
        with pytest.raises(UsageError, match="another run is writing there"):
            campaign(tmp_path, cases=1, fresh=True)
    assert_whole(campaign(tmp_path))


class Moves(Observer):
    """An observer that does something to OUT after so many cases."""

    def __init__(self, cases: int, action: Callable[[], object]) -> None:
        self.cases, self.action = cases, action

    def on_tally(self, tally: Tally, now: float) -> None:
        if tally.cases >= self.cases:
            self.cases = 10**9
            self.action()


def test_a_folder_that_is_moved_while_it_is_written_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second folder with the rest would look whole; what is there can be gone on with."""
    monkeypatch.setattr(disk, "CHECKPOINT_S", 0.0)
    out, moved = tmp_path / "out", tmp_path / "moved"
    watching = Observers((writer(out), Moves(60, lambda: out.rename(moved))))
    with pytest.raises(EnvironmentFault, match=r"--out \S+out: was moved or removed while the run was writing there"):
        run_campaign(settings(out), watching)
    assert not out.exists()
    assert read_out(moved).facts.ended is None
    assert_whole(campaign(moved, seed=None, resume=True))


def test_a_folder_that_is_removed_while_it_is_written_ends_the_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    watching = Observers((writer(out), Moves(60, lambda: shutil.rmtree(out))))
    with pytest.raises(EnvironmentFault, match="was moved or removed"):
        run_campaign(settings(out), watching)
    assert not out.exists()


def test_a_run_can_be_gone_on_with_from_its_first_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "CHECKPOINT_S", 1e9)
    out, early = tmp_path / "out", tmp_path / "early"
    run_campaign(settings(out), Observers((writer(out), Moves(1, lambda: shutil.copytree(out, early)))))
    assert (early / CHECKPOINT_FILE).is_file()
    assert_whole(campaign(early, seed=None, resume=True))


@pytest.mark.parametrize("why", one_in(2, [KeyboardInterrupt, EnvironmentFault, UsageError]))
def test_a_run_is_reported_and_gone_on_with_before_it_has_a_worker(
    why: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused run leaves nothing of its own; a killed one leaves what a reader and --resume need."""
    out, killed = tmp_path / "out", tmp_path / "killed"
    out.mkdir()
    (out / "notes.txt").write_text("mine")

    def refuses(*_given: object) -> None:
        shutil.copytree(out, killed)
        raise why("no")

    with monkeypatch.context() as patch:
        patch.setattr(begin, "workforce_of", refuses)
        with pytest.raises(why):
            campaign(out)
    assert [path.name for path in out.iterdir()] == ["notes.txt"]
    report = read_out(killed)
    assert (report.facts.ended, report.tally.cases, report.findings) == (None, 0, ())
    assert_whole(campaign(killed, seed=None, resume=True))


def test_a_run_that_is_refused_for_its_registry_leaves_nothing(tmp_path: Path) -> None:
    """The plan makes the file of what is counted before the registry is read."""
    out, known = tmp_path / "out", tmp_path / "known.toml"
    known.write_text("schema = 99\n")

    def plan(settings: Settings, scratch: Path) -> Plan:
        (out / HITS_FILE).write_text("")
        return plan_of(settings, scratch)

    with pytest.raises(UsageError, match="known.toml"):
        run_campaign(settings(out, known=known), writer(out), plan=plan)
    assert not out.exists()


def test_leftovers_of_killed_runs_are_swept(tmp_path: Path) -> None:
    for name in (".scratch-abc", ".part-xyz", "unconfirmed/.part-1"):
        (tmp_path / name / "deep").mkdir(parents=True)
    campaign(tmp_path, cases=1, fresh=True)
    assert [path.name for path in tmp_path.rglob(".*") if path.name != own.MARK] == []


def test_nothing_is_left_of_a_refused_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError):
        run_campaign(replace(settings(tmp_path / "out"), resume=True), Observers())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', "\0", '{"schema": 99, "begun": null}'])
def test_a_checkpoint_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / CHECKPOINT_FILE).write_text(text)
    with pytest.raises(UsageError, match=r"--resume: .*resume\.json: "):
        read_checkpoint(tmp_path)
