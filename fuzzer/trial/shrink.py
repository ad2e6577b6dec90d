"""Makes a failure small: re-judges candidates in forked children and keeps those with the same signature."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Protocol

import numpy as np
import tvm
from typing_extensions import assert_never

from corpus.finding import Expectation, Finding, flatten_outputs
from corpus.reduce import Candidate, Smallest, as_case, reduce
from corpus.schedule import culprit_named
from corpus.signature import operators_in, signature_of
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import in_child
from fuzzer.protocol import Failure, Found, Plan
from fuzzer.trial.aftermath import aftermath_of, environment
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.facts import cause_in
from fuzzer.trial.judge import judge
from fuzzer.trial.lost import FromOutside, OurFault, ReferenceStuck, judged_end
from fuzzer.trial.official import OFFICIAL, official_entry, takes_as_it_is
from fuzzer.trial.options import options_of
from fuzzer.trial.record import LONGEST_DETAIL
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrink_across import RejudgeAcross
from fuzzer.trial.whose_fault import whose_fault, wrong_lowering
from generators.case import Case, Tier
from generators.dtypes import is_float
from generators.passes.official import tier_in_order
from generators.passes.order import breaches
from generators.passes.row import Phase
from generators.passes.table import SETUP
from generators.source import SeededSource
from generators.targets import TARGETS
from oracles.builds.blame import excuses
from oracles.builds.build import CODEGEN, excess_precision
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.evidence import AcrossProcesses, Died, Hung
from oracles.forked import ChildRaised, Ended, forked
from oracles.ir.regions import declares_what_it_does, divides_in_the_open
from oracles.oracle import TraceOracle
from oracles.reference.numbers import NoMeaning, Numbers
from oracles.reference.values import Runtime, Tensor, declared, flattened
from oracles.table import BUILD, NEED_NUMBERS, ORACLES
from oracles.verdict import CRASH, Failed

HANG_S = 4.0
"""Seconds after which a candidate of a hang counts as hanging: stages that end take milliseconds."""

ASKED_SHARE = 0.1
"""Of the time for a reduction, so much is kept for asking whether an official pipeline shows what is left."""

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
        """The likeness of a failure; all wrong results are alike."""
        failed = Failed(failure.symptom, failure.message, evidence=failure.evidence)
        signature = signature_of(failure.oracle, failed, failure.culprit)
        return Likeness(failure.oracle, failure.symptom, failure.culprit, signature.message)


class Rejudging(Protocol):
    """Says whether candidates of one failure still fail in the same way."""

    last: Failure | None

    def interesting(self, candidate: Candidate) -> bool:
        """Whether the candidate fails in the same way; `last` is then its failure."""
        ...


class NotJudged(Exception):
    """The child that judged the case again was killed from outside every time."""


class Rejudge:
    """Judges candidates of one failure in children, under its own oracle alone."""

    def __init__(self, plan: Plan, repertoire: Repertoire, failure: Failure, recorder: Recorder) -> None:
        hangs = isinstance(failure.evidence, Hung)
        self._plan = replace(plan, deadline_s=min(plan.deadline_s, HANG_S)) if hangs else plan
        self._repertoire = repertoire
        self._failure = failure
        self._recorder = recorder
        self._likeness = Likeness.of(failure)
        self._sound: tuple[bool, ...] | None = None
        """What the first candidate, which is the case itself, has right: nothing smaller may have it wrong."""
        self.last: Failure | None = None

    def interesting(self, candidate: Candidate) -> bool:
        """Whether the candidate fails in the same way, and is a program whose blocks say what they do, whose divisions
        are guarded and whose passes stand in no order that TVM documents otherwise where that holds of the failing
        one."""
        calls = (*SETUP[Phase(self._plan.phase)], *candidate.setup, *candidate.passes)
        in_order = not breaches([call.name for call in calls], self._repertoire.rows)
        sound = (declares_what_it_does(candidate.module), not divides_in_the_open(candidate.module), in_order)
        if self._sound is None:
            self._sound = sound
        elif any(was and not still for was, still in zip(self._sound, sound, strict=True)):
            return False
        for failure in self.failures(candidate):
            if Likeness.of(failure) == self._likeness:
                self.last = failure
                return True
        return False

    def failures(self, candidate: Candidate, left: int = KILLED_AGAIN) -> list[Failure]:
        """What fails in the candidate, and how its child ended. `left`: how often it is judged again where that was
        killed from outside. Before the failure has shown: raises ChildRaised for our fault, NotJudged for a kill."""
        deadline_s = self._plan.deadline_s
        with TemporaryFile() as errors:

            def work(say: Callable[[Found], None]) -> None:
                os.dup2(errors.fileno(), 2)
                self._judge(candidate, say)

            heard = in_child(work, Found, self._recorder, deadline_s)
            printed = _end_of(errors)
        failures = [_with_backtrace(found.failure, printed) for found in heard.messages]
        if heard.ended is None:
            return failures
        end = judged_end(self._failure.index, heard.activity, heard.ended, deadline_s=deadline_s, stderr=printed)
        match end:
            case Failure():
                return [*failures, end]
            case FromOutside() if left:
                return self.failures(candidate, left - 1)
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
        )
        judged = judge(experiment, options, SeededSource(self._plan.seed, self._failure.index))
        for failure in judged.failures:
            say(Found(failure))


def _end_of(errors: IO[bytes]) -> str:
    """The end of what a child has written on stderr: TVM's signal handler prints its backtrace there."""
    size = os.fstat(errors.fileno()).st_size
    return os.pread(errors.fileno(), LONGEST_DETAIL, max(0, size - LONGEST_DETAIL)).decode(errors="replace")


