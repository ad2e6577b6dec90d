"""What becomes of the failures of a campaign: seen, reduced, confirmed, and told as findings.

The loop asks what is to be worked on next and hands in what workers answer; which command is about which failure stays
here until it is answered. What is counted by the way is handed back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from corpus.finding_bytes import from_bytes, is_readable, to_bytes
from fuzzer.campaign.aside import reduction_limits
from fuzzer.campaign.checkpoint import Checkpoint
from fuzzer.campaign.disk import Disk
from fuzzer.campaign.docket import Docket, FailureKey, ReducedTo
from fuzzer.campaign.finding_rows import FindingRows
from fuzzer.campaign.observer import Observer
from fuzzer.known_causes import Known
from fuzzer.protocol import Confirm, Confirmed, Failure, Reduce, Reduced, how_it_ended
from oracles.verdict import WRONG_RESULT
from reports.finding_row import FindingRow
from reports.tally import Tally


class Failures:
    """in_order: they are taken in the order of their cases, whichever is answered first. later: those of cases that
    were answered before an earlier one, by case."""

    def __init__(self, known: Known, disk: Disk, observer: Observer, *, in_order: bool) -> None:
        self.docket = Docket(in_order, known.looks_known)
        self.rows = FindingRows(known)
        self.later: dict[int, list[tuple[Failure, float]]] = {}
        self._disk = disk
        self._observer = observer
        self._tokens = 0
        self._working: dict[int, FailureKey] = {}
        """The place in the docket that a command with a token is about."""

    def go_on(self, checkpoint: Checkpoint, stored: Iterable[FindingRow]) -> None:
        """Takes over what an earlier campaign has left, by its last checkpoint and by its file of findings."""
        self.later = checkpoint.later
        self.docket.go_on(checkpoint.places, checkpoint.given_up)
        self.rows.go_on(checkpoint.rows, stored, checkpoint.early)

    # --- seen -------------------------------------------------------------------------------------------

    def seen(self, index: int, failures: Sequence[Failure], at_s: float) -> None:
        """What failed in a case, `at_s` seconds after the beginning."""
        if not self.docket.in_order:
            for failure in failures:
                self._sighted(failure, at_s)
        elif failures:
            self.later.setdefault(index, []).extend((failure, at_s) for failure in failures)

    def take_in_order(self, first_open: float) -> None:
        """The failures of cases below `first_open`, before which none is open."""
        for index in sorted(index for index in self.later if index < first_open):
            for failure, at_s in self.later.pop(index):
                self._sighted(failure, at_s)

    def _sighted(self, failure: Failure, at_s: float) -> None:
        slug = self.docket.sighted(failure, at_s)
        self._seen_again(slug)
        if slug is not None and failure.symptom != WRONG_RESULT:  # which may be of other operators
            self.rows.seen_in(slug, failure.tier)

    def _seen_again(self, *slugs: str | None) -> None:
        for slug in slugs:
            if slug is not None:
                self.rows.seen_again(slug)

    # --- worked on --------------------------------------------------------------------------------------

    def next(self, left_s: float) -> tuple[Reduce | Confirm, bool]:
        """What a worker is to do about the next one that waits, and whether that looks like a known cause. left_s: the
        seconds of the campaign that are left."""
        key, work = self.docket.take()
        self._tokens += 1
        self._working[self._tokens] = key
        if work.finding is not None:
            return Confirm(work.finding, self._tokens), work.looks_known
        return Reduce(work.failure, self._tokens, *reduction_limits(left_s, work.looks_known)), work.looks_known

    def awaits(self, token: int) -> bool:
        """Whether a command with this token was given and has not been answered."""
        return token in self._working

    def ended_early(self, token: int, why: str, said: str = "") -> None:
        """The process that worked on it has ended before it answered."""
        self._seen_again(*self.docket.ended_early(self._working.pop(token), why, said))

    def answered(self, answer: Reduced | Confirmed) -> Tally:
        """What a worker says of one of them. What is to be counted."""
        return self._reduced(answer) if isinstance(answer, Reduced) else self._confirmed(answer)

    def _reduced(self, answer: Reduced) -> Tally:
        counts = Tally()
        if answer.ended or not is_readable(answer.finding):
            self.ended_early(answer.token, f"{how_it_ended(answer)} while it was reduced", answer.said)
            return counts
        key = self._working.pop(answer.token)
        if answer.finding is None:
            if answer.no_finding:
                counts.skipped[answer.no_finding] = 1
            else:
                self._disk.note_unshown(self.docket.work_at(key), counts)
            self._seen_again(*self.docket.not_reduced(key, unshown=not answer.no_finding))
            return counts
        finding = self.rows.apart(from_bytes(answer.finding))
        self._disk.note_fault_of(finding, counts)
        slug = finding.signature.slug
        found: ReducedTo = "told" if slug in self.rows else "on its way" if self.docket.is_on_its_way(slug) else "new"
        self.rows.seen_in(slug, finding.tier)
        known = self.rows.is_known(finding)
        self._seen_again(*self.docket.reduced(key, to_bytes(finding), slug, found=found, known=known))
        return counts

    def _confirmed(self, answer: Confirmed) -> Tally:
        """The script of a finding was run in a fresh process: it is told where that has shown it."""
        counts = Tally()
        if answer.ended or not is_readable(answer.finding):
            self.ended_early(answer.token, f"{how_it_ended(answer)} while it was confirmed")
            return counts
        key = self._working.pop(answer.token)
        finding = replace(from_bytes(answer.finding), at_s=self.docket.work_at(key).at_s)
        if not self._disk.keep(finding, answer.shown, self.rows.similar(finding)):
            self._seen_again(*self.docket.ended_early(key, f"its folder cannot be written: {self._disk.cannot_write}"))
            return counts
        if answer.shown:
            row = self.rows.told(finding)
            self._disk.tries(lambda: self._observer.on_finding(row))
            self._disk.retell_issues(self.rows.by_signature.values(), row.cause)
        else:
            counts.inconclusive[f"repro does not show it: {finding.oracle} {finding.signature.culprit}"] = 1
        self._seen_again(*self.docket.confirmed(key, shown=answer.shown))
        return counts
