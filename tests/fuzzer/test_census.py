"""The census of passes: every row of the table changes programs, and those as often as its floor says.

A row is counted where it is the only pass under test, drawn as `passfuzz run --passes NAME` draws it, on the first
target on which it reaches its floor. The mixed campaign is drawn as `passfuzz run` draws one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

from generators.passes.table import with_trait
from generators.passes.traits import FiresLess, Quiet

os.environ.setdefault("TVM_NUM_THREADS", "1")

import pytest

from benchmarks.bench_fire_rate import firings
from benchmarks.fires import Fired, fired
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import repertoire_of
from generators.passes.row import FLOOR, PLANTED_FLOOR, Fires, PassRow, Phase, Place, Rate, Role
from generators.passes.table import PASSES, the
from generators.source import SeededSource
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.table import PRIM_RECIPES, draw_recipe
from oracles.ir.verifier import complaint
from tests.quick import one_in

SEED = 20
QUICK, FEW = 32, 4
"""Cases in which a row must fire once, and how many are tried at a time."""
CASES = 60
"""Cases of the census of a row."""
MIXED = 4000
"""Cases of the mixed campaign."""
LOUD = [row for row in PASSES.values() if not row.has(Quiet)]


def plan_for(row: PassRow, target: str) -> Plan:
    """A campaign of this pass alone."""
    kinds = () if row.role is Role.SCHEDULES else ("single",)
    return Plan(SEED, targets=(target,), under_test=(row.name,), kinds=kinds)


def targets_of(row: PassRow) -> tuple[str, ...]:
    """Where the pass may have something to do, the cheapest first."""
    return ("llvm", "cuda") if row.fires.in_repertoire else ("cuda",)


def counted(cases: Iterable[Fired], name: str) -> tuple[int, int]:
    """How often a pass was applied, and how often it changed its module."""
    applied = changed = 0
    for case in cases:
        applied += case.applied[name]
        changed += case.changed[name]
    return applied, changed


def fires_once(row: PassRow, target: str) -> bool:
    """Whether the pass changes one of the first cases of its campaign."""
    plan = plan_for(row, target)
    cases = fired(plan, repertoire_of(plan), range(QUICK), batch=FEW)
    return any(case.changed[row.name] for case in cases)


@pytest.mark.parametrize("row", one_in(12, LOUD), ids=lambda row: row.name)
def test_every_row_fires(row: PassRow) -> None:
    assert any(fires_once(row, target) for target in targets_of(row))


@pytest.mark.deep
@pytest.mark.parametrize("row", LOUD, ids=lambda row: row.name)
def test_every_row_fires_as_often_as_its_floor(row: PassRow) -> None:
    shares, reached = {}, False
    for target in targets_of(row):
        plan = plan_for(row, target)
        applied, changed = counted(fired(plan, repertoire_of(plan), range(CASES)), row.name)
        shares[target] = (applied, changed)
        if reached := bool(applied) and changed >= row.floor * applied:
            break
    assert reached, f"{row.name}: (applied, changed) {shares}, floor {row.floor:.0%}"


@pytest.mark.deep
def test_every_row_fires_in_a_mixed_campaign() -> None:
    plan = Plan(SEED, targets=("llvm", "cuda"))
    applied: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for case in fired(plan, repertoire_of(plan), range(MIXED)):
        applied += case.applied
        changed += case.changed
    assert [row.name for row in LOUD if not changed[row.name]] == [], f"of {len(applied)} applied"


def test_a_floor_is_that_of_the_table_or_has_a_reason() -> None:
    for row, less in with_trait(FiresLess):
        assert less.why, row.name
        assert 0 < less.at_least < PLANTED_FLOOR, row.name


def test_what_is_planted_for_has_the_higher_floor() -> None:
    place = Place(frozenset({Phase.HIGH}))
    assert PassRow("a", (), "", place).floor == FLOOR
    assert PassRow("a", (), "", place, fires=Fires(recipes=("chains",))).floor == PLANTED_FLOOR
    assert PassRow("a", (), "", place, fires=Fires(prim_recipes=("x",))).floor == PLANTED_FLOOR
    assert PassRow("a", (), "", place, traits=(FiresLess(0.01, "rare"),)).floor == 0.01


def test_a_pass_that_changes_nothing_is_seen() -> None:
    """The checks of memory look at their module and give it back."""
    plan = Plan(SEED, under_test=("tirx.VerifyMemory",), kinds=("single",))
    applied, changed = counted(fired(plan, repertoire_of(plan), range(4)), "tirx.VerifyMemory")
    assert applied and not changed


def test_cases_that_share_a_child_are_those_of_children_of_their_own() -> None:
    plan = Plan(SEED, under_test=(the(Role.LEGALIZES).name,))
    repertoire = repertoire_of(plan)
    together = list(fired(plan, repertoire, range(6)))
    assert [case.index for case in together] == list(range(6))
    assert together == list(fired(plan, repertoire, range(6), batch=1))


def test_a_campaign_says_who_fired_first_and_who_never() -> None:
    one, two = (name for name, row in list(PASSES.items())[:2])
    cases = [Fired(0, True, Counter({one: 1}), Counter()), Fired(1, True, Counter({one: 2}), Counter({one: 2}))]
    found = firings(cases)
    assert found.first == {one: 2} and found.rates == {one: Rate(500)}
    assert two in found.never and one not in found.never
    assert set(found.waits) == {2} and len(found.waits) == len(LOUD)


@pytest.mark.parametrize("recipe", [r for r in PRIM_RECIPES.values() if r.threads], ids=lambda recipe: recipe.name)
def test_drawn_kernels_are_well_formed(recipe: PrimRecipe) -> None:
    for seed in range(6):
        program = draw_recipe(SeededSource(SEED, seed), recipe)
        assert program is not None and complaint(program.module) == "", seed
