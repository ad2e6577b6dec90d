"""A loaded pass that ends the process of most cases, in a way that no script shows again, is told: such a run is no
clean one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzzer.errors import ExitStatus
from fuzzer.results import CampaignResult
from generators.case import Tier
from oracles.evidence import Died
from reports.finding_row import row_of
from reports.tally import Tally
from tests.reports.reports_data import finding, known_finding


@pytest.mark.parametrize(
    ("died", "loaded", "new_tiers", "clean"),
    [
        (12, ("MyP",), (), False),
        (2, ("MyP",), (), False),
        (1, ("MyP",), (), True),
        (12, (), (), True),
        (12, ("MyP",), ("C",), True),
    ],
)
def test_most_cases_lost_to_a_loaded_pass_are_a_fault(
    died: int, loaded: tuple[str, ...], new_tiers: tuple[Tier, ...], clean: bool
) -> None:
    tally = Tally(cases=12, generated=12, died=died)
    result = CampaignResult(tally, (), 1.0, loaded=loaded, unreduced=3, new_tiers=new_tiers)
    fault = result.fault()
    assert (fault is None) == clean
    if fault is not None:
        assert fault.startswith(f"{died} times in 12 cases a process ended") and fault.endswith("(MyP)")
        assert result.status(()) is ExitStatus.OWN_FAULT


@pytest.mark.parametrize(
    ("unshown", "generated", "clean"),
    [
        ({"MyP": 12}, 12, False),
        ({"MyP": 1}, 12, True),
        ({"MyP": 1}, 3, True),
        ({"Other": 1, "MyP": 2}, 12, False),
        ({}, 12, True),
    ],
)
def test_failures_of_a_loaded_pass_that_no_script_shows_are_a_fault(
    unshown: dict[str, int], generated: int, clean: bool
) -> None:
    tally = Tally(cases=generated, generated=generated)
    result = CampaignResult(tally, (), 1.0, loaded=("Other", "MyP"), unshown=unshown)
    fault = result.fault()
    assert (fault is None) == clean
    if fault is not None:
        assert fault.startswith(f"{unshown['MyP']} times in 12 cases MyP failed") and fault.endswith("(MyP)")
        assert result.status(()) is ExitStatus.OWN_FAULT


@pytest.mark.parametrize(("culprit", "known", "clean"), [("A", False, False), ("B", True, False), ("B", False, True)])
def test_a_finding_tells_of_its_own_pass_alone(culprit: str, known: bool, clean: bool) -> None:
    found = known_finding(culprit) if known else replace(row_of(finding()), culprit=culprit)
    result = CampaignResult(Tally(cases=12, generated=12), (found,), 1.0, loaded=("A", "B"), unshown={"B": 12})
    assert (result.fault() is None) == clean


@pytest.mark.parametrize(("culprit", "clean"), [("LegalizeOps", False), ("MyP", True)])
def test_a_finding_of_another_pass_does_not_say_what_a_loaded_one_does(culprit: str, clean: bool) -> None:
    tally = Tally(cases=12, generated=12, died=12)
    found = replace(row_of(finding()), culprit=culprit)
    assert (CampaignResult(tally, (found,), 1.0, loaded=("MyP",)).fault() is None) == clean


def test_deaths_that_a_finding_of_any_pass_shows_are_no_fault_of_a_loaded_one() -> None:
    tally = Tally(cases=12, generated=12, died=4)
    found = replace(row_of(finding()), culprit="codegen", evidence=Died("SIGSEGV"), count=3)
    assert CampaignResult(tally, (found,), 1.0, loaded=("MyP",)).fault() is None
    assert CampaignResult(tally, (replace(found, count=1),), 1.0, loaded=("MyP",)).fault() is not None
