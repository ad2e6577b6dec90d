"""Judges one case: applies the passes one by one under every oracle, then, for a share of cases, builds and runs it.

Runs in worker processes. Here is the order in which things are looked at. What a campaign draws is decided in
`fuzzer.worker.draw`; how a failure is made small in `fuzzer.trial.shrinking.shrink`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace

from fuzzer.protocol import Failure
from fuzzer.trial.ask import ask_in_order, is_judged_already
from fuzzer.trial.build import judge_builds
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.options import JudgeOptions
from fuzzer.trial.record import Record
from generators.case import PassCall
from generators.source import Source
from oracles.activities import Activity, Applying, Asking, Interpreting, SettingUp, Working
from oracles.ir.fingerprint import FINGERPRINTS
from oracles.ir.verifier import COMPLAINTS
from oracles.oracle import Oracle, Runs, StepOracle, TraceOracle
from oracles.process_state import require_state
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import OPEN, NoMeaning, Unsure, Wrong
from oracles.table import ORACLES
from oracles.trace import Position, Step, Trace, last_changer, outcome_at
from oracles.verdict import PASSED, Failed, Skipped, Verdict
from oracles.walk import walk
from oracles.workbench import Workbench
from reports.tally import Tally

_WRONG = "numbers: wrong after an earlier pass"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a case: what was counted, what failed, and the steps of the passes after the setup."""

    counts: Tally = field(default_factory=Tally)
    failures: Sequence[Failure] = ()
    steps: Sequence[Step] = ()


@dataclass(frozen=True, slots=True)
class _Trial:
    """What judging a case works with, from the first pass to the last build."""

    experiment: Experiment
    options: JudgeOptions
    source: Source
    record: Record
    bench: Workbench

    def around(self, activity: Callable[[str], Activity]) -> Callable[[PassCall], AbstractContextManager[None]]:
        """For a walk: announces each pass as this activity, and counts its time."""

        @contextmanager
        def applying(call: PassCall) -> Iterator[None]:
            self.options.announce(activity(call.name))
            with self.record.timed("passes"):
                yield
            require_state()

        return applying

    def is_asked(self, row: Oracle) -> bool:
        """Whether an oracle has its turn now, by its share."""
        share = self.options.share_of(row)
        return share >= 1.0 or self.source.flip(share)


def judge(experiment: Experiment, options: JudgeOptions, source: Source) -> Judgement:
    """Everything the oracles say of one case, with its counters."""
    record = Record(experiment.index, experiment.widest_tier, options.only, options.on_verdict)
    record.counts.generated += 1
    numbers = _numbers_of(experiment, options, record)
    if numbers is None:
        return Judgement(record.counts)
    bench = Workbench(source, numbers, options.names, options.target)
    trial = _Trial(experiment, options, source, record, bench)
    record.counts.cases += 1
    start = _set_up(trial)
    steps = () if start is None else _judge_from(trial, start)
    for reason, amount in numbers.left_out.items():
        record.skip(reason, amount)
    record.count_numbers(row.name for row in ORACLES.values() if row.judges_numbers)
    return Judgement(record.counts, record.failures, steps)


def _numbers_of(experiment: Experiment, options: JudgeOptions, record: Record) -> Numbers | None:
    """What the reference gives for the starting module; None, counted, where the case is invalid: our fault."""
    options.announce(Working("well-formedness"))
    if COMPLAINTS.fresh(experiment.module):
        record.counts.invalid += 1
        record.skip("invalid: ill-formed before any pass")
        return None
    options.announce(Interpreting())
    with record.timed("reference"):
        numbers = Numbers(experiment.module, experiment.calls, tolerance=options.tolerance)
    expected = numbers.expected
    if isinstance(expected, NoMeaning) and expected.trap and expected.kind not in OPEN:
        record.counts.invalid += 1
        record.skip(f"invalid: {expected.reason}")
        return None
    return numbers


