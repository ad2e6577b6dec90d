"""How the oracles are asked about one step: in their order, and no longer than their answers say something new."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from fuzzer.trial.record import Record
from oracles.evidence import ReferenceTrap
from oracles.oracle import StepOracle
from oracles.trace import Step
from oracles.verdict import Failed, Skipped, Verdict


def is_judged_already(row: StepOracle, step: Step) -> bool:
    """Whether what an oracle judges is the module before the step, which has been judged: the pass has changed nothing,
    and does not say that it means anything else from there on."""
    if not row.of_result or step.after is None or step.changed:
        return False
    return not (row.judges_numbers and step.means_anew)


Ask: TypeAlias = Callable[[StepOracle, Step], Verdict | None]
"""What an oracle says of a step; None where it is not asked."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the answers mean for the rest of a case. step: the step, as the oracles have left it. good: whether the case
    may go on. right: whether numbers still are."""

    step: Step
    good: bool = True
    right: bool = True


def ask_in_order(oracles: Iterable[StepOracle], step: Step, ask: Ask, record: Record) -> Answered:
    """Asks the oracles about a step and records what they say.

    Several oracles of structure see one broken module: the first that fails speaks for the others, and for what the
    reference traps on in such a module.
    """
    good = right = True
    for row in oracles:
        if (step.error is not None and not row.on_error) or (step.broken and row.of_structure):
            continue
        verdict = ask(row, step)
        if verdict is None:
            continue
        if step.broken and isinstance(verdict, Failed) and isinstance(verdict.evidence, ReferenceTrap):
            verdict, good = Skipped("reference: what an oracle of structure has said already"), False
        record.add_verdict(row.name, verdict, step)
        if isinstance(verdict, Failed):
            step = replace(step, broken=step.broken or row.of_structure)
            good = good and not row.ends_case
            right = right and not row.judges_numbers
    return Answered(step, good, right)
