"""A campaign: hands cases to workers, keeps one finding per signature and cause, has each reduced and confirmed.

The campaign process never imports TVM. Its loop is the only place that decides what happens next; workers judge, reduce
and confirm, observers show and store. What is dealt out is in the `Deck` and the `Docket` until it is answered, so that
a worker that ends costs nothing but time.
"""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

from typing_extensions import assert_never

from fuzzer.campaign.aside import steps_aside
from fuzzer.campaign.awaiting import await_first
from fuzzer.campaign.checkpoint import SCHEMA, Begun, Checkpoint
from fuzzer.campaign.deck import Deck
from fuzzer.campaign.disk import Disk
from fuzzer.campaign.failures import Failures
from fuzzer.campaign.interrupts import Interrupts
from fuzzer.campaign.kinship import Kinship
from fuzzer.campaign.losses import Losses
from fuzzer.campaign.observer import Observer
from fuzzer.campaign.rejecting import always_rejecting
from fuzzer.campaign.second_process import SecondProcess
from fuzzer.engines.messages import versions
from fuzzer.errors import of_system
from fuzzer.known_causes import read_known_causes
from fuzzer.processes.workforce import FromWorker, Slot, WorkerLost, Workforce
from fuzzer.protocol import (
    Begin,
    CandidateDigests,
    CaseDigests,
    Command,
    Confirm,
    Confirmed,
    Done,
    Failure,
    JudgeCases,
    Judged,
    Killed,
    Plan,
    Ready,
    Reduce,
    Reduced,
    Refused,
    Resemble,
    TakeDigests,
    TriedDraws,
    TryDraws,
    Warned,
)
from fuzzer.results import CampaignResult
from fuzzer.settings import Settings
from fuzzer.trust import only_trusted
from fuzzer.versions import tvm_version
from reports.summary import read_findings
from reports.tally import Tally

GRACE_S = 25.0
"""Seconds after the campaign's time in which waiting failures are still reduced and confirmed."""
_NO_LIMIT = 1e9
"""Seconds that stand for no limit in a message: JSON has no infinity."""


