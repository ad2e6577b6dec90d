"""Passes that rarely fire are drawn more often, and schedules in their share."""

from __future__ import annotations

from collections import Counter

from generators.passes.need import COMMON, MOST, need, pick_by_need
from generators.passes.row import PassRow, Role
from generators.passes.sequences import draw_names
from generators.passes.table import PASSES, the
from generators.passes.traits import Quiet
from generators.source import SeededSource
from generators.targets import TARGETS
from generators.tir.recipes.table import fitting

SCHEDULE = the(Role.SCHEDULES).name


def per_1000(row: PassRow) -> int:
    """The rate of a row."""
    return 0 if row.fires.rate is None else row.fires.rate.per_1000


def test_rates_are_shares_of_passes_that_can_fire() -> None:
    rated = [row for row in PASSES.values() if row.fires.rate is not None]
    assert len(rated) > len(PASSES) / 2
    assert all(0 < per_1000(row) <= 1000 and not row.has(Quiet) for row in rated)


def test_the_need_falls_with_the_rate_and_stays_within_its_bounds() -> None:
    loud = [row for row in PASSES.values() if not row.has(Quiet)]
    rows = sorted(loud, key=per_1000)
    needs = [need(row) for row in rows]
    assert needs == sorted(needs, reverse=True)
    assert needs[0] == MOST and set(needs) <= set(range(1, MOST + 1))
    assert all(need(row) == 1 for row in rows if per_1000(row) >= COMMON)


def test_what_cannot_fire_is_not_drawn_for_it() -> None:
    quiet = [row for row in PASSES.values() if row.has(Quiet)]
    assert {need(row) for row in quiet} == {1}
    cpu, gpu = TARGETS["llvm"], TARGETS["cuda"]
    silent = [row for row in PASSES.values() if row.fires.prim_recipes and need(row) == MOST]
    for row in silent:
        there = {target.name: bool(fitting(row.fires.prim_recipes, target)) for target in (cpu, gpu)}
        assert {target.name: need(row, target) == MOST for target in (cpu, gpu)} == there
    assert {need(row, cpu) for row in silent} == {need(row, gpu) for row in silent} == {1, MOST}


def test_rows_are_picked_in_proportion_to_their_need() -> None:
    common = next(row for row in PASSES.values() if need(row) == 1)
    silent = next(row for row in PASSES.values() if need(row) == MOST)
    source = SeededSource(1)
    picked = Counter(pick_by_need(source, (common, silent)).name for _ in range(900))
    assert 0.5 * MOST < picked[silent.name] / picked[common.name] < 2 * MOST


def test_a_tenth_of_the_cases_are_schedules() -> None:
    for target in (TARGETS["llvm"], TARGETS["cuda"]):
        drawn = [draw_names(SeededSource(2, index), PASSES, target=target) for index in range(400)]
        share = sum(any(step.name == SCHEDULE for step in steps) for steps in drawn) / len(drawn)
        assert 0.07 < share < 0.13


def test_a_schedule_for_threads_has_no_pipeline_after_it() -> None:
    for index in range(200):
        steps = draw_names(SeededSource(3, index), PASSES, kinds=("schedule",), target=TARGETS["cuda"])
        assert [step.name for step in steps if not step.setup] == [SCHEDULE]
