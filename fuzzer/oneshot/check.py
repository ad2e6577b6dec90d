"""What `passfuzz check` does in its process: every oracle on one case, in a child whose end is a verdict too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import assert_never

from fuzzer.oneshot.explained_values import explain
from fuzzer.oneshot.messages import Culprit, FaultLine, Note, OracleAnswer
from fuzzer.oneshot.prepare import KILLED, STAGE_S, NotCarriedOut, Subject, own_fault
from fuzzer.processes.lines import Say, in_child
from fuzzer.protocol import Failure, Found, OwnFault
from fuzzer.results import CheckRow
from fuzzer.trial.end_of_child import FromOutside, OurFault, ReferenceStuck, judged_end
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.judge import judge
from fuzzer.trial.options import options_of, oracle_names
from fuzzer.trial.whose_fault import whose_fault
from generators.case import PassCall, Tier
from generators.passes.official import official_name
from generators.passes.order import breaches
from generators.passes.row import Phase
from generators.passes.table import SETUP
from generators.source import SeededSource
from generators.targets import TARGETS
from generators.tvm_api import IRModule
from oracles.activities import Asking, Building, Working, described
from oracles.builds.needs import builder_of
from oracles.checks import numeric, survives
from oracles.forked import Ended, forked
from oracles.oracle import BuildOracle, StepOracle
from oracles.process_state import limit_memory
from oracles.table import NEED_NUMBERS, ORACLES
from oracles.verdict import Failed, Inconclusive, Passed, Skipped, Verdict

_OF_GIVEN = {
    row.name: row.judge_given for row in ORACLES.values() if isinstance(row, StepOracle) and row.judge_given is not None
}
"""What judges the module that was given, where the user named no passes."""


PATIENCE = 4
"""A build that does not end in the time of a stage is judged again with so many times as much: code for a large module
takes long on a busy machine, and that is no hang."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What the oracles said, and the failures among it, in order."""

    rows: tuple[CheckRow, ...]
    failures: tuple[Failure, ...]


def check(subject: Subject, say: Say) -> None:
    """Sends a Note for each order that TVM documents otherwise and for a tolerance of the user's, a Row per oracle and
    step, the Culprit if an oracle failed, and each VariableValue where asked for. The last Note says that no build was
    judged, where that is so and nothing fails: code generation has then not been judged."""
    for breach in breaches(_applied(subject), subject.repertoire.rows):
        say(Note(breach.sentence))
    if subject.request.own.tolerance is not None:
        say(Note(f"floats are compared within {subject.request.own.tolerance}, instead of the bounds of the reference"))
    for sentence in _of_inputs(subject):
        say(Note(sentence))
    outcome = outcome_of(subject, rejections=subject.request.keep.rejections)
    for row in outcome.rows:
        say(OracleAnswer(row))
    culprit = outcome.failures[0].culprit if outcome.failures else None
    if culprit is not None:
        say(Culprit(culprit))
    if any(failure.oracle in NEED_NUMBERS for failure in outcome.failures):
        for line in _fault(subject):
            say(FaultLine(line))
    why = None if outcome.failures else not_built(subject, outcome.rows)
    if why is not None:
        say(Note(f"no build was judged; {why}"))
    if subject.request.explain:
        explain(subject, culprit, say)


SAME = "the result is the same for all inputs that were drawn"


def _of_inputs(subject: Subject) -> Iterator[str]:
    """What the drawn inputs do not show."""
    for name in subject.drawn.widths.overflowing:
        yield f"{name} is drawn small: of larger numbers an integer overflows, which TVM leaves open"
    if subject.drawn.same.outputs:
        outputs = ", ".join(subject.drawn.same.outputs)
        yield f"the same for all inputs that were drawn, so that little shows in it: {outputs} (--inputs gives others)"


def _seen(subject: Subject, oracle: str, verdict: Verdict) -> Verdict:
    """The verdict; one on numbers is none where the inputs change nothing, as most wrong passes pass then."""
    blind = subject.drawn.same.every and oracle in NEED_NUMBERS
    return Inconclusive(SAME) if blind and isinstance(verdict, Passed) else verdict


