"""Builds what a case ends with: when that proves something, whether it gives the right numbers, and whose fault a
failure is. How a module is built is in `oracles.builds`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from typing_extensions import assert_never

from corpus.causes.signature import signature_of
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.options import JudgeOptions
from fuzzer.trial.record import Record
from generators.passes.row import Meaning, Phase
from generators.passes.table import default_call, rest_of_tir_pipeline
from generators.passes.traits import KeepsItsMark
from generators.source import Source
from generators.targets import TARGETS
from oracles.activities import Building
from oracles.builds import build as llvm
from oracles.builds import cpu_trial
from oracles.builds.blame import excuses, first_wrong, lowering_of
from oracles.builds.builders import BUILDERS, SameBug, same_bug
from oracles.builds.cpu_builds import SHARE, only_builds
from oracles.builds.needs import LLVM, builder_of
from oracles.calls.table import CONVENTIONS
from oracles.checks import survives
from oracles.checks.legalised import undispatched
from oracles.evidence import InKernel
from oracles.ir.fingerprint import fingerprint
from oracles.oracle import BuildOracle
from oracles.reference.outcome import Unsure, Wrong
from oracles.table import BUILD, ORACLES
from oracles.trace import Position, Raised, Step, last_changer
from oracles.tvm_errors import in_a_line, states_limit
from oracles.verdict import (
    CODEGEN,
    CRASH,
    DOES_NOT_BUILD,
    DOES_NOT_RUN,
    PASSED,
    Failed,
    Skipped,
    Verdict,
)
from oracles.walk import step_of
from oracles.workbench import Workbench

_UNOPTIMISED_OF_TEN = 7
"""Of ten cases, so many are built without optimisation, which is faster; the others at LLVM's level 2.
No ratio of a generator: the case's index decides, and nothing is drawn."""


def judge_builds(
    experiment: Experiment,
    options: JudgeOptions,
    source: Source,
    bench: Workbench,
    record: Record,
    steps: Sequence[Step],
    start: Position,
    last: Position,
) -> None:
    """Records what the builds say of a case that got to `last`: the ordinary one, then the others, if it passed.

    start: where the passes under test began. steps: theirs.
    """
    others = _other_builds(options, source)
    if not others and BUILD not in options.oracles:
        return
    trial = BuildTrial(experiment, options, bench, steps, start)
    refused = trial.not_built(last)
    if refused is not None:
        attempt = BuildAttempt(refused)
    else:
        with record.timed("build"):
            attempt = trial.with_culprit(trial.attempt(last), last)
    if BUILD in options.oracles:
        record.add_verdict(attempt.oracle, attempt.verdict, None, attempt.lowered_by)
    for row in others:
        record.add_verdict(row.name, _other_build(row, attempt.verdict, last, options, bench, record))


def _other_builds(options: JudgeOptions, source: Source) -> Sequence[BuildOracle]:
    """The other ways in which the last module is to be built: one for a share of the cases, all where that is forced.

    Where only some passes are under test, what code generation does is not in question.
    """
    rows = [r for r in ORACLES.values() if isinstance(r, BuildOracle) and r.how and r.name in options.oracles]
    if options.force or not rows:
        return rows if options.only is None else ()
    rare = not only_builds(options.oracles)
    if options.only is not None or (rare and not source.flip(SHARE)):
        return ()
    return (source.pick(rows),)


def _other_build(
    row: BuildOracle, ordinary: Verdict, last: Position, options: JudgeOptions, bench: Workbench, record: Record
) -> Verdict:
    if ordinary != PASSED:
        return ordinary if isinstance(ordinary, Skipped) else Skipped("build: the ordinary one does not agree")
    assert row.how is not None
    options.announce(Building(row.name, CODEGEN))
    with record.timed("build"):
        return cpu_trial.judge(row.how, last, bench)


