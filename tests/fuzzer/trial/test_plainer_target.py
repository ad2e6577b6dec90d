"""A reduction goes to the default target where the failure shows there, unless that costs the official call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus.reduce import candidate_of
from corpus.replayable import CORPUS
from corpus.store import read_case
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.reduction_watch import UNWATCHED
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.trial.shrinking import plainer_target
from fuzzer.trial.shrinking.plainer_target import plainer
from tests.patience import HANGS_S

CASE = "rewrite-cuda-graph-local-function"


def target_after(tmp_path: Path, culprit: str | None = None, case: str = CASE) -> str:
    """The target that a case of the corpus for CUDA is reduced on. CASE fails on any: a signal in the culprit."""
    stored = read_case(CORPUS / case)
    plan = Plan(0, scratch=str(tmp_path), deadline_s=HANGS_S, targets=("cuda",))
    failure = Failure(
        0, stored.oracle, stored.symptom, stored.message, "", stored.culprit, "B", evidence=stored.evidence
    )
    start = candidate_of(stored.case)
    if culprit is not None:
        failure = Failure(0, "numeric", "wrong result", "", "", culprit, "B")
    return plainer(plan, repertoire_of(plan), failure, start, UNWATCHED).target


@pytest.mark.parametrize(
    "official, target",
    [((), "llvm"), (("cuda",), "cuda"), (("cuda", "llvm"), "llvm"), (("llvm",), "llvm")],
    ids=["none", "of CUDA alone", "of both", "of the default alone"],
)
def test_an_official_call_that_only_its_own_target_has_is_kept(
    official: tuple[str, ...], target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entry(failure: Failure, case: Any, plan: Plan, alike: Any) -> str:
        return "tvm.compile(Module)" if plan.target in official else ""

    monkeypatch.setattr(plainer_target, "official_entry", entry)
    assert target_after(tmp_path) == target


def test_what_does_not_show_on_the_default_target_stays(tmp_path: Path) -> None:
    assert target_after(tmp_path, "LegalizeOps") == "cuda"


def test_a_race_of_threads_stays_on_the_target_that_has_threads(tmp_path: Path) -> None:
    """The reference sees it for any target, and no script can show it there: LLVM builds no threads."""
    assert target_after(tmp_path, case="thread-sync-asks-the-innermost-thread-alone") == "cuda"
