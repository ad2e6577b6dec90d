"""Judges one case: applies the passes one by one under every oracle, then, for a share of cases, builds and runs it.

Runs in worker processes. What is drawn is decided in `fuzzer.worker.draw`; how a failure is made small in
`fuzzer.trial.shrink`; here is only the order in which things are looked at, and what is counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fuzzer.protocol import Counts, Failure
from fuzzer.trial.build import BuildTrial, blamed, not_to_be_built
from fuzzer.trial.changes import Changes
from generators.case import EntryCall, PassCall
from generators.passes.row import PassRow, Phase
from generators.source import Source
from generators.targets import TARGETS
from oracles.builds import build as llvm
from oracles.builds import cpu_trial
from oracles.builds.cpu_builds import CPU_BUILDS, SHARE, CpuBuild, only_builds
from oracles.builds.needs import builder_of
from oracles.calls.protocol import Calling, direct
from oracles.checks import input_unchanged
from oracles.checks.numeric import follow
from oracles.checks.purity import ends_lives_early
from oracles.evidence import ReferenceTrap
from oracles.ir.fingerprint import fingerprint
from oracles.ir.verifier import COMPLAINTS
from oracles.oracle import StepOracle, TraceOracle
from oracles.reference.numbers import NoMeaning, Numbers, Unsure, Wrong
from oracles.table import BUILD, ORACLES
from oracles.trace import MeaningState, Raised, Step, Trace
from oracles.verdict import Failed, Inconclusive, Passed, Skipped, Verdict
from oracles.workbench import Workbench

_STEP_ORACLES = [row for row in ORACLES.values() if isinstance(row, StepOracle)]
_OF_NUMBERS = [row for row in ORACLES.values() if row.judges_numbers]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A live case: a module with what is done to it. `rows` has a row for every pass named."""

    index: int
    module: Any
    calls: tuple[EntryCall, ...]
    setup: tuple[PassCall, ...]
    passes: tuple[PassCall, ...]
    tiers: tuple[str, ...]


@dataclass(slots=True)
class Court:
    """How cases are judged: which rows and oracles, what is under test, and who is told of the stage.

    only: names of passes whose failures count; None for all. force: shares of oracles are ignored and all
    of `oracles` are asked (for reduction and `check`). build_share: how often the build is judged.
    phase: where modules stand before any pass. trusting: see `fuzzer.trial.changes`.
    """

    rows: Mapping[str, PassRow]
    names: Mapping[str, Any]
    oracles: frozenset[str]
    only: frozenset[str] | None = None
    build_share: float = 0.0
    force: bool = False
    target: str = "llvm"
    phase: Phase = Phase.HIGH
    trusting: bool = False
    enter: Callable[[str], None] = lambda stage: None
    listen: Callable[[str, str | None, Verdict], None] = lambda oracle, pass_name, verdict: None


@dataclass(slots=True)
class Judged:
    """What became of a case. altered: a trusting court found a module changed in place, and does not know by whom."""

    altered: bool = False
    counts: Counts = field(default_factory=Counts)
    failures: list[Failure] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


