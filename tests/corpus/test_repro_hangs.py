"""A script of a hang tells a pass that does not end from one that had no CPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corpus.scripts import repro_body
from oracles.evidence import Hung
from tests.corpus.test_repro import run, stored, written

pytestmark = pytest.mark.warm

LATE = """
import itertools, time
import tvm

def as_pass(name, before):
    return lambda: tvm.transform.module_pass(lambda mod, ctx: (before(), mod)[1], opt_level=0, name=name)

PASSES = {
    "Waits": as_pass("Waits", lambda: time.sleep(5)),
    "Sleeps": as_pass("Sleeps", lambda: time.sleep(10_000)),
    "Computes": as_pass("Computes", lambda: all(number >= 0 for number in itertools.count())),
}
"""


@pytest.mark.parametrize(
    ("name", "cpu_s", "sleeps_s", "status", "said"),
    [
        pytest.param("Waits", 4, 10_000, 0, "the bug is gone", marks=pytest.mark.deep),
        pytest.param("Sleeps", 10_000, 2, 1, "killed by signal 14", marks=pytest.mark.deep),
        ("Computes", 1, 10_000, 1, "killed by signal 27"),
    ],
)
def test_only_a_pass_that_does_not_end_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, cpu_s: int, sleeps_s: int, status: int, said: str
) -> None:
    monkeypatch.setattr(repro_body, "HANG_S", cpu_s)
    monkeypatch.setattr(repro_body, "SLEEPS_S", sleeps_s)
    file = tmp_path / "late.py"
    file.write_text(LATE)
    case = replace(stored("survives", name, str(file)), evidence=Hung())
    assert run(written(tmp_path, case)) == (status, f"{said}\n")
