"""Schedules are drawn in a child: a primitive that ends it is the last step of the schedule."""

from __future__ import annotations

import os
import signal

os.environ.setdefault("TVM_NUM_THREADS", "1")

import pytest

from fuzzer.worker import scheduled
from fuzzer.worker.scheduled import draw_scheduled
from generators.source import SeededSource, Source
from generators.targets import TARGETS
from generators.tir.prim_program import PrimProgram
from generators.tir.schedules import Before, ScheduleStep
from generators.unavailable import Unavailable
from oracles.forked import ChildRaised
from tests.patience import HANGS_S

LLVM = TARGETS["llvm"]
STEPS = ("sch.first()", "sch.ends_the_process()")


def crashing(
    source: Source, program: PrimProgram, first: tuple[str, ...], threads: bool, before: Before | None = None
) -> tuple[str, ...]:
    """Takes one step, and ends the process with the second."""
    assert before is not None
    steps = tuple(ScheduleStep("planted", text) for text in STEPS)
    before(steps[:1])
    before(steps)
    os.kill(os.getpid(), signal.SIGSEGV)
    return ()


def raising(
    source: Source, program: PrimProgram, first: tuple[str, ...], threads: bool, before: Before | None = None
) -> tuple[str, ...]:
    raise KeyError("ours")


def test_the_step_that_ended_the_child_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduled, "draw_steps", crashing)
    assert draw_scheduled(SeededSource(1), LLVM, HANGS_S).facts.schedule == STEPS


def test_an_exception_of_ours_is_no_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduled, "draw_steps", raising)
    with pytest.raises(ChildRaised, match="ours"):
        draw_scheduled(SeededSource(1), LLVM, HANGS_S)


def test_the_same_choices_give_the_same_schedule() -> None:
    def drawn(seed: int) -> tuple[str, ...]:
        try:
            return draw_scheduled(SeededSource(seed), LLVM, HANGS_S).facts.schedule
        except Unavailable:
            return ()

    schedules = [drawn(seed) for seed in range(6)]
    assert schedules == [drawn(seed) for seed in range(6)]
    assert len({steps for steps in schedules if steps}) > 3
