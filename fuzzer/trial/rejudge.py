"""Judges candidates of one failure again, in children: whether they fail in the same way. Worker processes only."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol, TypeAlias

import numpy as np
from typing_extensions import assert_never

from corpus.causes.signature import signature_of
from corpus.reduce import Candidate
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Heard, in_child
from fuzzer.protocol import LONGEST_DETAIL, Failure, Found, Plan
from fuzzer.trial.candidate_limit import CandidateLimit, of_children_s
from fuzzer.trial.end_of_child import FromOutside, OurFault, ReferenceStuck, judged_end
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import judge
from fuzzer.trial.options import options_of
from fuzzer.trial.reduction_watch import UNWATCHED, Watch
from fuzzer.trial.repertoire import Repertoire
from generators.case import Tier
from generators.passes.order import breaches
from generators.passes.row import Phase
from generators.passes.table import SETUP
from generators.source import SeededSource
from oracles.evidence import KILLED_EACH_TIME, Died, Hung
from oracles.forked import ChildRaised
from oracles.ir.endless import endless_loops
from oracles.ir.regions import (
    declares_what_it_does,
    divides_in_the_open,
    inputs_stored,
    regions_outside,
    shared_by_virtual_threads,
    unguarded_divisions,
)
from oracles.table import BUILD, ORACLES
from oracles.tail import tail
from oracles.verdict import CODEGEN, REJECTS, Failed

KILLED_AGAIN = 2
"""How often a candidate is judged again whose child was killed from outside: another process had the memory."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What stays the same through a reduction: everything of a signature but the operators."""

    oracle: str
    symptom: str
    culprit: str
    message: str

    @staticmethod
    def of(failure: Failure) -> Likeness:
        """The likeness of a failure; all wrong results are alike, and so are the passes of TIR in which a build dies:
        one bug of a library shows in any that calls it."""
        ends = failure.oracle == BUILD and isinstance(failure.evidence, Died | Hung)
        culprit = stage_of(failure.culprit) if ends else failure.culprit
        message = failure.message.replace(failure.culprit, culprit)
        signature = signature_of(failure.oracle, Failed(failure.symptom, message, evidence=failure.evidence), culprit)
        return Likeness(failure.oracle, failure.symptom, culprit, signature.message)


def stage_of(culprit: str) -> str:
    """Code generation for a pass of TIR, which is a part of it; else the culprit itself."""
    return CODEGEN if culprit.startswith(_OF_TIR) else culprit


_OF_TIR = ("tirx.", "s_tir.")
"""What the names of TVM's own passes of TIR begin with, also of those that are in no row."""


ChildRun: TypeAlias = Callable[[Callable[[Callable[[Found], None]], None], type[Found], Recorder, float], Heard[Found]]
"""Runs what it is given in a child, and waits so many seconds for it: as `in_child`."""


@dataclass(frozen=True, slots=True)
class TimedChildren:
    """How candidates are judged in children, and what time that takes.

    used_s: CPU seconds of the children that have ended.
    """

    run: ChildRun = in_child
    used_s: Callable[[], float] = of_children_s


CHILDREN = TimedChildren()


class Rejudging(Protocol):
    """Says whether candidates of one failure still fail in the same way."""

    last: Failure | None

    def interesting(self, candidate: Candidate) -> bool:
        """Whether the candidate fails in the same way; `last` is then its failure."""
        ...

    def surely(self, candidate: Candidate) -> bool:
        """Whether one that failed in the same way does so in all the time of the first; later ones have it too."""
        ...


class NotJudged(Exception):
    """The child that judged the case again was killed from outside every time."""


