"""Every pass keeps the meaning: the reference gives the same numbers before and after, within bounds.

The starting module is evaluated once in float64 with error bounds that follow the computation; the module
after each pass is evaluated in its declared precision. The first pass after which they differ is the culprit. What the
numbers are held to after a pass that changes them or lowers their precision on purpose is said in `oracles.walk`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from typing_extensions import assert_never

from oracles.evidence import ReferenceTrap
from oracles.forked import Ended, forked
from oracles.ir.difference import difference
from oracles.oracle import Knowledge, Runs, Stage, StepOracle
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure, Wrong
from oracles.trace import Bench, Raised, Step, outcome_at
from oracles.tvm_errors import in_a_line
from oracles.verdict import PASSED, Failed, Skipped, Verdict

GuardedText: TypeAlias = Callable[[Callable[[], str]], str | Raised]
"""Gives a text, or what TVM raised, as a value."""
PRINT_S = 10
"""Seconds that printing the change of one pass may take."""


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("wrong result") for another number, Failed("reference trap: ...") for undefined behaviour brought in."""
    return judged(step, bench.numbers, bench.guarded)


def judged(step: Step, numbers: Numbers, guarded: GuardedText) -> Verdict:
    """What these numbers say of a step."""
    if step.end is None:
        return Skipped("the pass raised")
    if step.end.lost is None and isinstance(numbers.expected, NoMeaning):
        return Skipped(numbers.expected.reason, stop=numbers.expected.stop)
    outcome = outcome_at(step.end, numbers)
    match outcome:
        case None:
            return PASSED
        case Unsure():
            return outcome.verdict
        case Wrong(symptom, message, call, evidence, how):
            said_already = step.broken and isinstance(evidence, ReferenceTrap)
            shown = "" if said_already else change_of(step, guarded)
            if numbers.starting.tolerance is not None:
                message = f"{message}; {how}"
                how = ""
            detail = f"entry call {call}: {message}" + (f" ({how})" if how else "")
            return Failed(symptom, message, detail, evidence=evidence, difference=shown)
        case _:
            assert_never(outcome)


def change_of(step: Step, guarded: GuardedText) -> str:
    """The change that the pass made, printed in a child: TVM's printer may fail on it in any way, crashes included.

    guarded: gives what TVM raises as a value. Raises ChildRaised for an exception of ours."""
    shown = forked(lambda: guarded(lambda: difference(step.before, step.after)), PRINT_S)
    if isinstance(shown, str):
        return shown
    how = shown.how if isinstance(shown, Ended) else in_a_line(shown)
    return f"TVM's printer fails on what the pass changed: {how}\n"


ORACLE = StepOracle(
    "numeric",
    "the reference gives the same numbers before and after the pass",
    judge,
    stage=Stage.NUMBERS,
    runs=Runs.REFERENCE,
    rank=40,
    of_result=True,
    needs_numbers=True,
    judges_numbers=True,
    foreign=Knowledge.NOTHING,
)
