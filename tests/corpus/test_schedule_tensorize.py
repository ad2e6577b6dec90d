"""Steps that tensorize carry what they need: they apply in any process, and go with what they register."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tvm

from corpus.causes.culprit import culprit_in
from corpus.reduce import Candidate, reduce
from corpus.scripts.module_text import text_of
from corpus.scripts.repro import repro_text
from corpus.scripts.schedule import primitives_of, schedule_steps
from corpus.store import StoredCase, write_case
from fuzzer.cli import main
from generators.case import Case, PassCall
from generators.passes.row import Role
from generators.passes.table import PASSES, the
from generators.program_facts import ProgramFacts
from generators.source import SeededSource
from generators.tir.functions import draw_schedulable
from generators.tir.primitives import PRIMITIVES
from generators.tir.relax_caller import CALLED, wrapped
from generators.tir.schedules import Scheduled, draw_schedule
from generators.tir.tensor_intrinsics import WAYS
from generators.unavailable import Unavailable
from oracles.reference.tir import run_prim_func
from tests.corpus.drawn_schedules import draw_scheduled_program
from tests.patience import HANGS_S

pytestmark = [pytest.mark.warm, pytest.mark.usefixtures("few_other_builds")]

SCHEDULE = the(Role.SCHEDULES).name

TENSORIZE = [row for row in PRIMITIVES if row.name == "tensorize"]


def tensorized(count: int) -> list[Scheduled]:
    """The first schedules of one tensorize."""
    found: list[Scheduled] = []
    for seed in range(3000):
        source = SeededSource(77, seed)
        program = draw_schedulable(source)
        if "matmul" not in program.features:
            continue
        scheduled = draw_schedule(source, program, 1, rows=TENSORIZE)
        found += [scheduled] if scheduled.steps else []
        if len(found) == count:
            break
    return found


@pytest.fixture(scope="module")
def some() -> list[Scheduled]:
    return tensorized(24)


def constructor(*steps: str) -> str:
    text = PASSES[SCHEDULE].draw(SeededSource(0), ProgramFacts(schedule=steps, scheduled=CALLED))
    assert text is not None
    return text


def way_of(scheduled: Scheduled) -> str:
    return next(way for way in WAYS if f'_{way}"' in scheduled.steps[0].text)


def test_every_way_is_drawn_and_keeps_the_meaning(some: list[Scheduled]) -> None:
    assert {way_of(scheduled) for scheduled in some} == set(WAYS)
    for scheduled in some:
        found = []
        for program in (scheduled.original, scheduled.program):
            arguments = program.fresh_arguments()
            run_prim_func(program.func, arguments, program.initialised())
            found.append([arguments[number] for number in program.outputs])
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)


def test_steps_are_read_back_and_name_the_primitive(some: list[Scheduled]) -> None:
    step = some[0].steps[0].text
    last = 'sch.unroll(sch.get_loops(sch.get_sblock("b"))[0])'
    text = constructor(step, last)
    assert schedule_steps(text) == [step, last]
    assert set(primitives_of(text)) - {"decompose_reduction"} == {"tensorize", "unroll"}
    assert "tensorize" in str(culprit_in(SCHEDULE, [PassCall(SCHEDULE, text)]))


def test_what_a_step_registers_goes_with_it(some: list[Scheduled]) -> None:
    last = 'sch.unroll(sch.get_loops(sch.get_sblock("b"))[0])'
    start = Candidate(tvm.IRModule({}), (), (PassCall(SCHEDULE, constructor(some[0].steps[0].text, last)),), ())
    reduction = reduce(start, lambda c: any("sch.unroll" in call.source for call in c.passes))
    assert reduction.candidate.passes == (replace(start.passes[0], source=constructor(last)),)


def stored(scheduled: Scheduled) -> StoredCase:
    program = wrapped(scheduled.original)
    steps = [step.text for step in scheduled.steps]
    case = Case(text_of(program.module), (PassCall(SCHEDULE, constructor(*steps)),), program.calls)
    return StoredCase(case, "title", "survives", "crash", SCHEDULE)


def test_a_fresh_process_applies_the_step(tmp_path: Path, some: list[Scheduled]) -> None:
    case = stored(some[0])
    write_case(tmp_path / "case", case, repro_text(case), "")
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "case" / "repro.py")],
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "the bug is gone"), ended.stdout + ended.stderr


@pytest.mark.warm
@pytest.mark.usefixtures("few_other_builds")
def test_check_takes_such_a_case(tmp_path: Path, some: list[Scheduled], capsys: pytest.CaptureFixture[str]) -> None:
    case = stored(some[0])
    write_case(tmp_path / "case", case, repro_text(case), "")
    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path / "case")])
    assert ended.value.code == 0, capsys.readouterr()


def test_campaigns_draw_schedules_that_tensorize() -> None:
    assert any(map(tensorizes, range(120)))


def tensorizes(seed: int) -> bool:
    try:
        program = draw_scheduled_program(SeededSource(8, seed))
    except Unavailable:
        return False
    return any("sch.tensorize(" in step for step in program.facts.schedule)
