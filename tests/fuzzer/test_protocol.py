"""Messages survive the way between processes, and counts add up as a tally wants them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import msgspec
import numpy as np
import pytest

from fuzzer.processes.lines import Lines, line_of
from fuzzer.protocol import (
    Answer,
    Begin,
    CandidateDigests,
    CaseDigests,
    Command,
    Counts,
    Done,
    Failure,
    Found,
    JudgeCases,
    Plan,
    Ready,
    Reduce,
    Reduced,
    Refused,
    Sample,
    Sampled,
    TakeDigests,
    Tallied,
)
from reports.tally import Tally

PLAN = Plan(7, under_test=("A", "B"), kinds=("pipeline",), oracles=("numeric",), load="x.py", scratch="s")
FAILURE = Failure(3, "numeric", "wrong result", "a\nb", "\x00é", "FuseOps", "A", step=2, tail=("LegalizeOps",))
COMMANDS = (Begin(PLAN), JudgeCases((1, 2), 3.5), Reduce(FAILURE, 4, 2.0), TakeDigests((5,)), TakeDigests(file="f"))
ANSWERS = (
    *(Ready("0.27"), Refused("why"), Tallied({"cases": 1, "skipped": {"x": 2}}), Found(FAILURE), Done()),
    *(Sampled(Sample(1, ("a", "b"), ("P",), ("B",), (True,))), Reduced(1, "file"), Reduced(1, None)),
    *(CaseDigests(1, ("a",), 0.5), CandidateDigests((("a", "b"), ("c",)))),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda message: type(message).__name__)
def test_a_command_survives_the_way_to_a_worker(command: Command) -> None:
    assert list(Lines[Command](Command).take(line_of(command))) == [command]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda message: type(message).__name__)
def test_an_answer_survives_the_way_back(answer: Answer) -> None:
    assert list(Lines[Answer](Answer).take(line_of(answer))) == [answer]


def test_every_kind_of_message_is_tried() -> None:
    assert {type(message) for message in COMMANDS} == set(get_args(Command))
    assert {type(message) for message in ANSWERS} == set(get_args(Answer))


def test_a_line_that_was_cut_is_passed_over_and_the_next_one_is_read() -> None:
    lines = Lines[Answer](Answer)
    whole = line_of(Found(FAILURE))
    assert list(lines.take(whole[:20])) == []
    assert list(lines.take(b"\n" + whole + line_of(Done()))) == [Found(FAILURE), Done()]


def test_a_message_of_no_such_kind_is_a_fault_of_ours() -> None:
    with pytest.raises(msgspec.ValidationError):
        list(Lines[Answer](Answer).take(b'{"type": "no such kind"}\n'))
    with pytest.raises(msgspec.ValidationError):
        list(Lines[Answer](Answer).take(line_of(Done())[:-2] + b', "type": "reduced"}\n'))


@pytest.mark.parametrize("text", ["\udcff", "a\ud800b", "é\x00\n"])
def test_any_text_of_an_exception_gets_through(text: str) -> None:
    (found,) = Lines[Answer](Answer).take(line_of(Found(replace(FAILURE, message=text))))
    assert isinstance(found, Found)
    assert found.failure.message == text.encode("utf-8", "backslashreplace").decode()


def test_numbers_of_numpy_get_through() -> None:
    (tallied,) = Lines[Answer](Answer).take(line_of(Tallied({"cases": np.int64(3), "cpu_s": np.float32(0.5)})))
    assert tallied == Tallied({"cases": 3, "cpu_s": 0.5})


def test_counts_are_the_delta_of_a_tally() -> None:
    counts = Counts()
    counts.count("cases")
    counts.count("cases", 2)
    counts.name("skipped", "why", 4)
    counts.name("skipped", "why")
    counts.cell("passes", "FuseOps", "applied")
    counts.cell("passes", "FuseOps", "applied")
    counts.cell("oracles", "numeric", "passed")
    tally = Tally()
    tally.add(json.loads(json.dumps(counts.delta())))
    tally.add({"cases": 1})
    assert tally.cases == 4
    assert tally.skipped == {"why": 5}
    assert tally.passes["FuseOps"]["applied"] == 2
    assert tally.oracles["numeric"]["passed"] == 1


def test_cases_are_dealt_to_the_targets_whatever_the_shard() -> None:
    plan = Plan(7, targets=("llvm", "cuda"))
    for shard in (range(0, 200, 2), range(1, 200, 2)):
        targets = [plan.at(index).target for index in shard]
        assert 30 < targets.count("cuda") < 70
    assert len(plan.at(5).targets) == 1
