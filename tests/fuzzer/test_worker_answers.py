"""What a worker says: one answer of each case and of each command, whatever a pass does to its process."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.finding import Finding
from corpus.finding_bytes import to_bytes
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Lines
from fuzzer.protocol import Answer, Done, Failure, JudgeCases, Judged, Plan, Reduce, Reduced
from fuzzer.worker import child, main, shrink_drawn
from oracles.pipes import rest_of
from reports.tally import Tally
from tests.reports.reports_data import finding

UNUSED: Any = object()
"""In place of the passes: what draws cases and makes them small is patched."""
FAILURE = Failure(3, "survives", "crash", "it crashed", "", "FuseOps", "A")


@pytest.fixture
def said_by(tmp_path: Path) -> Callable[[Any], list[Any]]:
    """What a worker answers to a command."""

    def said(command: Any) -> list[Any]:
        reader, writer = os.pipe()
        errors = os.open(tmp_path / "stderr", os.O_RDWR | os.O_CREAT)
        plan = Plan(1, scratch=str(tmp_path), memory_bytes=1 << 34)
        try:
            worker = main._Worker(plan, Recorder.create(tmp_path / "flight"), writer, errors, "")
            worker._repertoire = UNUSED
            worker.obey(command)
            return list(Lines[Any](Answer).take(rest_of(reader)))
        finally:
            for descriptor in (reader, writer, errors):
                os.close(descriptor)

    return said


def test_a_pass_that_forks_answers_once(said_by: Callable[[Any], list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has forked comes to the end of the pass, too, and goes on like the child."""

    def judge_case(plan: Plan, repertoire: object, index: int, recorder: Recorder) -> Judged:
        os.fork()
        return Judged(index, Tally(generated=1, cases=1))

    monkeypatch.setattr(child, "judge_case", judge_case)
    answers = said_by(JudgeCases((4, 7, 9), 600.0))
    assert Counter(answer.index for answer in answers if isinstance(answer, Judged)) == {4: 1, 7: 1, 9: 1}
    assert [isinstance(answer, Done) for answer in answers] == [False, False, False, True]


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_a_command_begins_its_first_case_however_late_it_comes(
    said_by: Callable[[Any], list[Any]], monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(child, "judge_case", lambda plan, repertoire, index, recorder: Judged(index, Tally(cases=1)))
    assert said_by(JudgeCases((4, 7, 9), seconds)) == [Judged(4, Tally(cases=1)), Done()]


def test_a_pass_that_forks_while_it_is_reduced_answers_once(
    said_by: Callable[[Any], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = finding()

    def shrink_failure(*given: object) -> Finding:
        for _ in range(3):
            os.fork()
        return found

    monkeypatch.setattr(shrink_drawn, "shrink_failure", shrink_failure)
    assert said_by(Reduce(FAILURE, 5, 60.0)) == [Reduced(5, to_bytes(found)), Done()]
