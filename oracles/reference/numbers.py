"""The meaning of one case: what the starting module gives, with bounds, and whether a later module gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from generators import tvm_api
from generators.case import EntryCall
from oracles.calling import Calling, Run, direct
from oracles.reference.compare import Agreement, Difference, compare
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.values import Runtime, from_argument


@dataclass(frozen=True, slots=True)
class NoMeaning:
    """Why the starting module has no reference result: a trap (ours or the program's) or an unknown construct."""

    reason: str
    trap: str | None = None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A module gives another result, or none: `symptom`, one line, and the entry call that shows it."""

    symptom: str
    message: str
    call: int


@dataclass(frozen=True, slots=True)
class Unsure:
    """Nothing can be said of a module: `skipped` when it was not run, else the bounds were infinite."""

    reason: str
    skipped: bool = True


DISCARDS = ("integer-overflow", "fuel", "aliasing")
"""Traps that say nothing against a pass: overflow is to be discarded (TRIAGE), and one tensor as two operands of an
in-place call is a known way of DataflowUseInplaceCalls that elementwise PrimFuncs survive."""


class Numbers:
    """Reference results of a case's entry calls, made once and compared with later modules."""

    def __init__(self, start: Any, calls: Sequence[EntryCall]) -> None:
        self.start = start
        self.calls = tuple(calls)
        self.expected: tuple[Runtime, ...] | NoMeaning = self._evaluate()
        self._agreeing: list[int] = [tvm_api.structural_hash(start)]

    def _evaluate(self) -> tuple[Runtime, ...] | NoMeaning:
        try:
            return tuple(Interpreter(self.start, bounded=True).run(call) for call in self.calls)
        except Unsupported as error:
            return NoMeaning(f"reference: {error.node}")
        except Trap as trap:
            return NoMeaning(f"reference trap: {trap.kind}", f"{trap.kind}: {trap.detail}")

    def judge_module(self, module: Any, calling: Calling = direct) -> None | Wrong | Unsure:
        """Interprets `module` and compares every entry call's result; None where all agree."""
        if isinstance(self.expected, NoMeaning):
            return Unsure(self.expected.reason)
        code = tvm_api.structural_hash(module)
        if code in self._agreeing:
            return None

        def run(function: str, arguments: list[Runtime]) -> Runtime:
            machine = Interpreter(module)
            with np.errstate(all="ignore"):
                return machine.apply(machine.function(function), arguments, function)

        outcome = self.judge_run(run, calling)
        if outcome is None:
            self._agreeing.append(code)
        return outcome

    def judge_run(self, run: Run, calling: Calling = direct) -> None | Wrong | Unsure:
        """Compares what `run` gives with the reference; `run` may raise Trap or Unsupported."""
        if isinstance(self.expected, NoMeaning):
            return Unsure(self.expected.reason)
        undecided = []
        for index, (call, expected) in enumerate(zip(self.calls, self.expected, strict=True)):
            try:
                actual = calling(run, call.function, [from_argument(a) for a in call.arguments])
            except Unsupported as error:
                return Unsure(f"reference: {error.node}")
            except Trap as trap:
                if trap.kind in DISCARDS:
                    return Unsure(f"discarded: {trap.kind}")
                return Wrong(f"reference trap: {trap.kind}", trap.detail, index)
            result = compare(expected, actual)
            if isinstance(result, Difference):
                return Wrong("wrong result", f"{result.kind}: {result.sentence}", index)
            assert isinstance(result, Agreement)
            undecided.append(result.undecided)
        if undecided and min(undecided) >= 1.0:
            return Unsure("every bound is infinite", skipped=False)
        return None
