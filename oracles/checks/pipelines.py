"""Two official pipelines build one module: what comes out of both must agree, and both must come to an end.

The starting module is built by `relax.get_pipeline("default_build")` and by `relax.get_default_pipeline(target)`, run,
and the results are held against each other: within the sum of both bounds where the reference gives numbers. Where it
gives none, shapes and dtypes count, and values only in a module without any float: an integer may follow from a float
(argmax, a cast), and which rounding the fused kernel does is promised by no pass. The culprit is the pipeline that the
reference contradicts, or that does not end; both if it is unknown which of them is wrong. Of a pipeline that the
reference contradicts, the first wrong pass is named where the reference can follow it; if it contradicts both, that of
the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import tvm
from tvm import relax

from generators import tvm_api as T
from generators.case import EntryCall
from generators.dtypes import is_float
from generators.passes.row import Phase
from generators.passes.table import PIPELINES, TIR_PIPELINE
from generators.tvm_api import IRModule, Pass, Target, VirtualMachine
from oracles.builds.blame import first_wrong
from oracles.builds.build import Built, as_built, not_runnable, unregistered
from oracles.builds.needs import LLVM
from oracles.evidence import Died, Evidence, Hung
from oracles.forked import Ended, forked
from oracles.oracle import TraceOracle
from oracles.reference.compare import Agreement, Difference, compare, widened
from oracles.reference.errors import Unsupported
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, undecided
from oracles.reference.values import Runtime, Tensor, from_argument
from oracles.trace import Bench, Position, Raised, Trace
from oracles.tvm_errors import in_a_line, out_of_memory, states_limit
from oracles.verdict import (
    CODEGEN,
    CRASH,
    DOES_NOT_BUILD,
    DOES_NOT_RUN,
    HANG,
    PASSED,
    WRONG_RESULT,
    Failed,
    Skipped,
    Verdict,
)

DEFAULT_BUILD = "default_build"
TARGET_DEFAULT = "target default pipeline"
BOTH = f"{DEFAULT_BUILD} or {TARGET_DEFAULT}"
"""The culprit where the two differ and nothing says which is right."""

ROWS = {DEFAULT_BUILD: "default_build", TARGET_DEFAULT: "llvm"}
"""The pipelines as the pass table knows them."""

Outputs: TypeAlias = tuple[Runtime, ...]
"""What the entry calls give, one result each."""


NOT_LOWERED = "CodeGenVM cannot emit this Relax operator directly"
"""What LegalizeOps leaves is the matter of the oracle of that name; one pipeline drops dead calls, one does not."""
LIMIT_S = 15
"""Seconds for building and running by one pipeline."""
HANG_CPU_S = 4.0
"""CPU seconds that a pipeline has had at least where it counts as hanging; on a busy machine others have them."""


@dataclass(frozen=True, slots=True)
class Undone:
    """Why there is nothing to compare, which says nothing of a pipeline."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """A pipeline that did not get to a result: the symptom and the error."""

    symptom: str
    error: Raised


def judge(trace: Trace, bench: Bench) -> Verdict:
    """Failed("wrong result"), or "does not build", "does not run", "crash" or "hang" where one pipeline does."""
    numbers = bench.numbers
    if isinstance(numbers.expected, NoMeaning) and numbers.expected.trap is not None:
        return Skipped(numbers.expected.reason)
    if (reason := not_runnable(numbers.starting.module) or unregistered(numbers.starting.module)) is not None:
        return Skipped(f"pipelines: {reason}")
    target = tvm.target.Target(trace.target)
    # Numbers leave out the calls that the reference has no result of; where it has none at all, all are made.
    calls = trace.calls if isinstance(numbers.expected, NoMeaning) else numbers.calls
    first = outputs(numbers.starting.module, calls, relax.get_pipeline(DEFAULT_BUILD), target, bench)
    second = outputs(numbers.starting.module, calls, relax.get_default_pipeline(target), target, bench)
    if isinstance(first, Undone):
        return Skipped(f"pipelines: {first.reason}")
    if isinstance(second, Undone):
        return Skipped(f"pipelines: {second.reason}")
    if isinstance(first, Stopped) or isinstance(second, Stopped):
        return _stopped(first, second)
    verdict = compared(as_built(numbers), first, second)
    if isinstance(verdict, Failed) and verdict.culprit and not isinstance(numbers.expected, NoMeaning):
        wrong = DEFAULT_BUILD if verdict.culprit == BOTH else verdict.culprit
        names = (*PIPELINES[ROWS[wrong]], *TIR_PIPELINE)
        found = first_wrong(names, Position.at(numbers.starting.module), as_built(numbers), bench)
        return verdict if found in (None, CODEGEN) else replace(verdict, culprit=found)
    return verdict


def outputs(
    start: IRModule, calls: tuple[EntryCall, ...], pipeline: Pass, target: Target, bench: Bench
) -> Outputs | Stopped | Undone:
    """The results of entry calls in a module built by a pipeline, in a process of its own. Raises ChildRaised."""
    ended = forked(lambda: _outputs(start, calls, pipeline, target, bench), LIMIT_S)
    if not isinstance(ended, Ended):
        return ended
    hangs = ended.hung
    if ended.from_outside:
        return Undone("killed from outside, or out of memory")
    if hangs and ended.cpu_s < HANG_CPU_S:
        return Undone("a busy machine takes too long")
    message = f"no result within {LIMIT_S} s" if hangs else ended.how
    return Stopped(HANG if hangs else CRASH, Raised(ended.how, message, explicit=False))


def _outputs(
    start: IRModule, calls: tuple[EntryCall, ...], pipeline: Pass, target: Target, bench: Bench
) -> Outputs | Stopped | Undone:
    def machine() -> VirtualMachine:
        executable = relax.build(start, target=target, relax_pipeline=pipeline)
        return relax.VirtualMachine(executable, tvm.cpu())

    built = bench.guarded(machine)
    if isinstance(built, Raised):
        return Stopped(DOES_NOT_BUILD, built)
    run = Built(built).run
    results: list[Runtime] = []
    for call in calls:
        result = bench.guarded(_calling(run, call.function, [from_argument(a) for a in call.arguments]))
        if isinstance(result, Raised):
            return Stopped(DOES_NOT_RUN, result)
        if isinstance(result, Undone):
            return result
        results.append(result)
    return tuple(results)


def _calling(run: Callable[..., Runtime], function: str, arguments: list[Runtime]) -> Callable[[], Runtime | Undone]:
    def call() -> Runtime | Undone:
        try:
            return run(function, arguments)
        except Unsupported:
            return Undone("a result of a kind without a name")

    return call


def _stopped(first: Outputs | Stopped, second: Outputs | Stopped) -> Verdict:
    """One pipeline that stops where the other does not is wrong, unless it states a limit."""
    if isinstance(first, Stopped) and isinstance(second, Stopped):
        return Skipped("pipelines: neither gets to a result")
    culprit, stop = (DEFAULT_BUILD, first) if isinstance(first, Stopped) else (TARGET_DEFAULT, second)
    assert isinstance(stop, Stopped)
    if states_limit(stop.error) or NOT_LOWERED in stop.error.message:
        return Skipped(f"rejected: {culprit}: {stop.error.kind}")
    ended = stop.symptom in (CRASH, HANG)
    message = stop.error.message if ended else in_a_line(stop.error)
    evidence = _evidence(stop)
    return Failed(stop.symptom, message, stop.error.traceback or stop.error.message, culprit, evidence)


def _evidence(stop: Stopped) -> Evidence | None:
    if stop.symptom == HANG:
        return Hung()
    return Died(stop.error.kind) if stop.symptom == CRASH else out_of_memory(stop.error)


def compared(numbers: Numbers, first: Outputs, second: Outputs) -> Verdict:
    """The verdict on the results of default_build (first) and of the target's default pipeline (second)."""
    if isinstance(numbers.expected, NoMeaning):
        exact = "float" not in T.json_of(numbers.starting.module)
        return _each([_loosely(result, exact) for result in first], second, BOTH)
    wanted = numbers.expected
    alone = [_each(wanted, results, culprit) for results, culprit in _by_culprit(first, second)]
    wrong = [verdict for verdict in alone if isinstance(verdict, Failed)]
    if len(wrong) < 2:
        return wrong[0] if wrong else alone[0]
    pairs = zip(wanted, first, strict=True)
    return _each([widened(bounded, result) for bounded, result in pairs], second, BOTH)


