"""Confirms findings: a finding counts when its own repro.py shows it in a fresh process. No TVM here.

A script that reads uninitialised memory, and says that the bug is gone, is tried with other bytes there
(`corpus.poison_fill`); what is kept is the script that was run last.
Where a target runs in threads, no script of TVM's alone can show numbers without a device: there `passfuzz check` must
find the case wrong. What a device has shown, the script shows there.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from corpus.finding import Finding
from corpus.findings import save_finding, with_each_fill
from corpus.repro import shown_by_script
from fuzzer.processes.guard import guarded
from fuzzer.processes.start import module_command, worker_environment
from oracles.evidence import AcrossProcesses

SHOWN, GONE = 1, 0
"""Exit statuses of a repro that shows its bug, and of one that does not (docs/architecture.md)."""
DEADLINE_S = 90.0
TRIALS_BY_CHANCE = 4
"""How often a repro must show, without a miss, what may hang on chance (addresses, hash seeds)."""
UNCONFIRMED = "unconfirmed"
"""Where what its own repro did not show is kept under OUT: no finding, but a hint at a fault of ours."""


@dataclass(slots=True)
class _Running:
    finding: Finding
    folder: Path
    process: subprocess.Popen[bytes]
    since: float
    said: Path
    """What it prints."""
    left: int
    """How many more times the repro is to be run, should it show its bug now."""
    others: tuple[Finding, ...]
    """The finding with other fills, to be tried should the repro not show it."""


@dataclass(slots=True)
class Confirmations:
    """Repros on trial, at most `jobs` at a time. Findings appear under OUT/findings only when confirmed."""

    out: Path
    jobs: int
    pending: dict[str, Finding] = field(default_factory=dict)
    _running: list[_Running] = field(default_factory=list)
    _room: Path | None = None

    def start(self, finding: Finding) -> None:
        """Queues a finding."""
        self.pending[finding.signature.slug] = finding

    def finished(self) -> Iterator[tuple[str, Finding, bool]]:
        """(signature, finding, whether its repro showed it) of each that has been tried; starts those that wait."""
        self._launch()
        for trial in list(self._running):
            status = trial.process.poll()
            if status is None and time.monotonic() - trial.since > DEADLINE_S:
                os.killpg(trial.process.pid, signal.SIGKILL)  # the guard, the repro and what it has forked
                status = trial.process.wait()
            if status is None:
                continue
            self._running.remove(trial)
            shown = status == SHOWN and _is_said(trial)
            if shown and trial.left:
                self._run(trial.finding, trial.folder, trial.left - 1, trial.others)
                continue
            if status == GONE and trial.others:
                self._try(trial.others)
                continue
            slug = trial.finding.signature.slug
            del self.pending[slug]
            self._keep(trial, self.out if shown else self.out / UNCONFIRMED)
            yield slug, trial.finding, shown

    def _launch(self) -> None:
        started = {t.finding.signature.slug for t in self._running}
        for slug, finding in self.pending.items():
            if len(self._running) >= self.jobs:
                return
            if slug in started:
                continue
            self._try(with_each_fill(finding))

    def _try(self, fills: tuple[Finding, ...]) -> None:
        finding, *others = fills
        by_chance = isinstance(finding.verdict.evidence, AcrossProcesses)
        folder = save_finding(self._trial_room(), finding)
        self._run(finding, folder, TRIALS_BY_CHANCE - 1 if by_chance else 0, tuple(others))

    def _run(self, finding: Finding, folder: Path, left: int, others: tuple[Finding, ...]) -> None:
        said = self._trial_room() / f"{finding.signature.slug}.txt"
        with said.open("wb") as stream:
            process = subprocess.Popen(
                guarded(_command(finding, folder)),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.DEVNULL,
                env=worker_environment(),
                start_new_session=True,
            )
        self._running.append(_Running(finding, folder, process, time.monotonic(), said, left, others))

    def _trial_room(self) -> Path:
        if self._room is None:
            self._room = Path(tempfile.mkdtemp(prefix=".trial-", dir=self.out))
        return self._room

    def _keep(self, trial: _Running, out: Path) -> None:
        """Moves a folder to where readers look for confirmed findings, or to where we look for our own faults."""
        target = out / trial.finding.folder
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            shutil.rmtree(target)
        trial.folder.replace(target)

    def close(self) -> None:
        """Ends what is still running."""
        for trial in self._running:
            os.killpg(trial.process.pid, signal.SIGKILL)
            trial.process.wait()
        if self._room is not None:
            shutil.rmtree(self._room, ignore_errors=True)


def _command(finding: Finding, folder: Path) -> list[str]:
    if shown_by_script(finding):
        return [sys.executable, str(folder / "repro.py")]
    return module_command("fuzzer.cli", "check", str(folder), "--json")


def _is_said(trial: _Running) -> bool:
    """Whether `check` has said the very thing that was found; a script says it by its status."""
    if shown_by_script(trial.finding):
        return True
    try:
        rows = json.loads(trial.said.read_text(encoding="utf-8"))["rows"]
    except (ValueError, KeyError):
        return False
    finding = trial.finding
    return any((row["oracle"], row["symptom"]) == (finding.oracle, finding.verdict.symptom) for row in rows)
