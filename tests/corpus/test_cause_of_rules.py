"""Causes of what rules of schedules meet: the rule, whichever primitive refuses and whichever pass has applied it."""

from __future__ import annotations

from corpus.causes.cause import _REFUSED, cause_of
from corpus.causes.failure_facts import FailureFacts
from oracles.verdict import CRASH, Failed
from tests.corpus.test_cause import CHECK, raised, thrown
from tests.corpus.test_throw_site import frame


def test_a_primitive_that_refuses_a_rule_is_of_the_rule_whichever_it_is() -> None:
    def refused(primitive: str, said: str, *below: str, blamed: str = "ApplyDefaultSchedule") -> str:
        rule = [("/opt/env/lib/python3.11/site-packages/tvm/s_tir/dlight/gpu/reduction.py", name) for name in below]
        place = (
            "/project/src/s_tir/schedule/concrete_schedule.cc",
            f"void tvm::s_tir::ConcreteScheduleNode::{primitive}()",
        )
        text = "Traceback (most recent call last):\n" + "".join(frame(*one) for one in (*rule, place)) + said
        return str(cause_of("survives", Failed(CRASH, "raised", text), blamed))

    error = "tvm.s_tir.schedule.schedule.ScheduleError: An error occurred in the schedule primitive"
    one = refused("Bind", f"{error} 'bind': The loop is bound", "apply")
    assert one == refused(
        "SetScope", f"{error} 'set-scope': The buffer is a parameter", "apply", "_sch_inner_reduction"
    )
    assert one == f"python/tvm/s_tir/dlight/gpu/reduction.py: {_REFUSED}"
    assert refused("Bind", f"{error} 'bind': x", blamed="s_tir.DefaultGPUSchedule").startswith(
        "s_tir.DefaultGPUSchedule: "
    )
    assert one != refused("Bind", "ValueError: Check failed: (loop) is false", "apply")
    drawn = refused("Bind", f"{error} 'bind': x", blamed="s_tir.Schedule[split+bind]")
    assert drawn != refused("Bind", f"{error} 'bind': y is not", blamed="s_tir.Schedule[split+bind]")


def test_what_a_search_meets_is_of_the_rule_whichever_search_it_is() -> None:
    def met(primitive: str, said: str, search: str, rule: str) -> str:
        place = ("/project/src/s_tir/schedule/concrete_schedule.cc", f"void tvm::s_tir::Schedule::{primitive}()")
        below = ("/opt/site-packages/tvm/s_tir/meta_schedule/space_generator/space_generator.py", "generate")
        text = "Traceback (most recent call last):\n" + frame(*below) + frame(*place) + said
        return str(cause_of("survives", Failed(CRASH, "raised", text), search, FailureFacts(rule=rule)))

    error = "tvm.s_tir.schedule.schedule.ScheduleError: An error occurred in the schedule primitive"
    one = met("Bind", f"{error} 'bind': The loop is bound", "Replay[cuda]", "AutoBind")
    assert one == met("Split", f"{error} 'split': The factor is 0", "Evolve[cuda]", "AutoBind")
    assert one == f"AutoBind: {_REFUSED}"
    assert one != met("Bind", f"{error} 'bind': The loop is bound", "Replay[cuda]", "RewriteUnboundBlock")
    assert one != met("Bind", "ValueError: Check failed: (loop) is false", "Replay[cuda]", "AutoBind")


def test_what_raises_in_a_thread_is_told_by_its_message_and_not_by_what_hands_it_on() -> None:
    def handed_on(said: str) -> str:
        place = (
            "/project/src/s_tir/meta_schedule/database/../../support/parallel_for.h",
            "support::parallel_for_dynamic()",
        )
        text = (
            "Traceback (most recent call last):\n"
            + frame(*place)
            + f"RuntimeError: parallel_for_dynamic error with {said}\n"
        )
        return str(
            cause_of("survives", Failed(CRASH, "raised", text), "Evolve[llvm]", FailureFacts(rule="RewriteLayout"))
        )

    one = handed_on("Check failed: (args.size() == initial_indices_orig.size()) is false: ")
    assert one.startswith("RewriteLayout: ")
    assert one != handed_on("Cannot treat type `tirx.Evaluate` as type `s_tir.SBlockRealize`")
    evaluate, store = (
        handed_on(f"Cannot treat type `tirx.{kind}` as type `x`") for kind in ("Evaluate", "BufferStore")
    )
    assert evaluate == store


def test_an_internal_check_of_a_primitive_is_one_cause_whoever_applies_it() -> None:
    """A refusal says so to its caller, who should have asked: that one is no bug of the primitive."""
    place = ("/project/src/s_tir/schedule/primitive/reduction.cc", "tvm::s_tir::R::Mutate_(int)")
    appliers = ("s_tir.Schedule[rfactor]", "s_tir.dlight.gpu.Reduction", "s_tir.meta_schedule.AddRFactor")
    assert len({thrown(raised(*place, CHECK), applier) for applier in appliers}) == 1
    assert len({thrown(raised(*place, CHECK.replace("InternalError", "ValueError")), one) for one in appliers}) == 3
