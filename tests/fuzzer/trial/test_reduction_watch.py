"""The clock of a reduction: seconds of CPU, and a share of those of the wall."""

from __future__ import annotations

from typing import Any

import pytest

from fuzzer.trial import reduction_watch
from fuzzer.trial.reduction_watch import Paced


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What the clocks say, for a test to set."""
    spent = {"cpu": 100.0, "wall": 1000.0}
    monkeypatch.setattr(reduction_watch, "_cpu_s", lambda: spent["cpu"])
    monkeypatch.setattr(reduction_watch.time, "monotonic", lambda: spent["wall"])
    return spent


def test_on_a_busy_machine_seconds_are_those_of_the_cpu(spent: Any) -> None:
    paced = Paced(budget_s=15.0, ceiling_s=60.0)
    spent["wall"] += 20.0
    spent["cpu"] += 6.0
    assert paced.clock() == 6.0


def test_at_the_ceiling_the_time_is_up(spent: Any) -> None:
    paced = Paced(budget_s=15.0, ceiling_s=60.0)
    spent["wall"] += 60.0
    assert paced.clock() == 15.0


def test_without_any_time_it_is_up_at_once(spent: Any) -> None:
    paced = Paced(budget_s=0.0, ceiling_s=0.0)
    assert paced.clock() >= 0.0
