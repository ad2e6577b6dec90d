"""`passfuzz replay`: runs the repro of every corpus case on one or several TVMs and compares with what is recorded."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from corpus.replayable import CORPUS, Replayable, replayable
from corpus.store import CorruptCase, Outcome, StoredCase
from fuzzer.doctor import require_tvm
from fuzzer.environments import python_with
from fuzzer.errors import UsageError
from fuzzer.results import ReplayResult, ReplayRow
from fuzzer.settings import available_cpus
from fuzzer.versions import tvm_version

CASE_TIMEOUT_S = 120.0
FAILS, PASSES, CANNOT_RUN = 1, 0, 2
"""Exit statuses of a repro script."""


def replay(corpus: Path | None, versions: Sequence[str]) -> ReplayResult:
    """One row per TVM and case. None is the corpus that comes with passfuzz, no version the installed TVM.

    Raises UsageError when there is no case, EnvironmentFault when a TVM is not there and cannot be installed.
    """
    folder = CORPUS if corpus is None else corpus
    try:
        cases = list(replayable(folder))
    except NotADirectoryError as error:
        raise UsageError(str(error)) from error
    if not cases:
        raise UsageError(f"{folder}: no case in it")
    if not versions:
        require_tvm()
    pythons = {version: python_with(version) for version in versions or (tvm_version(),)}
    with ThreadPoolExecutor(available_cpus()) as pool:
        rows = [
            row
            for version, python in pythons.items()
            for row in pool.map(partial(replay_case, version=version, python=python), cases)
        ]
    return ReplayResult(tuple(rows))


def replay_case(found: Replayable, version: str, python: Path) -> ReplayRow:
    """Runs one repro script in a process of its own."""
    if isinstance(found.case, CorruptCase):
        return ReplayRow(found.slug, version, "error", found.case.reason)
    started = time.monotonic()
    try:
        status, output = _run([str(python), str(found.folder / "repro.py")])
    except subprocess.TimeoutExpired:
        return ReplayRow(found.slug, version, "error", f"no answer in {CASE_TIMEOUT_S:.0f} s", CASE_TIMEOUT_S)
    lines = output.strip().splitlines()
    message = lines[-1][:300] if lines else ""
    outcome = _outcome(status, expected_on(found.case, version))
    return ReplayRow(found.slug, version, outcome, message, round(time.monotonic() - started, 3))


def _run(command: list[str]) -> tuple[int, str]:
    """(exit status, what it says). Its process group dies with it, because repros of crashes fork."""
    environment = {**os.environ, "TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    ) as child:
        try:
            stdout, stderr = child.communicate(timeout=CASE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            raise
    return child.returncode, stdout if child.returncode in (FAILS, PASSES, CANNOT_RUN) else stderr


def expected_on(case: StoredCase, version: str) -> Outcome | None:
    """What is recorded for a version; for a version of which nothing is, what the newest older one did."""
    recorded = case.outcome_on(version)
    if recorded is not None:
        return recorded
    older = [(_order(prefix), outcome) for prefix, outcome in case.expected if _order(prefix) < _order(version)]
    return max(older)[1] if older else None


def _outcome(status: int, expected: Outcome | None) -> str:
    match status, expected:
        case 1, "passes":
            return "regression"
        case 1, _:
            return "still-failing"
        case 0, "fails":
            return "fixed"
        case 0, _:
            return "ok"
        case 2, _:
            return "unportable"
        case _:
            return "error"


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
