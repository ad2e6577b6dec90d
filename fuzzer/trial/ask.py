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

Ask: TypeAlias = Callable[[StepOracle, Step], Verdict | None]
"""What an oracle says of a step; None where it is not asked."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the answers mean for the rest of a case. good: whether it may go on. right: whether numbers still are."""

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
        record.verdict(row.name, verdict, step)
        if isinstance(verdict, Failed):
            step = replace(step, broken=step.broken or row.of_structure)
            good = good and not row.ends_case
            right = right and not row.judges_numbers
    return Answered(good, right)
