"""How long `pytest --passfuzz` judges, in proportion to the test's own CPU time; and whose results lie in OUT."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fuzzer.campaign.checkpoint import CHECKPOINT_FILE
from fuzzer.errors import UsageError
from fuzzer.plugin.budget import GRANT_S, SHARE, TestBudget, limit_cpu
from fuzzer.plugin.out_folder import clear
from oracles.forked import Ended, forked
from tests.patience import HANGS_S


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("own", [0.0, 0.5, 40.0])
def test_a_test_takes_at_most_ten_times_its_own_time_and_20_seconds(own: float) -> None:
    used, of_process = Clock(100.0), Clock(50.0)
    budget = TestBudget(used, of_process)
    used.now += own
    of_process.now += own
    judged = 0.0
    while (left := budget.left_s()) >= 1:
        with budget.spending():
            used.now += min(left, 7.0)  # in a child
            judged += min(left, 7.0)
    assert judged == pytest.approx(SHARE * own + GRANT_S, abs=1.0)
    assert own + judged <= 10 * own + 20


def test_what_the_judge_takes_is_not_the_tests_own_time() -> None:
    used, of_process = Clock(), Clock()
    budget = TestBudget(used, of_process)
    with budget.spending():
        used.now += 5
        of_process.now += 2
    assert budget.left_s() == GRANT_S - 5
    used.now += 1
    of_process.now += 1
    assert budget.left_s() == GRANT_S - 5 + SHARE


def test_a_judge_that_is_waited_for_later_counts_as_one() -> None:
    used, of_process = Clock(), Clock()
    budget = TestBudget(used, of_process)
    with budget.spending():
        pass
    used.now += 6
    assert budget.left_s() == GRANT_S - 6


def _spins() -> None:
    limit_cpu(1.0)
    while True:
        pass


def test_a_judge_that_takes_more_ends() -> None:
    work: Callable[[], None] = _spins
    ended = forked(work, HANGS_S)
    assert isinstance(ended, Ended)
    assert ended.by is signal.SIGXCPU


# --- the folder of an earlier session ---------------------------------------------------------------------------


def _session(out: Path) -> None:
    for name in ("findings/numeric-Mine-01234567/case.json", "unconfirmed/purity-Mine-89abcdef/case.json"):
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("{}")
    (out / "modules").mkdir()
    for name in ("modules/0123456789abcdef.json", "summary.json", "findings.jsonl", "pairs.json"):
        (out / name).write_text("{}")


def test_results_of_an_earlier_session_go(tmp_path: Path) -> None:
    _session(tmp_path)
    clear(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_no_session_has_left_stays(tmp_path: Path) -> None:
    _session(tmp_path)
    mine = [tmp_path / "modules" / "mine.json", tmp_path / "findings" / "notes" / "a.txt", tmp_path / "a.py"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    clear(tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(mine)


def test_files_that_look_like_results_stay_without_a_summary(tmp_path: Path) -> None:
    (tmp_path / "findings.jsonl").write_text("mine")
    clear(tmp_path)
    clear(tmp_path / "no-such")
    assert (tmp_path / "findings.jsonl").read_text() == "mine"


def test_a_campaign_is_left_alone(tmp_path: Path) -> None:
    _session(tmp_path)
    (tmp_path / CHECKPOINT_FILE).write_text("{}")
    with pytest.raises(UsageError, match="passfuzz run"):
        clear(tmp_path)
    assert (tmp_path / "summary.json").exists()
