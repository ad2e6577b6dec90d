"""The tests' side of the judging: which pass calls are judged, in a child each, and what has been found so far.

A child that crashes, hangs or has no memory costs its verdicts, and does not touch the test. No file but the
kept modules is written here.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from typing_extensions import assert_never

from corpus.causes.signature import Signature, operators_in, signature_of
from fuzzer.plugin.budget import TestBudget, limit_cpu
from fuzzer.plugin.modules import keep_module, module_file
from fuzzer.plugin.spy import Missed, Spy
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Heard, Say, in_child
from fuzzer.protocol import Failure, OwnFault, Tallied
from fuzzer.trial.end_of_child import FromOutside, OurFault, ReferenceStuck, judged_end
from fuzzer.trial.foreign.application import Application
from fuzzer.trial.foreign.foreign_trial import ForeignFound, ForeignTrial, Pair, Terms, Unpromised
from fuzzer.trial.foreign.gaps import Gap
from generators.case import Case
from oracles.activities import Activity, Asking, kind_of
from oracles.checks import numeric
from oracles.forked import Ended
from oracles.ir.fingerprint import fingerprint
from oracles.verdict import Failed
from reports.tally import Tally, bump

_TEST_LIMIT = "the time for judging one test was up"
_SESSION_LIMIT = "the time for judging this session was up"
JudgeSaid: TypeAlias = Tallied | Pair | Unpromised | OwnFault | ForeignFound
"""By the child that judges a pass call."""


@dataclass(slots=True)
class Sighting:
    """A failed verdict with the case that shows it, and how often it was seen.

    phase: that of the case's module, a `Phase` by value. at_s: seconds into the test session.
    """

    failure: Failure
    phase: int
    case: Case
    at_s: float
    count: int = 1

    @property
    def key(self) -> Signature:
        """What is the same for two sightings of one bug, before either is reduced. Wrong results are
        distinguished by the operators of their modules."""
        failure = self.failure
        failed = Failed(failure.symptom, failure.message, evidence=failure.evidence)
        return signature_of(failure.oracle, failed, failure.culprit, operators_in(self.case.module.script))


@dataclass(slots=True)
class Ledger:
    """What was seen and judged. calls: outermost pass calls. judged: those that the oracles spoke of.

    missed: why others were not. fault: the first exception of ours, None without any. pairs: for `Pairs.of`.
    seconds: what all of it cost the tests. unpromised: passes of a user's own that promise nothing of their numbers.
    """

    calls: int = 0
    judged: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    fault: str | None = None
    pairs: Counter[Gap | None] = field(default_factory=Counter)
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)
    sightings: dict[Signature, Sighting] = field(default_factory=dict)
    unpromised: set[str] = field(default_factory=set)

    def see(self, sighting: Sighting) -> None:
        """Adds a sighting, or counts it where its like was seen before."""
        known = self.sightings.get(sighting.key)
        if known is None:
            self.sightings[sighting.key] = sighting
        else:
            known.count += sighting.count

    def at_fault(self, what: str) -> None:
        """Counts a call that was not judged because of an exception of ours."""
        why = f"own fault: {what}"[:200]
        self.fault = self.fault or why
        self.missed[why] += 1

    def merge(self, other: Ledger) -> None:
        """Adds the ledger of another process."""
        self.calls += other.calls
        self.judged += other.judged
        self.fault = self.fault or other.fault
        self.missed.update(other.missed)
        self.pairs.update(other.pairs)
        self.seconds += other.seconds
        self.tally.add(other.tally)
        self.unpromised |= other.unpromised
        for sighting in other.sightings.values():
            self.see(replace(sighting))


class SuiteWatch:
    """Judges the pass calls of this process from `start` to `stop`. deadline_s: of each stage of a child.

    where: the test that is running, for the reports. out: where modules are kept, None where nothing is. session_s:
    seconds after which no further call is judged.
    """

    def __init__(
        self,
        scratch: Path,
        deadline_s: float,
        same_meaning: frozenset[str] = frozenset(),
        out: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        session_s: float = math.inf,
    ) -> None:
        self.ledger = Ledger()
        self.where = ""
        self._session_s = session_s
        self._budget = TestBudget()
        self._same_meaning = same_meaning
        self._out = out
        self._deadline_s = deadline_s
        self._clock = clock
        self._began = clock()
        self._recorder = Recorder.create(scratch / f"flight-{os.getpid()}")
        self._judged: set[tuple[str, int, int, int]] = set()
        self._spy = Spy(self._applied, self._missed)

    def start(self) -> None:
        self._spy.install()

    def stop(self) -> None:
        self._spy.remove()

    def enter(self, test: str) -> None:
        """A test begins."""
        self.where = test
        self._budget = TestBudget()

    def _missed(self, why: Missed, name: str) -> None:
        self.ledger.calls += 1
        self.ledger.missed[why.reason] += 1
        if name and why.raised:
            self.ledger.tally.count_pass(name, "applied", "rejected")

    def _applied(self, application: Application) -> None:
        start = self._clock()
        try:
            with self._budget.spending():
                self._judge(application)
        except Exception as error:  # noqa: BLE001 - an error of ours must not become one of the test
            self.ledger.at_fault(f"{type(error).__name__}: {error}")
        finally:
            self.ledger.seconds += self._clock() - start

    def _judge(self, application: Application) -> None:
        ledger = self.ledger
        ledger.calls += 1
        key = (
            application.name,
            application.hash_before,
            fingerprint(application.after),
            fingerprint(application.given),
        )
        if key in self._judged:
            ledger.missed["the same call was judged before"] += 1
            return
        cpu_s = self._budget.left_s()
        if cpu_s < 1 or ledger.seconds >= self._session_s:
            ledger.missed[_TEST_LIMIT if cpu_s < 1 else _SESSION_LIMIT] += 1
            return
        self._judged.add(key)
        file = None if self._out is None else module_file(self._out, application)
        if file is not None and file.exists():
            file = None
        if len(set(key[1:])) == 1 and file is None:
            ledger.judged += 1
            ledger.tally.add(Tally(cases=1, generated=1))
            ledger.tally.count_pass(application.name, "applied")
            return
        terms = Terms(self.where, self._same_meaning, None if file is None else partial(keep_module, file, self.where))

        def judge(say: Say) -> None:
            limit_cpu(cpu_s)
            _run(ForeignTrial(application, terms, lambda activity: self._recorder.write(0, activity), say), say)

        self._record(in_child(judge, JudgeSaid, self._recorder, self._deadline_s, per_activity=True, guarded=True))

    def _record(self, heard: Heard[JudgeSaid]) -> None:
        ledger = self.ledger
        spoke, told = False, False
        for message in heard.messages:
            match message:
                case Tallied(counts):
                    ledger.tally.add(counts)
                    spoke = spoke or bool(counts.oracles)
                    told = told or bool(counts.skipped)
                case Pair(missing):
                    ledger.pairs[missing] += 1
                case Unpromised(name):
                    ledger.unpromised.add(name)
                case OwnFault(what):
                    ledger.at_fault(what)
                case ForeignFound(failure, phase, case):
                    ledger.see(Sighting(failure, phase, pickle.loads(case), self._clock() - self._began))
                case _:
                    assert_never(message)
        if heard.ended is not None:
            self._record_end(heard.activity, heard.ended)
        if spoke:
            ledger.judged += 1
            ledger.tally.add(Tally(cases=1, generated=1))
        elif heard.ended is not None or not told:
            ledger.missed["the judge did not finish"] += 1
        else:
            ledger.missed["nothing could be judged"] += 1

    def _record_end(self, activity: Activity, ended: Ended) -> None:
        """The end of a child. None is a finding here: the case that shows it was in the child."""
        end, kind = judged_end(0, activity, ended, deadline_s=self._deadline_s), kind_of(activity)
        if ended.by is signal.SIGXCPU:
            end = ReferenceStuck()
        match end:
            case OurFault():
                self.ledger.at_fault(f"{ended.what or ended.how} in {kind}")
            case FromOutside() | ReferenceStuck() | Failure():
                how = _TEST_LIMIT if ended.by is signal.SIGXCPU else ended.how
                why = f"the judge ended: {how} in {kind}"
                bump(self.ledger.tally.skipped, why, 1)
                if isinstance(activity, Asking) and activity.oracle == numeric.ORACLE.name:
                    self.ledger.pairs[Gap(why)] += 1
            case _:
                assert_never(end)


def _run(trial: ForeignTrial, say: Say) -> None:
    try:
        trial.run()
    except Exception as error:  # noqa: BLE001 - the worker boundary: an error of ours is said in one line
        last = traceback.extract_tb(error.__traceback__)[-1]
        say(OwnFault(f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"))
