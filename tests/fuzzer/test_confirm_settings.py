"""The settings that a script is tried with: none twice, and the rest of the pipeline last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corpus.answers import FAILS, PASSES
from corpus.finding import Finding
from corpus.findings import stored_from, with_each_setting
from corpus.rate import ReproRate
from corpus.scripts.repro import repro_text
from fuzzer.worker import confirm
from fuzzer.worker.confirm import confirmed
from generators.passes.row import Phase
from generators.passes.table import SETUP
from tests.reports.reports_data import finding


@pytest.mark.parametrize(("last", "shown"), [(Phase.HIGH, False), (Phase.LOWERED, True), (Phase.FLAT, False)])
def test_what_the_front_of_the_pipeline_hides_is_tried_with_the_rest_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: Phase, shown: bool
) -> None:
    """`tvm.compile` begins at the front: LegalizeOps makes a copy of what RewriteDataflowReshape has made a view."""

    def save(room: Path, one: Finding) -> Path:
        text = repro_text(stored_from(one))
        goes_on = "relax_pipeline=rest)" in text and "relax.transform.StaticPlanBlockMemory(),\n" in text
        folder = room / one.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "repro.py").write_text(f"print('why')\nraise SystemExit({int(goes_on)})\n")
        return folder

    monkeypatch.setattr(confirm, "save_finding", save)
    one = replace(finding(), oracle="build")
    tried = confirmed(replace(one, case=replace(one.case, passes=SETUP[last])), tmp_path)
    assert (tried.shown, tried.finding.setting.goes_on) == (shown, shown)


@pytest.mark.parametrize("oracle", ["numeric", "build", "pipelines", "build_c"])
@pytest.mark.parametrize("target", ["llvm", "cuda"])
def test_no_script_is_tried_twice(oracle: str, target: str) -> None:
    """Some do not build by what tvm.compile takes, or are not asked on this target."""
    one = replace(finding(), oracle=oracle)
    settings = with_each_setting(replace(one, case=replace(one.case, passes=SETUP[Phase.LOWERED], target=target)))
    texts = [repro_text(stored_from(setting)) for setting in settings]
    assert len(texts) == len(set(texts)) >= 1
    assert any(one.setting.goes_on for one in settings) == (oracle in ("numeric", "build"))


def test_a_bug_that_shows_by_chance_is_not_taken_for_one_that_the_front_of_the_pipeline_hides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a target without other settings the first script has three runs before the rest of the pipeline is tried."""
    ends = iter([PASSES, FAILS, PASSES])
    monkeypatch.setattr(confirm, "run_guarded", lambda *_: (next(ends), b"why\n"))
    one = replace(finding(), oracle="numeric")
    tried = confirmed(replace(one, case=replace(one.case, passes=SETUP[Phase.LOWERED], target="cuda")), tmp_path)
    assert tried.shown and not tried.finding.setting.goes_on
    assert tried.finding.rate == ReproRate(1, 3)
