"""Candidates of a failure: how long each is waited for, and that what only takes long is not kept for a hang."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.reduce import Candidate
from corpus.scripts.module_text import live_module
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Heard, in_child
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.candidate_limit import FIRST_S, PROMPT_S, RECENT, SHORTEST_S, TIMES, CandidateLimit
from fuzzer.trial.reduction_watch import Unwatched
from fuzzer.trial.rejudge import Rejudge, TimedChildren
from fuzzer.trial.repertoire import Repertoire, repertoire_of
from generators.case import EntryCall, ModuleText, PassCall
from oracles.forked import Ended
from tests.patience import HANGS_S

CHAIN = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        a = R.exp(x)
        b = R.tanh(a)
        c = R.nn.relu(b)
        d = R.negative(c)
        return d
"""
WITHOUT_TANH = CHAIN.replace("R.tanh(a)", "R.sin(a)")
LASTS_S, PART_S = 3.0, 0.001
"""Seconds of a candidate that takes long, and of what ends at once, on the clock of `FakeTime`."""
PASSES = """
import os
from pathlib import Path
import tvm

HERE = Path(__file__).parent

def lasts(seconds):
    # On the clock of the test: the child ends where more than its limit would pass.
    if seconds > float((HERE / "limit").read_text()):
        (HERE / "hung").touch()
        os._exit(1)

@tvm.transform.module_pass(opt_level=0, name="Hangs")
def hangs(mod, context):
    lasts(float("inf") if "R.tanh" in mod.script() else 0)
    return mod

@tvm.transform.module_pass(opt_level=0, name="Slow")
def slow(mod, context):
    lasts(float("inf") if "R.nn.relu" in mod.script() else LASTS_S if "R.tanh" in mod.script() else 0)
    return mod

@tvm.transform.module_pass(opt_level=0, name="Raises")
def raises(mod, context):
    lasts(float("inf") if "R.sin" in mod.script() else 0)
    if "R.nn.relu" in mod.script():
        os.abort()
    return mod

PASSES = {"Hangs": lambda: hangs, "Slow": lambda: slow, "Raises": lambda: raises}
"""


