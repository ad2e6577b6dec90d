"""A campaign: hands cases to workers, keeps one finding per signature, has each reduced and confirmed.

The campaign process never imports TVM. Its loop is the only place that decides what happens next; workers
judge and reduce, `fuzzer.campaign.confirm` runs repros in fresh processes, observers show and store.
"""

from __future__ import annotations

import pickle
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from typing_extensions import assert_never

from corpus.finding import Finding
from corpus.known import read_known
from corpus.replayable import replayable
from corpus.signature import signature_of
from corpus.store import CorruptCase, StoredCase
from fuzzer.campaign.confirm import Confirmations
from fuzzer.campaign.observer import Observer
from fuzzer.campaign.second_process import SecondProcess
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.processes.pool import FromWorker, Pool, Slot, WorkerLost
from fuzzer.protocol import (
    CandidateDigests,
    CaseDigests,
    Done,
    Failure,
    Found,
    JudgeCases,
    Plan,
    Ready,
    Reduce,
    Reduced,
    Refused,
    Sampled,
    Tallied,
)
from fuzzer.results import CampaignResult
from fuzzer.selection import PIPELINE_KINDS, named_passes
from fuzzer.settings import Settings
from fuzzer.trial.determinism import hash_seeds
from oracles.verdict import WRONG_RESULT, Failed
from reports.tally import Tally

BATCH = 48
"""Cases that a worker is handed at once: a few seconds of work, in one child whose caches live that long."""
REDUCE_S = 15.0
"""Seconds that one reduction may take."""
REDUCING_SHARE = 0.5
"""Reductions take at most this share of a worker's time while there is time left to look for more."""
READY_S = 180.0
"""Seconds until the first worker has imported TVM and the loaded file."""
GRACE_S = 25.0
"""Seconds after the campaign's time in which waiting failures are still reduced and confirmed."""
SAME_PLACE = 4
"""Failures of one oracle and pass that may differ by operator only: so many reductions in a row may find
nothing new before only every tenth of them is tried."""


@dataclass(slots=True)
class _Place:
    """Failures that look alike before reduction."""

    sightings: int = 0
    fruitless: int = 0
    slug: str | None = None


@dataclass(slots=True)
class _State:
    tally: Tally = field(default_factory=Tally)
    findings: dict[str, Finding] = field(default_factory=dict)
    places: dict[tuple[str, ...], _Place] = field(default_factory=dict)
    waiting: deque[tuple[tuple[str, ...], Failure, float]] = field(default_factory=deque)
    reducing: dict[int, tuple[tuple[str, ...], Failure, float]] = field(default_factory=dict)
    next_case: int = 0
    tokens: int = 0
    tvm: str = ""
    fault: str | None = None
    interrupted: bool = False
    lost_workers: int = 0