def _with_backtrace(failure: Failure, printed: str) -> Failure:
    """The failure with what was printed, where a grandchild has died, of which the child knows the signal alone."""
    died = isinstance(failure.evidence, Died)
    return replace(failure, detail=f"{failure.detail}\n{printed}"[-LONGEST_DETAIL:]) if died and printed else failure


def shrink(
    plan: Plan, repertoire: Repertoire, failure: Failure, start: Candidate, like: Case, budget_s: float
) -> Finding | None:
    """The finding that a failing candidate reduces to; None when the failure does not show again."""
    recorder = Recorder.create(Path(plan.scratch) / f"flight-{os.getpid()}")
    row = ORACLES.get(failure.oracle)
    if isinstance(row, TraceOracle) and not row.of_passes:
        start = replace(start, setup=(), passes=())
    if not isinstance(failure.evidence, AcrossProcesses):
        rejudge = Rejudge(plan, repertoire, failure, recorder)
        return _shrunk(rejudge, plan, repertoire, failure, start, like, budget_s)
    with closing(RejudgeAcross(plan, repertoire, failure)) as across:
        return _shrunk(across, plan, repertoire, failure, start, like, budget_s)


def _shrunk(
    rejudge: Rejudging,
    plan: Plan,
    repertoire: Repertoire,
    failure: Failure,
    start: Candidate,
    like: Case,
    budget_s: float,
) -> Finding | None:
    bare = replace(start, setup=(), passes=())
    building = failure.oracle in CPU_BUILDS or (failure.oracle == BUILD and takes_as_it_is(start.module, plan))
    if building and rejudge.interesting(bare):
        start = bare  # Code generation is in question, and passes can be as small a part of a case as none.
    elif not rejudge.interesting(start):
        return None
    blamed = _blamed(rejudge, repertoire, failure, start)
    if blamed is None:
        return None
    asked = _Asked(plan, repertoire, rejudge, failure, blamed, ASKED_SHARE * budget_s)
    reduction, official = _reduced(rejudge, asked, start, (1 - ASKED_SHARE) * budget_s)
    ends = failure.oracle == BUILD and failure.symptom == CRASH and failure.culprit == CODEGEN
    if ends and (repertoire.under_test is None or not TARGETS[plan.target].threads):
        first = _first_wrong(plan, repertoire, reduction.candidate)
        blamed = _blamed_after(blamed, first, repertoire.under_test)
        if blamed is None:
            return None
    rejudge.interesting(reduction.candidate)
    last = rejudge.last or failure
    case = as_case(reduction.candidate, like)
    blamed = culprit_named(blamed, case.passes)
    verdict = Failed(last.symptom, last.message, last.detail or failure.detail, blamed, last.evidence, last.difference)
    signature = signature_of(last.oracle, verdict, blamed, operators_in(case.module.script))
    found = cause_in(failure.oracle, verdict, blamed, reduction.candidate, plan, repertoire)
    if found.logged:
        verdict = replace(verdict, detail=f"{verdict.detail}\nTVM logs: {found.logged}".lstrip("\n"))
    return Finding(
        case=case,
        verdict=verdict,
        oracle=failure.oracle,
        signature=signature,
        tier="A" if official else _tier(plan, repertoire, failure, reduction.candidate),
        at_s=0.0,
        tvm=str(tvm.__version__),
        reduced=reduction.stats(),
        expectations=_expectations(reduction.candidate, repertoire) if failure.oracle in NEED_NUMBERS else (),
        fault=whose_fault(reduction.candidate, plan, repertoire) if failure.oracle in NEED_NUMBERS else (),
        promise=ORACLES[failure.oracle].promise,
        cause=str(found.cause),
        aftermath=aftermath_of(reduction.candidate, plan, repertoire, failure.oracle),
        environment=environment(),
        official=official,
    )


