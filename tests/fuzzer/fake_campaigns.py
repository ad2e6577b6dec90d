"""Campaigns whose workers judge nothing, in no time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fuzzer.campaign.begin import run_campaign
from fuzzer.engines import choose
from fuzzer.processes import pool, start
from fuzzer.processes.pool import Pool
from fuzzer.results import CampaignResult
from fuzzer.settings import Settings, read_settings
from reports.out_writer import OutWriter
from reports.summary import RunFacts
from tests.fuzzer.fake_worker import failures_of


def with_fake_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Campaigns have workers that judge nothing."""

    def command(_module: str, *arguments: str) -> list[str]:
        return start.module_command("tests.fuzzer.fake_worker", *arguments)

    monkeypatch.setattr(pool, "module_command", command)


def noted_pools(monkeypatch: pytest.MonkeyPatch) -> list[Pool]:
    """The pools of the campaigns of a test."""
    made: list[Pool] = []

    class Noted(Pool):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(choose, "Pool", Noted)
    return made


def settings(out: Path, **options: Any) -> Settings:
    return read_settings(**{"seed": 1, "cases": 400, "jobs": 2, "out": out, **options})


def campaign(out: Path, **options: Any) -> CampaignResult:
    return run_campaign(settings(out, **options), writer(out))


def writer(out: Path) -> OutWriter:
    return OutWriter(out, RunFacts("0.27", "0.1", 1, ("llvm",)))


def slugs(result: CampaignResult) -> set[str]:
    return {row.signature for row in result.findings}


def assert_whole(result: CampaignResult, cases: int = 400) -> None:
    """Every case was judged once, and every failure is a finding."""
    assert (result.tally.cases, result.tally.generated) == (cases, cases)
    assert result.tally.ops == {f"op{index}": 1 for index in range(cases)}
    assert {row.culprit: row.count for row in result.findings} == sightings(cases)
    assert result.unreduced == 0
    assert result.fault() is None


def sightings(cases: int) -> Counter[str]:
    """How often each pass fails in so many cases."""
    return Counter(failure.culprit for index in range(cases) for failure in failures_of(index))
