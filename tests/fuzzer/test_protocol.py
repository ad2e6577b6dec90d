"""Plans, failures and counts survive the way through JSON, and counts add up as a tally wants them."""

from __future__ import annotations

import json

from fuzzer.protocol import Counts, Failure, Plan
from reports.tally import Tally


def test_a_plan_survives_json() -> None:
    plan = Plan(7, under_test=("A", "B"), kinds=("pipeline",), oracles=("numeric",), load="x.py", scratch="s")
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_a_failure_survives_json() -> None:
    failure = Failure(3, "numeric", "wrong result", "a\nb", "\x00é", "FuseOps", "A", step=2)
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()))) == failure


def test_counts_are_the_delta_of_a_tally() -> None:
    counts = Counts()
    counts.count("cases")
    counts.count("cases", 2)
    counts.name("skipped", "why", 4)
    counts.name("skipped", "why")
    counts.cell("passes", "FuseOps", "applied")
    counts.cell("passes", "FuseOps", "applied")
    counts.cell("oracles", "numeric", "passed")
    tally = Tally()
    tally.add(json.loads(json.dumps(counts.delta())))
    tally.add({"cases": 1})
    assert tally.cases == 4
    assert tally.skipped == {"why": 5}
    assert tally.passes["FuseOps"]["applied"] == 2
    assert tally.oracles["numeric"]["passed"] == 1


def test_cases_are_dealt_to_the_targets_whatever_the_shard() -> None:
    plan = Plan(7, targets=("llvm", "cuda"))
    for shard in (range(0, 200, 2), range(1, 200, 2)):
        targets = [plan.at(index).target for index in shard]
        assert 30 < targets.count("cuda") < 70
    assert len(plan.at(5).targets) == 1
