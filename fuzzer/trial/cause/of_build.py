"""What is wrong before built code is: the pass that breaks a module or its numbers, whatever is blamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from corpus.causes.failure_facts import FailureFacts
from corpus.causes.throw_site import sites
from fuzzer.trial.cause.look import Look
from fuzzer.trial.cause.of_step import of_part, of_step
from fuzzer.trial.cause.seen_at_once import has_code_for_each, operators_in
from fuzzer.trial.cause.taken import Taken
from generators.passes.table import TIR_PIPELINE
from oracles.broken import IN_TIR, broken, retyped, types_of
from oracles.checks import device_memory, well_formed
from oracles.checks.legalised import LEGALIZE
from oracles.evidence import AnotherForm, Died
from oracles.ir.kinds import words_of
from oracles.ir.regions import declares_what_it_does
from oracles.ir.tir_rewrite import stored_kinds
from oracles.reference.outcome import Unsure, Wrong
from oracles.trace import outcome_at
from oracles.verdict import CODEGEN, DOES_NOT_RUN, LOWERING, Failed
from oracles.workbench import Workbench

_MEETS_DEFINITIONS = ("tirx::VarUseDefAnalyzer::HandleDef", "tirx::BufferFlattener::Lookup")
"""What refuses a variable or a buffer that is used before its definition: whichever pass has put the use there."""


def of_codegen(look: Look) -> FailureFacts:
    """Of a wrong build in which every pass is right: the pass that gives a value another type, if the result is of
    another shape or dtype; else what the PrimFuncs store."""
    legal = look.case.module
    for taken in look.steps(look.bench()):
        step = taken.step
        if step.after is None:
            break
        if isinstance(look.failed.evidence, AnotherForm):
            named = has_code_for_each(step.row)
            if what := retyped(taken.types, types_of(step.after), named):
                return FailureFacts(retyped=what, retyped_by=LOWERING if named else step.call.name)
        if step.call.name == LEGALIZE:
            legal = step.after
    return FailureFacts(stored=words_of(stored_kinds(legal)), operators=operators_in(look.case.module))


def broken_before(look: Look) -> FailureFacts | None:
    """Of code generation that raises: the pass after which PrimFuncs are ill-formed, and how, or the one that should
    have refused host code that touches memory of a device, which no later pass expects; None for none."""
    bench, used_early = look.bench(), sites(look.failed.detail)[-1].function in _MEETS_DEFINITIONS
    for taken in look.steps(bench):
        step = taken.step
        if step.after is None:
            return None
        if isinstance(let_pass := device_memory.judge(step, bench), Failed):
            return FailureFacts(earlier=let_pass, running=step.call.name)
        if used_early and isinstance(refused := well_formed.judge(step, bench), Failed):
            return FailureFacts(earlier=refused, running=step.call.name)
        if (what := broken(step.before, step.after, first=IN_TIR)) is not None:
            return FailureFacts(broken=what.kind, broken_by=what.by or step.call.name)
    return None


def dies_when_run(look: Look) -> bool:
    """Whether built code ends its process, or raises at no place of TVM's: a pass before may have made it so."""
    ends = look.failed.symptom == DOES_NOT_RUN and not sites(look.failed.detail)
    return not look.of_pass and (ends or isinstance(look.failed.evidence, Died))


def wrong_before(look: Look) -> FailureFacts | None:
    """Of such code: the first pass after which the reference finds a wrong result, and what it finds; where it finds
    none, the first that breaks the structure of the module. None where there is neither."""
    bench = look.bench()
    return _wrong_in(look, look.steps(bench), bench)


def wrong_kernel(look: Look, taken: Taken) -> FailureFacts | None:
    """Of a pass that computes values with the code of a build: the first pass of that build after which the reference
    finds a wrong result, without this one. None where it finds none."""
    if not look.is_wrong:
        return None
    bench = look.bench()
    start = replace(taken.step.start, module=taken.step.before)
    facts = _wrong_in(look, look.lowering(start, bench), bench)
    of_kernels = facts is not None and facts.earlier is not None and facts.running in TIR_PIPELINE
    return facts if of_kernels else None


def wrong_on_the_way(look: Look) -> FailureFacts | None:
    """Of wrong code, as of code that dies, if that is the pass to blame, or none was: the reference may follow the case
    from its start and not from where a build begins."""
    facts = wrong_before(look) if look.is_wrong and not look.of_pass else None
    right = facts is not None and facts.earlier is not None and look.culprit in (CODEGEN, facts.running)
    return facts if right else None


def _wrong_in(look: Look, steps: Iterator[Taken], bench: Workbench) -> FailureFacts | None:
    unsure, breaks = False, None
    follows = declares_what_it_does(look.case.module)
    for taken in steps:
        step = taken.step
        if step.end is None or step.end.lost is not None:
            break
        outcome = outcome_at(step.end, bench.numbers) if follows else None
        if isinstance(outcome, Wrong) and not unsure:
            earlier = Failed(outcome.symptom, outcome.message, evidence=outcome.evidence)
            of_pass = replace(look, failed=earlier, culprit=step.call.name)
            return replace(of_part(of_pass, taken), earlier=earlier, running=step.call.name)
        unsure = isinstance(outcome, Unsure)
        if breaks is None and broken(step.before, step.after) is not None:
            breaks = taken
    return None if breaks is None else replace(of_step(look, breaks), running=breaks.step.call.name)
