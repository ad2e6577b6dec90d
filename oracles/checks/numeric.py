"""Every pass keeps the meaning: the reference gives the same numbers before and after, within bounds.

The starting module is evaluated once in float64 with error bounds that follow the computation; the module
after each pass is evaluated in its declared precision. The first pass after which they differ is the culprit. After a
pass that lowers the precision on purpose, the bounds are those of the dtype that it lowers to.
"""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import assert_never

from generators.passes.row import Meaning
from generators.tvm_api import IRModule
from oracles.evidence import ReferenceTrap
from oracles.forked import Ended, forked
from oracles.ir.difference import difference
from oracles.ir.operators import BATCH_NORM, operator_calls
from oracles.oracle import Knowledge, Runs, Stage, StepOracle
from oracles.reference.outcome import NoMeaning, Unsure, Wrong
from oracles.trace import Bench, Raised, Step
from oracles.tvm_errors import in_a_line
from oracles.verdict import PASSED, Failed, Skipped, Verdict

PRINT_S = 10
"""Seconds that printing the change of one pass may take."""


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("wrong result") for another number, Failed("reference trap: ...") for undefined behaviour brought in."""
    meaning = bench.meaning
    if step.after is None or step.end is None or meaning.lost is not None:
        return Skipped(meaning.lost or "the pass raised")
    if step.row.promise.meaning is Meaning.CHANGED:
        meaning.lost = "numbers: changed on purpose by an earlier pass"
        return Skipped("numbers: changed on purpose")
    if step.row.promise.lowers_to is not None and meaning.numbers.starting.floor is None:
        meaning.numbers = meaning.numbers.coarser(step.row.promise.lowers_to)
    if isinstance(meaning.numbers.expected, NoMeaning):
        return Skipped(meaning.numbers.expected.reason, stop=meaning.numbers.expected.stop)
    if step.row.excuses.inference_only and _trains(step.before):
        meaning.lost = "numbers: inference form of a training batch_norm"
        return Skipped(meaning.lost)
    outcome = meaning.numbers.judge_module(step.after, step.end.calling, step.end.synchronised)
    match outcome:
        case None:
            return PASSED
        case Unsure():
            return outcome.verdict
        case Wrong(symptom, message, call, evidence, how):
            meaning.lost = "numbers: wrong after an earlier pass"
            said_already = step.broken and isinstance(evidence, ReferenceTrap)
            shown = "" if said_already else change_of(step, bench.guarded)
            if meaning.numbers.starting.tolerance is not None:
                message = f"{message}; {how}"
                how = ""
            detail = f"entry call {call}: {message}" + (f" ({how})" if how else "")
            return Failed(symptom, message, detail, evidence=evidence, difference=shown)
        case _:
            assert_never(outcome)


def change_of(step: Step, guarded: Callable[[Callable[[], str]], str | Raised]) -> str:
    """The change that the pass made, printed in a child: TVM's printer may fail on it in any way, crashes included.

    guarded: gives what TVM raises as a value. Raises ChildRaised for an exception of ours."""
    shown = forked(lambda: guarded(lambda: difference(step.before, step.after)), PRINT_S)
    if isinstance(shown, str):
        return shown
    how = shown.how if isinstance(shown, Ended) else in_a_line(shown)
    return f"TVM's printer fails on what the pass changed: {how}\n"


def _trains(module: IRModule) -> bool:
    """Whether a batch_norm of the module asks for training statistics."""
    return any(call.op.name == BATCH_NORM and call.attrs.training for call, _ in operator_calls(module))


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