def _by_culprit(first: Outputs, second: Outputs) -> tuple[tuple[Outputs, str], tuple[Outputs, str]]:
    return (first, DEFAULT_BUILD), (second, TARGET_DEFAULT)


def _each(expected: tuple[Runtime, ...] | list[Runtime], results: Outputs, culprit: str) -> Verdict:
    agreed: list[Agreement] = []
    for index, (wanted, given) in enumerate(zip(expected, results, strict=True)):
        found = compare(wanted, given)
        if isinstance(found, Difference):
            message = f"{found.kind}: {found.sentence}"
            return Failed(WRONG_RESULT, message, f"entry call {index}: {message}", culprit, found.evidence)
        agreed.append(found)
    said = undecided(agreed)
    return PASSED if said is None else said.verdict


def _loosely(result: Runtime, exact: bool) -> Runtime:
    """A result as something to compare with where no bound is known. exact: values of other than floats count."""
    if isinstance(result, tuple):
        return tuple(_loosely(field, exact) for field in result)
    if not isinstance(result, Tensor) or (exact and not is_float(result.dtype)):
        return result
    return replace(result, error=np.full(result.shape, np.inf))


ORACLE = TraceOracle(
    "pipelines",
    "both official pipelines build the module and agree",
    judge,
    rank=70,
    share=0.01,
    of_passes=False,
    until=Phase.LEGAL,
    needs_numbers=True,
    builders=frozenset({LLVM.name}),
)
