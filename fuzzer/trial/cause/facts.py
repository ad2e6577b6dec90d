"""What is found out of a reduced failure for its cause: which pass was running, and what the culprit did to the module.

Everything here applies passes again, in a child of its own: `corpus.causes.cause` says what follows from it. Worker
processes only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from corpus.causes.cause import Cause, cause_of
from corpus.causes.culprit import culprit_from
from corpus.causes.failure_facts import FailureFacts
from corpus.causes.throw_site import sites
from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.cause.failing_operator import failing_operator
from fuzzer.trial.cause.left_for_vm import left_for_vm
from fuzzer.trial.cause.look import Look
from fuzzer.trial.cause.of_build import (
    broken_before,
    dies_when_run,
    of_codegen,
    wrong_before,
    wrong_kernel,
    wrong_on_the_way,
)
from fuzzer.trial.cause.of_step import of_part
from fuzzer.trial.cause.rules import rule_that_raises
from fuzzer.trial.cause.running import running_at_death, running_when_raised
from fuzzer.trial.cause.seen_at_once import called_in, derived_in, has_code_for_each, operators_in
from fuzzer.trial.own_faults import OwnFaults
from fuzzer.trial.repertoire import Repertoire
from generators.passes.row import PassRow
from generators.passes.traits import Asks, Evaluates
from generators.targets import TARGETS
from oracles.checks import executable
from oracles.checks.legalised import LEGALIZE
from oracles.evidence import Died, Hung, OutOfMemory, WrongGradient
from oracles.forked import forked
from oracles.ir.contents import contents, guarded_division, odd_floats, operator_kind
from oracles.verdict import CODEGEN, CRASH, Failed

LIMIT_S = 30.0
"""Seconds that looking may take; what is not found by then is unknown."""
_LOOKING = "looking for the cause"
_BY_ZERO = Died("SIGFPE")
"""How built code ends that divides integers by zero."""
_VM_CODEGEN = "src/relax/backend/vm/codegen_vm.cc"


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
    look = Look(oracle, failed, culprit_from(culprit).name, case, plan, repertoire)
    faults = OwnFaults()
    # What fails ends the process that looks too, or does not end: then less is asked.
    asked = (
        faults.unless_at_fault(_LOOKING, partial(forked, partial(ask, look), LIMIT_S), None)
        for ask in (_facts, _at_death, _of_module)
    )
    facts = next((found for found in asked if isinstance(found, FailureFacts)), None)
    cause = cause_of(oracle, failed, culprit, facts)
    certain = cause.certain and not faults.lines
    return FoundCause(replace(cause, certain=certain), "" if facts is None else facts.logged, str(faults))


def _facts(look: Look) -> FailureFacts:
    """All that is asked for: what the first of these says that has something to say of such a failure."""
    said = (question(look) for question in _QUESTIONS)
    return next((facts for facts in said if facts is not None), None) or _of_module(look)


def _left_operators(look: Look) -> FailureFacts | None:
    """Of operators that the VM has no instructions for."""
    passed = sites(look.failed.detail)
    if look.oracle != executable.ORACLE.name and not (passed and passed[-1].file == _VM_CODEGEN):
        return None
    left, logged = left_for_vm(look.case.module, (taken.step for taken in look.steps(look.bench())))
    return FailureFacts(left=left, left_by=LEGALIZE, logged=logged)


def _raised(look: Look) -> FailureFacts | None:
    """Of what raises in a function of TVM."""
    if not sites(look.failed.detail):
        return None
    lowered = look.culprit == CODEGEN or look.searches
    if lowered and (facts := broken_before(look)) is not None:
        return facts
    running = "" if look.blames_pass and not lowered else running_when_raised(look)
    if running != look.culprit:
        return _of_module(look, running=running, called=called_in(look.failed.detail))
    bench = look.bench()
    rule = rule_that_raises(look.steps(bench), bench)
    return replace(_of_module(look, called=called_in(look.failed.detail)), rule=rule)


def _wrong_gradient(look: Look) -> FailureFacts | None:
    """Of an adjoint that is not the derivative."""
    wrong = isinstance(look.failed.evidence, WrongGradient)
    return FailureFacts(operators=derived_in(look.case.module)) if wrong else None


def _took_too_much(look: Look) -> FailureFacts | None:
    """Of what takes too much time or memory."""
    return _of_module(look) if isinstance(look.failed.evidence, Hung | OutOfMemory) else None


def _died_of_code(look: Look) -> FailureFacts | None:
    """Of built code that ends its process."""
    return wrong_before(look) if dies_when_run(look) else None


def _died_in_build(look: Look) -> FailureFacts | None:
    """Of a process that ends while nothing that a pass gives has been blamed."""
    return _at_death(look) if isinstance(look.failed.evidence, Died) and not look.blames_pass else None


def _wrong_code(look: Look) -> FailureFacts | None:
    """Of wrong code, where no pass on the way is."""
    return of_codegen(look) if look.culprit == CODEGEN else None


def _at_culprit(look: Look) -> FailureFacts | None:
    """Of the step of the pass that is blamed."""
    found = look.culprits_step()
    if found is None or found.step.after is None:
        return None
    if found.step.row.has(Evaluates) and (facts := wrong_kernel(look, found)) is not None:
        return facts
    return of_part(look, found)


_QUESTIONS: tuple[Callable[[Look], FailureFacts | None], ...] = (
    _left_operators,
    _raised,
    _wrong_gradient,
    _took_too_much,
    _died_of_code,
    _died_in_build,
    wrong_on_the_way,
    _wrong_code,
    _at_culprit,
)


def _at_death(look: Look) -> FailureFacts:
    """What the module holds, and the pass of a build that was running when the process ended, if any."""
    died = isinstance(look.failed.evidence, Died) and not look.blames_pass
    found = _of_module(look, running=running_at_death(look) if died else "")
    guarded = guarded_division(look.case.module) if dies_when_run(look) and look.failed.evidence == _BY_ZERO else ""
    return replace(found, holds=(guarded,)) if guarded else found


def _of_module(look: Look, running: str = "", called: str = "") -> FailureFacts:
    """What can be said where nothing is known of what the culprit did."""
    module = look.case.module
    row = look.repertoire.rows.get(running or look.culprit)
    return FailureFacts(
        running=running,
        called=called,
        operators=_failing_operators(look, row) or operators_in(module),
        each=row is not None and (row.has(Asks) or has_code_for_each(row)),
        holds=contents(module),
        floats=odd_floats(module),
        threads=TARGETS[look.plan.target].threads,
    )


def _failing_operators(look: Look, row: PassRow | None) -> tuple[str, ...]:
    """The kind of the operator in whose code for the pass it fails; () if it is another failure."""
    if row is None or look.failed.symptom != CRASH or row.name != look.culprit:
        return ()
    name = failing_operator(row, look.case.module, lambda: list(look.steps(look.bench())))
    return (str(operator_kind(name)),) if name else ()
