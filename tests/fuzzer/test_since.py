"""Which releases show a case: what was found on each TVM, put in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fuzzer.commands import since
from fuzzer.commands.since import since_when
from fuzzer.errors import UsageError
from fuzzer.results import ReplayResult
from fuzzer.versions import KNOWN_PAIRS
from reports.matrix import Column, ReplayRow, ReplayWord

CASE = "17175-ewise-fma"


def found(monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, ReplayWord], fault: str = "") -> list[Any]:
    """Has the replay give these outcomes by version. Returns what it is asked."""
    asked: list[Any] = []

    def replay(*given: Any) -> ReplayResult:
        asked.append(given)
        rows = tuple(ReplayRow(CASE, version, outcome) for version, outcome in outcomes.items())
        columns = [Column(version, version) for version in outcomes]
        return ReplayResult(rows, (*columns, *([Column("9.9", fault=fault)] if fault else [])))

    monkeypatch.setattr(since, "replay", replay)
    return asked


def test_the_oldest_and_the_newest_version_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: dict[str, ReplayWord] = {
        "0.100.0": "passes",
        "0.27.0": "regressed",
        "0.25.0": "passes",
        "0.26.0": "fails as known",
    }
    asked = found(monkeypatch, outcomes)
    result = since_when(Path(CASE), ("/my/build",), None)
    assert (result.first, result.last, result.status()) == ("0.26.0", "0.27.0", 0)
    assert [row.tvm for row in result.result.rows] == ["0.25.0", "0.26.0", "0.27.0", "0.100.0"]
    assert result.says == f"{CASE}: since 0.26.0 and last in 0.27.0"
    assert set(asked[0][1]) == {*KNOWN_PAIRS, "/my/build"}


def test_what_every_version_shows_is_older_than_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, {"0.26.0": "fails as known", "0.27.0": "fails as known"})
    assert since_when(Path(CASE), (), None).says == f"{CASE}: since, or before, 0.26.0 and still in 0.27.0"


def test_another_failure_is_not_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, {"0.26.0": "changed", "0.27.0": "unportable"})
    result = since_when(Path(CASE), (), None)
    assert (result.first, result.status()) == ("", 0)
    assert result.says == f"{CASE}: no TVM that was asked shows it"


def test_a_version_that_could_not_be_asked_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, {"0.27.0": "fails as known"}, fault="it cannot be installed")
    assert since_when(Path(CASE), (), None).status() == 3


def test_what_is_no_case_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case folder"):
        since_when(tmp_path, (), None)


def test_a_corrupt_case_is_wrong_usage_and_no_tvm_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = found(monkeypatch, {"0.27.0": "error"})
    (tmp_path / "case.json").write_text("[[[")
    with pytest.raises(UsageError, match="not a case: .*case.json"):
        since_when(tmp_path, (), None)
    assert asked == []