def _tier(plan: Plan, repertoire: Repertoire, failure: Failure, case: Candidate) -> Tier:
    """The tier of a failure, or that of the passes which are left, where that is better: without any, its own."""
    if not case.passes:
        return failure.tier
    left = (*case.setup, *case.passes)
    return min(failure.tier, tier_in_order(left, repertoire.rows, TARGETS[plan.target].pipelines, Phase(plan.phase)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """Asks whether an official pipeline shows what is reduced. blamed: the culprit. budget_s: for each child."""

    plan: Plan
    repertoire: Repertoire
    rejudge: Rejudging
    failure: Failure
    blamed: str
    budget_s: float

    @property
    def has_a_place(self) -> bool:
        """Whether the culprit is a part of official pipelines."""
        return self.blamed in (CODEGEN, *OFFICIAL)

    def of(self, case: Candidate) -> str:
        """See `official_entry`; "" too where it takes a pass under test to bring the failure about."""
        failure = self.rejudge.last or self.failure
        if self.blamed != failure.culprit:
            return ""
        plan = replace(self.plan, deadline_s=min(self.plan.deadline_s, max(self.budget_s, HANG_S)))
        recorder = Recorder.create(Path(plan.scratch) / f"flight-{os.getpid()}")

        def alike(candidate: Candidate) -> bool:
            try:
                return Rejudge(plan, self.repertoire, replace(failure, tier="A"), recorder).interesting(candidate)
            except (ChildRaised, NotJudged):
                return False

        return official_entry(failure, case, plan, alike)


def _reduced(rejudge: Rejudging, asked: _Asked, start: Candidate, budget_s: float) -> tuple[Smallest, str]:
    """The smallest case, and the call that shows it by an official pipeline, "" where there is none.

    Where the first reduction has taken away what such a pipeline needs to show it, there is a second one that does not.
    """
    smallest = reduce(start, rejudge.interesting, budget_s=budget_s)
    official = asked.of(smallest.candidate)
    if official or not asked.has_a_place or not rejudge.interesting(start) or not asked.of(start):
        return smallest, official
    again = reduce(start, lambda c: rejudge.interesting(c) and bool(asked.of(c)), budget_s=budget_s / 2)
    return again, asked.of(again.candidate)


def _first_wrong(plan: Plan, repertoire: Repertoire, case: Candidate) -> str | None:
    """The pass of TVM's that makes the built code of a case end: see `wrong_lowering`, which a child is asked."""
    first = forked(lambda: wrong_lowering(case, plan, repertoire), plan.deadline_s)
    return None if isinstance(first, Ended) else first


def _blamed_after(blamed: str, first: str | None, under_test: Collection[str] | None) -> str | None:
    """The culprit of built code that ends, where the reference finds `first` wrong on the way to it.

    None if that is not under test and the passes under test are right up to it."""
    if first is None or first == CODEGEN:
        return blamed
    if under_test is None or first in under_test:
        return first
    return None if excuses(first) else blamed


def _blamed(rejudge: Rejudging, repertoire: Repertoire, failure: Failure, start: Candidate) -> str | None:
    """The culprit; None where only some passes are under test and the failure needs none of them.

    A crash while building names a stage; where a pass under test is what brings it about, that pass is to blame.
    """
    if repertoire.under_test is None or failure.culprit in repertoire.under_test:
        return failure.culprit
    mine = [call for call in start.passes if call.name in repertoire.under_test]
    without = replace(start, passes=tuple(call for call in start.passes if call not in mine))
    if not mine or rejudge.interesting(without):
        return None
    return mine[-1].name


def _expectations(candidate: Candidate, repertoire: Repertoire) -> tuple[Expectation, ...]:
    """What the reference gives for the entry calls, as the repro compares with; empty where it cannot be written."""
    floors = (repertoire.rows[call.name].promise.lowers_to for call in candidate.passes)
    floor = next((f for f in floors if f), None) or excess_precision(candidate.module)
    numbers = Numbers(candidate.module, candidate.calls, floor)
    if isinstance(numbers.expected, NoMeaning):
        return ()
    stated = [_expectation(*pair) for pair in zip(numbers.indices, numbers.expected, strict=True)]
    return tuple(expectation for expectation in stated if expectation is not None)


def _expectation(call: int, result: Runtime) -> Expectation | None:
    outputs: list[Any] = []
    tolerances: list[Any] = []
    for leaf in flattened(result):
        output = _declared_leaf(leaf)
        if output is None:
            return None
        outputs.append(output)
        tolerances.append(_tolerance(leaf))
    return Expectation(call, tuple(outputs), tuple(tolerances))


def _declared_leaf(leaf: Runtime) -> Any:
    if isinstance(leaf, Tensor):
        return declared(leaf)
    whole: Any = leaf
    arrays = flatten_outputs(whole)
    return arrays[0] if arrays else None


def _tolerance(leaf: Runtime) -> Any:
    """The bound per element; half a unit in the last place more where the exact value is not representable."""
    if not isinstance(leaf, Tensor):
        return 0.0
    error = np.zeros(leaf.shape) if leaf.error is None else leaf.error
    if not is_float(leaf.dtype):
        return error if error.any() else 0.0
    rounding = np.abs(declared(leaf).astype(np.float64) - leaf.value)
    whole = error + rounding
    return whole if whole.any() else 0.0
