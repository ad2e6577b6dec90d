"""The benchmark of injected faults sees a campaign that stands still, says what it was doing, and ends it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.bench_faults_injected import MARK, STILL_S, Pulse, doings, end
from reports.summary import FINDINGS_FILE, SUMMARY_FILE, UNREDUCED_FILE
from tests.deeds import is_alive
from tests.fuzzer.test_campaign import wait_for

ASKED = [sys.executable, "-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"]


def test_a_campaign_stands_still_when_nothing_changes_but_its_clock(tmp_path: Path) -> None:
    now = 0.0
    pulse = Pulse(tmp_path, lambda: now)

    def summary(cases: int) -> None:
        (tmp_path / SUMMARY_FILE).write_text(json.dumps({"cases": cases, "wall_s": now, "cpu_s": 1.0}))

    changes = [
        lambda: summary(1),
        lambda: summary(2),
        lambda: (tmp_path / FINDINGS_FILE).write_text("{}\n"),
        lambda: (tmp_path / UNREDUCED_FILE).write_text('{"stage": "reducing"}\n'),
        lambda: (tmp_path / UNREDUCED_FILE).write_text('{"stage": "confirming"}\n'),
    ]
    for change in changes:
        now += 0.9 * STILL_S
        change()
        assert not pulse.stands_still()
    now += 0.9 * STILL_S
    summary(2)  # at another second
    assert not pulse.stands_still()
    now += 0.2 * STILL_S
    assert pulse.stands_still()


def test_it_is_said_what_the_campaign_was_doing_and_it_is_ended(tmp_path: Path) -> None:
    open_one = {"culprit": "FuseOps", "stage": "reducing", "why": "hang"}
    (tmp_path / UNREDUCED_FILE).write_text(json.dumps(open_one) + "\n")
    environment = {**os.environ, MARK: str(tmp_path)}
    running = subprocess.Popen(ASKED, stdin=subprocess.PIPE, env=environment, start_new_session=True)
    wait_for(lambda: doings(tmp_path).count("input()") == 2)
    said = doings(tmp_path)
    pids = [int(part.split()[0]) for part in said.split("; ") if part.split()[0].isdigit()]
    assert running.pid in pids and len(pids) == 2
    assert said.endswith("FuseOps reducing hang")
    end(running, tmp_path)
    wait_for(lambda: not any(map(is_alive, pids)))
