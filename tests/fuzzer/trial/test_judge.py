"""Planted faults become findings with the right culprit, small, with a repro that shows them; correct passes do not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus.reduce import candidate_of
from corpus.replayable import CORPUS
from corpus.store import read_case
from fuzzer.campaign import begin
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.campaign.plan import plan_of
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.results import CampaignResult
from fuzzer.settings import read_settings
from fuzzer.trial.rejudge import NotJudged, Rejudge
from fuzzer.trial.repertoire import repertoire_of
from generators.case import PassCall
from reports.finding_row import FindingRow
from tests.fuzzer.planted import CORRECT, FAULTY, write_passes
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm


FEW = ("WrongNumbers",)
"""What is planted in the quick campaign, beside what is correct."""


def campaigns(names: Iterable[str]) -> list[object]:
    """The rows of a test with one name: the quick campaign with each of the names that are planted in it, and the
    whole one with all."""
    quick = [pytest.param(FEW, name) for name in names if name in (*FEW, *CORRECT)]
    return [*quick, *(pytest.param(tuple(FAULTY), name, marks=pytest.mark.deep) for name in names)]


@pytest.fixture(scope="module")
def faults(request: pytest.FixtureRequest) -> tuple[str, ...]:
    found: tuple[str, ...] = request.param
    return found


@pytest.fixture(scope="module")
def out(faults: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp(f"planted{len(faults)}")


@pytest.fixture(scope="module")
def campaign(faults: tuple[str, ...], out: Path) -> CampaignResult:
    """One campaign on planted passes that do not hang. With a time that it does not need, each place is reduced
    as long as that brings something new, and no longer."""
    load = write_passes(out, *faults, *CORRECT)
    size: dict[str, Any] = {"cases": 10, "oracles": "survives,numeric"} if faults == FEW else {"cases": 40}
    settings = read_settings(**size, time=f"{HANGS_S}s", seed=1, jobs=2, load=load, out=out)
    return run_campaign(settings, Observers())


def of(campaign: CampaignResult, name: str) -> list[FindingRow]:
    return [finding for finding in campaign.findings if finding.culprit == name]


BOTH = pytest.mark.parametrize("faults", [FEW, pytest.param(tuple(FAULTY), marks=pytest.mark.deep)], indirect=True)


@BOTH
def test_the_campaign_is_sound(campaign: CampaignResult) -> None:
    assert campaign.fault() is None
    assert campaign.tally.cases + campaign.tally.invalid <= campaign.tally.generated <= 40


@pytest.mark.parametrize(("faults", "name"), campaigns(FAULTY), indirect=["faults"])
def test_a_planted_fault_is_found_and_named(campaign: CampaignResult, name: str) -> None:
    symptoms = {finding.symptom for finding in of(campaign, name)}
    assert symptoms & set(FAULTY[name]), campaign.tally.inconclusive


@pytest.mark.parametrize(("faults", "name"), campaigns(CORRECT), indirect=["faults"])
def test_a_correct_pass_gets_no_finding(campaign: CampaignResult, name: str) -> None:
    assert of(campaign, name) == []
    assert campaign.tally.passes[name]["applied"] > 0
    assert campaign.tally.passes[name]["failed"] == 0


@BOTH
def test_no_other_pass_is_blamed(campaign: CampaignResult, faults: tuple[str, ...]) -> None:
    assert {finding.culprit for finding in campaign.findings} == set(faults)


@pytest.mark.parametrize(("faults", "name"), campaigns(FAULTY), indirect=["faults"])
def test_a_finding_is_small(campaign: CampaignResult, out: Path, name: str) -> None:
    assert of(campaign, name)
    for finding in of(campaign, name):
        assert finding.reduced["bindings"] <= 3
        assert [call.name for call in read_case(out / finding.case).case.passes] == [name]


@pytest.mark.parametrize(("faults", "name"), campaigns(FAULTY), indirect=["faults"])
def test_a_repro_shows_its_finding(campaign: CampaignResult, out: Path, name: str) -> None:
    finding = of(campaign, name)[0]
    folder = out / finding.case
    ended = subprocess.run(
        [sys.executable, str(folder / "repro.py")], capture_output=True, timeout=HANGS_S, check=False
    )
    assert ended.returncode == 1, ended.stdout
    assert read_case(folder).culprit == name


@BOTH
def test_the_repro_of_a_mended_pass_says_so(campaign: CampaignResult, out: Path, tmp_path: Path) -> None:
    script = (out / of(campaign, "WrongNumbers")[0].case / "repro.py").read_text()
    assert "return relax.op." in script, "the script carries the passes"
    repro = tmp_path / "repro.py"
    repro.write_text(script.replace("return relax.op.", "return call  # "))
    ended = subprocess.run([sys.executable, str(repro)], capture_output=True, timeout=HANGS_S, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.deep
def test_a_pass_that_ends_its_process_by_an_exit_is_to_blame(tmp_path: Path) -> None:
    """Also while its finding is made small, and by its script."""
    load = write_passes(tmp_path, "Exits")
    result = run_campaign(read_settings(cases=8, seed=1, jobs=2, load=load, out=tmp_path), Observers())
    (finding,) = result.findings
    said = (finding.oracle, finding.symptom, finding.culprit, finding.message)
    assert said == ("survives", "crash", "Exits", "exit 3 in Exits")
    assert finding.reduced["bindings"] <= 3
    assert result.tally.skipped["ended by exit 3"] > 0
    assert not [why for why in result.tally.skipped if why.startswith("own fault")]


@pytest.mark.deep
def test_no_pass_is_to_blame_for_a_kill_from_outside(tmp_path: Path) -> None:
    load = write_passes(tmp_path, "IsKilled")
    result = run_campaign(read_settings(cases=8, seed=1, jobs=2, load=load, out=tmp_path), Observers())
    assert result.findings == ()
    assert result.tally.skipped["child killed from outside, again and again"] > 0


@pytest.mark.parametrize(("name", "shows"), [("Exits", True), ("IsKilled", False)])
def test_reduction_keeps_what_a_pass_ended_by_an_exit(tmp_path: Path, name: str, shows: bool) -> None:
    plan = Plan(1, scratch=str(tmp_path), load=str(write_passes(tmp_path, name)))
    how = "exit 3" if shows else "SIGKILL"
    failure = Failure(0, "survives", "crash", f"{how} in {name}", "", name, "B")
    case = read_case(CORPUS / "20277-adjust-matmul-order-identity-permutation").case
    candidate = replace(candidate_of(case), passes=(PassCall(name, f"PASSES[{name!r}]()"),))
    rejudge = Rejudge(plan, repertoire_of(plan), failure, Recorder.create(tmp_path / "flight"))
    if shows:
        assert rejudge.interesting(candidate)
    else:
        with pytest.raises(NotJudged, match="SIGKILL"):
            rejudge.interesting(candidate)


@pytest.mark.deep
def test_a_hang_is_found_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begin, "plan_of", plan_of)  # with the deadline of a campaign
    load = write_passes(tmp_path, "Hangs", "Identity")
    settings = read_settings(cases=8, seed=1, jobs=2, load=load, out=tmp_path)
    result = run_campaign(settings, Observers())
    assert {(f.culprit, f.symptom) for f in result.findings} == {("Hangs", "hang")}
    assert "SIGALRM" not in json.dumps([f.message for f in result.findings])
