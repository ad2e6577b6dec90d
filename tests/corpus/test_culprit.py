"""Whom a finding blames, as text and as what it says."""

from __future__ import annotations

import pytest

from corpus.causes.blamed import blamed_by_text
from corpus.causes.cause import UNCERTAIN, Cause, cause_of
from corpus.causes.culprit import Blamed, culprit_from, culprit_in, schedule_of
from generators.case import PassCall
from generators.passes.row import Role
from generators.passes.table import PASSES, the
from oracles.evidence import Died
from oracles.verdict import CRASH, Failed
from tests.corpus.test_cause import CHECK, FUSE_TIR, raised, thrown

SCHEDULE = the(Role.SCHEDULES).name


@pytest.mark.parametrize("primitives", [(), ("split",), ("split", "cache_read")])
def test_a_schedule_is_read_as_it_was_printed(primitives: tuple[str, ...]) -> None:
    blamed = Blamed(SCHEDULE, primitives)
    assert culprit_from(str(blamed)) == blamed


def test_a_schedule_is_printed_with_its_primitives() -> None:
    assert str(Blamed("s_tir.Schedule", ("split", "cache_read"))) == "s_tir.Schedule[split+cache_read]"
    assert str(schedule_of("split")) == "s_tir.Schedule[split]"


@pytest.mark.parametrize("name", sorted(PASSES))
def test_a_row_is_its_name_also_with_a_bracket(name: str) -> None:
    assert culprit_from(name) == culprit_from(name).last == Blamed(name)
    assert str(culprit_from(name)) == name


def test_of_a_schedule_the_last_primitive_is_left() -> None:
    assert culprit_from("s_tir.Schedule[split+cache_read]").last == schedule_of("cache_read")
    assert culprit_from("s_tir.Schedule[]").last == Blamed(SCHEDULE, ())


def test_the_primitives_are_what_is_left_in_the_case() -> None:
    looks = "sch.get_sblock('b')"
    steps = f"sch := s_tir.Schedule(m), sch.work_on('f'), {looks}, sch.reindex({looks}, 0), sch.mod"
    call = PassCall(SCHEDULE, f"P(lambda m: ({steps})[-1])")
    assert culprit_in(SCHEDULE, (call,)) == schedule_of("reindex")
    assert culprit_in("FuseOps", (call,)) == Blamed("FuseOps")
    assert culprit_in(SCHEDULE, ()) == Blamed(SCHEDULE)


def test_a_pass_with_a_bracket_in_its_name_is_no_schedule() -> None:
    """A search that meets a primitive that refuses is the caller of that, as other passes that schedule are."""
    place = "/project/src/s_tir/schedule/concrete_schedule.cc"
    detail = raised(place, "tvm::s_tir::ConcreteSchedule::Fuse(int)", "ScheduleError: An error occurred")
    what = "raises what a schedule primitive refuses with, and does not decline"
    assert thrown(detail, "s_tir.meta_schedule.ReplayTrace[llvm]") == f"s_tir.meta_schedule.ReplayTrace[llvm]: {what}"
    assert thrown(detail, "s_tir.dlight.gpu.Fallback") == f"s_tir.dlight.gpu.Fallback: {what}"
    assert what not in thrown(detail, "s_tir.Schedule[fuse]")


def test_a_cause_says_whom_it_blames() -> None:
    """The pass, or nobody where the place alone says whose bug it is; in its text both may stand."""

    def of(path: str, function: str, culprit: str) -> Cause:
        return cause_of("survives", Failed(CRASH, "said", raised(path, function, CHECK)), culprit)

    alone, own = of("/home/me/mine.py", "run", "Mine"), of(FUSE_TIR, "void tvm::relax::F::Construct()", "FuseTIR")
    assert (alone.blames, own.blames) == ("Mine", "")
    died = Failed(CRASH, "SIGSEGV in Mine", evidence=Died("SIGSEGV"))
    guess = cause_of("survives", died, "Mine")
    assert (guess.blames, guess.certain, str(guess)) == ("Mine", False, f"{UNCERTAIN}Mine: ends by SIGSEGV")
    shared = Cause("Mine", "what", place="a/b.cc: f")
    assert str(shared) == "a/b.cc: f in Mine: what"
    assert all(blamed_by_text([str(one)], one.blames) for one in (alone, guess, shared))
    assert not blamed_by_text([str(own)], "FuseTIR")
