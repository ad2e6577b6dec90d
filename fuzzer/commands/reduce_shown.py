"""Whether the script of a reduction shows its failure in a fresh process, and how often. No TVM here."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from corpus.answers import CANNOT_RUN, FAILS, PASSES
from corpus.rate import ReproRate
from corpus.scripts.loaded_file import loaded_environment
from corpus.scripts.repro import json_beside
from corpus.whole_folder import write_folder
from fuzzer.errors import EnvironmentFault
from fuzzer.oneshot.messages import ByReference, Reduction
from fuzzer.own_numbers import DRAWN, OwnNumbers
from fuzzer.processes import sandbox
from fuzzer.processes.run_guarded import run_guarded
from fuzzer.processes.scratch import scratch_folder
from fuzzer.processes.start import module_command
from fuzzer.results import rows_of
from reports.summary import write_text

CONFIRM_S = 150.0
RUNS = 5
"""How often a script is run again that does not show its failure at once: its rate is told."""


@dataclass(frozen=True, slots=True)
class Shown:
    """number: of the script. rate: how many runs showed the failure. said: the last line of a run that did not, and how
    it ended. by_reference: TVM could not run the script, and `passfuzz check` has shown the failure."""

    number: int
    rate: ReproRate
    said: str = ""
    by_reference: bool = False


def shown(reduction: Reduction, trust: bool, tries: int = 1, load: str | None = None, own: OwnNumbers = DRAWN) -> Shown:
    """What fresh processes say of the scripts, which are run in turn while one says that the failure is gone. Where TVM
    cannot run them, `passfuzz check` is asked.

    trust: whether a process has no walls around it. load: the user's file of passes. tries: up to so many runs may be
    needed until the failure shows; a script that does not show it in the first run is run RUNS times at least. own: how
    the user has numbers compared.
    """
    asked = [*(["--trust"] if trust else []), *(["--load", load] if load is not None else []), *_compared(own)]
    # Not the folder that the reduction has written into, where links may lie in wait.
    with scratch_folder() as folder, scratch_folder() as scratch:
        walled = None if trust else str(scratch)
        script = folder / "repro.py"
        if reduction.module_json is not None:
            write_text(json_beside(script), reduction.module_json)
        status, said, number = PASSES, "", 0
        for number, repro in enumerate(reduction.repros):
            write_text(script, repro)
            status, said = _run(script, load, walled)
            if status == FAILS and tries == 1:
                return Shown(number, ReproRate(1, 1))
            if status != PASSES:
                break
        case = reduction.by_reference if status == CANNOT_RUN else None
        if case is not None and _checked(case, folder, asked):
            return Shown(number, ReproRate(1, 1), by_reference=True)
        more = [_run(script, load, walled)[0] for _ in range(max(tries, RUNS) - 1)]
        return Shown(number, ReproRate([status, *more].count(FAILS), 1 + len(more)), said)


def _compared(own: OwnNumbers) -> list[str]:
    """How the user has numbers compared, as options. The case holds the inputs."""
    limits = own.tolerance
    return [] if limits is None else ["--rtol", repr(limits.rtol), "--atol", repr(limits.atol)]


def _checked(case: ByReference, room: Path, asked: list[str]) -> bool:
    """Whether `passfuzz check` finds the failure of a case in a fresh process."""
    folder = room / "case"
    write_folder(folder, case.folder)
    words = module_command("fuzzer.cli", "check", str(folder), "--json", *asked)
    try:
        _, said = run_guarded(words, CONFIRM_S)
    except subprocess.TimeoutExpired:
        return False
    return any(row.is_of(case.oracle, case.symptom) for row in rows_of(said) or ())


def _run(script: Path, load: str | None, scratch: str | None) -> tuple[int, str]:
    """The exit status of a script, and the last line that it printed as the end of a sentence."""
    words = [sys.executable, str(script)]
    command = words if scratch is None else sandbox.command(words, scratch)
    environment = {**os.environ, "TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **loaded_environment(load)}
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            env=environment,
            timeout=CONFIRM_S,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFault(f"the reduced script does not end within {CONFIRM_S:.0f} s") from error
    lines = (ended.stdout + ended.stderr).decode(errors="replace").strip().splitlines()
    return ended.returncode, f"; status {ended.returncode}" + (f": {lines[-1][:200]}" if lines else "")
