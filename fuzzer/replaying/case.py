"""One case on one TVM: its script adapted and run, its end compared with what is recorded."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.answers import last_line
from corpus.portable.text import adapted, with_shims
from corpus.registry import Registry
from corpus.regular_files import read_regular
from corpus.replayable import Replayable
from corpus.scripts.loaded_file import loaded_environment
from corpus.scripts.repro import shown_by_script
from corpus.store import CorruptCase, StoredCase
from fuzzer.parsing import PARSING
from fuzzer.processes.scratch import scratch_folder
from fuzzer.replaying.by_reference import checked
from fuzzer.replaying.comparison import expected_on, outcome_of
from fuzzer.replaying.ending import Ending, Gone, ScriptEnd, ending_of
from fuzzer.replaying.warm import Job, ServerGone, WarmTvm
from oracles.evidence import AcrossProcesses
from reports.matrix import ReplayRow

REPRO = "repro.py"
SURE = ("fails as known", "passes", "unportable")
"""Outcomes that a fork of a warm process may tell. Others are told by a fresh process, whose memory no other script
and no import has used before: what a bug shows may follow addresses."""
GONE = ("fixed", "passes")
"""Outcomes that one run cannot tell of a failure that depends on chance."""
FIXED_AFTER = 4
"""How many runs must not show a failure before it counts as fixed, where no rate is known: a case was confirmed by a
run or two, and what it shows may depend on what memory held all the same."""
_MOST_TEXT = 64 << 20


@dataclass(frozen=True, slots=True)
class Replayer:
    """What every case of a column shares. label: the name of the column; trust: whether scripts run without walls."""

    warm: WarmTvm
    label: str
    registry: Registry
    trust: bool = False

    def row(self, found: Replayable) -> ReplayRow:
        """What a case does on this TVM."""
        if isinstance(found.case, CorruptCase):
            return ReplayRow(found.slug, self.label, "error", str(found.case))
        try:
            text = read_regular(found.folder / REPRO, _MOST_TEXT).decode("utf-8", "replace")
        except OSError as error:
            why = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
            return ReplayRow(found.slug, self.label, "error", f"{found.folder / REPRO}: {why}")
        try:
            row = self._run(found, found.case, text)
        except ServerGone as error:
            row = ReplayRow(found.slug, self.label, "error", str(error))
        return row

    def _run(self, found: Replayable, case: StoredCase, text: str) -> ReplayRow:
        with PARSING:
            by_script = shown_by_script(case)
        if not by_script:
            return self._told(found, case, *checked(self.warm, found.folder, case, self.trust))
        row = None
        if not isinstance(case.evidence, AcrossProcesses):
            row = self._row(found, case, text, self.warm.warm)
        if row is None or row.outcome not in SURE:
            row = self._row(found, case, text, self.warm.cold)
        tries = case.rate.tries if case.rate is not None else FIXED_AFTER if row.outcome == "fixed" else 1
        for _ in range(tries - 1):
            if row.outcome not in GONE:
                return row
            row = self._row(found, case, text, self.warm.cold)
        if case.rate is not None and tries > 1 and row.outcome in GONE:
            return replace(row, message=f"{row.message}; it shows by chance, and in none of {tries} runs".lstrip("; "))
        return row

    def _row(self, found: Replayable, case: StoredCase, text: str, run: _Run) -> ReplayRow:
        with scratch_folder() as outer:
            with PARSING:
                job = self._job(found, case, text, outer)
            end, seconds = run(job)
        with PARSING:
            return self._told(found, case, ending_of(end), seconds)

    def _told(self, found: Replayable, case: StoredCase, ending: Ending, seconds: float) -> ReplayRow:
        expected = expected_on(case, self.warm.greeting.version, self.registry)
        outcome = outcome_of(case, ending, expected, self.registry)
        entry = self.registry.match(case.cause or "")
        message = "" if isinstance(ending, Gone) and not ending.message else ending.message
        if outcome == "regressed" and entry is not None and entry.is_fixed_in(self.warm.greeting.version):
            message = f"fixed in {entry.fixed_in}, and back: {message}"
        return ReplayRow(
            found.slug,
            self.label,
            outcome,
            last_line(message.replace("\n", " ")),
            round(seconds, 3),
            case.cause or "",
            case.title if entry is None else entry.title,
            expected,
        )

    def _job(self, found: Replayable, case: StoredCase, text: str, outer: Path) -> Job:
        """The script as it stands, or one for this TVM beside links to the other files of the case."""
        scratch, folder = outer / "scratch", outer / "said"
        scratch.mkdir()
        folder.mkdir()
        walled = not self.trust and case.case.load is None
        variables = loaded_environment(None if case.case.load is None else str(found.folder / case.case.load))
        greeting = self.warm.greeting
        if not (greeting.not_read or greeting.shimmed):
            return Job((found.folder / REPRO).absolute(), scratch, folder, walled, text, variables)
        place = outer / found.slug
        place.mkdir()
        for one in found.folder.absolute().iterdir():
            if one.name != REPRO:
                os.symlink(one, place / one.name)
        text = with_shims(adapted(text, greeting.not_read))
        (place / REPRO).write_text(text, encoding="utf-8")
        return Job(place / REPRO, scratch, folder, walled, text, variables)


_Run = Callable[[Job], tuple[ScriptEnd, float]]
