"""The issues that a campaign writes: each script shows its bug by itself, and names no machine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.settings import read_settings
from tests.fuzzer.planted import write_passes
from tests.patience import HANGS_S

PLANTED = ("WrongNumbers", "Mutates", "Segfaults", "Raises")


@pytest.mark.deep
def test_the_script_of_each_issue_shows_its_bug(tmp_path: Path) -> None:
    load = write_passes(tmp_path, *PLANTED)
    out = tmp_path / "out"
    settings = read_settings(out=out, seed=1, cases=12, jobs=1, load=load, oracles="survives,numeric,input_unchanged")
    result = run_campaign(settings, Observers())
    assert {found.culprit for found in result.findings} == set(PLANTED)
    for found in result.findings:
        issue = (out / found.case / "issue.md").read_text()
        script = tmp_path / "issue.py"
        script.write_text(re.findall(r"```python\n(.*?)\n```", issue, re.DOTALL)[-1])
        command = [sys.executable, str(script)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False, cwd=tmp_path)
        shown = ended.returncode < 0 if found.culprit == "Segfaults" else ended.returncode == 1
        assert shown, f"{issue}\n{ended.stderr}"
        assert str(tmp_path) not in issue
        assert str(Path(sys.prefix)) not in issue
        assert "\n- LLVM: " in issue