class Rejudge:
    """Judges candidates of one failure in children, under its own oracle alone.

    watch: who looks on, and has a say in what is kept. children: how they are run, and the clock.
    """

    def __init__(
        self,
        plan: Plan,
        repertoire: Repertoire,
        failure: Failure,
        recorder: Recorder,
        watch: Watch = UNWATCHED,
        children: TimedChildren = CHILDREN,
    ) -> None:
        # A build of a large module takes its time on a busy machine, which is no hang.
        builds = failure.oracle in ORACLES and ORACLES[failure.oracle].builders is not None
        hangs = isinstance(failure.evidence, Hung) and not builds
        self._plan = plan
        self._limit = CandidateLimit.of_hang(plan.deadline_s) if hangs else None
        whole_s = plan.deadline_s if self._limit is None else self._limit.whole_s
        self._deadline_s = whole_s
        """Of each candidate, where it follows nothing that ended."""
        self._prompt = None if isinstance(failure.evidence, Hung) else CandidateLimit.of_failure(whole_s)
        self._first: Candidate | None = None
        """The first candidate that showed the failure: no later one is larger, and it may come again."""
        self._watch = watch
        self._children = children
        self._repertoire = repertoire
        self._failure = failure
        self._recorder = recorder
        self._likeness = Likeness.of(failure)
        self._sound: tuple[bool, ...] | None = None
        """What the first candidate, which is the case itself, has right: nothing smaller may have it wrong."""
        self._doubtful: tuple[int, ...] = ()
        """How many divisions of the first candidate have no guard (a reduction that drops calls runs none of them),
        regions may leave their buffers, accesses of virtual threads may meet, inputs of call_tir are stored into, and
        loops cannot end: nothing smaller may have more."""
        self.last: Failure | None = None

    def watched_by(self, watch: Watch) -> None:
        """In a copy of the process that judges the others: it has its own flight recorder, and `watch` looks on."""
        self._recorder = Recorder.create(Path(self._plan.scratch) / f"flight-{os.getpid()}")
        self._watch = watch

    def interesting(self, candidate: Candidate) -> bool:
        """Whether the candidate fails in the same way, and is a program whose blocks say what they do, whose divisions
        are guarded, whose regions lie in their buffers, whose virtual threads share nothing, whose call_tir leaves its
        inputs as they are, whose loops can end and whose passes stand in no order that TVM documents otherwise where
        that holds of the failing one."""
        calls = (*SETUP[Phase(self._plan.phase)], *candidate.setup, *candidate.passes)
        in_order = not breaches([call.name for call in calls], self._repertoire.rows)
        module = candidate.module
        sound = (declares_what_it_does(module), not divides_in_the_open(module), in_order)
        doubtful = (
            unguarded_divisions(module),
            regions_outside(module),
            shared_by_virtual_threads(module),
            inputs_stored(module),
            endless_loops(module),
        )
        if self._sound is None:
            self._sound, self._doubtful = sound, doubtful
        elif any(now > then for then, now in zip(self._doubtful, doubtful, strict=True)) or any(
            was and not still for was, still in zip(self._sound, sound, strict=True)
        ):
            return False
        if self._prompt is not None and candidate is self._first:
            self._prompt.forget()
        if not any(self.shows(candidate, number) for number in range(self._watch.tries)):
            return False
        self._first = self._first or candidate
        if self._limit is not None and self._limit.is_long and candidate.passes:
            # How long all takes but the pass that hangs: what ends on its way there must not count as hanging.
            self._limit.forget()
            self.failures(replace(candidate, passes=candidate.passes[:-1]))
        return True

    def surely(self, candidate: Candidate) -> bool:
        if self._limit is None or not self._limit.shortened:
            return True
        self._deadline_s, self._limit = self._limit.whole_s, None
        return self.interesting(candidate)

    def shows(self, candidate: Candidate, number: int = 0) -> bool:
        """Whether the candidate fails in the same way when it is judged once. number: what random numbers follow, so
        that several tries of what draws some may end in several ways."""
        before_s = self._children.used_s()
        for failure in self.failures(candidate, seed=number):
            if Likeness.of(failure) == self._likeness and self._watch.fits(failure):
                self.last = failure
                if self._prompt is not None:
                    self._prompt.took(self._children.used_s() - before_s)
                return True
            self._watch.met(failure)
        return False

    @property
    def _kills_each_time(self) -> bool:
        """Whether that is the failure: it shows in a candidate that is killed twice."""
        return self._failure.evidence == KILLED_EACH_TIME

    def failures(self, candidate: Candidate, left: int = KILLED_AGAIN, seed: int = 0) -> list[Failure]:
        """What fails in the candidate, and how its child ended. `left`: how often it is judged again where that was
        killed from outside. Before the failure has shown: raises ChildRaised for our fault, NotJudged for a kill."""
        limit = self._limit or self._prompt
        deadline_s = self._deadline_s if limit is None else limit.seconds
        before_s = self._children.used_s()
        with TemporaryFile() as errors:

            def work(say: Callable[[Found], None]) -> None:
                os.dup2(errors.fileno(), 2)
                if seed:
                    random.seed(seed)
                    np.random.seed(seed)
                self._judge(candidate, say)

            heard = self._children.run(work, Found, self._recorder, deadline_s)
            printed = tail(errors.fileno(), LONGEST_DETAIL)  # TVM's signal handler prints its backtrace there
        failures = [_with_backtrace(found.failure, printed) for found in heard.messages]
        if heard.ended is None:
            if self._limit is not None:
                self._limit.took(self._children.used_s() - before_s)
            return failures
        if self._prompt is not None and heard.ended.hung and deadline_s < self._prompt.whole_s:
            return failures  # It takes longer than one that showed the failure, which is no hang yet.
        end = judged_end(self._failure.index, heard.activity, heard.ended, deadline_s=deadline_s, stderr=printed)
        match end:
            case Failure():
                return [*failures, end]
            case FromOutside(Failure() as failure) if self._kills_each_time and left < KILLED_AGAIN:
                return [*failures, failure]
            case FromOutside() if left:
                return self.failures(candidate, left - 1, seed)
            case OurFault() if self.last is None:
                raise ChildRaised(heard.ended.what or heard.ended.how)
            case FromOutside() if self.last is None:
                raise NotJudged(heard.ended.how)
            case OurFault() | FromOutside() | ReferenceStuck():
                return failures
            case _:
                assert_never(end)

    def _judge(self, candidate: Candidate, say: Callable[[Found], None]) -> None:
        tiers: tuple[Tier, ...] = tuple(self._failure.tier for _ in candidate.passes)
        # The entry calls are kept for every oracle: the reference must find the program meaningful.
        experiment = Experiment(
            self._failure.index, candidate.module, candidate.calls, candidate.setup, candidate.passes, tiers
        )
        options = replace(
            options_of(self._plan, self._repertoire),
            announce=lambda activity: self._recorder.write(self._failure.index, activity),
            force=True,
            oracles=frozenset({self._failure.oracle}),
            rejections=self._failure.symptom == REJECTS,
        )
        judged = judge(experiment, options, SeededSource(self._plan.seed, self._failure.index))
        for failure in judged.failures:
            say(Found(failure))


def _with_backtrace(failure: Failure, printed: str) -> Failure:
    """The failure with what was printed, where a grandchild has died, of which the child knows the signal alone."""
    died = isinstance(failure.evidence, Died)
    return replace(failure, detail=f"{failure.detail}\n{printed}"[-LONGEST_DETAIL:]) if died and printed else failure