def not_built(subject: Subject, rows: Sequence[CheckRow]) -> str | None:
    """Why no build has judged what the passes made; None where one has."""
    if builder_of(subject.plan.target) is None:
        return f"there is no builder for the target {subject.plan.target} here"
    if subject.note:
        return subject.note
    builds = [row for row in rows if isinstance(ORACLES[row.oracle], BuildOracle)]
    if any(row.verdict != "skipped" for row in builds):
        return None
    ends = builds or [row for row in rows if row.verdict == "skipped" and row.applies][-1:]
    return ends[0].message if ends else "the passes did not get to their end"


def _applied(subject: Subject) -> tuple[str, ...]:
    """The names of all passes, those included that a module in this phase has been through."""
    calls = (*SETUP[Phase(subject.plan.phase)], *subject.start.setup, *subject.start.passes)
    return tuple(call.name for call in calls)


def _fault(subject: Subject) -> tuple[str, ...]:
    """Whose fault wrong numbers are; () where the child that looks ends early. Raises ChildRaised."""
    lines = forked(lambda: whose_fault(subject.start, subject.plan, subject.repertoire), STAGE_S)
    return () if isinstance(lines, Ended) else lines


def outcome_of(subject: Subject, asked: frozenset[str] | None = None, rejections: bool = False) -> CheckOutcome:
    """What the oracles (or those `asked`) say of the subject. rejections: a pass that refuses the module fails.

    Where the user named no passes, the module that was given is what must round-trip, not what they make of it:
    TVM's printer and parser do not agree on lowered modules, which is not the module's fault.
    """
    names = oracle_names(subject.plan) if asked is None else asked
    asking = _Asking(names - NEED_NUMBERS if subject.note else names, rejections)
    rows = [row_of(numeric.ORACLE.name, None, Skipped(subject.note))] if subject.note else []
    return _judged(subject, asking, rows)


@dataclass(frozen=True, slots=True)
class _Asking:
    """What is asked. deadline_s: seconds that a stage may take. killed_in: the pass in which the process was killed
    when it was asked before; "" for none."""

    oracles: frozenset[str]
    rejections: bool
    killed_in: str = ""
    deadline_s: float = field(default_factory=lambda: STAGE_S)

    @property
    def with_patience(self) -> _Asking:
        return replace(self, deadline_s=PATIENCE * self.deadline_s)


def _judged(subject: Subject, asking: _Asking, rows: list[CheckRow]) -> CheckOutcome:
    """What the oracles say, after `rows`. Raises NotCarriedOut where the child's end says nothing of the subject."""
    recorder = subject.recorder
    recorder.write(0, Working("start"))
    union = OracleAnswer | Found | OwnFault
    heard = in_child(lambda say: _judge(subject, asking, say), union, recorder, asking.deadline_s, per_activity=True)
    ended, where = heard.ended, described(heard.activity)
    told, failures = list(rows), list[Failure]()
    for message in heard.messages:
        match message:
            case OracleAnswer(row):
                told.append(row)
            case Found(failure):
                failures.append(failure)
            case OwnFault(what):
                load = subject.plan.load
                mine = "" if load is None else f"; a pass of {load} may have spoilt the process"
                raise NotCarriedOut(f"internal error: {what} in {where}{mine}", usage=False)
            case _:
                assert_never(message)
    if ended is None:
        return CheckOutcome(tuple(told), tuple(failures))
    if ended.hung and isinstance(heard.activity, Building) and asking.deadline_s == STAGE_S:
        return _judged(subject, asking.with_patience, rows)
    end = judged_end(0, heard.activity, ended, deadline_s=asking.deadline_s)
    match end:
        case OurFault():
            raise own_fault(ended, where)
        case FromOutside(Failure(culprit=culprit)) if culprit != asking.killed_in:
            return _judged(subject, replace(asking, killed_in=culprit), rows)
        case ReferenceStuck():
            note = Inconclusive(f"the reference interpreter {ended.verb}")
            without = replace(subject, start=replace(subject.start, calls=()))
            left = replace(asking, oracles=asking.oracles - NEED_NUMBERS)
            return _judged(without, left, [*rows, row_of(numeric.ORACLE.name, None, note)])
        case (Failure() as failure) | FromOutside(Failure() as failure):
            lost = _with_step(subject, failure)
            row = row_of(survives.ORACLE.name, _pass_named(subject, lost), Failed(lost.symptom, lost.message))
            return CheckOutcome((*told, row), (*failures, lost))
        case FromOutside():
            raise NotCarriedOut(f"{KILLED}: {ended.how} in {where}", usage=False)
        case _:
            assert_never(end)