def not_to_be_built(last: Position, steps: Sequence[Step], applied: Sequence[str], *, threads: bool) -> Verdict | None:
    """Why a failing build of the module would prove nothing; None where it would prove something.

    applied: names of all passes, the setup's included. threads: some functions are for a device.
    """
    if any(not s.row.promise.buildable or not CONVENTIONS[s.row.promise.calling].known for s in steps):
        return Skipped("the result is not meant to be built as it stands", applies=False)
    if any(s.row.promise.meaning is Meaning.CHANGED and not s.row.promise.keeps_buffers for s in steps):
        return Skipped("callers give other tensors after this pass, which it does not change", applies=False)
    if (reason := llvm.not_runnable(last.module)) is not None:
        return Skipped(f"build: {reason}")
    if last.phase is not Phase.HIGH and undispatched(last.module, applied):
        return Skipped("build: operators that only a pass before LegalizeOps lowers")
    if threads and last.phase >= Phase.PACKED:
        return Skipped("build: host and device functions have been parted")
    if again := {s.call.name for s in steps if s.row.has(KeepsItsMark)} & set(rest_of_tir_pipeline(last.phase)):
        return Skipped(f"build: {', '.join(sorted(again))} would come again, and is not for its own result")
    if last.between:
        name = next((s.call.name for s in steps if s.end is not None and s.end.between), "a pass")
        return Skipped(f"build: {name}, out of its phase, left the module between two: what is to come is unknown")
    return None


@dataclass(frozen=True, slots=True)
class BuildAttempt:
    """A build of a module and what it gave.

    oracle: the one whose verdict it is: a pass that crashes on the way to the code generator is shown as any other pass
    that crashes. lowered_by: of such a pass, those that the build had applied, itself included.
    """

    verdict: Verdict
    oracle: str = BUILD
    lowered_by: tuple[str, ...] = ()


_BuildResult: TypeAlias = "None | Wrong | Unsure | Raised"


@dataclass(frozen=True, slots=True)
class BuildTrial:
    """The ordinary builds of one case: of its last module, and of its first, where the last one fails."""

    experiment: Experiment
    options: JudgeOptions
    bench: Workbench
    steps: Sequence[Step]
    start: Position

    @property
    def _threads(self) -> bool:
        return TARGETS[self.options.target].threads

    @property
    def _builder(self) -> str:
        return builder_of(self.options.target) or LLVM.name

    def not_built(self, last: Position) -> Verdict | None:
        """Why the last module is not to be built."""
        if (missing := llvm.unregistered(self.experiment.module)) is not None:
            return Skipped(f"build: {missing}")
        applied = [call.name for call in (*self.experiment.setup, *self.experiment.passes)]
        return not_to_be_built(last, self.steps, applied, threads=self._threads)

    def attempt(self, position: Position) -> BuildAttempt:
        """Whether the module at a position builds, runs and gives the reference's numbers."""
        builder, announce = BUILDERS[self._builder], self.options.announce
        opt_level = 0 if self.experiment.index % 10 < _UNOPTIMISED_OF_TEN else 2
        built = builder.build(position.module, position.phase, self.bench, opt_level, announce)
        if isinstance(built, llvm.NotBuilt):
            return self._raised(built) if built.culprit != CODEGEN else BuildAttempt(_not_compiled(built))
        if isinstance(built, (Failed, Skipped)):
            return BuildAttempt(built)
        announce(Building(BUILD, CODEGEN))
        numbers = llvm.as_built(self.bench.numbers).held_to(position.floor)
        outcome = self.bench.guarded(lambda: builder.judge(built, numbers, position.calling))
        return BuildAttempt(self._verdict_on(outcome, position.lost))

    def _verdict_on(self, outcome: _BuildResult, lost: str | None) -> Verdict:
        match outcome:
            case None:
                return PASSED
            case Raised(_, message):
                return Failed(DOES_NOT_RUN, in_a_line(outcome), message, CODEGEN)
            case Unsure():
                return outcome.verdict
            case Wrong(symptom, message, traceback=traceback) if symptom == DOES_NOT_BUILD:
                return Failed(symptom, message, traceback or message, CODEGEN)
            case Wrong(symptom, message, call, evidence):
                if lost:
                    return Skipped(lost)
                what = evidence.detail if isinstance(evidence, InKernel) else message
                bug = same_bug(evidence) or SameBug(what)
                return Failed(symptom, bug.message, f"entry call {call}: {message}", bug.culprit, evidence)
            case _:
                assert_never(outcome)

    def _raised(self, built: llvm.NotBuilt) -> BuildAttempt:
        """What the survives oracle says of a pass that raised on the way to the code generator."""
        call = default_call(built.culprit)
        before = Position.at(built.before, built.phase)
        step = step_of(len(self.steps), before, call, self.options.rows[call.name], built.error)
        verdict = survives.judge(step, self.bench)
        if not isinstance(verdict, Failed):
            return BuildAttempt(verdict)
        return BuildAttempt(replace(verdict, culprit=built.culprit), survives.ORACLE.name, built.lowered_by)

    def with_culprit(self, attempt: BuildAttempt, last: Position) -> BuildAttempt:
        """The attempt at the last module, a failed one with its culprit."""
        if not isinstance(attempt.verdict, Failed):
            return attempt
        verdict = self.blamed(attempt.verdict, last)
        return replace(attempt, verdict=verdict) if isinstance(verdict, Failed) else BuildAttempt(verdict)

    def blamed(self, verdict: Failed, last: Position) -> Verdict:
        """The failed build of the last module with its culprit."""
        first, only_some = None, self.options.only is not None
        # Among threads a missing barrier shows only where a later pass has made all others explicit.
        if verdict.culprit is None and not (only_some and self._threads):
            names = lowering_of(last.module, last.phase, self._builder)
            numbers = llvm.as_built(self.bench.numbers)
            first = first_wrong(names, last, numbers, self.bench, self.options.announce)
        base: Verdict = verdict
        if self.steps and fingerprint(self.start.module) == self.steps[0].start.code:
            base = self.attempt(self.start).verdict
        changer = last_changer(self.steps)
        found = blamed(verdict, base, changer, first, only_some=only_some)
        if not isinstance(found, Failed) or found.culprit == verdict.culprit or found.culprit != changer:
            return found
        return replace(found, culprit=self._changer_to_blame(verdict))

    def _changer_to_blame(self, verdict: Failed) -> str:
        """The first pass after which, and after each later one that changed something, the build fails in the same way:
        the last one may have nothing to do with it. What dies is not tried again."""
        changers = [step for step in self.steps if step.changed]
        if verdict.symptom == CRASH or not changers:
            return last_changer(self.steps)
        for step in reversed(changers[1:]):
            before = step.start
            if before.between or not _alike(self.attempt(before).verdict, verdict):
                return step.call.name
        return changers[0].call.name


