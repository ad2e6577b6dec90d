"""What is found out of a reduced failure for its cause: which pass was running, and what the culprit did to the module.

Everything here applies passes again, in a child of its own: `corpus.causes.cause` says what follows from it. Worker
processes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import tvm
from tvm import relax

from corpus.causes.cause import Cause, FailureFacts, cause_of
from corpus.causes.culprit import culprit_from
from corpus.causes.throw_site import sites
from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.cause.asked import failing_operator, last_note
from fuzzer.trial.cause.folded import folded
from fuzzer.trial.cause.left_for_vm import left_for_vm
from fuzzer.trial.cause.lowered import narrowed
from fuzzer.trial.cause.rules import rule_in, rule_that_raises
from fuzzer.trial.cause.seen_at_once import called_in, has_code_for_each, operators_in, rewrite_of
from fuzzer.trial.cause.taken import Taken, with_types
from fuzzer.trial.own_faults import OwnFaults
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.unjudged import bench_of, steps_of
from generators.passes.row import PassRow, Phase, Role
from generators.passes.table import PASSES, PIPELINES, TIR_PIPELINE, default_call, the
from generators.passes.traits import Asks, Evaluates
from generators.passes.tuning import searched
from oracles.broken import IN_TIR, Broken, broken, retyped, types_of
from oracles.builds.blame import lowering_of
from oracles.builds.build import as_built, lowered_by, passes_to_come
from oracles.builds.needs import builder_of
from oracles.builds.tir_build import compiled_from
from oracles.checks import determinism, executable, idempotence, numeric, pipelines, well_formed
from oracles.checks.legalised import LEGALIZE
from oracles.checks.purity import holds_kills
from oracles.evidence import AnotherForm, Died, Hung, InKernel, OutOfMemory, ReferenceTrap
from oracles.forked import forked
from oracles.ir.contents import contents, odd_floats, operator_kind
from oracles.ir.kinds import words_of
from oracles.ir.regions import declares_what_it_does
from oracles.ir.tir_rewrite import stored_kinds
from oracles.nested import innermost, running_at_end
from oracles.oracle import StepOracle
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Unsure, Wrong
from oracles.table import ORACLES
from oracles.trace import Position, Raised, Step, outcome_at
from oracles.verdict import CODEGEN, CRASH, DOES_NOT_RUN, INPUT_CHANGED, LOWERING, WRONG_RESULT, Failed
from oracles.walk import walk
from oracles.workbench import Workbench

LIMIT_S = 30.0
"""Seconds that looking may take; what is not found by then is unknown."""
LEFT_ALONE = "changes nothing"
"""What a pass does wrong that leaves a program as it was, which means something else from there on."""
_LOOKING = "looking for the cause"
_VM_CODEGEN = "src/relax/backend/vm/codegen_vm.cc"
_MEETS_DEFINITIONS = "tirx::VarUseDefAnalyzer::HandleDef"
"""What refuses a variable that is used before its definition: whichever pass has put the use there."""


@dataclass(frozen=True, slots=True)
class FoundCause:
    """The cause of a failure. logged: what TVM logs of it, a line, usually "". own_fault: what raised in our own code
    while the cause was looked for, a line: the cause is a guess then. Usually ""."""

    cause: Cause
    logged: str = ""
    own_fault: str = ""


def cause_in(
    oracle: str, failed: Failed, culprit: str, case: Candidate, plan: Plan, repertoire: Repertoire
) -> FoundCause:
    """The cause of the failure that a reduced case has. `culprit`: the pass that is blamed, as findings name it.

    Where not even what the module holds can be said, which is a fault of ours, the verdict alone has to do."""
    looked = _Look(oracle, failed, culprit_from(culprit).name, case, plan, repertoire)
    faults = OwnFaults()
    # What fails ends the process that looks too, or does not end: then less is asked.
    looks = (looked.facts, looked.at_death, looked.of_module)
    asked = (faults.unless_at_fault(_LOOKING, partial(forked, look, LIMIT_S), None) for look in looks)
    facts = next((found for found in asked if isinstance(found, FailureFacts)), None)
    cause = cause_of(oracle, failed, culprit, facts)
    certain = cause.certain and not faults.lines
    return FoundCause(replace(cause, certain=certain), "" if facts is None else facts.logged, str(faults))


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at a failure. culprit: the name of a pass, or of what is blamed in its place."""

    oracle: str
    failed: Failed
    culprit: str
    case: Candidate
    plan: Plan
    repertoire: Repertoire

    def facts(self) -> FailureFacts:
        """All that is asked for, by the kind of the failure."""
        passed = sites(self.failed.detail)
        if self.oracle == executable.ORACLE.name or (passed and passed[-1].file == _VM_CODEGEN):
            left, logged = left_for_vm(self.case.module, (taken.step for taken in self._steps(self._bench())))
            return FailureFacts(left=left, left_by=LEGALIZE, logged=logged)
        lowered = self.culprit == CODEGEN or self._searches()
        if passed and lowered and (facts := self._broken_before()) is not None:
            return facts
        if passed:
            running = "" if self.culprit in self.repertoire.rows and not lowered else self._running()
            if running != self.culprit:
                return self.of_module(running=running, called=called_in(self.failed.detail))
            return replace(self.of_module(called=called_in(self.failed.detail)), rule=self._rule_that_raises())
        if isinstance(self.failed.evidence, Hung | OutOfMemory):
            return self.of_module()
        if self._dies_when_run() and (facts := self._wrong_before()) is not None:
            return facts
        if isinstance(self.failed.evidence, Died) and self.culprit not in self.repertoire.rows:
            return self.at_death()
        if (facts := self._wrong_on_the_way()) is not None:
            return facts
        if self.culprit == CODEGEN:
            return self._of_codegen()
        found = self._culprits_step()
        if found is None or found.step.after is None:
            return self.of_module()
        if found.step.row.has(Evaluates) and (facts := self._wrong_kernel(found)) is not None:
            return facts
        return self._of_part(found)

    def at_death(self) -> FailureFacts:
        """The same, and the pass of a build that was running when the process ended, if any."""
        died = isinstance(self.failed.evidence, Died) and self.culprit not in self.repertoire.rows
        return self.of_module(running=self._running_at_death() if died else "")

    def of_module(self, running: str = "", called: str = "") -> FailureFacts:
        """What can be said where nothing is known of what the culprit did."""
        module = self.case.module
        row = self.repertoire.rows.get(running or self.culprit)
        return FailureFacts(
            running=running,
            called=called,
            operators=self._failing_operators(row) or operators_in(module),
            each=row is not None and (row.has(Asks) or has_code_for_each(row)),
            holds=contents(module),
            floats=odd_floats(module),
        )

    def _failing_operators(self, row: PassRow | None) -> tuple[str, ...]:
        """The kind of the operator in whose code for the pass it fails; () if it is another failure."""
        fails = self.failed.symptom == CRASH and row is not None and row.name == self.culprit
        name = (
            failing_operator(row, self.case.module, lambda: list(self._steps(self._bench()))) if fails and row else ""
        )
        return (str(operator_kind(name)),) if name else ()

    def _searches(self) -> bool:
        """Whether the culprit is a search of MetaSchedule. Other passes can make a schedule such as it finds, so that a
        pass that dies of a well-formed one is the cause."""
        calls = (*self.case.setup, *self.case.passes)
        return any(call.name == self.culprit and searched(call) is not None for call in calls)

    def _rule_that_raises(self) -> str:
        bench = self._bench()
        return rule_that_raises(self._steps(bench), bench)

    # --- steps ----------------------------------------------------------------------------------------------

    def _bench(self) -> Workbench:
        numbers = Numbers(self.case.module, self.case.calls, tolerance=self.plan.tolerance)
        if self.oracle != numeric.ORACLE.name:
            numbers = as_built(numbers)
        return bench_of(numbers, self.repertoire, self.plan.target)

    def _steps(self, bench: Workbench) -> Iterator[Taken]:
        """The steps of the case, then those of the lowering after it."""
        steps = steps_of(self.case, self.plan, self.repertoire, bench)
        start = Position.at(self.case.module, Phase(self.plan.phase))
        position: Position | None = start
        for taken in with_types(start, steps):
            yield taken
            position = taken.step.end
        if position is not None:
            yield from self._lowering(position, bench)

    def _lowering(self, position: Position, bench: Workbench) -> Iterator[Taken]:
        """The steps of the lowering from there."""
        calls = [default_call(name) for name in self._lowering_from(position)]
        position = replace(position, module=position.module.clone())
        yield from with_types(position, walk(position, calls, PASSES, bench))

    def _lowering_from(self, position: Position) -> tuple[str, ...]:
        """The passes of the build, or of the pipeline that is blamed."""
        if self.oracle == pipelines.ORACLE.name and self.culprit in pipelines.ROWS:
            return (*PIPELINES[pipelines.ROWS[self.culprit]], *TIR_PIPELINE)
        builder = builder_of(self.plan.target)
        return () if builder is None else lowering_of(position.module, position.phase, builder)

    def _culprits_step(self) -> Taken | None:
        """The step of the culprit at which it goes wrong. Where that cannot be told: its last one that changed
        something, of the case rather than of the lowering after it."""
        bench, found = self._bench(), None
        own = len(self.case.setup) + len(self.case.passes)
        for number, taken in enumerate(self._steps(bench)):
            if number >= own and found is not None:
                break
            if taken.step.call.name != self.culprit:
                continue
            if taken.step.changed or taken.step.error is not None:
                found = taken
            if self._goes_wrong(taken.step, bench):
                return taken
        return found

    def _goes_wrong(self, step: Step, bench: Workbench) -> bool:
        if step.end is None or step.after is None:
            return True
        if self.failed.symptom != WRONG_RESULT and not isinstance(self.failed.evidence, ReferenceTrap):
            return not step.input_kept or broken(step.before, step.after) is not None
        return isinstance(outcome_at(step.end, bench.numbers), Wrong)

    @property
    def _is_wrong(self) -> bool:
        return self.failed.symptom == WRONG_RESULT or isinstance(self.failed.evidence, ReferenceTrap | InKernel)

    def _of_part(self, taken: Taken) -> FailureFacts:
        """Of the rule or the primitive of a pass that goes wrong, where it applies such; else of the pass. It is the
        pass that writes what they give into its input."""
        changes_input = self.failed.symptom == INPUT_CHANGED
        rule = None if changes_input else rule_in(taken, self._bench(), self._goes_wrong)
        if rule is None:
            return self._of_step(taken)
        return replace(self._of_step(rule.taken), rule=rule.name, misdone=rule.misdone if self._is_wrong else "")

    def _of_step(self, taken: Taken) -> FailureFacts:
        step = taken.step
        before, after, named = step.before, step.after, has_code_for_each(step.row)
        change, wrong = None, self._is_wrong
        if wrong or self.oracle == determinism.ORACLE.name:
            change = rewrite_of(before, after, named)
            if wrong and step.row.has(Evaluates):
                change = folded(before, after, self.case.module) or change
            if named and wrong:
                bench = self._bench()
                floor = None if step.end is None else step.end.floor
                change = narrowed(step, change, bench.numbers.held_to(floor), bench)
        elif self.oracle == idempotence.ORACLE.name:
            again = self._bench().apply(step.call, after)
            change = None if isinstance(again, Raised) else rewrite_of(after, again, named)
        what = broken(before, after, named, self.oracle)
        return FailureFacts(
            broken="" if what is None else what.kind,
            broken_by="" if what is None else what.by or self._inner(step, what, named),
            retyped=retyped(taken.types, types_of(after), named),
            retyped_by=LOWERING if named else step.call.name,
            rewrite=change,
            misdone=LEFT_ALONE if wrong and step.means_anew and not step.changed else "",
            stored=words_of(stored_kinds(before)),
            operators=operators_in(self.case.module),
            floats=odd_floats(self.case.module),
            ends_lives=step.phase not in step.row.place.phases and holds_kills(before),
            changes_input=not step.input_kept,
        )

    def _inner(self, step: Step, what: Broken, named: bool) -> str:
        """The pass that breaks this inside of the step's: many passes tidy bindings in the end, by a part of theirs or
        by a call of the same function. "" where it is the pass itself."""
        bench = self._bench()
        parts = bench.parts(step.call, step.before)
        wrong = next((part for part in parts if broken(step.before, part.after, named, self.oracle)), None)
        tidy = default_call(the(Role.TIDIES_BINDINGS).name)
        given = step.before if wrong is None else wrong.before
        again = bench.apply(tidy, given)
        # Broken before the part, it is the pass's own: broken() says nothing then of what the part gives.
        same = not isinstance(again, Raised) and broken(given, again, named, self.oracle) == what
        return tidy.name if same else ""

    # --- builds ---------------------------------------------------------------------------------------------

    def _of_codegen(self) -> FailureFacts:
        """Of a wrong build in which every pass is right: the pass that gives a value another type, if the result is of
        another shape or dtype; else what the PrimFuncs store."""
        legal = self.case.module
        for taken in self._steps(self._bench()):
            step = taken.step
            if step.after is None:
                break
            if isinstance(self.failed.evidence, AnotherForm):
                named = has_code_for_each(step.row)
                if what := retyped(taken.types, types_of(step.after), named):
                    return FailureFacts(retyped=what, retyped_by=LOWERING if named else step.call.name)
            if step.call.name == LEGALIZE:
                legal = step.after
        return FailureFacts(stored=words_of(stored_kinds(legal)))

    def _broken_before(self) -> FailureFacts | None:
        """Of code generation that raises: the pass after which PrimFuncs are ill-formed, and how; None for none."""
        bench, used_early = self._bench(), sites(self.failed.detail)[-1].function == _MEETS_DEFINITIONS
        for taken in self._steps(bench):
            step = taken.step
            if step.after is None:
                return None
            if used_early and isinstance(refused := well_formed.judge(step, bench), Failed):
                return FailureFacts(earlier=refused, running=step.call.name)
            if (what := broken(step.before, step.after, first=IN_TIR)) is not None and what.defined_twice:
                return FailureFacts(broken=what.kind, broken_by=what.by or step.call.name)
        return None

    def _dies_when_run(self) -> bool:
        """Whether built code ends its process, or raises at no place of TVM's: a pass before may have made it so."""
        ends = self.failed.symptom == DOES_NOT_RUN and not sites(self.failed.detail)
        of_pass = isinstance(ORACLES.get(self.oracle), StepOracle)
        return not of_pass and (ends or isinstance(self.failed.evidence, Died))

    def _wrong_before(self) -> FailureFacts | None:
        """Of such code: the first pass after which the reference finds a wrong result, and what it finds; where it
        finds none, the first that breaks the structure of the module. None where there is neither."""
        bench = self._bench()
        return self._wrong_in(self._steps(bench), bench)

    def _wrong_kernel(self, taken: Taken) -> FailureFacts | None:
        """Of a pass that computes values with the code of a build: the first pass of that build after which the
        reference finds a wrong result, without this one. None where it finds none."""
        if not self._is_wrong:
            return None
        bench = self._bench()
        start = replace(taken.step.start, module=taken.step.before)
        facts = self._wrong_in(self._lowering(start, bench), bench)
        of_kernels = facts is not None and facts.earlier is not None and facts.running in TIR_PIPELINE
        return facts if of_kernels else None

    def _wrong_on_the_way(self) -> FailureFacts | None:
        """The same of wrong code, if that is the pass to blame, or none was: the reference may follow the case from its
        start and not from where a build begins."""
        of_pass = isinstance(ORACLES.get(self.oracle), StepOracle)
        facts = self._wrong_before() if self._is_wrong and not of_pass else None
        right = facts is not None and facts.earlier is not None and self.culprit in (CODEGEN, facts.running)
        return facts if right else None

    def _wrong_in(self, steps: Iterator[Taken], bench: Workbench) -> FailureFacts | None:
        unsure, breaks = False, None
        follows = declares_what_it_does(self.case.module)
        for taken in steps:
            step = taken.step
            if step.end is None or step.end.lost is not None:
                break
            outcome = outcome_at(step.end, bench.numbers) if follows else None
            if isinstance(outcome, Wrong) and not unsure:
                earlier = Failed(outcome.symptom, outcome.message, evidence=outcome.evidence)
                of_pass = replace(self, failed=earlier, culprit=step.call.name)
                return replace(of_pass._of_step(taken), earlier=earlier, running=step.call.name)
            unsure = isinstance(outcome, Unsure)
            if breaks is None and broken(step.before, step.after) is not None:
                breaks = taken
        return None if breaks is None else replace(self._of_step(breaks), running=breaks.step.call.name)

    def _running_at_death(self) -> str:
        """The same of a build that ends its process, which only another process can see."""
        return last_note(lambda note: self._running(lambda running: note(self._of_table(running))))

    def _running(self, note: Callable[[Sequence[str]], None] = lambda names: None) -> str:
        """The innermost pass of the table that is running when a build of the case raises; "" where there is none."""
        bench = self._bench()
        if self.oracle == pipelines.ORACLE.name:
            target = tvm.target.Target(self.plan.target)
            chosen = relax.get_default_pipeline(target) if self.culprit == pipelines.TARGET_DEFAULT else None
            pipeline = chosen or relax.get_pipeline(pipelines.DEFAULT_BUILD)
            names = running_at_end(
                lambda seen: bench.guarded(
                    lambda: relax.build(self.case.module, target=target, relax_pipeline=pipeline), seen
                ),
                note,
            )
            return self._of_table(names)
        position = Position.at(self.case.module, Phase(self.plan.phase))
        for step in steps_of(self.case, self.plan, self.repertoire, bench):
            if step.end is None:
                return step.call.name
            position = step.end
        lowered = lowered_by(passes_to_come(position.module, position.phase), position.module, position.phase, bench)
        if not isinstance(lowered, tuple):
            return lowered.culprit
        module, phase = lowered
        target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
        return self._of_table(
            running_at_end(lambda seen: bench.guarded(lambda: compiled_from(module, target, phase), seen), note)
        )

    def _of_table(self, names: Sequence[str]) -> str:
        return innermost(names, self.repertoire.rows)
