"""`passfuzz replay`: runs the repro of every corpus case on one or several TVMs and compares with what is recorded."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from corpus.registry import Registry
from corpus.replayable import CORPUS, Replayable, replayable
from corpus.store import CorruptCase, ScriptOutcome, StoredCase
from fuzzer.commands.environments import python_with
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.known_causes import read_known_causes
from fuzzer.oneshot.ask import scratch_folder
from fuzzer.processes import sandbox
from fuzzer.processes.guard import end, guarded
from fuzzer.results import ReplayResult, ReplayRow, ReplayWord
from fuzzer.settings import available_cpus
from fuzzer.trust import is_trusted
from fuzzer.versions import MISSING, require_tvm, tvm_version

REPRO = "repro.py"
CASE_TIMEOUT_S = 120.0
IMPORT_TIMEOUT_S = 180.0
FAILS, PASSES, CANNOT_RUN = 1, 0, 2
"""Exit statuses of a repro script."""
KILLED = 128
"""And the number of a signal: of what a signal has ended (`fuzzer.processes.guard`)."""


def replay(
    corpus: Path | None, versions: Sequence[str], trust: bool = False, known: Path | None = None
) -> ReplayResult:
    """One row per TVM and case. None is the corpus that comes with passfuzz, no version the installed TVM.

    trust: whether scripts of somebody else may run, and all of them without walls around them. known: the registry of
    known causes. Raises UsageError when there is no case, or a script of somebody else and no trust; EnvironmentFault
    when a TVM is not there and cannot be installed, or does not work.
    """
    folder = CORPUS if corpus is None else corpus
    registry = read_known_causes(known, "").registry
    try:
        cases = list(replayable(folder))
    except NotADirectoryError as error:
        raise UsageError(str(error)) from error
    if not cases:
        raise UsageError(f"{folder}: no case in it")
    if not trust:
        _refuse_strangers(folder, cases)
    if not versions:
        require_tvm()
    pythons = {version: python_with(version) for version in versions or (tvm_version(),)}
    for version, python in pythons.items():
        _require_import(version, python)
    with ThreadPoolExecutor(available_cpus()) as pool:
        rows = [
            row
            for version, python in pythons.items()
            for row in pool.map(partial(replay_case, version=version, python=python, trust=trust), cases)
        ]
    found = {one.slug: one.case for one in cases}
    return ReplayResult(tuple(_with_cause(row, found[row.case], registry) for row in rows))


def _with_cause(row: ReplayRow, case: StoredCase | CorruptCase, registry: Registry) -> ReplayRow:
    """The row with the cause of its case. One that is fixed in this TVM, and fails, is a regression whatever the case
    says."""
    if isinstance(case, CorruptCase):
        return row
    printed = row.message
    entry = registry.match(case.cause or "", printed)
    row = replace(row, cause=case.cause or "", title=case.title if entry is None else entry.title)
    if entry is None or not entry.is_fixed_in(row.tvm) or row.outcome != "still-failing":
        return row
    return replace(row, outcome="regression", message=f"fixed in {entry.fixed_in}, and back: {row.message}")


def _refuse_strangers(corpus: Path, cases: Sequence[Replayable]) -> None:
    scripts = [found for found in cases if isinstance(found.case, StoredCase) and (found.folder / REPRO).is_file()]
    foreign = [found.slug for found in scripts if not is_trusted(found.folder)]
    if foreign:
        whose = f"{len(foreign)} of {len(cases)} cases are not of this machine's making, the first is {foreign[0]}"
        raise UsageError(f"{corpus}: {whose}; replaying runs their repro.py as a program: --trust does")


def replay_case(found: Replayable, version: str, python: Path, trust: bool = False) -> ReplayRow:
    """Runs one repro script in a process of its own, with walls around it but for `trust` and a user's passes."""
    if isinstance(found.case, CorruptCase):
        return ReplayRow(found.slug, version, "error", found.case.reason)
    if not (found.folder / REPRO).is_file():
        return ReplayRow(found.slug, version, "error", f"{found.folder / REPRO}: no such file")
    started = time.monotonic()
    words = [str(python), str((found.folder / REPRO).absolute())]
    try:
        with scratch_folder() as scratch:
            walled = not trust and found.case.case.load is None
            ended = _run(sandbox.command(words, scratch) if walled else words, CASE_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return ReplayRow(found.slug, version, "error", f"no answer in {CASE_TIMEOUT_S:.0f} s", CASE_TIMEOUT_S)
    outcome = "error" if ended.broken else _outcome(ended.status, expected_on(found.case, version))
    message = _last_line(ended.stderr if ended.broken else ended.stdout)
    return ReplayRow(found.slug, version, outcome, message, round(time.monotonic() - started, 3))


@dataclass(frozen=True, slots=True)
class ScriptEnd:
    """How a script ended and what it said."""

    status: int
    stdout: str
    stderr: str

    @property
    def broken(self) -> bool:
        """Whether it did not come far enough to judge: a repro says why it ends with 1 or 2, and an uncaught
        exception ends Python with 1, a script that it cannot open with 2."""
        if self.status not in (FAILS, PASSES, CANNOT_RUN):
            return True
        return self.status != PASSES and bool(self.stderr.strip()) and not self.stdout.strip()


def _require_import(version: str, python: Path) -> None:
    """Raises EnvironmentFault where TVM cannot be imported: every repro would say that this TVM cannot run it."""
    try:
        ended = _run([str(python), "-c", "import tvm.relax"], IMPORT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise EnvironmentFault(f"TVM {version} is not imported within {IMPORT_TIMEOUT_S:.0f} s") from None
    if ended.status != PASSES:
        number = ended.status - KILLED
        killed = number in signal.valid_signals()
        why = f"killed by {signal.Signals(number).name}" if killed else _last_line(ended.stderr)
        which = "TVM" if version == MISSING else f"TVM {version}"
        raise EnvironmentFault(f"{which} cannot be imported: {why}; `passfuzz doctor` looks closer")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else ""


def _run(command: list[str], limit_s: float) -> ScriptEnd:
    """What became of a command, 128 and the number of a signal that ended it. What it has started ends with it, and
    both with this process. Raises TimeoutExpired."""
    environment = {**os.environ, "TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        guarded(command),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    ) as child:
        try:
            stdout, stderr = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            end(child)
            raise
    return ScriptEnd(child.returncode, stdout, stderr)


def expected_on(case: StoredCase, version: str) -> ScriptOutcome | None:
    """What is recorded for a version; for a version of which nothing is, what the newest older one did."""
    recorded = case.outcome_on(version)
    if recorded is not None:
        return recorded
    older = [(_order(prefix), outcome) for prefix, outcome in case.expected if _order(prefix) < _order(version)]
    return max(older)[1] if older else None


def _outcome(status: int, expected: ScriptOutcome | None) -> ReplayWord:
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
