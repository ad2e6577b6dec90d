"""What a campaign leaves under OUT while it runs. A disk that is full for a while does not end it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from math import inf
from pathlib import Path

from corpus.finding import Finding
from corpus.findings import keep_finding
from corpus.issue import Similar
from fuzzer.campaign.checkpoint import Checkpoint, failure_row, write_checkpoint, write_unreduced
from fuzzer.campaign.docket import Docket, Open
from fuzzer.campaign.out_folder import OWN_FAULTS
from fuzzer.errors import EnvironmentFault, of_system, tell
from fuzzer.retold_issues import retell_issues
from reports.finding_row import FindingRow
from reports.summary import UNCONFIRMED, UNSHOWN_FILE
from reports.tally import Tally, bump

CHECKPOINT_S = 5.0
"""Seconds between two checkpoints: what a killed campaign has to judge again."""


class Disk:
    """Writes under `out` for the campaign of a seed. cannot_write: why something was not written that may be later.

    scratch: a folder in `out`, there for as long as that is where the campaign has begun to write. own: whether the
    findings are this user's own; they are not where another user's cases have run in what reports them.
    """

    def __init__(self, out: Path, seed: int, scratch: str, *, own: bool) -> None:
        self._out = out
        self._own = own
        self._seed = seed
        self._scratch = Path(scratch)
        self._written = -1
        self._checked_at = -inf
        self.cannot_write: OSError | None = None

    def tries(self, action: Callable[[], object]) -> bool:
        """Whether something could be written; a warning on stderr, once, where it could not. Raises EnvironmentFault
        where the folder is gone: in a new one, half of the results would look whole."""
        if not self._scratch.exists():
            raise EnvironmentFault(f"--out {self._out}: was moved or removed while the run was writing there")
        try:
            action()
        except OSError as error:
            if self.cannot_write is None:
                tell(f"warning: {of_system(error)}; the campaign goes on")
            self.cannot_write = error
            return False
        return True

    def store(self, docket: Docket, checkpoint: Callable[[], Checkpoint], now: float, at_once: bool = False) -> None:
        """What is not settled, whenever that changes, and now and then all that is needed to go on. Raises OSError."""
        if docket.changes != self._written:
            changes = docket.changes
            write_unreduced(self._out, self._seed, docket)
            self._written = changes
        if at_once or now - self._checked_at > CHECKPOINT_S:
            self._checked_at = now
            write_checkpoint(self._out, checkpoint())

    def keep(self, finding: Finding, shown: bool, similar: Sequence[Similar]) -> bool:
        """Whether the folder of a finding could be written. shown: by its script; else it is kept apart. similar: what
        its issue names."""
        out = self._out if shown else self._out / UNCONFIRMED
        return self.tries(lambda: keep_finding(out, finding, similar, made_here=self._own))

    def retell_issues(self, rows: Iterable[FindingRow], cause: str | None = None) -> None:
        """Writes the tier of a cause, or of each, into the issues of its findings."""
        self.tries(lambda: retell_issues(self._out, rows, cause))

    def note_own_fault(self, where: str, said: str) -> None:
        """Adds an exception of ours to OUT/own-faults.txt."""

        def note() -> None:
            with (self._out / OWN_FAULTS).open("a", encoding="utf-8", errors="replace") as file:
                file.write(f"{where} of seed {self._seed}, {said}\n\n")

        self.tries(note)

    def note_unshown(self, one: Open, tally: Tally) -> None:
        """Counts a failure that did not show again, and adds it to OUT/unconfirmed/failures.jsonl."""
        bump(tally.inconclusive, f"does not show again: {one.failure.oracle} {one.failure.culprit}", 1)
        row = f"{json.dumps(failure_row(self._seed, one))}\n"

        def note() -> None:
            folder = self._out / UNCONFIRMED
            folder.mkdir(exist_ok=True)
            with (folder / UNSHOWN_FILE).open("a", encoding="utf-8") as file:
                file.write(row)

        self.tries(note)

    def note_fault_of(self, finding: Finding, tally: Tally) -> None:
        """Counts and notes what raised in our own code while more was asked of a finding, if anything did."""
        if finding.own_fault:
            bump(tally.skipped, f"own fault: {finding.own_fault[:60]}", 1)
            self.note_own_fault(f"the finding {finding.signature.slug}", finding.own_fault)
