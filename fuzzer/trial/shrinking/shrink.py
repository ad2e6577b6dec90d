"""Makes a failure small: re-judges candidates in forked children and keeps those with the same signature."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import tvm

from corpus.causes.cause import cause_of
from corpus.causes.culprit import culprit_in
from corpus.causes.signature import operators_in, signature_of
from corpus.finding import Aftermath, Expectation, Finding, OutputTolerance, flatten_outputs
from corpus.reduce import Candidate, Smallest, as_case, reduce
from corpus.reduce.candidate import StepStats
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.candidate_limit import FIRST_S as HANGING
from fuzzer.trial.cause.facts import FoundCause, cause_in
from fuzzer.trial.own_faults import OwnFaults
from fuzzer.trial.reduction_watch import UNWATCHED, Watch
from fuzzer.trial.rejudge import NotJudged, Rejudge, Rejudging
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking.aftermath import aftermath_of, environment
from fuzzer.trial.shrinking.built import is_built
from fuzzer.trial.shrinking.forked_judge import CandidateAnswer, ForkedJudge
from fuzzer.trial.shrinking.odd_order import WITHOUT_THEM, NotCounted
from fuzzer.trial.shrinking.official import OFFICIAL, official_entry, takes_as_it_is
from fuzzer.trial.shrinking.shrink_across import RejudgeAcross
from fuzzer.trial.whose_fault import whose_fault, wrong_lowering
from generators.case import Case, Shape, Tier
from generators.dtypes import Array, coarsest, is_float
from generators.passes.official import tier_in_order
from generators.passes.row import Phase
from generators.targets import TARGETS
from oracles.builds.blame import excuses
from oracles.builds.build import excess_precision
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.checks import numeric, survives
from oracles.evidence import AcrossProcesses, Hung, ReferenceTrap
from oracles.forked import ChildRaised, Ended, forked
from oracles.oracle import TraceOracle
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning
from oracles.reference.values import Runtime, Tensor, declared, flattened
from oracles.table import BUILD, NEED_NUMBERS, ORACLES, tier_at
from oracles.verdict import CODEGEN, CRASH, WRONG_RESULT, Failed

LOWERING_TO_BLAME = "looking for the lowering to blame"
AGAIN = "judging the reduced case again"
EXPECTED = "computing what the reference gives"
WHOSE = "asking whose fault the numbers are"
AFTER = "looking at what the pass has made"
JUDGING = "judging"
"""Among the steps of a search: the candidates that were refused because our own code raised over them."""
ASKED_SHARE = 0.1
"""Of the time for a reduction, so much is kept for asking whether an official pipeline shows what is left."""


def shrink(
    plan: Plan,
    repertoire: Repertoire,
    failure: Failure,
    start: Candidate,
    like: Case,
    budget_s: float,
    watch: Watch = UNWATCHED,
) -> Finding | NotCounted | None:
    """The finding that a failing candidate reduces to; None when the failure does not show again."""
    recorder = Recorder.create(Path(plan.scratch) / f"flight-{os.getpid()}")
    row = ORACLES.get(failure.oracle)
    if isinstance(row, TraceOracle) and not row.of_passes:
        start = replace(start, setup=(), passes=())
    if not isinstance(failure.evidence, AcrossProcesses):
        rejudge = Rejudge(plan, repertoire, failure, recorder, watch)
        return _shrunk(rejudge, plan, repertoire, failure, start, like, budget_s, watch)
    with closing(RejudgeAcross(plan, repertoire, failure)) as across:
        return _shrunk(across, plan, repertoire, failure, start, like, budget_s, watch)


def _shrunk(
    rejudge: Rejudging,
    plan: Plan,
    repertoire: Repertoire,
    failure: Failure,
    start: Candidate,
    like: Case,
    budget_s: float,
    watch: Watch,
) -> Finding | NotCounted | None:
    if (begun := _start(rejudge, plan, failure, start)) is None:
        return None
    if (blamed := _blamed(rejudge, repertoire, failure, begun)) is None:
        return WITHOUT_THEM
    asked = _Asked(plan, repertoire, rejudge, failure, blamed, ASKED_SHARE * budget_s, watch)
    reduction, official = _reduced(rejudge, asked, begun, (1 - ASKED_SHARE) * budget_s)
    ends = failure.oracle == BUILD and failure.symptom == CRASH and failure.culprit == CODEGEN
    faults = OwnFaults()
    if ends and (repertoire.under_test is None or not TARGETS[plan.target].threads):
        small = reduction.candidate
        first = faults.unless_at_fault(LOWERING_TO_BLAME, lambda: _first_wrong(plan, repertoire, small), None)
        blamed = _blamed_after(blamed, first, repertoire.under_test)
    return WITHOUT_THEM if blamed is None else _finding(asked, begun, reduction, blamed, official, like, faults)


def _start(rejudge: Rejudging, plan: Plan, failure: Failure, start: Candidate) -> Candidate | None:
    """What to reduce: without its passes where the module fails alone; None where nothing fails again."""
    bare = replace(start, setup=(), passes=())
    building = failure.oracle in CPU_BUILDS or (failure.oracle == BUILD and takes_as_it_is(start.module, plan))
    if building and rejudge.interesting(bare):
        return bare  # Code generation is in question, and passes can be as small a part of a case as none.
    return start if rejudge.interesting(start) else None


def _finding(
    asked: _Asked, begun: Candidate, reduction: Smallest, blamed: str, official: str, like: Case, faults: OwnFaults
) -> Finding:
    """The finding. What of ours raises while more is asked of it makes its cause a guess, and nothing else."""
    plan, repertoire, failure, candidate = asked.plan, asked.repertoire, asked.failure, reduction.candidate
    if not asked.watch.stopped:
        faults.unless_at_fault(AGAIN, lambda: asked.rejudge.interesting(candidate), False)
    last = asked.rejudge.last or failure
    case = as_case(candidate, like)
    blamed = str(culprit_in(last.culprit if blamed == failure.culprit else blamed, case.passes))
    verdict = Failed(last.symptom, last.message, last.detail or failure.detail, blamed, last.evidence, last.difference)
    signature = signature_of(last.oracle, verdict, blamed, operators_in(case.module.script))
    if asked.watch.stopped:  # Who does not wait for something smaller does not wait for its cause either.
        found = FoundCause(replace(cause_of(failure.oracle, verdict, blamed), certain=False))
    else:
        found = cause_in(failure.oracle, verdict, blamed, candidate, plan, repertoire)
    if found.own_fault:
        faults.lines.append(found.own_fault)
    if found.logged:
        verdict = replace(verdict, detail=f"{verdict.detail}\nTVM logs: {found.logged}".lstrip("\n"))
    further = _further(asked, candidate, isinstance(last.evidence, Hung), faults)
    finding = Finding(
        case=case,
        verdict=verdict,
        oracle=failure.oracle,
        signature=signature,
        tier="A" if official else _tier(plan, repertoire, failure, candidate),
        at_s=0.0,
        tvm=str(tvm.__version__),
        reduced=reduction.stats(),
        expectations=further.expectations,
        fault=further.fault,
        promise=ORACLES[failure.oracle].promise,
        cause=str(replace(found.cause, certain=found.cause.certain and not faults.lines)),
        blames=found.cause.blames,
        own_fault=str(faults),
        aftermath=further.aftermath,
        environment=environment(),
        official=official,
        space=repertoire.space_of(blamed),
    )
    if isinstance(last.evidence, ReferenceTrap) and begun.module is not candidate.module:
        return replace(finding, unreduced=_as_found(asked, begun, finding, like, faults))
    return finding


def _as_found(asked: _Asked, begun: Candidate, finding: Finding, like: Case, faults: OwnFaults) -> Finding:
    """The finding before reduction, with what was said of it then. The reference sees what no run of built code need
    show: how far a small buffer is overrun, or an element of which nothing is known."""
    failure, expected = asked.failure, _expected(asked, begun, faults)
    verdict = replace(finding.verdict, message=failure.message, detail=failure.detail, difference="")
    bare = replace(finding, verdict=verdict, fault=(), official="", tier=failure.tier, aftermath=Aftermath())
    return replace(bare, case=as_case(begun, like), expectations=expected, reduced=None)


@dataclass(frozen=True, slots=True)
class _Further:
    """What a finding says besides: see `corpus.finding.Finding`."""

    expectations: tuple[Expectation, ...]
    fault: tuple[str, ...]
    aftermath: Aftermath


def _expected(asked: _Asked, case: Candidate, faults: OwnFaults) -> tuple[Expectation, ...]:
    unknown: tuple[Expectation, ...] = ()
    return faults.unless_at_fault(EXPECTED, lambda: expectations_of(case, asked.plan, asked.repertoire), unknown)


def _further(asked: _Asked, case: Candidate, hung: bool, faults: OwnFaults) -> _Further:
    plan, repertoire, oracle = asked.plan, asked.repertoire, asked.failure.oracle
    fault: tuple[str, ...] = ()
    expectations = _expected(asked, case, faults) if oracle in NEED_NUMBERS else ()
    if oracle in NEED_NUMBERS and not asked.watch.stopped:
        fault = faults.unless_at_fault(WHOSE, lambda: whose_fault(case, plan, repertoire), ())
    aftermath = Aftermath()
    if not (asked.watch.stopped or (hung and oracle == survives.ORACLE.name)):
        aftermath = faults.unless_at_fault(AFTER, lambda: aftermath_of(case, plan, repertoire, oracle), aftermath)
    return _Further(expectations, fault, aftermath)


def _tier(plan: Plan, repertoire: Repertoire, failure: Failure, case: Candidate) -> Tier:
    """The tier of a failure, or that of the passes which are left, where that is better: without any, its own."""
    if not case.passes:
        return failure.tier
    left = (*case.setup, *case.passes)
    tier = tier_in_order(left, repertoire.rows, TARGETS[plan.target].pipelines, Phase(plan.phase))
    return min(failure.tier, tier_at(failure.oracle, tier))


@dataclass(frozen=True, slots=True)
class _Asked:
    """Asks whether an official pipeline shows what is reduced. blamed: the culprit. budget_s: for each child.
    watch: who looks on."""

    plan: Plan
    repertoire: Repertoire
    rejudge: Rejudging
    failure: Failure
    blamed: str
    budget_s: float
    watch: Watch

    @property
    def has_a_place(self) -> bool:
        """Whether the culprit is a part of official pipelines."""
        return self.blamed in (CODEGEN, *OFFICIAL)

    def can_be_shown(self, case: Candidate) -> bool:
        """Whether the script of a wrong result can run what the passes give; True for all other failures."""
        runs = self.failure.oracle == numeric.ORACLE.name and self.failure.symptom == WRONG_RESULT
        return not runs or is_built(case, self.plan, self.repertoire)

    def of(self, case: Candidate) -> str:
        """See `official_entry`; "" too where it takes a pass under test to bring the failure about."""
        failure = self.rejudge.last or self.failure
        if self.blamed != failure.culprit:
            return ""
        plan = replace(self.plan, deadline_s=min(self.plan.deadline_s, max(self.budget_s, HANGING)))
        recorder = Recorder.create(Path(plan.scratch) / f"flight-{os.getpid()}")

        def alike(candidate: Candidate) -> bool:
            try:
                return Rejudge(plan, self.repertoire, replace(failure, tier="A"), recorder).interesting(candidate)
            except (ChildRaised, NotJudged):
                return False

        return official_entry(failure, case, plan, alike)


def _reduced(rejudge: Rejudging, asked: _Asked, start: Candidate, budget_s: float) -> tuple[Smallest, str]:
    """The smallest case, and the call that shows it by an official pipeline, "" where there is none. There is a second
    reduction where the first has taken away what such a pipeline, or the build for a script, needs."""
    watch = asked.watch
    seen = _Seen(rejudge, asked.failure, watch)
    smallest = seen.smallest(start, budget_s)
    if watch.stopped:
        return smallest, ""
    official = asked.of(smallest.candidate)
    hidden = asked.has_a_place and not official
    unbuilt = not asked.can_be_shown(smallest.candidate)
    if not (hidden or unbuilt) or not rejudge.interesting(start):
        return smallest, official
    shown, built = asked.has_a_place and bool(asked.of(start)), asked.can_be_shown(start)
    if not (hidden and shown or unbuilt and built):
        return smallest, official

    def placed(candidate: Candidate) -> bool:
        return (not built or asked.can_be_shown(candidate)) and (not shown or bool(asked.of(candidate)))

    again = _Seen(rejudge, asked.failure, watch, placed).smallest(start, budget_s / 2)
    return again, asked.of(again.candidate)


@dataclass(slots=True)
class _Seen:
    """Judges candidates under a watch. placed: what must hold of them besides. calls: how many. faults: what
    of ours has raised over a candidate, which is then refused: it must not cost what was found before."""

    rejudge: Rejudging
    failure: Failure
    watch: Watch
    placed: Callable[[Candidate], bool] = lambda candidate: True
    calls: int = 0
    faults: OwnFaults = field(default_factory=OwnFaults)

    def smallest(self, start: Candidate, budget_s: float) -> Smallest:
        """The smallest candidate, by a second search where it has not failed in the time of the first one."""
        found = self._searched(start, budget_s)
        self.watch.asks()
        if not self.watch.stopped and not self.rejudge.surely(found.candidate):
            found = self._searched(start, max(0.0, budget_s - found.seconds))
        if self.faults.lines:
            found = replace(found, steps=(*found.steps, StepStats(JUDGING, 0, 0, 0.0, self.faults.lines[0])))
        self.watch.searched(found)
        return found

    def _searched(self, start: Candidate, budget_s: float) -> Smallest:
        clock = self.watch.clock
        return reduce(start, self.interesting, budget_s=budget_s, clock=clock, elsewhere=self.elsewhere())

    def interesting(self, candidate: Candidate) -> bool:
        self.watch.asks()
        self.calls += 1
        fails = self.faults.unless_at_fault("a candidate", lambda: self._fails(candidate), False)
        if fails:
            self.watch.better(candidate, self.rejudge.last or self.failure, self.calls)
        return fails

    def _fails(self, candidate: Candidate) -> bool:
        return self.rejudge.interesting(candidate) and self.placed(candidate)

    def elsewhere(self) -> ForkedJudge | None:
        """Judges several at the same time, where that is asked for and can be done."""
        if self.watch.jobs < 2 or not isinstance(self.rejudge, Rejudge):
            return None
        return ForkedJudge(self.rejudge, self.watch, self._fails, self._told, self.interesting)

    def _told(self, candidate: Candidate, judged: CandidateAnswer) -> bool:
        self.watch.asks()
        self.calls += 1
        for failure in judged.met:
            self.watch.met(failure)
        if judged.failure is None:
            return False
        self.rejudge.last = judged.failure
        self.watch.better(candidate, judged.failure, self.calls)
        return True


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


def expectations_of(candidate: Candidate, plan: Plan, repertoire: Repertoire) -> tuple[Expectation, ...]:
    """What the reference gives for the entry calls, as the repro compares with; empty where it cannot be written."""
    floors = (repertoire.rows[call.name].promise.lowers_to for call in (*candidate.setup, *candidate.passes))
    floor = coarsest(floors) or excess_precision(candidate.module)
    numbers = Numbers(candidate.module, candidate.calls, floor, plan.tolerance)
    if isinstance(numbers.expected, NoMeaning):
        return ()
    stated = [_expectation(*pair) for pair in zip(numbers.indices, numbers.starting.decisive, strict=True)]
    return tuple(expectation for expectation in stated if expectation is not None)


def _expectation(call: int, result: Runtime) -> Expectation | None:
    outputs: list[Array] = []
    tolerances: list[OutputTolerance] = []
    for leaf in flattened(result):
        output = _declared_leaf(leaf)
        if output is None:
            return None
        outputs.append(output)
        tolerances.append(_tolerance(leaf))
    return Expectation(call, tuple(outputs), tuple(tolerances))


def _declared_leaf(leaf: Runtime) -> Array | None:
    """The leaf as an array; None for what no file holds, such as a function."""
    if isinstance(leaf, Tensor):
        return declared(leaf)
    array = flatten_outputs(leaf)[0] if isinstance(leaf, Shape) else np.asarray(leaf)
    return None if array.dtype == object else array


def _tolerance(leaf: Runtime) -> OutputTolerance:
    """The bound per element; half a unit in the last place more where the exact value is not representable."""
    if not isinstance(leaf, Tensor):
        return 0.0
    error = np.zeros(leaf.shape) if leaf.error is None else leaf.error
    if not is_float(leaf.dtype):
        return error if error.any() else 0.0
    rounding = np.abs(declared(leaf).astype(np.float64) - leaf.value)
    whole = error + rounding
    return whole if whole.any() else 0.0
