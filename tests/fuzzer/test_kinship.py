"""Draws are tried once before the first case, by one worker, and what was found is a part of the campaign."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fuzzer.campaign import kinship
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.checkpoint import read_checkpoint
from fuzzer.campaign.interrupts import Interrupts
from fuzzer.campaign.kinship import LOST, TRIALS, Kinship
from fuzzer.campaign.observer import Observer, Observers
from fuzzer.processes.workforce import Slot, Workforce
from fuzzer.protocol import Command, TryDraws
from fuzzer.settings import Settings
from reports.finding_row import FindingRow
from reports.tally import Tally
from tests.fuzzer.fake_campaigns import assert_whole, campaign, settings, with_fake_workers, writer
from tests.fuzzer.fake_worker import TRIED, TRIES
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with what workers were told; they say that draws are to be tried."""
    with_fake_workers(monkeypatch)
    folder = tmp_path / "noted"
    folder.mkdir()
    monkeypatch.setenv(TRIES, str(folder))
    return folder


def times(noted: Path) -> Counter[str]:
    return Counter(path.name.split("-")[0] for path in noted.iterdir())


class Watches(Observer):
    """Notes when the campaign was said to start and to end, and whether draws had been tried by then; interrupts it
    when so many cases are judged."""

    def __init__(self, noted: Path, interrupts: Interrupts | None = None) -> None:
        self.noted, self.interrupts = noted, interrupts
        self.said: list[tuple[str, bool, float | None]] = []

    def on_start(self, settings: Settings) -> None:
        self.said.append(("start", bool(times(self.noted)), settings.time_s))

    def on_limits(self, settings: Settings) -> None:
        self.said.append(("limits", bool(times(self.noted)), settings.time_s))

    def on_tally(self, tally: Tally, now: float) -> None:
        if self.interrupts is not None and tally.cases >= 100:
            self.interrupts.happened = True

    def on_finding(self, row: FindingRow) -> None: ...

    def on_end(self) -> None: ...


def test_one_worker_tries_and_every_worker_is_told(noted: Path, tmp_path: Path) -> None:
    result = campaign(tmp_path / "out", jobs=3)
    assert_whole(result)
    assert times(noted)["tries"] == 1 and times(noted)["resembles"] <= 3
    assert result.notes == ()


def test_the_campaign_starts_before_anything_is_tried_and_its_time_begins_afterwards(
    noted: Path, tmp_path: Path
) -> None:
    watches = Watches(noted)
    assert_whole(run_campaign(settings(tmp_path / "out", time=f"{HANGS_S:g}s"), watches))
    (start, limits) = watches.said
    assert start == ("start", False, None)
    assert limits[:2] == ("limits", True)
    assert limits[2] is not None and limits[2] >= HANGS_S


def test_what_was_found_is_not_looked_for_again(noted: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Interrupts() as interrupts:
        run_campaign(settings(out), Observers((writer(out), Watches(noted, interrupts))), interrupts)
    assert times(noted)["tries"] == 1
    left = read_checkpoint(out).tried
    assert left is not None and left.kin == {"llvm": ((1, 0.5, True),)}
    assert_whole(campaign(out, seed=None, cases=400, resume=True))
    assert times(noted)["tries"] == 1


def test_another_worker_tries_where_one_has_ended(noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRIED, "dies")
    result = campaign(tmp_path / "out")
    assert result.tally.skipped.pop("worker process lost") == 1
    assert_whole(result)
    assert times(noted)["tries"] == 2


def test_where_workers_always_end_the_campaign_begins_without(
    noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRIED, "always dies")
    watches = Watches(noted)
    result = run_campaign(settings(tmp_path / "out", time=f"{HANGS_S:g}s"), watches)
    assert result.tally.skipped.pop("worker process lost") == LOST
    assert_whole(result)
    assert times(noted) == {"tries": LOST}
    assert [what for what, _, _ in watches.said] == ["start", "limits"]


def test_where_a_pass_speaks_for_the_worker_the_campaign_begins_without(
    noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass under test may write into the pipe of its worker that all is done."""
    monkeypatch.setenv(TRIED, "says nothing")
    assert_whole(campaign(tmp_path / "out"))
    assert times(noted) == {"tries": LOST}


def test_trials_that_did_not_come_to_their_end_are_told(
    noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TRIED, "3")
    result = campaign(tmp_path / "out")
    assert_whole(result)
    (note,) = result.notes
    assert note.startswith(f"3 of {TRIALS} draws could be tried before the first case")
    assert note not in capsys.readouterr().err  # The command says the notes of a result, in the end.


class Idle(Workforce):
    """Workers that are given commands and answer none."""

    def __init__(self) -> None:
        self.given: list[Command] = []

    def command(self, slot: Slot, command: Command, now: float) -> None:
        self.given.append(command)


def test_what_is_waited_for_is_said_once_and_only_where_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    workers, first, other = Idle(), Slot(), Slot()
    waits, quick = Kinship(), Kinship()
    assert quick.employs(workers, first, 0.0) and quick.employs(workers, other, 0.0)
    monkeypatch.setattr(kinship, "SAID_AFTER_S", HANGS_S)
    quick.look()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(kinship, "SAID_AFTER_S", 0.0)
    for seen in (waits, waits, quick, quick):
        waits.employs(workers, first, 0.0)
        seen.look()
    said = f"trying {TRIALS} draws, and up to {TRIALS + kinship.MORE_TRIALS} where a pass fires on none, on the passes "
    assert capsys.readouterr().err.count(said) == 2
    assert workers.given == [TryDraws(TRIALS, kinship.TRYING_S, kinship.MORE_TRIALS)] * 2
