"""Confirms findings: a finding counts when its own repro.py shows it in a fresh process. No TVM here.

A script that says that the bug is gone is tried with other settings: with other bytes in uninitialised memory that it
reads (`corpus.scripts.poison_fill`), without LLVM's optimisation where it builds, as most cases were, and by the rest
of the pipeline. What is kept is the script that shows it, and the first one where none does.
Where a target runs in threads, no script of TVM's alone can show numbers without a device: there `passfuzz check` must
find the case wrong. What a device has shown, the script shows there.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.answers import CANNOT_RUN, FAILS, PASSES, child_end, last_line, whole_last_line
from corpus.causes.signature import told_by
from corpus.causes.tracebacks import crashing_function
from corpus.finding import Finding
from corpus.findings import save_finding, stored_from, with_each_setting
from corpus.rate import ReproRate
from corpus.scripts.loaded_file import loaded_environment
from corpus.scripts.repro import can_be_by_reference, shown_by_script
from fuzzer.processes.run_guarded import run_guarded
from fuzzer.processes.start import module_command
from fuzzer.results import rows_of
from oracles.evidence import KILLED_EACH_TIME, AcrossProcesses, Died, ReferenceTrap

KILLED = (128 + signal.SIGKILL, -signal.SIGKILL)
"""Of a guard whose command was killed from outside, and of a guard that was. A script that forks says it of its
child."""
DEADLINE_S = 90.0
TRIALS_BY_CHANCE = 4
"""How many times in a row a repro must show a bug that may depend on chance (addresses, hash seeds)."""
TRIALS_OF_CHANCE = 3
"""How often a repro is run where one run says too little, so that the rate can be told: a process died and no function
of TVM is named (memory that was overwritten earlier may kill it or not), the value of what TVM computes is not defined,
or the first run says that the bug is gone and there is no other setting to try."""
UNDEFINED_VALUES = frozenset({"division-by-zero", "integer-overflow", "domain", "data-race"})
"""Traps of the reference after which a build computes any number, by chance the right one."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A finding as it was tried last, and whether its repro showed it. ended: how the process ended from which nothing
    was heard, "" where it said something."""

    finding: Finding
    shown: bool
    ended: str = ""


def confirmed(finding: Finding, room: Path) -> Tried:
    """Whether the finding shows, with any of the settings that its script is to be tried with. Writes under `room`."""
    settings = with_each_setting(finding)
    alone = sum(not one.setting.goes_on for one in settings) == 1
    for one in settings:
        tried, status = _tried(one, room, alone=alone and not one.setting.goes_on)
        if status == CANNOT_RUN and can_be_by_reference(stored_from(one)):
            by_reference = replace(one, setting=replace(one.setting, by_reference=True))
            tried, status = _tried(by_reference, room, alone=False)
        if status != PASSES:
            break
    return tried if tried.shown else replace(tried, finding=settings[0])


def _tried(finding: Finding, room: Path, *, alone: bool) -> tuple[Tried, int | None]:
    """What came of it, and how the last run has ended that says something; None where it says nothing. alone: there is
    no other setting but the rest of the pipeline, so that a first run which says that it is gone is not the last."""
    with tempfile.TemporaryDirectory(prefix="trial-", dir=room, ignore_cleanup_errors=True) as folder:
        return _tried_in(finding, Path(folder), alone)


def _tried_in(finding: Finding, room: Path, alone: bool) -> tuple[Tried, int | None]:
    evidence = finding.verdict.evidence
    each_time = isinstance(evidence, AcrossProcesses)
    died = isinstance(evidence, Died) and not crashing_function(finding.verdict.detail)
    by_chance = died or (isinstance(evidence, ReferenceTrap) and evidence.kind in UNDEFINED_VALUES)
    folder = save_finding(room, finding)
    runs, line = list[bool](), ""
    status: int | None = None
    trials = TRIALS_BY_CHANCE if each_time else TRIALS_OF_CHANCE if by_chance else 1
    while len(runs) < trials:
        try:
            variables = loaded_environment(finding.case.load)
            status, said = run_guarded(_command(finding, folder), DEADLINE_S, variables)
        except subprocess.TimeoutExpired:
            status, said, ended = None, b"", f"no answer within {DEADLINE_S:g} s"
        else:
            from_outside = status in KILLED or (_says_killed(said) and evidence != KILLED_EACH_TIME)
            ended = signal.SIGKILL.name if from_outside else ""
        if ended and not (by_chance and runs):
            return Tried(finding, False, ended), None
        runs.append(status == FAILS and _is_said(finding, said))
        if runs[-1] and shown_by_script(finding):
            line = whole_last_line(said.decode(errors="replace"))
        if alone and not runs[-1] and status == PASSES and not each_time:
            by_chance, trials = True, TRIALS_OF_CHANCE
        if not (runs[-1] or by_chance):
            return Tried(finding, False), status
    if not any(runs):
        return Tried(finding, False), status
    rate = None if all(runs) else ReproRate(sum(runs), len(runs))
    return Tried(replace(finding, rate=rate, said=told_by(line)), True), FAILS


def _says_killed(said: bytes) -> bool:
    of_child = child_end(last_line(said.decode(errors="replace")))
    return of_child is not None and of_child.from_outside


def _command(finding: Finding, folder: Path) -> list[str]:
    if shown_by_script(finding):
        return [sys.executable, str(folder / "repro.py")]
    return module_command("fuzzer.cli", "check", str(folder), "--json")


def _is_said(finding: Finding, said: bytes) -> bool:
    """Whether `check` has said the very thing that was found; a script says it by its status, and with a line of why:
    without one, Python could not read it."""
    if shown_by_script(finding):
        return bool(said.strip())
    return any(row.is_of(finding.oracle, finding.verdict.symptom) for row in rows_of(said) or ())
