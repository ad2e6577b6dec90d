"""Counters add up, over deltas and over shards, and refuse what is not in their table."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reports.tally import FIELDS, ORACLE_COLUMNS, PASS_COLUMNS, Tally, tally_of

DELTA: dict[str, Any] = {
    "cases": 2,
    "cpu_s": 0.5,
    "skipped": {"too large": 1},
    "phases": {"build": 0.25},
    "passes": {"FuseOps": {"applied": 3, "changed": 1}},
    "oracles": {"well_formed": {"passed": 4}},
}


def test_deltas_add_up() -> None:
    tally = Tally()
    tally.add(tally_of(DELTA))
    tally.add(tally_of(DELTA))
    assert (tally.cases, tally.cpu_s) == (4, 1.0)
    assert tally.skipped == {"too large": 2}
    assert tally.phases == {"build": 0.5}
    assert tally.passes == {"FuseOps": {"applied": 6, "changed": 2, "rejected": 0, "failed": 0, "undecided": 0}}
    assert tally.oracles == {"well_formed": {"passed": 8, "failed": 0, "skipped": 0, "inconclusive": 0}}


def test_adding_leaves_the_delta_alone() -> None:
    delta = tally_of(DELTA)
    tally_of(DELTA).add(delta)
    assert delta == tally_of(DELTA)
    total = Tally()
    total.add(delta)
    total.add(delta)
    assert delta == tally_of(DELTA)


def test_merging_shards_equals_adding_all_deltas() -> None:
    one, other, whole = tally_of(DELTA), tally_of({"cases": 5, "skipped": {"hang": 1}}), tally_of(DELTA)
    whole.add(Tally(cases=5, skipped={"hang": 1}))
    one.add(other)
    assert one.to_json() == whole.to_json()


def test_json_has_every_field_even_of_nothing() -> None:
    assert set(Tally().to_json()) == set(FIELDS)


def test_json_comes_back() -> None:
    tally = tally_of(DELTA)
    assert tally_of(json.loads(json.dumps(tally.to_json()))).to_json() == tally.to_json()


def test_json_is_a_copy() -> None:
    tally = tally_of(DELTA)
    tally.to_json()["passes"]["FuseOps"]["applied"] = 99
    assert tally.passes["FuseOps"]["applied"] == 3


@pytest.mark.parametrize(
    "delta",
    [{"case": 1}, {"passes": {"FuseOps": {"fired": 1}}}, {"oracles": {"well_formed": {"applied": 1}}}],
)
def test_unknown_counters_are_refused(delta: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="unknown field|Invalid enum value"):
        tally_of(delta)


@pytest.mark.parametrize(("generated", "invalid", "share"), [(0, 0, 0.0), (200, 3, 0.015)])
def test_invalid_share(generated: int, invalid: int, share: float) -> None:
    assert Tally(generated=generated, invalid=invalid).invalid_share == share


def test_columns_are_those_of_the_contract() -> None:
    assert PASS_COLUMNS == ("applied", "changed", "rejected", "failed", "undecided")
    assert ORACLE_COLUMNS == ("passed", "failed", "skipped", "inconclusive")


def test_what_a_pass_met_adds_up_and_comes_back_from_json() -> None:
    one, other = Tally(), Tally()
    one.count_met("A", ("relax.add", "relax.sort"), ("For",), "applied", "changed")
    other.count_met("A", ("relax.add",), (), "applied")
    other.count_met("A", ("relax.add",), (), "failed")
    one.add(other)
    assert one.met_ops == {"A": {"relax.add": (2, 1, 1), "relax.sort": (1, 1, 0)}}
    assert one.met_nodes == {"A": {"For": (1, 1, 0)}}
    assert tally_of(json.loads(json.dumps(one.to_json()))) == one


@pytest.mark.parametrize("row", [{"A": {"add": [1, 2]}}, {"A": {"add": [1, 2, -3]}}, {"A": [1, 2, 3]}])
def test_what_a_pass_met_is_three_counts(row: object) -> None:
    with pytest.raises(ValueError, match="met_ops"):
        tally_of({"met_ops": row})
