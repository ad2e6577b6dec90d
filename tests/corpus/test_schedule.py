"""The steps of schedules inside of constructors: read, dropped one by one, and named in the culprit."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from dataclasses import replace

import pytest
import tvm

from corpus.reduce import Candidate, reduce
from corpus.scripts.schedule import primitives_of, schedule_steps
from generators import tvm_api
from generators.case import PassCall
from generators.passes.row import Role
from generators.passes.table import PASSES, the
from generators.program import Program
from generators.program_facts import ProgramFacts
from generators.source import SeededSource
from generators.unavailable import Unavailable
from tests.corpus.drawn_schedules import draw_scheduled_program

SCHEDULE = the(Role.SCHEDULES).name

STEPS = (
    'sch.cache_read(sch.get_sblock("b"), 0, "local")',
    'sch.reindex(sch.get_sblock("b"), ("write", 0))',
    'sch.transform_layout(sch.get_sblock("b"), ("read", 0), lambda i, j: (j, i,))',
)


def constructor(*steps: str) -> str:
    text = PASSES[SCHEDULE].draw(SeededSource(0), ProgramFacts(schedule=steps, scheduled="prim"))
    assert text is not None
    return text


def test_steps_come_back_as_they_were_written() -> None:
    assert schedule_steps(constructor(*STEPS)) == list(STEPS)
    assert schedule_steps("tirx.transform.StmtSimplify()") == []
    assert schedule_steps("PASSES['Mine']()") == []


def test_primitives_are_those_that_change_something() -> None:
    assert primitives_of(constructor(*STEPS)) == ("cache_read", "reindex", "transform_layout")


def test_a_program_without_a_schedule_has_no_use_for_the_row() -> None:
    assert PASSES[SCHEDULE].draw(SeededSource(0), ProgramFacts()) is None


def scheduled(index: int) -> Program:
    """The first program from `index` on of whose schedule a step applied."""
    for number in range(index, index + 20):
        try:
            return draw_scheduled_program(SeededSource(21, number))
        except Unavailable:
            continue
    raise AssertionError("no step of twenty schedules applied")


@pytest.mark.parametrize("index", range(0, 120, 20))
def test_a_drawn_schedule_applies_to_the_module_around_its_function(index: int) -> None:
    program = scheduled(index)
    made = eval(constructor(*program.facts.schedule), dict(tvm_api.PASS_NAMES))
    try:
        after = made(program.module)
    except (tvm_api.InternalError, KeyError):
        return  # the last step is one that TVM broke on
    except ValueError as error:
        assert str(error).lstrip().startswith("Check failed")  # the same, said by another kind of check
        return
    assert {g.name_hint for g in after.functions} == {g.name_hint for g in program.module.functions}
    assert not tvm_api.structural_equal(after, program.module)


def test_steps_that_the_failure_does_not_need_go() -> None:
    source = constructor(*STEPS)
    start = Candidate(tvm.IRModule({}), (), (PassCall(SCHEDULE, source),), ())
    reduction = reduce(start, lambda c: any("reindex" in call.source for call in c.passes))
    plain = 'sch.reindex(sch.get_sblock("b"))'
    assert reduction.candidate.passes == (replace(start.passes[0], source=constructor(plain)),)


def test_no_other_pass_of_the_table_is_taken_for_a_schedule() -> None:
    of_several_parts = [text for row in PASSES.values() for text in row.sources if "MemoryDatabase" in text]
    assert of_several_parts
    for row in PASSES.values():
        assert [text for text in row.sources if schedule_steps(text)] == []
