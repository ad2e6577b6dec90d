"""A case whose script cannot show its bug, since TVM does not build the module or no device is here: `passfuzz check`
judges it by the reference, in a process of its own under the TVM of the column."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from corpus.store import StoredCase
from fuzzer.errors import ExitStatus
from fuzzer.processes.guard import guarded
from fuzzer.processes.start import module_command, worker_environment
from fuzzer.replaying import warm
from fuzzer.replaying.ending import BrokenScript, Ending, Gone, Unportable, WrongByReference, last_line
from fuzzer.results import CheckRow, rows_of


def checked(folder: Path, case: StoredCase, given: str, trust: bool) -> tuple[Ending, float]:
    """What `check` says of a case, and its seconds. given: the TVM as `--tvm` names it, "" for the installed one."""
    asked = ["check", str(folder), "--json", *(["--tvm", given] if given else []), *(["--trust"] if trust else [])]
    started = time.monotonic()
    try:
        ended = subprocess.run(
            guarded(module_command("fuzzer.cli", *asked)),
            capture_output=True,
            env=worker_environment(),
            timeout=warm.CASE_TIMEOUT_S,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return BrokenScript("`passfuzz check` gives no answer in time"), time.monotonic() - started
    return _said(case, ended), time.monotonic() - started


def _said(case: StoredCase, ended: subprocess.CompletedProcess[bytes]) -> Ending:
    if ended.returncode not in (ExitStatus.CLEAN, ExitStatus.NEW_FINDING):
        return BrokenScript(last_line(ended.stderr.decode(errors="replace")) or f"ends with {ended.returncode}")
    rows = rows_of(ended.stdout)
    return BrokenScript("`passfuzz check` says nothing that can be read") if rows is None else judged(case, rows)


def judged(case: StoredCase, rows: tuple[CheckRow, ...]) -> Ending:
    """What these verdicts say of the case."""
    wrong = [row for row in rows if row.verdict == "failed"]
    known = [row for row in wrong if (row.oracle, row.symptom) == (case.oracle, case.symptom)]
    if wrong:
        return WrongByReference((known or wrong)[0].message, bool(known))
    asked = [row for row in rows if row.oracle == case.oracle]
    if any(row.verdict == "passed" for row in asked):
        return Gone("the reference finds nothing wrong")
    return Unportable(next((row.message for row in asked if row.message), "has nothing to judge here"))
