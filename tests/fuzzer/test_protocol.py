"""Messages survive the way between processes, and counts add up as a tally wants them."""

from __future__ import annotations

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
    Confirm,
    Confirmed,
    Done,
    Failure,
    JudgeCases,
    Judged,
    Killed,
    Plan,
    Ready,
    Reduce,
    Reduced,
    Refused,
    Resemble,
    Sample,
    TakeDigests,
    TriedDraws,
    TryDraws,
    Warned,
)
from reports.tally import Tally, bump

PLAN = Plan(7, under_test=("A", "B"), kinds=("pipeline",), oracles=("numeric",), load="x.py", scratch="s")
FAILURE = Failure(3, "numeric", "wrong result", "a\nb", "\x00é", "FuseOps", "A", step=2, tail=("LegalizeOps",))
COMMANDS = (
    *(Begin(PLAN), JudgeCases((1, 2), 3.5), Reduce(FAILURE, 4, 2.0), Confirm(b"\x80\x04", 5)),
    *(TakeDigests((5,)), TakeDigests(file="f"), TryDraws(48, 1.5), Resemble({"llvm": ((1, 1.0, True),)})),
)
SAMPLE = Sample(1, ("a", "b"), ("P",), ("B",), (True,))
ANSWERS = (
    *(Ready("0.27", "0.1", "0.1.0"), Refused("why"), Warned("why"), Killed(3), Done()),
    *(Judged(3, Tally(cases=1, skipped={"x": 2}), (FAILURE,), SAMPLE), Judged(4, Tally(), own_fault="a\nb")),
    *(Reduced(1, b"\x00\xff"), Reduced(1, None, "SIGKILL"), Confirmed(2, b"\x80", True)),
    *(CaseDigests(1, ("a",), 0.5), CandidateDigests((("a", "b"), ("c",)))),
    *(TriedDraws({"llvm": ((1, 1.0, True), ())}, 3, 48),),
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
    whole = line_of(Judged(3, Tally(), (FAILURE,)))
    assert list(lines.take(whole[:20])) == []
    assert list(lines.take(b"\n" + whole + line_of(Done()))) == [Judged(3, Tally(), (FAILURE,)), Done()]


def test_a_line_without_an_end_is_not_kept_and_what_comes_after_it_is_read() -> None:
    lines = Lines[Answer](Answer, longest=1000)
    whole = line_of(Done())
    assert list(lines.take(whole)) == [Done()]
    for _ in range(100):
        assert list(lines.take(b"x" * 100)) == []
        assert len(lines._rest) <= 1100
    assert list(lines.take(whole + whole)) == [Done()]  # the first ends the endless one
    assert list(lines.take(b"x" * 5000 + b"\n" + whole)) == [Done()]


def test_a_line_that_is_nested_too_deep_is_passed_over() -> None:
    lines = Lines[Answer](Answer)
    for depth in (*range(900, 1100), 3000, 100_000):
        assert list(lines.take(b'{"type":"done","x":' + b"[" * depth + b"\n" + line_of(Done()))) == [Done()]


def test_a_message_of_no_such_kind_is_a_fault_of_ours() -> None:
    with pytest.raises(msgspec.ValidationError):
        list(Lines[Answer](Answer).take(b'{"type": "no such kind"}\n'))
    with pytest.raises(msgspec.ValidationError):
        list(Lines[Answer](Answer).take(line_of(Done())[:-2] + b', "type": "reduced"}\n'))


@pytest.mark.parametrize("text", ["\udcff", "a\ud800b", "é\x00\n"])
def test_any_text_of_an_exception_gets_through(text: str) -> None:
    (judged,) = Lines[Answer](Answer).take(line_of(Judged(3, Tally(), (replace(FAILURE, message=text),))))
    assert isinstance(judged, Judged)
    assert judged.failures[0].message == text.encode("utf-8", "backslashreplace").decode()


def test_numbers_of_numpy_get_through() -> None:
    counts = Tally(cases=np.int64(3), cpu_s=np.float32(0.5))  # type: ignore[arg-type]
    assert list(Lines[Answer](Answer).take(line_of(Judged(1, counts)))) == [Judged(1, Tally(cases=3, cpu_s=0.5))]


def test_counts_of_a_case_add_up_in_the_campaign() -> None:
    counts, tally = Tally(), Tally(cases=1)
    counts.cases += 3
    bump(counts.skipped, "why", 4)
    bump(counts.skipped, "why", 1)
    counts.count_pass("FuseOps", "applied")
    counts.count_pass("FuseOps", "applied", "changed")
    counts.count_oracle("numeric", "passed")
    (judged,) = Lines[Answer](Answer).take(line_of(Judged(1, counts)))
    assert isinstance(judged, Judged)
    tally.add(judged.counts)
    assert (tally.cases, tally.skipped) == (4, {"why": 5})
    assert tally.passes == {"FuseOps": {"applied": 2, "changed": 1, "rejected": 0, "failed": 0, "undecided": 0}}
    assert tally.oracles["numeric"]["passed"] == 1


def test_cases_are_dealt_to_the_targets_whatever_the_shard() -> None:
    plan = Plan(7, targets=("llvm", "cuda"))
    for shard in (range(0, 200, 2), range(1, 200, 2)):
        targets = [plan.at(index).target for index in shard]
        assert 30 < targets.count("cuda") < 70
    assert len(plan.at(5).targets) == 1