class FakeTime:
    """A clock on which a child takes as many seconds as the passes of PASSES say, however busy the machine is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._used_s = 0.0

    def run(self, work: Any, union: Any, recorder: Recorder, deadline_s: float) -> Heard[Any]:
        (self._folder / "limit").write_text(str(deadline_s))
        heard = in_child(work, union, recorder, HANGS_S)
        hung = self._folder / "hung"
        if hung.exists():
            hung.unlink()
            return replace(heard, ended=Ended())
        self._used_s += PART_S
        return heard

    @property
    def children(self) -> TimedChildren:
        return TimedChildren(self.run, lambda: self._used_s)


def test_the_limit_follows_what_ended_last() -> None:
    limit = CandidateLimit.of_hang(30.0)
    assert limit.seconds == 4.0
    limit.took(0.001)
    assert limit.seconds == SHORTEST_S
    limit.took(0.2)
    assert limit.seconds == pytest.approx(0.2 * TIMES)
    limit.took(100.0)
    assert limit.seconds == 4.0
    for _ in range(RECENT):
        limit.took(0.001)
    assert limit.seconds == SHORTEST_S


def test_a_long_limit_is_worth_a_measurement() -> None:
    limit = CandidateLimit.of_hang(30.0)
    assert limit.is_long
    limit.took(0.3)
    assert limit.is_long
    limit.forget()
    limit.took(0.01)
    assert not limit.is_long and limit.seconds == SHORTEST_S


def test_a_smaller_candidate_that_hangs_is_measured_where_the_limit_is_long(asked: tuple[Plan, Repertoire]) -> None:
    """What ended before it was larger; nothing of its own size need end."""
    rejudge = rejudge_of(asked, "Hangs")
    assert rejudge.interesting(candidate(CHAIN, "Hangs"))
    limit = rejudge._limit
    assert limit is not None
    for _ in range(RECENT):
        limit.took(0.4)
    assert limit.seconds == pytest.approx(0.4 * TIMES)
    assert rejudge.interesting(candidate(CHAIN.replace("R.negative(c)", "R.abs(c)"), "Hangs"))
    assert limit.seconds < 0.4 * TIMES and rejudge.surely(candidate(CHAIN, "Hangs"))


def test_the_limit_of_what_does_not_hang_follows_what_showed_it_last() -> None:
    limit = CandidateLimit.of_failure(30.0)
    assert limit.seconds == 30.0
    limit.took(0.001)
    assert limit.seconds == PROMPT_S
    limit.took(1.0)
    assert limit.seconds == pytest.approx(TIMES)
    limit.forget()
    assert limit.seconds == 30.0


def candidate(script: str, name: str) -> Candidate:
    """A module under a pass of PASSES."""
    passes = (PassCall(name, f"PASSES['{name}']()"),)
    return Candidate(live_module(ModuleText(script)), (), passes, (EntryCall("main", (np.ones((2, 3), np.float32),)),))


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Plan, Repertoire]:
    file = tmp_path / "mine.py"
    file.write_text(PASSES.replace("LASTS_S", str(LASTS_S)), encoding="utf-8")
    plan = Plan(0, deadline_s=FIRST_S, load=str(file), under_test=("Hangs", "Slow", "Raises"), scratch=str(tmp_path))
    return plan, repertoire_of(plan)


def rejudge_of(asked: tuple[Plan, Repertoire], name: str) -> Rejudge:
    """What judges candidates of a hang of one of the passes."""
    plan, repertoire = asked
    recorder, children = Recorder.create(Path(plan.scratch) / "flight"), FakeTime(Path(plan.scratch)).children
    asked_for = Failure(0, "survives", "", "", "", "", "B")
    failure = Rejudge(plan, repertoire, asked_for, recorder, children=children).failures(candidate(CHAIN, name))[0]
    assert failure.symptom == "hang" and failure.culprit == name
    return Rejudge(plan, repertoire, failure, recorder, children=children)


def test_candidates_after_the_first_are_waited_for_less(asked: tuple[Plan, Repertoire]) -> None:
    rejudge = rejudge_of(asked, "Hangs")
    assert rejudge.interesting(candidate(CHAIN, "Hangs"))
    limit = rejudge._limit
    assert limit is not None and len(limit.recent) == 1 and limit.seconds < limit.whole_s == FIRST_S
    assert rejudge.interesting(candidate(CHAIN.replace("R.negative(c)", "R.abs(c)"), "Hangs"))
    assert not rejudge.interesting(candidate(WITHOUT_TANH, "Hangs"))
    assert len(limit.recent) == 2
    assert rejudge.surely(candidate(CHAIN, "Hangs"))


def test_what_only_takes_long_is_not_kept(asked: tuple[Plan, Repertoire]) -> None:
    """It lasts for more than the limit of a small module, and for less than that of the first candidate."""
    rejudge = rejudge_of(asked, "Slow")
    assert rejudge.interesting(candidate(CHAIN, "Slow"))
    takes_long, limit = candidate(CHAIN.replace("R.nn.relu(b)", "R.abs(b)"), "Slow"), rejudge._limit
    assert limit is not None and limit.seconds < LASTS_S < FIRST_S and rejudge.interesting(takes_long)
    assert not rejudge.surely(takes_long)
    assert not rejudge.interesting(takes_long) and rejudge.interesting(candidate(CHAIN, "Slow"))


def test_what_was_kept_in_less_time_is_judged_again_though_the_limit_is_whole_by_then(
    asked: tuple[Plan, Repertoire],
) -> None:
    rejudge = rejudge_of(asked, "Slow")
    assert rejudge.interesting(candidate(CHAIN, "Slow"))
    takes_long = candidate(CHAIN.replace("R.nn.relu(b)", "R.abs(b)"), "Slow")
    limit = rejudge._limit
    assert limit is not None and limit.seconds < LASTS_S and rejudge.interesting(takes_long)
    limit.took(limit.whole_s)
    assert limit.seconds == limit.whole_s and not rejudge.surely(takes_long)


def test_once_it_is_sure_nothing_more_is_measured(
    asked: tuple[Plan, Repertoire], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each candidate that hangs is judged once."""
    rejudge = rejudge_of(asked, "Hangs")
    assert rejudge.interesting(candidate(CHAIN, "Hangs")) and rejudge.surely(candidate(CHAIN, "Hangs"))
    judged: list[int] = []
    failures = rejudge.failures
    monkeypatch.setattr(rejudge, "failures", lambda *given, **named: judged.append(1) or failures(*given, **named))
    assert rejudge.interesting(candidate(CHAIN, "Hangs")) and len(judged) == 1


class Met(Unwatched):
    """Notes what fails in another way."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []

    def met(self, failure: Failure) -> None:
        self.failures.append(failure)


def test_a_candidate_of_a_crash_that_takes_many_times_as_long_is_no_hang(asked: tuple[Plan, Repertoire]) -> None:
    """The first one has all its time whenever it comes."""
    plan, repertoire = asked
    recorder, met = Recorder.create(Path(plan.scratch) / "flight"), Met()
    children = FakeTime(Path(plan.scratch)).children
    asked_for = Failure(0, "survives", "", "", "", "", "B")
    first = candidate(CHAIN, "Raises")
    failure = Rejudge(plan, repertoire, asked_for, recorder, children=children).failures(first)[0]
    assert failure.symptom == "crash"
    rejudge = Rejudge(plan, repertoire, failure, recorder, met, children)
    assert rejudge.interesting(first) and rejudge._prompt is not None
    assert rejudge._prompt.seconds < FIRST_S
    assert not rejudge.interesting(candidate(WITHOUT_TANH, "Raises"))
    assert not met.failures
    rejudge._prompt.took(0.5)
    assert rejudge.interesting(first) and len(rejudge._prompt.recent) == 1
