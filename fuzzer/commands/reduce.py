"""`passfuzz reduce`: makes one failing case or module small, in a process of its own. No TVM here."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from corpus.repro import json_beside
from fuzzer.commands.replay import FAILS, PASSES
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.oneshot.ask import ask, scratch_folder
from fuzzer.oneshot.messages import Reduction, Request
from fuzzer.oneshot.read_case import judged_on, read_subject, refuse_groups
from fuzzer.processes import sandbox
from fuzzer.results import ReduceResult
from fuzzer.trust import admit
from generators.targets import DEFAULT
from reports.summary import write_text

SLACK_S = 600.0
"""Seconds beyond the budget: judging the start, and a last candidate that hangs."""
CONFIRM_S = 150.0


def reduce_case(
    path: Path,
    *,
    passes: tuple[str, ...],
    oracle: str | None,
    interesting: str | None,
    time_s: float,
    load: Path | None,
    trust: bool = False,
) -> ReduceResult:
    """The smallest case found in `time_s` seconds that fails as the given one does.

    Kept is the first failure of an oracle (of `oracle`, where given) under `passes`: names, () for the case's own,
    else the loaded file's, else the default build pipeline. The script is run to see that it shows the failure.
    With `interesting` a command decides instead: called as CMD FILE.py with a TVMScript candidate, exit status 0 keeps
    it; the script is then that module, and passes are not applied. No walls are put around a command of the user's.
    trust: as in `fuzzer.commands.check.check_module`.

    Raises UsageError for what cannot be read, is ill-formed or does not fail; EnvironmentFault for a TVM that does not
    work and for a failure that does not show again.
    """
    refuse_groups(passes)
    if interesting is not None:
        _check_command(interesting, passes, oracle)
    case = judged_on(read_subject(path, load), DEFAULT, path)
    if not trust:
        admit(path, case, load)
    trust = trust or case.load is not None
    with scratch_folder() as scratch:
        open_air = trust or interesting is not None
        asked = (oracle, interesting, time_s, scratch)
        request = Request("reduce", case, passes, *asked, subject=str(path), trust=open_air)
        replies = ask(request, time_s + SLACK_S)
        reduction = next(reply for reply in replies if isinstance(reply, Reduction))
    repro = shown_by(reduction, trust) if interesting is None else reduction.repros[0]
    return ReduceResult(repro, reduction.reduced, reduction.finding, reduction.module_json)


def _check_command(command: str, passes: tuple[str, ...], oracle: str | None) -> None:
    if oracle is not None:
        raise UsageError("--interesting and --oracle: only one of them can say what is kept")
    if passes:
        raise UsageError("--interesting and --passes: with a command of yours no pass is applied; apply it there")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--interesting {command}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"--interesting {command}: no such program, or it may not be executed")


def shown_by(reduction: Reduction, trust: bool) -> str:
    """The first script that shows the failure in a fresh process; the next one is run where one says that it is gone.

    trust: whether the process has no walls around it. Raises EnvironmentFault where none shows it.
    """
    # Not the folder that the reduction has written into, where links may lie in wait.
    with scratch_folder() as folder, scratch_folder() as scratch:
        return _shown_by(reduction, Path(folder) / "repro.py", None if trust else scratch)


def _shown_by(reduction: Reduction, script: Path, scratch: str | None) -> str:
    if reduction.module_json is not None:
        write_text(json_beside(script), reduction.module_json)
    for repro in reduction.repros:
        write_text(script, repro)
        ended = _run(script, scratch)
        if ended.returncode == FAILS:
            return repro
        if ended.returncode != PASSES:
            break
    lines = (ended.stdout + ended.stderr).decode(errors="replace").strip().splitlines()
    said = f": {lines[-1][:200]}" if lines else ""
    raise EnvironmentFault(f"fails here, but not in a fresh process (status {ended.returncode}{said})")


def _run(script: Path, scratch: str | None) -> subprocess.CompletedProcess[bytes]:
    words = [sys.executable, str(script)]
    command = words if scratch is None else sandbox.command(words, scratch)
    environment = {**os.environ, "TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        return subprocess.run(command, capture_output=True, env=environment, timeout=CONFIRM_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFault(f"the reduced script does not end within {CONFIRM_S:.0f} s") from error