def _set_up(trial: _Trial) -> Position | None:
    """The position after the setup passes; None, counted, where they do not get that far."""
    position = Position.at(trial.experiment.module, trial.options.phase)
    setup, rows, around = trial.experiment.setup, trial.options.rows, trial.around(SettingUp)
    # Whether a pass of the setup changes its input in place is asked once, at the end: it is not under test.
    for step in walk(position, setup, rows, trial.bench, under_test=(), hash_input=False, around=around):
        if step.end is None or _breaks(step):
            trial.record.skip(f"setup: {step.call.name} gives nothing to go on with")
            return None
        position = step.end
    if setup and (code := FINGERPRINTS.fresh(position.module)) != position.code:
        if COMPLAINTS.fresh(position.module):
            trial.record.skip("setup: a pass changes its input in place to something ill-formed")
            return None
        position = replace(position, code=code)
    return position


def _breaks(step: Step) -> bool:
    """Whether a pass of the setup has left an ill-formed module that none of its kind should."""
    of_it = step.changed and step.row.promise.well_formed
    return of_it and bool(COMPLAINTS.fresh(step.after)) and not COMPLAINTS.of(step.before)


def _judge_from(trial: _Trial, start: Position) -> Sequence[Step]:
    record = trial.record
    if trial.experiment.setup:
        trial.options.announce(Interpreting())
        with record.timed("reference"):
            outcome = outcome_at(start, trial.bench.numbers)
        if isinstance(outcome, Unsure) and outcome.skipped:
            start = replace(start, lost=outcome.reason)
        if isinstance(outcome, Wrong):
            start = replace(start, lost="numbers: wrong before the passes under test")
    steps, last = _apply_passes(trial, start)
    if last is None:
        return steps
    _judge_trace(trial, start, steps)
    if trial.options.force or trial.source.flip(trial.options.build_share):
        judge_builds(trial.experiment, trial.options, trial.source, trial.bench, record, steps, start, last)
    return steps


def _apply_passes(trial: _Trial, start: Position) -> tuple[Sequence[Step], Position | None]:
    """The steps, and where they end; None where the case ended before."""
    options, steps, last = trial.options, list[Step](), start
    oracles = [row for row in ORACLES.values() if isinstance(row, StepOracle) and row.name in options.oracles]
    right = True
    for step in walk(
        start,
        trial.experiment.passes,
        options.rows,
        trial.bench,
        tiers=trial.experiment.tiers,
        under_test=options.only,
        around=trial.around(Applying),
    ):
        step = step if right else step.losing(_WRONG)
        steps.append(step)
        trial.record.count_step(step)
        answered = ask_in_order(oracles, step, lambda row, of: _ask(trial, row, of), trial.record)
        if not answered.good or step.end is None:
            return steps, None
        right = right and answered.right
        last = step.end if right else replace(step.end, lost=_WRONG)
        if options.only is not None and (how := _unfit(step)) is not None:
            trial.record.skip(f"passes after {step.call.name}, which {how}")
            break
    return steps, last


def _unfit(step: Step) -> str | None:
    """How the result of a step is no input for the next pass that a user chose; None where it is one."""
    said = (row.unfit(step) for row in ORACLES.values() if isinstance(row, StepOracle))
    return next((how for how in said if how is not None), None)


def _ask(trial: _Trial, row: StepOracle, step: Step) -> Verdict | None:
    if not (step.under_test or row.ends_case) or not trial.is_asked(row):
        return None  # What it would say of a pass that is not under test counts for nothing.
    if is_judged_already(row, step):
        return PASSED
    trial.options.announce(Asking(row.name, step.call.name))
    with trial.record.timed("reference" if row.runs is Runs.REFERENCE else "oracles"):
        verdict = row.judge(step, trial.bench)
    if row.runs is Runs.PASSES:
        require_state()
    if trial.options.rejections and row.rejection is not None and step.error is not None:
        return row.rejection(step.error) if isinstance(verdict, Skipped) else verdict
    return verdict


def _judge_trace(trial: _Trial, start: Position, steps: Sequence[Step]) -> None:
    trace = Trace(start.module, trial.experiment.calls, tuple(steps), trial.options.target)
    for row in ORACLES.values():
        if not isinstance(row, TraceOracle) or row.name not in trial.options.oracles:
            continue
        if (trial.options.only is not None and not row.of_passes) or not trial.is_asked(row):
            continue
        trial.options.announce(Asking(row.name))
        with trial.record.timed("oracles"):
            verdict = row.judge(trace, trial.bench)
        if isinstance(verdict, Failed) and verdict.culprit is None:
            verdict = replace(verdict, culprit=last_changer(steps))
        trial.record.add_verdict(row.name, verdict)