def _judge(subject: Subject, asking: _Asking, say: Say) -> None:
    """In the child: sends each row before the next oracle runs, and then the failures with their culprits."""
    limit_memory(subject.plan.memory_bytes)
    start, given, oracles = subject.start, asking.oracles, asking.oracles
    options = options_of(subject.plan, subject.repertoire)
    if subject.implied:
        oracles -= frozenset(_OF_GIVEN)
    oracles -= {row.name for row in ORACLES.values() if not row.judges_from(options.phase)}
    options = replace(
        options,
        force=True,
        oracles=oracles,
        rejections=asking.rejections,
        announce=lambda activity: subject.recorder.write(0, activity),
        on_verdict=lambda oracle, name, verdict: say(
            OracleAnswer(row_of(oracle, name, _seen(subject, oracle, verdict)))
        ),
    )
    tiers = _tiers(start.setup, start.passes, subject.plan.target)
    experiment = Experiment(0, start.module, start.calls, start.setup, start.passes, tiers)
    try:
        for name, judge_given in _OF_GIVEN.items():
            if subject.implied and name in given:
                _judge_as_given(subject, name, judge_given, say)
        judged = judge(experiment, options, SeededSource(subject.plan.seed, 0))
    except Exception as error:  # noqa: BLE001 - the worker boundary: an error of ours is said in one line
        say(OwnFault(f"{type(error).__name__}: {error}"))
        return
    for failure in judged.failures:
        say(Found(failure))


def _judge_as_given(subject: Subject, name: str, judge_given: Callable[[IRModule], Verdict], say: Say) -> None:
    """What an oracle says of the module before any pass."""
    subject.recorder.write(0, Asking(name))
    verdict = judge_given(subject.start.module)
    say(OracleAnswer(row_of(name, None, verdict)))
    if isinstance(verdict, Failed):
        culprit = verdict.culprit
        assert culprit is not None, "no pass has run that could be it"
        say(Found(Failure.of(0, name, verdict, culprit, "A", step=0)))


def _tiers(setup: tuple[PassCall, ...], passes: tuple[PassCall, ...], target: str) -> tuple[Tier, ...]:
    """A where an official pipeline of the target starts with these passes, else B."""
    pipelines = TARGETS[target].pipelines
    ends = range(len(setup) + 1, len(setup) + len(passes) + 1)
    return tuple("A" if official_name((*setup, *passes)[:end], pipelines) else "B" for end in ends)


def _with_step(subject: Subject, failure: Failure) -> Failure:
    """The end of a child as a failure, with its step where it was a pass that was running."""
    names = [call.name for call in subject.start.passes]
    if failure.culprit not in names or failure.oracle != survives.ORACLE.name:
        return failure
    return replace(failure, step=names.index(failure.culprit))


def _pass_named(subject: Subject, failure: Failure) -> str | None:
    return failure.culprit if any(call.name == failure.culprit for call in subject.start.passes) else None


def row_of(oracle: str, pass_name: str | None, verdict: Verdict) -> CheckRow:
    """What an oracle said, for a table."""
    match verdict:
        case Passed():
            return CheckRow(oracle, pass_name, "passed")
        case Skipped(_, applies):
            return CheckRow(oracle, pass_name, "skipped", message=verdict.key, applies=applies)
        case Inconclusive():
            return CheckRow(oracle, pass_name, "inconclusive", message=verdict.told)
        case Failed(symptom, message, difference=difference):
            return CheckRow(oracle, pass_name, "failed", symptom, message, difference)
        case _:
            assert_never(verdict)
