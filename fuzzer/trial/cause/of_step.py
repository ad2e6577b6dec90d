"""What a pass did to the module at the step where it goes wrong: facts of a rule of it, or of the whole pass."""

from __future__ import annotations

from dataclasses import replace

from corpus.causes.failure_facts import FailureFacts, Rewrite
from fuzzer.trial.cause.folded import folded
from fuzzer.trial.cause.look import Look
from fuzzer.trial.cause.lowered import narrowed
from fuzzer.trial.cause.rules import rule_in
from fuzzer.trial.cause.seen_at_once import has_code_for_each, operators_in, rewrite_of
from fuzzer.trial.cause.taken import Taken
from generators.passes.row import Role
from generators.passes.table import default_call, the
from generators.passes.traits import Evaluates
from oracles.broken import IN_TIR, Broken, broken, retyped, types_of
from oracles.checks import determinism, idempotence, well_formed
from oracles.checks.purity import holds_kills
from oracles.ir.contents import odd_floats
from oracles.ir.jumps import gives_jumps_to_other_loops
from oracles.ir.kinds import words_of
from oracles.ir.tir_rewrite import stored_kinds
from oracles.ir.verifier import complains_of_prim_func
from oracles.trace import Raised, Step
from oracles.verdict import INPUT_CHANGED, LOWERING

LEFT_ALONE = "changes nothing"
"""What a pass does wrong that leaves a program as it was, which means something else from there on."""
JUMPS_ELSEWHERE = "a jump belongs to another loop"


def of_part(look: Look, taken: Taken) -> FailureFacts:
    """Of the rule or the primitive of a pass that goes wrong, where it applies such; else of the pass. It is the pass
    that writes what they give into its input."""
    changes_input = look.failed.symptom == INPUT_CHANGED
    rule = None if changes_input else rule_in(taken, look.bench(), look.goes_wrong)
    if rule is None:
        return of_step(look, taken)
    return replace(of_step(look, rule.taken), rule=rule.name, misdone=rule.misdone if look.is_wrong else "")


def of_step(look: Look, taken: Taken) -> FailureFacts:
    """Of the whole pass."""
    step, module = taken.step, look.case.module
    named = has_code_for_each(step.row)
    in_tir = look.oracle == well_formed.ORACLE.name and complains_of_prim_func(step.after)
    first = IN_TIR if in_tir else look.oracle
    what = broken(step.before, step.after, named, first)
    return FailureFacts(
        broken="" if what is None else what.kind,
        broken_by="" if what is None else what.by or _inner(look, step, what, named, first),
        retyped=retyped(taken.types, types_of(step.after), named),
        retyped_by=LOWERING if named else step.call.name,
        rewrite=_rewrite(look, step, named),
        misdone=_misdone(step) if look.is_wrong else "",
        stored=words_of(stored_kinds(step.before)),
        operators=operators_in(module),
        floats=odd_floats(module),
        ends_lives=step.phase not in step.row.place.phases and holds_kills(step.before),
        changes_input=not step.input_kept,
    )


def _misdone(step: Step) -> str:
    """What the pass did, or did not do, that none may; "" where that is not known."""
    if not step.changed:
        return LEFT_ALONE if step.means_anew else ""
    return JUMPS_ELSEWHERE if gives_jumps_to_other_loops(step.before, step.after) else ""


def _rewrite(look: Look, step: Step, named: bool) -> Rewrite | None:
    """What was put for what, where the failure is about that."""
    if look.oracle == idempotence.ORACLE.name and not look.is_wrong:
        again = look.bench().apply(step.call, step.after)
        return None if isinstance(again, Raised) else rewrite_of(step.after, again, named)
    if not look.is_wrong and look.oracle != determinism.ORACLE.name:
        return None
    change = rewrite_of(step.before, step.after, named)
    if look.is_wrong and step.row.has(Evaluates):
        change = folded(step.before, step.after, look.case.module) or change
    if look.is_wrong and named:
        bench = look.bench()
        floor = None if step.end is None else step.end.floor
        change = narrowed(step, change, bench.numbers.held_to(floor), bench)
    return change


def _inner(look: Look, step: Step, what: Broken, named: bool, first: str) -> str:
    """The pass that breaks this inside of the step's: many passes tidy bindings in the end, by a part of theirs or by a
    call of the same function. "" where it is the pass itself."""
    bench = look.bench()
    parts = bench.parts(step.call, step.before)
    wrong = next((part for part in parts if broken(step.before, part.after, named, first)), None)
    tidy = default_call(the(Role.TIDIES_BINDINGS).name)
    given = step.before if wrong is None else wrong.before
    again = bench.apply(tidy, given)
    # Broken before the part, it is the pass's own: broken() says nothing then of what the part gives.
    same = not isinstance(again, Raised) and broken(given, again, named, first) == what
    return tidy.name if same else ""
