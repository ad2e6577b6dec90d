"""Runs `passfuzz run` as a user does and says what it found: shared by the benchmarks that measure whole campaigns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

JsonRow: TypeAlias = dict[str, Any]
"""One line of findings.jsonl."""

POLL_S = 0.25
GRACE_S = 60.0
"""Seconds beyond its time that a campaign may take to start, to finish what it reduces, and to write its reports."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """What one campaign gave. cpu_s: user and system seconds of all its processes; early: stopped when content."""

    findings: tuple[JsonRow, ...]
    summary: JsonRow
    cpu_s: float
    status: int
    early: bool


def rows_of(path: Path) -> list[JsonRow]:
    """The rows of a findings.jsonl; empty where there is none yet. An unfinished last line is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def first_at(findings: Sequence[JsonRow], wanted: Callable[[JsonRow], bool]) -> float | None:
    """When the first wanted finding was made, in seconds from the start of its campaign."""
    return min((float(row["at_s"]) for row in findings if wanted(row)), default=None)


def run_campaign(
    options: Sequence[str], seconds: float, content: Callable[[list[JsonRow]], bool] = lambda rows: False
) -> Campaign:
    """One `passfuzz run` on one job, ended early by SIGINT once `content` with its findings.

    Raises RuntimeError when it does not end within GRACE_S after its time, or ends with a fault of passfuzz.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        out = Path(folder) / "out"
        log = Path(folder) / "log"
        common = ["--jobs", "1", "--time", f"{seconds:g}s", "--out", str(out)]
        start = (sys.executable, "-m", "fuzzer.cli", "run", *common, *options)
        environment = {**os.environ, "TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with log.open("wb") as stream:
            child = subprocess.Popen(start, stdout=stream, stderr=stream, env=environment, start_new_session=True)
            early, status, cpu_s = _watch(child, out, time.monotonic() + seconds + GRACE_S, content)
        findings = tuple(rows_of(out / "findings.jsonl"))
        summary = out / "summary.json"
        if status not in (0, 1) and not early:
            raise RuntimeError(f"passfuzz run ended with status {status}: {log.read_text(errors='replace')[-2000:]}")
        return Campaign(findings, json.loads(summary.read_text()) if summary.exists() else {}, cpu_s, status, early)


def _watch(
    child: subprocess.Popen[bytes], out: Path, end: float, content: Callable[[list[JsonRow]], bool]
) -> tuple[bool, int, float]:
    """Waits for the child: whether it was stopped early, its status, and the CPU seconds of it and its children."""
    early = False
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return early, child.returncode, usage.ru_utime + usage.ru_stime
        if time.monotonic() > end:
            os.killpg(child.pid, signal.SIGKILL)
        elif not early and content(rows_of(out / "findings.jsonl")):
            early = True
            child.send_signal(signal.SIGINT)
        time.sleep(POLL_S)