class _Case:
    """One case on its way through the court."""

    def __init__(self, experiment: Experiment, court: Court, source: Source) -> None:
        self.experiment = experiment
        self.court = court
        self.source = source
        self.result = Judged()
        self.phase = court.phase
        self._changes = Changes(court.trusting and input_unchanged.ORACLE.name in court.oracles)
        self._of_steps = [row for row in _STEP_ORACLES if row.name in court.oracles]
        self._changed = False
        self._applied_again = False
        self._between = False
        self._tail: tuple[str, ...] = ()
        self._last_changer = llvm.CODEGEN
        self._start_calling: Calling = direct

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.thread_time()
        yield
        self.result.counts.name("phases", stage, time.thread_time() - start)

    def run(self) -> Judged:
        counts = self.result.counts
        counts.count("generated")
        self.court.enter("well-formedness")
        if COMPLAINTS.fresh(self.experiment.module):
            counts.count("invalid")
            counts.name("skipped", "invalid: ill-formed before any pass")
            return self.result
        self.court.enter("reference")
        with self._timed("reference"):
            numbers = Numbers(self.experiment.module, self.experiment.calls)
        if isinstance(numbers.expected, NoMeaning) and numbers.expected.trap and not _is_discard(numbers.expected):
            counts.count("invalid")
            counts.name("skipped", f"invalid: {numbers.expected.reason}")
            return self.result
        names, target, trusting = self.court.names, self.court.target, self._changes.trusting
        self.bench = Workbench(self.source, MeaningState(numbers), names, target, trusting)
        counts.count("cases")
        module = self._set_up(self.experiment.module)
        if module is not None:
            self._judge_from(module, numbers)
        for reason, amount in numbers.left_out.items():
            counts.name("skipped", reason, amount)
        verdicts = [counts.tables.get("oracles", {}).get(row.name, {}) for row in _OF_NUMBERS]
        if any(columns.get(column) for columns in verdicts for column in ("passed", "failed")):
            counts.count("numeric_verdicts")
        return self.result

    def _judge_from(self, module: Any, numbers: Numbers) -> None:
        if self.experiment.setup:
            with self._timed("reference"):
                outcome = numbers.judge_module(module, self.bench.meaning.calling, self.bench.meaning.synchronised)
            if isinstance(outcome, Unsure) and outcome.skipped:
                self.bench.meaning.lost = outcome.reason
            if isinstance(outcome, Wrong):
                self.bench.meaning.lost = "numbers: wrong before the passes under test"
        start_phase, self._start_calling = self.phase, self.bench.meaning.calling
        last = self._apply_passes(module)
        self.result.altered = self.result.altered or self._changes.altered()
        if last is None or self.result.altered:
            return
        self._judge_trace(module)
        if self.court.force or self.source.flip(self.court.build_share):
            self._judge_build(module, start_phase, last)

    # --- passes -----------------------------------------------------------------------------------------

    def _set_up(self, module: Any) -> Any | None:
        """The module after the setup passes; None (counted) where they do not get that far."""
        for call in self.experiment.setup:
            row = self.court.rows[call.name]
            self.court.enter(f"setup {call.name}")
            with self._timed("passes"):
                after = self.bench.apply(call, module)
            if isinstance(after, Raised) or self._breaks(row, module, after):
                self.result.counts.name("skipped", f"setup: {call.name} gives nothing to go on with")
                return None
            follow(Step(0, call, row, self.phase, module, after, None, 0, under_test=False), self.bench.meaning)
            module = after
            self._advance(row)
        return module

    @staticmethod
    def _breaks(row: PassRow, before: Any, after: Any) -> bool:
        """Whether a pass of the setup has left an ill-formed module that none of its kind should."""
        return row.well_formed and bool(COMPLAINTS.fresh(after)) and not COMPLAINTS.known(before)

    def _advance(self, row: PassRow) -> None:
        # FuseTIR of a high-level module does not fuse it, and what a high-level pass brings into a lowered one needs
        # passes that have been: nobody can say which are still to come.
        self._between = self._between or self.phase not in row.phases
        self.phase = self.phase if row.gives is None else row.gives

    def _apply_passes(self, module: Any) -> Any | None:
        """The last module; None where the case ended before."""
        for index, (call, tier) in enumerate(zip(self.experiment.passes, self.experiment.tiers, strict=True)):
            step = self._step(index, call, tier, module)
            self.result.steps.append(step)
            if not self._judge_step(step) or step.after is None:
                return None
            module = self._changes.module
            self._advance(step.row)
            if self.court.only is not None and ends_lives_early(step):
                self.result.counts.name("skipped", f"passes behind {call.name}, which ends lives of values early")
                break
        return module

    def _step(self, index: int, call: PassCall, tier: str, module: Any) -> Step:
        row = self.court.rows[call.name]
        before = self._changes.before(module, self._applied_again)
        self._applied_again = False
        self.court.enter(call.name)
        with self._timed("passes"):
            outcome = self.bench.apply(call, module)
        after, error = (None, outcome) if isinstance(outcome, Raised) else (outcome, None)
        counts = self.court.only is None or call.name in self.court.only
        step = Step(index, call, row, self.phase, module, after, error, before, tier, counts)
        self._changed = self._changes.after(after)
        self._count_step(step)
        follow(step, self.bench.meaning)
        return step

    def _count_step(self, step: Step) -> None:
        counts, name = self.result.counts, step.call.name
        counts.cell("passes", name, "applied")
        if step.error is not None and step.error.explicit:
            counts.cell("passes", name, "rejected")
        if self._changed:
            counts.cell("passes", name, "changed")
            self._last_changer = name

    def _judge_step(self, step: Step) -> bool:
        """Asks every step oracle; whether the case may go on."""
        good, broken = True, False
        spent, begun = {"oracles": 0.0, "reference": 0.0}, time.thread_time()
        for row in self._of_steps:
            if (step.error is not None and not row.on_error) or (broken and row.of_structure):
                continue
            share = row.share if self.court.only is None or row.share_of_chosen is None else row.share_of_chosen
            if not self.court.force and share < 1.0 and not self.source.flip(share):
                continue
            as_before = step.after is not None and not self._changed and row.of_result
            trusted = self._changes.trusting and row is input_unchanged.ORACLE
            if trusted and not self._changes.kept(step.before, step.hash_before):
                self.result.altered = True
                return False
            if as_before or trusted:
                self._record(row.name, Passed(), step)
                continue
            self.court.enter(f"{row.name} of {step.call.name}")
            verdict = row.judge(step, self.bench)
            now = time.thread_time()
            spent["reference" if row.name == "numeric" else "oracles"] += now - begun
            begun = now
            # Sampled oracles apply passes to the result; what a failed one has seen changed may be part of it.
            self._applied_again = self._applied_again or row.share < 1.0 or isinstance(verdict, Failed)
            if broken and isinstance(verdict, Failed) and isinstance(verdict.evidence, ReferenceTrap):
                verdict = Skipped("reference: what an oracle of structure has said already")
                good = False
            self._record(row.name, verdict, step)
            if isinstance(verdict, Failed):
                broken = broken or row.of_structure
                good = good and not row.ends_case
        for stage, seconds in spent.items():
            self.result.counts.name("phases", stage, seconds)
        return good

    def _judge_trace(self, start: Any) -> None:
        trace = Trace(start, self.experiment.calls, tuple(self.result.steps), self.court.target)
        for row in ORACLES.values():
            if not isinstance(row, TraceOracle) or row.name not in self.court.oracles:
                continue
            if self.court.only is not None and not row.of_passes:
                continue
            if not self.court.force and row.share < 1.0 and not self.source.flip(row.share):
                continue
            self.court.enter(row.name)
            with self._timed("oracles"):
                verdict = row.judge(trace, self.bench)
            self._record(row.name, verdict, None)

    # --- the build --------------------------------------------------------------------------------------

    def _judge_build(self, start: Any, start_phase: Phase, last: Any) -> None:
        others = self._other_builds()
        if not others and BUILD not in self.court.oracles:
            return
        verdict = self._not_built(last) or self._ordinary_build(start, start_phase, last)
        if BUILD in self.court.oracles:
            self._record("survives" if self._tail and isinstance(verdict, Failed) else BUILD, verdict, None)
        self._tail = ()
        for row in others:
            self._record(row.name, self._other_build(row, verdict, last), None)

    def _not_built(self, last: Any) -> Verdict | None:
        """Why the last module is not to be built."""
        if (missing := llvm.unregistered(self.experiment.module)) is not None:
            return Skipped(f"build: {missing}")
        applied = [call.name for call in (*self.experiment.setup, *self.experiment.passes)]
        threads = TARGETS[self.court.target].threads
        return not_to_be_built(last, self.phase, self.result.steps, applied, between=self._between, threads=threads)

    def _ordinary_build(self, start: Any, start_phase: Phase, last: Any) -> Verdict:
        opt_level = 0 if self.experiment.index % 10 < 7 else 2
        builder = builder_of(self.court.target) or "llvm"
        trial = BuildTrial(self.court.rows, self.bench, self.court.enter, opt_level, len(self.result.steps), builder)
        with self._timed("build"):
            verdict = trial.verdict(last, self.phase)
            crashed = isinstance(verdict, Failed) and verdict.symptom == "crash" and bool(trial.lowered_by)
            self._tail = trial.lowered_by if crashed else ()
            if isinstance(verdict, Failed):
                first = None
                # Among threads a barrier that is missing shows only where a later pass has made all others explicit.
                if verdict.culprit is None and (self.court.only is None or not TARGETS[self.court.target].threads):
                    first = trial.first_wrong(last, self.phase)
                base: Verdict = verdict
                if self.result.steps and fingerprint(start) == self.result.steps[0].hash_before:
                    base = trial.verdict(start, start_phase, self._start_calling)
                verdict = blamed(verdict, base, self._last_changer, first, only_some=self.court.only is not None)
        return verdict

    def _other_builds(self) -> Sequence[CpuBuild]:
        """The other ways in which the last module is to be built: one for a share of the cases, all where that is
        forced. Where only some passes are under test, what code generation does is not in question."""
        rows = [row for row in CPU_BUILDS.values() if row.name in self.court.oracles]
        if self.court.force or not rows:
            return rows if self.court.only is None else ()
        rare = not only_builds(self.court.oracles)
        if self.court.only is not None or (rare and not self.source.flip(SHARE)):
            return ()
        return (self.source.pick(rows),)

    def _other_build(self, row: CpuBuild, ordinary: Verdict, last: Any) -> Verdict:
        if not isinstance(ordinary, Passed):
            return ordinary if isinstance(ordinary, Skipped) else Skipped("build: the ordinary one does not agree")
        self.court.enter(f"{row.name}: {llvm.CODEGEN}")
        with self._timed("build"):
            return cpu_trial.judge(row, last, self.phase, self.bench)

    # --- bookkeeping ------------------------------------------------------------------------------------

    def _record(self, oracle: str, verdict: Verdict, step: Step | None) -> None:
        counts = self.result.counts
        pass_name = None if step is None else step.call.name
        self.court.listen(oracle, pass_name, verdict)
        match verdict:
            case Passed():
                counts.cell("oracles", oracle, "passed")
            case Skipped(reason):
                counts.cell("oracles", oracle, "skipped")
                counts.name("skipped", reason)
            case Inconclusive(reason):
                counts.cell("oracles", oracle, "inconclusive")
                counts.name("inconclusive", reason)
            case Failed():
                self._fail(oracle, verdict, step)

    def _fail(self, oracle: str, verdict: Failed, step: Step | None) -> None:
        counts = self.result.counts
        culprit = verdict.culprit or (step.call.name if step is not None else self._last_changer)
        if not self._blames(step, culprit):
            counts.cell("oracles", oracle, "skipped")
            counts.name("skipped", f"not under test: {culprit}")
            return
        counts.cell("oracles", oracle, "failed")
        if step is not None:
            counts.cell("passes", step.call.name, "failed")
        tier = step.tier if step is not None else _widest(self.experiment.tiers)
        failure = Failure(
            self.experiment.index,
            oracle,
            verdict.symptom,
            verdict.message,
            verdict.detail[-20_000:],
            culprit,
            tier,
            None if step is None else step.index,
            self._tail,
            verdict.evidence,
        )
        self.result.failures.append(failure)

    def _blames(self, step: Step | None, culprit: str) -> bool:
        if self.court.only is None:
            return True
        if step is not None:
            return step.under_test and culprit in self.court.only
        return culprit in self.court.only


def judge(experiment: Experiment, court: Court, source: Source) -> Judged:
    """Everything the oracles say of one case, with its counters."""
    return _Case(experiment, court, source).run()


def _is_discard(expected: NoMeaning) -> bool:
    return expected.kind in ("integer-overflow", "fuel")


def _widest(tiers: Sequence[str]) -> str:
    """The least official tier of a sequence: A only where every pass is a step of an official pipeline."""
    return max(tiers, default="A")
