"""How often oracles are asked: those that are named more often than where all are."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.campaign.plan import plan_of
from fuzzer.protocol import Plan
from fuzzer.settings import Settings
from fuzzer.trial.options import OFTEN, options_of
from fuzzer.trial.repertoire import repertoire_of
from oracles.table import ORACLES


@pytest.mark.parametrize(("oracles", "often"), [((), False), (("round_trip", "numeric"), True)])
def test_oracles_that_a_user_names_are_asked_often(oracles: tuple[str, ...], often: bool, tmp_path: Path) -> None:
    plan = plan_of(Settings(1, oracles=oracles), tmp_path)
    options = options_of(plan, repertoire_of(plan))
    assert options.often == often
    assert options.share_of(ORACLES["round_trip"]) == (OFTEN if often else ORACLES["round_trip"].share)
    assert options.share_of(ORACLES["numeric"]) == 1.0


@pytest.mark.parametrize(
    ("oracles", "often", "share"),
    [(("build",), True, 1.0), (("build", "numeric"), True, 1.0), (("numeric",), True, 0.15), (("build",), False, 0.15)],
)
def test_every_case_is_built_where_building_is_named(oracles: tuple[str, ...], often: bool, share: float) -> None:
    plan = Plan(1, oracles=oracles, often=often, build_share=0.15)
    assert options_of(plan, repertoire_of(plan)).build_share == share


def test_what_few_passes_are_asked_is_not_less_for_being_named() -> None:
    plan = Plan(1, under_test=("FoldConstant",), oracles=("determinism",), often=True)
    assert options_of(plan, repertoire_of(plan)).share_of(ORACLES["determinism"]) == 1.0