class CampaignLoop:
    """A campaign that holds its folder: `begin` it, `await_worker`, then `run` it, once."""

    def __init__(self, settings: Settings, observer: Observer, interrupts: Interrupts, plan: Plan) -> None:
        self.settings = settings
        self.observer = observer
        self.interrupts = interrupts
        self.plan = plan
        self.kinship = Kinship()
        self.second = SecondProcess(self.plan, self.kinship)
        self.tally = Tally()
        shard = settings.shard
        self.deck = Deck(shard.index, shard.count, settings.cases)
        self.known = read_known_causes(settings.known, tvm_version(), settings.corpus)
        self.fault: str | None = None
        self.uncounted = ""
        self.loaded: tuple[str, ...] = ()
        """The passes of --load."""
        self.losses = Losses()
        self.before_s = 0.0
        """The seconds of the campaign that this one goes on with."""
        self.start = time.monotonic()
        self.begun = Begun.with_settings(settings)
        self.disk = Disk(settings.out, settings.seed, plan.scratch, own=settings.trust or only_trusted(settings.corpus))
        self.failures = Failures(self.known, self.disk, observer, in_order=settings.time_s is None)

    @property
    def now(self) -> float:
        """Seconds of the campaign, beginning when its first worker is ready."""
        return self.before_s + time.monotonic() - self.start

    @property
    def end(self) -> float | None:
        """When no case is dealt any more, in the same seconds. Those before the first case do not count."""
        limit = self.settings.time_s
        return None if limit is None or not self.kinship.known else self.before_s + self.kinship.seconds + limit

    def _go_on(self, checkpoint: Checkpoint) -> None:
        """Takes over what an earlier campaign has done and left."""
        self.before_s, self.tally = checkpoint.wall_s, checkpoint.tally
        self.deck, self.begun = checkpoint.deck, checkpoint.begun
        self.deck.limit = self.settings.cases
        self.kinship.found = checkpoint.tried
        self.deck.returned(sorted(self.deck.out))
        self.failures.go_on(checkpoint, read_findings(self.settings.out))
        for sample in checkpoint.samples:
            self.tally.add(self.second.ask(sample))

    def begin(self, checkpoint: Checkpoint | None) -> None:
        """Takes over what an earlier campaign has done and left. Otherwise writes that this one has begun, so that it
        can be reported, and gone on with, if it is killed before a worker is ready. Raises OSError."""
        if checkpoint is not None:
            self._go_on(checkpoint)
            return
        self.observer.on_begin()
        self.disk.store(self.failures.docket, self._checkpoint, self.before_s, at_once=True)

    def run(self, pool: Workforce) -> CampaignResult:
        """Runs it to its end, with these workers. What it leaves and cannot write is a fault of its result."""
        self.start = time.monotonic()
        try:
            self._go(pool)
        finally:
            self.observer.on_end()
        unsettled = self.failures.docket.unsettled
        return CampaignResult(
            self.tally,
            self.failures.rows.counted,
            self.now,
            interrupted=self.interrupts.happened,
            own_fault=self.fault,
            unreduced=len(unsettled),
            unreduced_known=sum(one.looks_known for one in unsettled),
            notes=self._notes,
            uncounted=self.uncounted,
            new_tiers=self.known.new_tiers((one.failure for one in unsettled), self.loaded),
            unshown=self.failures.docket.sightings_unshown(self.loaded),
            loaded=self.loaded,
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        """What its reader must know besides what was found."""
        mine = f"; a pass of {self.settings.load} may have done it" if self.settings.load is not None else ""
        lost = (f"{note}{mine}" for note in self.losses.notes)
        rejecting = always_rejecting(self.tally, self.loaded)
        return (*self.failures.rows.notes, *self.kinship.notes, *rejecting, *lost, *self.deck.notes)

    def _go(self, pool: Workforce) -> None:
        for row in self.failures.rows.by_signature.values():
            self.observer.on_finding(row)
        self._loop(pool)
        self.failures.take_in_order(inf)
        self.disk.retell_issues(self.failures.rows.by_signature.values())
        try:
            self.disk.store(self.failures.docket, self._checkpoint, self.now, at_once=True)
            self.observer.on_tally(self.tally, self.now)
        except OSError as error:  # What cannot be written now never will be.
            self.fault = self.fault or of_system(error)

    def await_worker(self, pool: Workforce) -> None:
        """Until a worker is ready, or the user does not want to wait; then says that the campaign starts.

        Raises UsageError for what workers refuse (the loaded file), EnvironmentFault where none gets ready.
        """

        def take(heard: FromWorker) -> str | None:
            self._take(pool, heard)
            return self.fault

        await_first(pool, take, lambda: self.interrupts.happened, self.settings.load)
        self.settings = replace(self.settings, jobs=self.settings.jobs or len(pool.slots))
        self.observer.on_start(replace(self.settings, time_s=self.end))

    # --- the loop ---------------------------------------------------------------------------------------

    def _loop(self, pool: Workforce) -> None:
        while self.fault is None and not self._finished(pool):
            self.kinship.look()
            for slot in pool.slots:
                if slot.ready and slot.busy is None:
                    self._employ(pool, slot)
            for heard in pool.answers(0.1):
                self._take(pool, heard)
            for judged in self.second.answers(self.now, not self._drawing()):
                self._count(judged)
            if self.failures.later:
                self.failures.take_in_order(self.deck.first_open())
            self.disk.tries(lambda: self.disk.store(self.failures.docket, self._checkpoint, self.now))
            self.disk.tries(lambda: self.observer.on_tally(self.tally, self.now))

    def _drawing(self) -> bool:
        """Whether cases are still handed out; some are, however short the time is."""
        if self.interrupts.happened or self.deck.empty:
            return False
        return self.end is None or self.now < self.end or self.deck.fresh == 0

    def _finished(self, pool: Workforce) -> bool:
        if self._drawing():
            return False
        if self.interrupts.happened or (self.end is not None and self.now > self.end + GRACE_S):
            return True
        busy = any(slot.busy for slot in pool.slots) or not all(slot.ready for slot in pool.slots)
        return not busy and self.second.idle and self.failures.docket.idle

    def _employ(self, pool: Workforce, slot: Slot) -> None:
        if self.kinship.employs(pool, slot, self.now):
            return
        drawing = self._drawing()
        left = inf if self.end is None else self.end - self.now
        docket = self.failures.docket
        if steps_aside(slot, docket, self.now - self.before_s) if drawing else docket.waits:
            command, slot.on_known = self.failures.next(left + GRACE_S)
            pool.command(slot, command, self.now)
        elif drawing and (indices := self.deck.deal(pool.batch)):
            pool.command(slot, JudgeCases(indices, min(left, _NO_LIMIT)), self.now)

    def _tried(self, found: TriedDraws) -> None:
        """Cases are dealt out from now on, and the time of the campaign begins."""
        self.kinship.take(found)
        self.disk.tries(lambda: self.disk.store(self.failures.docket, self._checkpoint, self.now, at_once=True))
        self.observer.on_limits(replace(self.settings, time_s=self.end))

    # --- answers ----------------------------------------------------------------------------------------

    def _take(self, pool: Workforce, heard: FromWorker) -> None:
        match answer := heard.answer:
            case Judged(index):
                if self.deck.answered(index):
                    self.losses.worked()
                    self._count(answer)
            case Killed(index, if_again):
                self._killed_child(index, if_again)
            case Reduced() | Confirmed() if self.failures.awaits(answer.token):
                self.tally.add(self.failures.answered(answer))
            case TriedDraws() if isinstance(heard.about, TryDraws):
                self._tried(answer)
            case Reduced() | Confirmed() | CaseDigests() | CandidateDigests() | TriedDraws() | Warned():
                pass  # The campaign has not asked for it: a case of another user may say anything.
            case Refused(message):
                self.fault = message
            case WorkerLost():
                self._lost_worker(pool, answer, heard.about)
            case Ready():
                self.uncounted = self.uncounted or answer.uncounted
                self.loaded = answer.loaded
                self.kinship.heard(answer.tries)
            case Done():
                self._done(heard.slot, heard.about)
            case _:
                assert_never(answer)

    def _killed_child(self, index: int, if_again: Failure | None) -> None:
        """The child of a case was killed: what happens twice in one pass is that pass's, which may take all memory."""
        if (given_up := self.deck.killed(index, if_again)) is None:
            return
        if given_up.failure is None:
            self._give_up_case("child killed from outside, again and again")
            return
        self.tally.add(Tally(generated=1, cases=1, died=1, skipped={"ended by SIGKILL": 1}))
        self.failures.seen(index, (given_up.failure,), self.now)

    def _done(self, slot: Slot, about: Command | None) -> None:
        self.losses.worked()
        match about:
            case JudgeCases(indices):
                self.deck.returned(indices)  # The time was up before it came to these.
            case Reduce() | Confirm():
                took = self.now - slot.since
                slot.aside_s += took
                slot.known_s += took if slot.on_known else 0.0
            case TryDraws() if (found := self.kinship.unanswered()) is not None:
                self._tried(found)  # It says that it has done what it did not do: a pass under test may speak for it.
            case TakeDigests() | TryDraws() | Resemble() | None:
                pass
            case Begin():
                raise AssertionError("a worker has done what it answers with Ready")
            case _:
                assert_never(about)

    def _lost_worker(self, pool: Workforce, lost: WorkerLost, about: Command | None) -> None:
        """Its cases and its failure are dealt out again, and another worker takes its place."""
        given_up = False
        match about:
            case JudgeCases(indices):
                if given_up := self.deck.lost(indices) is not None:
                    self._give_up_case("worker killed, again and again", counted=lost.stopped)
            case Reduce(_, token) | Confirm(_, token):
                if self.failures.awaits(token):
                    self.failures.ended_early(token, f"the worker was lost: {lost.how}")
            case TryDraws():
                if (found := self.kinship.lost()) is not None:
                    self._tried(found)
            case TakeDigests() | Resemble() | Begin() | None:
                pass
            case _:
                assert_never(about)
        if self.fault is not None:
            return
        if not (lost.was_ready or lost.killed):
            self.fault = f"a worker process ended ({lost.how}) before it was ready"
        elif self.losses.another(len(pool.slots)):
            mine = "" if self.settings.load is None else f"; a pass of {self.settings.load} may end them"
            self.fault = f"{self.losses.in_a_row} worker processes ended in a row, the last one {lost.how}{mine}"
        else:
            stops = int(lost.stopped and not given_up)
            self.tally.add(Tally(died=stops, skipped={"worker process lost": 1}))
            pool.replace()

    def _give_up_case(self, reason: str, counted: bool = False) -> None:
        """counted: its first end was, among the processes that ended before their time."""
        self.tally.add(Tally(generated=1, died=int(not counted), skipped={reason: 1}))

    def _count(self, judged: Judged) -> None:
        """All about one case: what was counted, what failed, and what another process is to be asked."""
        self.tally.add(judged.counts)
        if judged.own_fault:
            self.disk.note_own_fault(f"case {judged.index}", judged.own_fault)
        if judged.sample is not None:
            self.tally.add(self.second.ask(judged.sample))
        self.failures.seen(judged.index, judged.failures, self.now)

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint(
            SCHEMA,
            self.begun,
            self.now,
            self.tally,
            self.deck,
            list(self.failures.docket.places.items()),
            self.failures.docket.given_up,
            self.failures.later,
            list(self.failures.rows.by_signature.values()),
            self.failures.rows.early,
            versions(),
            self.second.open,
            self.kinship.found,
        )
