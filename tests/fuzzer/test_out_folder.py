"""OUT: used twice, by two runs at a time, with what killed runs have left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corpus import own
from fuzzer.campaign.checkpoint import CHECKPOINT_FILE, read_checkpoint
from fuzzer.campaign.loop import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.campaign.out_folder import held
from fuzzer.errors import UsageError
from reports.summary import read_findings
from tests.fuzzer.fake_campaigns import campaign, settings, slugs, whole, with_fake_workers

pytestmark = pytest.mark.warm


@pytest.fixture(autouse=True)
def fake_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fake_workers(monkeypatch)


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
    whole(campaign(tmp_path))


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
