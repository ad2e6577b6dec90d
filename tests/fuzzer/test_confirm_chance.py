"""What one run of a script cannot tell: a value that is not defined, and a bug that seems to be gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corpus.finding import Finding
from corpus.rate import ReproRate
from fuzzer.worker import confirm
from fuzzer.worker.confirm import Tried, confirmed
from generators.case import ModuleText
from oracles.evidence import Evidence, ReferenceTrap
from oracles.verdict import WRONG_RESULT, Failed
from tests.fuzzer.test_confirm import saves
from tests.reports.reports_data import finding

WHOLE = "# whole"


def test_what_a_reduced_script_does_not_show_the_whole_case_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = finding()
    whole = replace(
        small, case=replace(small.case, module=ModuleText(f"{small.case.module.script}\n{WHOLE}")), reduced=None
    )
    monkeypatch.setattr(confirm, "save_finding", saved_by_module)
    tried = confirmed(replace(small, unreduced=whole), tmp_path)
    assert tried.shown and tried.finding == replace(whole, said=tried.finding.said)
    neither = replace(small, unreduced=small)
    assert confirmed(neither, tmp_path) == Tried(small, shown=False)


def saved_by_module(room: Path, one: Finding) -> Path:
    """A script that shows the bug of the whole case alone."""
    folder = room / one.folder
    folder.mkdir(parents=True)
    status = int(one.case.module.script.endswith(WHOLE))
    (folder / "repro.py").write_text(f"print('AssertionError()')\nraise SystemExit({status})\n")
    return folder


@pytest.mark.parametrize(
    ("evidence", "statuses", "rate", "runs"),
    [
        (None, (1, 0, 1), None, 1),
        (None, (0, 1, 1), ReproRate(2, 3), 3),
        (ReferenceTrap("division-by-zero"), (1, 0, 1), ReproRate(2, 3), 3),
        (ReferenceTrap("division-by-zero"), (1, 1, 1), None, 3),
        (None, (2, 1, 1), None, 1),
    ],
)
def test_what_one_run_cannot_tell_is_run_several_times(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    evidence: Evidence | None,
    statuses: tuple[int, ...],
    rate: ReproRate | None,
    runs: int,
) -> None:
    """A value that is not defined may be the right one by chance; a TVM that cannot run the script never will."""
    counted = tmp_path / "runs"
    counted.write_text("")
    saves(
        monkeypatch,
        f"runs = open({str(counted)!r}, 'a+')\nnumber = runs.seek(0, 2)\nruns.write('x')\n"
        f"print('AssertionError()')\nraise SystemExit({statuses}[number])\n",
    )
    wrong = Failed(WRONG_RESULT, "value: output 0[0] is 1, not 0", "", "FuseTIR", evidence)
    tried = confirmed(replace(finding(), verdict=wrong), tmp_path)
    assert tried.shown == (1 in statuses[:runs])
    assert (tried.finding.rate, len(counted.read_text())) == (rate, runs)
