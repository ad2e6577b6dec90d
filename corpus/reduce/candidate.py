"""What reduction takes and gives: a Candidate (live module, passes, calls), and the Smallest that still fails."""

from __future__ import annotations

from dataclasses import dataclass, replace

import tvm_ffi
from tvm import relax, tirx

from corpus.finding import ReductionStats
from corpus.scripts.module_text import live_module, text_of
from generators import tvm_api as T
from generators.case import Case, EntryCall, PassCall


@dataclass(frozen=True, slots=True)
class Candidate:
    """A live IRModule with what is done to it. `setup` runs before `passes`; only `passes` are under test."""

    module: T.IRModule
    setup: tuple[PassCall, ...]
    passes: tuple[PassCall, ...]
    calls: tuple[EntryCall, ...]


def candidate_of(case: Case) -> Candidate:
    """The live candidate of a case. Raises TVM's own error when this TVM cannot read the module."""
    return Candidate(live_module(case.module), case.setup, case.passes, case.calls)


def as_case(candidate: Candidate, like: Case) -> Case:
    """The candidate as a case with the target, origin and loaded file of another."""
    return replace(
        like, module=text_of(candidate.module), setup=candidate.setup, passes=candidate.passes, calls=candidate.calls
    )


@dataclass(frozen=True, slots=True)
class StepStats:
    """What a step of the search cost: candidates tried (calls of `interesting`), edits accepted, and seconds with all
    that it made and tried. fault: the first error of ours in it, "" for none; its edit was left out."""

    name: str
    tried: int
    accepted: int
    seconds: float
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest candidate found, and what finding it cost.

    oracle_calls counts calls of `interesting`; bindings are those of all Relax functions, statements those
    of all PrimFuncs. finished: no step had anything left to try (False: out of time or calls). whole: the module
    does not fail once it is taken apart and built anew, so that only functions and passes were left out.
    """

    candidate: Candidate
    oracle_calls: int
    seconds: float
    bindings_before: int
    bindings_after: int
    statements_before: int
    statements_after: int
    passes_before: int
    passes_after: int
    finished: bool
    whole: bool = False
    steps: tuple[StepStats, ...] = ()
    """In the order in which they were first tried; each step that was has one."""

    @property
    def accepted(self) -> tuple[tuple[str, int], ...]:
        """How many edits of each step were accepted, of those that had any."""
        return tuple((step.name, step.accepted) for step in self.steps if step.accepted)

    @property
    def faults(self) -> tuple[str, ...]:
        """The errors of ours, each with the step that it was in."""
        return tuple(f"{step.name}: {step.fault}" for step in self.steps if step.fault)

    def stats(self) -> ReductionStats:
        """The same as a finding keeps it."""
        return ReductionStats(
            bindings_before=self.bindings_before,
            bindings=self.bindings_after,
            statements_before=self.statements_before,
            statements=self.statements_after,
            passes_before=self.passes_before,
            passes=self.passes_after,
            oracle_calls=self.oracle_calls,
            seconds=self.seconds,
            out_of_time=not self.finished,
            whole=self.whole,
            faulty_steps=len(self.faults),
        )


def smallest_of(start: Candidate, best: Candidate, seconds: float, steps: tuple[StepStats, ...]) -> Smallest:
    """What a search that did not end has found, without the calls that it made."""
    return Smallest(
        candidate=best,
        oracle_calls=0,
        seconds=seconds,
        bindings_before=count_bindings(start.module),
        bindings_after=count_bindings(best.module),
        statements_before=count_statements(start.module),
        statements_after=count_statements(best.module),
        passes_before=len(start.passes),
        passes_after=len(best.passes),
        finished=False,
        steps=steps,
    )


def count_bindings(module: T.IRModule) -> int:
    """Bindings of all Relax functions, those inside branches and local functions too."""
    functions = [f for f in module.functions.values() if isinstance(f, relax.Function)]
    return sum(_bindings_of(function.body) for function in functions)


def _bindings_of(body: T.Expr) -> int:
    if not isinstance(body, relax.SeqExpr):
        return 0
    return sum(1 + _inner_bindings(binding.value) for block in body.blocks for binding in block.bindings)


def _inner_bindings(value: T.Expr) -> int:
    if isinstance(value, relax.If):
        return _bindings_of(value.true_branch) + _bindings_of(value.false_branch)
    return _bindings_of(value.body) if isinstance(value, relax.Function) else 0


def count_statements(module: T.IRModule) -> int:
    """Statements of all PrimFuncs, sequences not counted themselves."""
    count = 0

    def visit(node: T.Stmt) -> None:
        nonlocal count
        if not isinstance(node, tirx.SeqStmt):
            count += 1

    for function in module.functions.values():
        if isinstance(function, tirx.PrimFunc):
            tvm_ffi.structural_walk(function.body, [(tirx.Stmt, visit)])
    return count
