"""The pairs (operator, pass fired) and (node kind, pass fired) that a campaign has not seen."""

from __future__ import annotations

from reports.pairs import MOST_NAMED, EmptyPairs, pairs_with_nodes, pairs_with_operators
from reports.tally import Tally


def tally_with_pairs() -> Tally:
    """Fires fired on relax.add and on loops; Idle met both and did nothing; Late met no operator that was drawn."""
    tally = Tally(ops={"relax.add": 3, "relax.sort": 1, "relax.exp": 2})
    tally.count_met("Fires", ["relax.add"], ["For"], "applied", "changed")
    tally.count_met("Fires", ["relax.sort"], ["For", "While"], "applied")
    tally.count_met("Idle", ["relax.add"], ["For"], "applied")
    tally.count_met("Late", ["relax.call_tir"], [], "applied", "changed")
    return tally


def test_an_operator_is_lacking_where_the_pass_did_not_fire_on_it() -> None:
    assert pairs_with_operators(tally_with_pairs()) == [
        EmptyPairs("Fires", 2, 1, ("relax.sort", "relax.exp")),
        EmptyPairs("Idle", 3, 1, ("relax.add", "relax.exp", "relax.sort")),
    ]


def test_kinds_of_nodes_are_those_that_any_pass_met() -> None:
    assert pairs_with_nodes(tally_with_pairs()) == [
        EmptyPairs("Fires", 1, 1, ("While",)),
        EmptyPairs("Idle", 2, 1, ("For", "While")),
    ]


def test_a_pass_that_fired_on_everything_has_no_row() -> None:
    tally = Tally(ops={"relax.add": 1})
    tally.count_met("Fires", ["relax.add"], ["For"], "applied", "changed")
    assert pairs_with_operators(tally) == [] and pairs_with_nodes(tally) == []


def test_few_names_are_shown_and_all_are_counted() -> None:
    tally = Tally(ops={f"relax.op{number:02}": 1 for number in range(MOST_NAMED + 5)})
    tally.count_met("Idle", ["relax.op00"], [], "applied")
    (row,) = pairs_with_operators(tally)
    assert row.empty == MOST_NAMED + 5 and row.met == 1 and len(row.some) == MOST_NAMED
