"""What a worker says of a child that has raised and could not say what: a limit from outside, not the generator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fuzzer.protocol import Judged, Killed
from fuzzer.worker import main
from oracles.activities import Working
from oracles.forked import RAISED, Ended


@pytest.mark.parametrize(
    ("printed", "status", "killed"),
    [("", RAISED, True), ("Traceback\nKeyError: 'x'\n", RAISED, False), ("", 3, False)],
)
def test_who_raises_without_a_word_is_no_fault_of_the_generator(
    monkeypatch: pytest.MonkeyPatch, printed: str, status: int, killed: bool
) -> None:
    said: list[Any] = []
    monkeypatch.setattr(main, "cut", lambda _answers: None)
    worker: Any = SimpleNamespace(
        _answers=None, _stderr_tail=lambda: printed, plan=SimpleNamespace(deadline_s=20.0), say=said.append
    )
    worker._own_fault = lambda *given: main._Worker._own_fault(worker, *given)
    main._Worker._report_lost(worker, 3, Working("draw"), Ended(status=status))
    (answer,) = said
    assert isinstance(answer, Killed if killed else Judged) and answer.index == 3
    assert killed or answer.counts.invalid == 1