class _Campaign:
    def __init__(self, settings: Settings, observer: Observer, scratch: Path) -> None:
        self.settings = settings
        self.observer = observer
        self.state = _State()
        self.known = _known_signatures(settings)
        self.plan = plan_of(settings, scratch)
        self.scratch = scratch
        self.confirmations = Confirmations(settings.out, settings.jobs)
        self.second = SecondProcess(self.plan)
        self.start = time.monotonic()

    @property
    def now(self) -> float:
        return time.monotonic() - self.start

    def run(self) -> CampaignResult:
        pool = Pool(self.plan, self.settings.jobs, hash_seeds(self.plan.seed)[0])
        try:
            self._await_worker(pool)
        except BaseException:
            pool.close()
            raise
        self.observer.on_start(self.settings)
        try:
            with self._interruptible():
                self._loop(pool)
        finally:
            pool.close()
            self.confirmations.close()
            self.second.close()
            self.observer.on_tally(self.state.tally, self.now)
            self.observer.on_end()
        state = self.state
        return CampaignResult(state.tally, tuple(state.findings.values()), self.now, state.interrupted, state.fault)

    def _await_worker(self, pool: Pool) -> None:
        """Until a worker is ready, so that what cannot work leaves the results of an earlier run as they are.

        Raises UsageError for what workers refuse (the loaded file), EnvironmentFault where TVM cannot be imported.
        """
        while not any(slot.ready for slot in pool.slots):
            for heard in pool.answers(0.2):
                if isinstance(heard.answer, Refused):
                    raise UsageError(heard.answer.message)
                if isinstance(heard.answer, WorkerLost):
                    how = _ended(heard.answer.status, heard.slot.process.pid, self.scratch)
                    raise EnvironmentFault(f"TVM cannot be imported: {how}")
                self._take(pool, heard)
            if self.now > READY_S:
                raise EnvironmentFault(f"TVM is not imported within {READY_S:g} s; `passfuzz doctor` looks closer")

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C (and SIGTERM) ends the campaign in order; a second one ends it at once."""

        def stop(_number: int, _frame: FrameType | None) -> None:
            if self.state.interrupted:
                raise KeyboardInterrupt
            self.state.interrupted = True

        old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

    # --- the loop ---------------------------------------------------------------------------------------

    def _loop(self, pool: Pool) -> None:
        while self.state.fault is None and not self._finished(pool):
            for slot in pool.slots:
                if slot.ready and slot.busy is None:
                    self._employ(pool, slot)
            for heard in pool.answers(0.1):
                self._take(pool, heard)
            for slug, finding, shown in self.confirmations.finished():
                self._confirmed(slug, finding, shown)
            for said in self.second.answers(self.now, not self._drawing()):
                self._said_by_second(said)
            self.observer.on_tally(self.state.tally, self.now)

    def _drawing(self) -> bool:
        """Whether new cases are still handed out."""
        if self.state.interrupted:
            return False
        if self.settings.cases is not None and self.state.next_case >= self.settings.cases:
            return False
        return self.settings.time_s is None or self.now < self.settings.time_s

    def _finished(self, pool: Pool) -> bool:
        if self._drawing():
            return False
        limit = self.settings.time_s if self.settings.time_s is not None else self.now
        if self.state.interrupted or (self.settings.time_s is not None and self.now > limit + GRACE_S):
            self._give_up_waiting()
            return True
        busy = any(slot.busy for slot in pool.slots) or not all(slot.ready for slot in pool.slots)
        return not busy and self.second.idle and not self.state.waiting and not self.confirmations.pending

    def _give_up_waiting(self) -> None:
        """Failures without time to reduce or confirm them are counted, not lost."""
        left = [*self.state.waiting, *self.state.reducing.values()]
        for _, failure, _ in left:
            self._count_skip(f"not reduced in time: {failure.oracle} {failure.culprit}")
        for finding in self.confirmations.pending.values():
            self._count_skip(f"not confirmed in time: {finding.oracle} {finding.signature.culprit}")

    def _employ(self, pool: Pool, slot: Slot) -> None:
        drawing = self._drawing()
        allowed = not drawing or slot.reducing_s <= REDUCING_SHARE * self.now + 2.0
        if self.state.waiting and allowed:
            self._order_reduction(pool, slot)
        elif drawing:
            pool.command(slot, JudgeCases(self._next_indices(), self._until()), self.now)

    def _until(self) -> float:
        limit = self.settings.time_s
        return time.time() + (limit - self.now if limit is not None else 1e9)

    def _next_indices(self) -> tuple[int, ...]:
        first = self.state.next_case
        last = first + BATCH if self.settings.cases is None else min(first + BATCH, self.settings.cases)
        self.state.next_case = last
        shard = self.settings.shard
        return tuple(shard.index + shard.count * k for k in range(first, last))

    def _order_reduction(self, pool: Pool, slot: Slot) -> None:
        state = self.state
        item = state.waiting.popleft()
        state.tokens += 1
        state.reducing[state.tokens] = item
        left = GRACE_S if self.settings.time_s is None else self.settings.time_s + GRACE_S - self.now
        budget = max(2.0, min(REDUCE_S, left / 2))
        pool.command(slot, Reduce(item[1], state.tokens, budget), self.now)

    # --- answers ----------------------------------------------------------------------------------------

    def _take(self, pool: Pool, heard: FromWorker) -> None:
        answer = heard.answer
        match answer:
            case Tallied(delta):
                self.state.tally.add(delta)
            case Found(failure):
                self._sighted(failure)
            case Sampled(sample):
                self.second.ask(sample)
            case Reduced(token, file):
                self._reduced(token, file)
                heard.slot.reducing_s += self.now - heard.slot.since
            case Ready(tvm):
                self.state.tvm = tvm
            case Refused(message):
                self.state.fault = message
            case WorkerLost():
                self._lost_worker(pool, answer)
            case Done():
                pass  # The pool has noted it.
            case CaseDigests() | CandidateDigests():
                raise AssertionError("a worker of the campaign says digests, which only the second process is asked")
            case _:
                assert_never(answer)

    def _said_by_second(self, said: Found | Tallied) -> None:
        match said:
            case Found(failure):
                self._sighted(failure)
            case Tallied(delta):
                self.state.tally.add(delta)
            case _:
                assert_never(said)

    def _lost_worker(self, pool: Pool, lost: WorkerLost) -> None:
        if self.state.fault is not None:
            return
        self.state.lost_workers += 1
        if not lost.was_ready or self.state.lost_workers > 10 * self.settings.jobs:
            self.state.fault = f"a worker process ended with status {lost.status} before it was ready"
            return
        self._count_skip("worker process lost")
        pool.replace()

    def _sighted(self, failure: Failure) -> None:
        """A failure: one like it is counted, a new one waits for its reduction."""
        key = place_of(failure)
        place = self.state.places.setdefault(key, _Place())
        place.sightings += 1
        if place.slug is not None and not _differs_by_operator(failure):
            self._seen_again(place.slug)
            return
        waits = any(item[0] == key for item in (*self.state.waiting, *self.state.reducing.values()))
        enough = place.fruitless >= SAME_PLACE and place.sightings % 10
        if waits or enough or (place.fruitless and not _differs_by_operator(failure) and place.sightings % 10):
            if place.slug is not None:
                self._seen_again(place.slug)
            return
        self.state.waiting.append((key, failure, self.now))

    def _seen_again(self, slug: str) -> None:
        if slug in self.state.findings:
            self.state.findings[slug] = self.state.findings[slug].seen_again()

    def _reduced(self, token: int, file: str | None) -> None:
        key, failure, at_s = self.state.reducing.pop(token)
        place = self.state.places[key]
        if file is None:
            place.fruitless += 1
            self._inconclusive(f"does not show again: {failure.oracle} {failure.culprit}")
            return
        finding: Finding = pickle.loads(Path(file).read_bytes())
        Path(file).unlink()
        slug = finding.signature.slug
        place.slug = slug
        if slug in self.state.findings or slug in self.confirmations.pending:
            place.fruitless += 1
            self._seen_again(slug)
            return
        place.fruitless = 0
        status: Any = "known" if slug in self.known else "new"
        self.confirmations.start(replace(finding, at_s=at_s, status=status))

    def _confirmed(self, slug: str, finding: Finding, shown: bool) -> None:
        if not shown:
            self._inconclusive(f"repro does not show it: {finding.oracle} {finding.signature.culprit}")
            return
        self.state.findings[slug] = finding
        self.observer.on_finding(finding)

    def _inconclusive(self, reason: str) -> None:
        self.state.tally.add({"inconclusive": {reason: 1}})

    def _count_skip(self, reason: str) -> None:
        self.state.tally.add({"skipped": {reason: 1}})


def run_campaign(settings: Settings, observer: Observer) -> CampaignResult:
    """Runs a campaign to its end.

    Raises UsageError for settings that this machine cannot carry out, EnvironmentFault where the folders
    cannot be written.
    """
    if settings.on != "local":
        raise UsageError(f"--on {settings.on}: this version runs campaigns on one machine only")
    try:
        settings.out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".scratch-", dir=settings.out, ignore_cleanup_errors=True) as scratch:
            return _Campaign(settings, observer, Path(scratch).absolute()).run()
    except PermissionError as error:
        raise EnvironmentFault(f"--out {settings.out}: {error.strerror}") from error


def _ended(status: int, pid: int, scratch: Path) -> str:
    """How worker `pid` ended that never was ready, with the last line that it wrote on stderr."""
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"status {status}"
    log = scratch / f"stderr-{pid}"
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    said = f": {lines[-1][:300]}" if lines and status >= 0 else ""
    return f"{how}{said}; `passfuzz doctor` looks closer"


def plan_of(settings: Settings, scratch: Path) -> Plan:
    """What is sent to each worker once."""
    under_test = named_passes(settings.passes)
    kinds = PIPELINE_KINDS if "@pipelines" in settings.passes else ()
    return Plan(
        seed=settings.seed,
        targets=settings.targets,
        under_test=under_test,
        kinds=kinds,
        oracles=settings.oracles,
        load=str(settings.load.absolute()) if settings.load else None,
        scratch=str(scratch),
        corpus=str(settings.corpus.absolute()) if settings.corpus else None,
    )


def place_of(failure: Failure) -> tuple[str, ...]:
    """What failures have in common before reduction: their signature without operators."""
    verdict = Failed(failure.symptom, failure.message, evidence=failure.evidence)
    signature = signature_of(failure.oracle, verdict, failure.culprit)
    return (signature.oracle, signature.symptom, signature.culprit, signature.message)


def _differs_by_operator(failure: Failure) -> bool:
    """Wrong results are distinguished by the operators of the reduced module, which are not known yet."""
    return failure.symptom == WRONG_RESULT


def _known_signatures(settings: Settings) -> frozenset[str]:
    """Signatures that are not new: those of the baseline file, and of the corpus cases that came from findings."""
    known: frozenset[str] = frozenset()
    if settings.known is not None:
        try:
            known = read_known(settings.known)
        except CorruptCase as error:
            raise UsageError(f"--known {error}") from error
    if settings.corpus is None:
        return known
    stored = [found.case for found in replayable(settings.corpus) if isinstance(found.case, StoredCase)]
    return known | {case.signature for case in stored if case.signature is not None}
