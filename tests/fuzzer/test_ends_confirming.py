"""What becomes of a finding whose script is killed while it is confirmed, with workers that judge nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzzer.campaign.checkpoint import UNREDUCED_FILE
from reports.summary import read_findings
from tests.fuzzer.fake_campaigns import assert_whole, campaign, slugs, with_fake_workers
from tests.fuzzer.fake_worker import CUT, PASSES

pytestmark = pytest.mark.warm


@pytest.fixture(autouse=True)
def fake_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fake_workers(monkeypatch)


def test_a_finding_whose_script_is_killed_once_is_confirmed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CUT, "1")
    assert_whole(campaign(tmp_path / "out", jobs=1))


def test_a_finding_whose_script_is_always_killed_is_left_in_out_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setenv(CUT, "1000000")
    result = campaign(out)
    left = [json.loads(line) for line in (out / UNREDUCED_FILE).read_text().splitlines()]
    assert (slugs(result), result.tally.cases) == (set(), 400)
    assert {one["culprit"] for one in left} == set(PASSES)
    assert all("SIGKILL while it was confirmed" in one["why"] for one in left)
    monkeypatch.delenv(CUT)
    on = campaign(out, seed=None, cases=400, resume=True)
    assert {row.culprit for row in read_findings(out)} == set(PASSES)
    assert on.unreduced == 0
