"""A failure that is looked at for its cause: what failed, and the steps of the case and of its lowering, applied anew.

What is read off the steps is in the other files of this folder. Worker processes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.cause.taken import Taken, with_types
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.unjudged import bench_of, steps_of
from generators.passes.row import Phase
from generators.passes.table import PASSES, PIPELINES, TIR_PIPELINE, default_call
from generators.passes.tuning import searched
from oracles.broken import broken
from oracles.builds.blame import lowering_of
from oracles.builds.build import as_built
from oracles.builds.needs import builder_of
from oracles.checks import numeric, pipelines
from oracles.evidence import InKernel, ReferenceTrap
from oracles.oracle import StepOracle
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.table import ORACLES
from oracles.trace import Position, Step, outcome_at
from oracles.verdict import WRONG_RESULT, Failed
from oracles.walk import walk
from oracles.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a failure. culprit: the name of a pass, or of what is blamed in its place."""

    oracle: str
    failed: Failed
    culprit: str
    case: Candidate
    plan: Plan
    repertoire: Repertoire

    @property
    def is_wrong(self) -> bool:
        """Whether it is about numbers."""
        return self.failed.symptom == WRONG_RESULT or isinstance(self.failed.evidence, ReferenceTrap | InKernel)

    @property
    def of_pass(self) -> bool:
        """Whether it was seen at a step, and not in a build or a whole case."""
        return isinstance(ORACLES.get(self.oracle), StepOracle)

    @property
    def blames_pass(self) -> bool:
        """Whether the culprit is a pass."""
        return self.culprit in self.repertoire.rows

    @property
    def searches(self) -> bool:
        """Whether the culprit is a search of MetaSchedule. Other passes can make a schedule such as it finds, so that a
        pass that dies of a well-formed one is the cause."""
        calls = (*self.case.setup, *self.case.passes)
        return any(call.name == self.culprit and searched(call) is not None for call in calls)

    def bench(self) -> Workbench:
        """A bench of its own, held to the numbers of a build where the failure is one of a build."""
        numbers = Numbers(self.case.module, self.case.calls, tolerance=self.plan.tolerance)
        if self.oracle != numeric.ORACLE.name:
            numbers = as_built(numbers)
        return bench_of(numbers, self.repertoire, self.plan.target)

    def steps(self, bench: Workbench) -> Iterator[Taken]:
        """The steps of the case, then those of the lowering after it."""
        steps = steps_of(self.case, self.plan, self.repertoire, bench)
        start = Position.at(self.case.module, Phase(self.plan.phase))
        position: Position | None = start
        for taken in with_types(start, steps):
            yield taken
            position = taken.step.end
        if position is not None:
            yield from self.lowering(position, bench)

    def lowering(self, position: Position, bench: Workbench) -> Iterator[Taken]:
        """The steps of the lowering from there: of the build, or of the pipeline that is blamed."""
        calls = [default_call(name) for name in self._lowering_from(position)]
        position = replace(position, module=position.module.clone())
        yield from with_types(position, walk(position, calls, PASSES, bench))

    def _lowering_from(self, position: Position) -> tuple[str, ...]:
        if self.oracle == pipelines.ORACLE.name and self.culprit in pipelines.ROWS:
            return (*PIPELINES[pipelines.ROWS[self.culprit]], *TIR_PIPELINE)
        builder = builder_of(self.plan.target)
        return () if builder is None else lowering_of(position.module, position.phase, builder)

    def culprits_step(self) -> Taken | None:
        """The step of the culprit at which it goes wrong. Where that cannot be told: its last one that changed
        something, of the case rather than of the lowering after it."""
        bench, found = self.bench(), None
        own = len(self.case.setup) + len(self.case.passes)
        for number, taken in enumerate(self.steps(bench)):
            if number >= own and found is not None:
                break
            if taken.step.call.name != self.culprit:
                continue
            if taken.step.changed or taken.step.error is not None:
                found = taken
            if self.goes_wrong(taken.step, bench):
                return taken
        return found

    def goes_wrong(self, step: Step, bench: Workbench) -> bool:
        """Whether what is wrong is so after this step, if it was not before."""
        if step.end is None or step.after is None:
            return True
        if self.failed.symptom != WRONG_RESULT and not isinstance(self.failed.evidence, ReferenceTrap):
            return not step.input_kept or broken(step.before, step.after) is not None
        return isinstance(outcome_at(step.end, bench.numbers), Wrong)
