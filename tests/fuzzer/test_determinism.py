"""Determinism across processes: what follows Python's hashes is found, made small and shown; what does not is not."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus.store import read_case
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.campaign.second_process import WAITING, SecondProcess
from fuzzer.protocol import Judged, Plan, Sample
from fuzzer.results import CampaignResult
from fuzzer.settings import read_settings
from fuzzer.trial.determinism import first_difference, hash_seeds
from oracles.checks.determinism import ORACLE
from oracles.verdict import ACROSS_PROCESSES
from tests.patience import HANGS_S

PASSES = '''\
import tvm
from tvm import relax


def names(mod):
    """Those of the parameters: whether a name stands in a set twice or once is all the same."""
    return {p.name for f in mod.functions.values() if isinstance(f, relax.Function) for p in f.params}


@tvm.transform.module_pass(opt_level=0, name="HashOrder")
def hash_order(mod, context):
    return mod.with_attr("in_any_order", " ".join(names(mod)))


@tvm.transform.module_pass(opt_level=0, name="Sorted")
def in_order(mod, context):
    return mod.with_attr("in_order", " ".join(sorted(names(mod))))


PASSES = {"HashOrder": lambda: hash_order, "Sorted": lambda: in_order}
'''
SAMPLE = Sample(5, ("a", "b", "c", "d"), ("P", "Q"), ("A", "B"), (True, False))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("again")


@pytest.fixture(scope="module")
def campaign(out: Path) -> CampaignResult:
    """A campaign of few cases on one pass that follows the order of a set of names, and one that sorts them."""
    load = out / "passes.py"
    load.write_text(PASSES, encoding="utf-8")
    settings = read_settings(cases=20, seed=1, jobs=1, load=load, out=out, oracles="survives,determinism")
    return run_campaign(settings, Observers())


@pytest.mark.deep
def test_only_the_pass_that_follows_hashes_is_found(campaign: CampaignResult) -> None:
    found = {(f.oracle, f.symptom, f.culprit) for f in campaign.findings}
    assert found == {("determinism", ACROSS_PROCESSES, "HashOrder")}
    assert campaign.tally.passes["Sorted"]["applied"] > 0
    assert campaign.tally.invalid == 0
    assert campaign.tally.phases["second process"] > 0


@pytest.mark.deep
def test_the_finding_is_small_and_its_repro_shows_it_until_it_is_mended(campaign: CampaignResult, out: Path) -> None:
    (finding,) = campaign.findings
    assert [call.name for call in read_case(out / finding.case).case.passes] == ["HashOrder"]
    repro = out / finding.repro
    assert status(repro) == 1
    script, wrong = repro.read_text(encoding="utf-8"), '" ".join(names(mod))'
    assert script.count(wrong) == 1  # The script carries the passes.
    mended = repro.with_name("mended.py")
    mended.write_text(script.replace(wrong, '" ".join(sorted(names(mod)))'), encoding="utf-8")
    assert status(mended) == 0


def status(repro: Path) -> int:
    return subprocess.run([sys.executable, str(repro)], capture_output=True, timeout=HANGS_S, check=False).returncode


def test_another_hash_seed_in_every_campaign_and_process() -> None:
    seeds = [seed for campaign in range(50) for seed in hash_seeds(campaign)]
    assert len(set(seeds)) == 100
    assert all(0 <= seed <= 4294967295 for seed in (*seeds, *hash_seeds(1 << 40)))


def test_the_sample_is_a_small_share_that_follows_from_seed_and_index() -> None:
    across = ORACLE.across
    assert across is not None
    late = [index for index in range(1000, 21000) if across.takes(3, index)]
    assert abs(len(late) / 20000 - across.share) < across.share / 2
    assert late == [index for index in range(1000, 21000) if across.takes(3, index)]
    assert any(across.takes(4, index) for index in range(40))


@pytest.mark.parametrize(
    ("digests", "place"),
    [(("a", "b", "c", "d"), None), (("x", "b", "c", "d"), 0), (("a", "b", "x", "d"), 2), (("a", "b", "c"), 3)],
)
def test_the_first_difference_counts(digests: tuple[str, ...], place: int | None) -> None:
    assert first_difference(SAMPLE.digests, digests) == place


def said(tmp_path: Path, *digests: str) -> list[Judged]:
    return list(SecondProcess(Plan(1, scratch=str(tmp_path / "scratch")))._compared(SAMPLE, digests))


def test_a_difference_has_the_pass_to_its_name(tmp_path: Path) -> None:
    (judged,) = said(tmp_path, "a", "b", "x", "d")
    assert judged.counts.oracles["determinism"]["failed"] == judged.counts.passes["P"]["failed"] == 1
    (failure,) = judged.failures
    assert (failure.oracle, failure.symptom, failure.culprit) == ("determinism", ACROSS_PROCESSES, "P")
    assert (failure.index, failure.step, failure.tier) == (5, 0, "A")


def test_a_program_drawn_otherwise_is_our_own_fault(tmp_path: Path) -> None:
    (judged,) = said(tmp_path, "x", "b", "c", "d")
    assert (judged.index, judged.counts.invalid, judged.failures) == (5, 1, ())
    assert "drawn otherwise" in judged.own_fault


@pytest.mark.parametrize(
    ("digests", "reason"),
    [
        (("a", "x", "c", "d"), "setup gives another module in another process"),
        (("a", "b", "c", "x"), "not under test: Q"),
    ],
)
def test_what_says_nothing_of_a_pass_under_test_is_counted(tmp_path: Path, digests: Any, reason: str) -> None:
    (judged,) = said(tmp_path, *digests)
    assert judged.counts.skipped == {reason: 1}


def test_a_sample_that_is_not_asked_about_is_counted(tmp_path: Path) -> None:
    second = SecondProcess(Plan(1, scratch=str(tmp_path / "scratch")))
    counts = [second.ask(replace(SAMPLE, index=index)) for index in range(WAITING + 2)]
    assert [sum(tally.skipped.values()) for tally in counts] == [0] * WAITING + [1, 1]
    assert [sample.index for sample in second.open] == list(range(WAITING))