def _alike(one: Verdict, other: Failed) -> bool:
    """Whether a build fails as another one does; all wrong results are alike."""
    if not isinstance(one, Failed) or one.symptom != other.symptom:
        return False
    return signature_of(BUILD, one).message == signature_of(BUILD, other).message


def _not_compiled(built: llvm.NotBuilt) -> Verdict:
    error = built.error
    if states_limit(error):
        return Skipped(f"rejected: {built.culprit}: {error.kind}")
    message = in_a_line(error)
    return Failed(DOES_NOT_BUILD, message, error.traceback or error.message, built.culprit)


def blamed(verdict: Failed, base: Verdict, changer: str, first: str | None, *, only_some: bool) -> Verdict:
    """A failed build with its culprit: what the verdict or `first`, the first wrong pass of the lowering, names.

    Where neither knows, it is `changer`, the last pass of the case that changed something, unless `base`, the verdict
    on the module before the passes, is the same. only_some: the case's passes are all that is under test, so it is one
    of them or none. They are not to blame for what another pass of TVM makes wrong of their right result, nor for a
    build that fails in one way without them and in another way with them.
    """
    if only_some:
        if isinstance(base, Skipped | Failed):
            return Skipped("build: fails without the passes under test too")
        return replace(verdict, culprit=first if excuses(first) else changer)
    same = isinstance(base, Skipped) or (isinstance(base, Failed) and base.symptom == verdict.symptom)
    if verdict.culprit is None:
        return replace(verdict, culprit=first or (CODEGEN if same else changer))
    bug = same_bug(verdict.evidence)
    if same or verdict.symptom == CRASH or (bug is not None and bug.culprit is not None):
        return verdict  # what is wrong on well-formed input is wrong, with any origin of the input
    return replace(verdict, culprit=changer)
