"""The meaning of one case: the results of the starting module with bounds, and the comparison of later modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from generators.case import EntryCall
from generators.tvm_api import Constant, IRModule
from oracles.evidence import Evidence, ReferenceTrap, Stop
from oracles.ir.fingerprint import FINGERPRINTS
from oracles.reference.calling import Calling, LeftOut, Packed, Run, direct
from oracles.reference.compare import Agreement, Difference, compare
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported, symptom_of
from oracles.reference.recorded_run import RecordedRun
from oracles.reference.values import Runtime, Tensor, from_argument
from oracles.verdict import WRONG_RESULT


@dataclass(frozen=True, slots=True)
class NoMeaning:
    """Why the starting module has no reference result: a trap (ours or the program's) or an unknown construct.

    trap: the trap's words, and kind: its kind; None for an unknown construct.
    """

    reason: str
    trap: str | None = None
    kind: str | None = None
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A module gives another result, or none: `symptom`, one line, and the entry call that shows it."""

    symptom: str
    message: str
    call: int
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Unsure:
    """Nothing can be said of a module: `skipped` when it was not run, else the bounds were infinite."""

    reason: str
    skipped: bool = True
    stop: Stop | None = None


_UNWRITTEN = ReferenceTrap("uninitialised")
DISCARDS = ("integer-overflow", "float8-range", "domain", "fuel", "aliasing")
"""Traps that say nothing against a pass: TVM leaves the result of overflow open (apache/tvm#12383), and one tensor as
two operands of an in-place call is a known way of DataflowUseInplaceCalls that elementwise PrimFuncs survive."""


def interpreted(module: IRModule, synchronised: bool = False, recorded: RecordedRun | None = None) -> Run:
    """Runs functions of a module in the reference; as in the VM, constants keep their memory from call to call."""
    constants: dict[Constant, Tensor] = {}

    def run(function: str, arguments: list[Runtime], packed: Packed = MappingProxyType({})) -> Runtime:
        machine = Interpreter(module, packed=packed, constants=constants, synchronised=synchronised, recorded=recorded)
        with np.errstate(all="ignore"):
            return machine.apply(machine.function(function), arguments, function)

    return run


class Numbers:
    """Reference results of a case's entry calls, made once and compared with later modules.

    The first call must have a result, else nothing can be compared; others that have none are left out. left_out
    counts why entry calls were: in the starting module, or after a pass that they have no counterpart for. floor: the
    dtype that float operations may be carried out in instead of their own.
    """

    def __init__(self, start: IRModule, calls: Sequence[EntryCall], floor: str | None = None) -> None:
        self.start = start
        self.floor = floor
        self._asked = tuple(calls)
        self.left_out: Counter[str] = Counter()
        self._judged: list[tuple[int, EntryCall]] = []
        self.expected: tuple[Runtime, ...] | NoMeaning = self._evaluate(calls)
        """The result of every call that is not left out."""
        self._agreeing: list[tuple[int, bool]] = [(FINGERPRINTS.of(start), False)]
        self._recorded: RecordedRun | None = None

    def coarser(self, floor: str) -> Numbers:
        """The same results with the bounds of an implementation in dtype `floor`; both share one `left_out`."""
        numbers = Numbers(self.start, self._asked, floor)
        self.left_out |= numbers.left_out
        numbers.left_out = self.left_out
        return numbers

    @property
    def calls(self) -> tuple[EntryCall, ...]:
        """The entry calls with a result in `expected`."""
        return tuple(call for _, call in self._judged)

    @property
    def indices(self) -> tuple[int, ...]:
        """The positions of `calls` among the entry calls of the case."""
        return tuple(index for index, _ in self._judged)

    def _evaluate(self, calls: Sequence[EntryCall]) -> tuple[Runtime, ...] | NoMeaning:
        results: list[Runtime] = []
        for index, call in enumerate(calls):
            result = self._result(call)
            if not isinstance(result, NoMeaning):
                self._judged.append((index, call))
                results.append(result)
            elif index == 0:
                return result
            else:
                self.left_out[f"entry call: {result.reason}"] += 1
        return tuple(results)

    def _result(self, call: EntryCall) -> Runtime | NoMeaning:
        try:
            return Interpreter(self.start, bounded=True, floor=self.floor).run(call)
        except Unsupported as error:
            return NoMeaning(f"reference: {error.node}", stop=error.stop)
        except Trap as trap:
            return NoMeaning(symptom_of(trap.kind), f"{trap.kind}: {trap.detail}", trap.kind, ReferenceTrap(trap.kind))

    def judge_module(
        self, module: IRModule, calling: Calling = direct, synchronised: bool = False
    ) -> None | Wrong | Unsure:
        """Interprets `module` and compares every entry call's result; None where all agree.

        synchronised: the module is past ThreadSync, so that barriers between GPU threads are explicit.
        """
        if isinstance(self.expected, NoMeaning):
            return Unsure(self.expected.reason)
        code = FINGERPRINTS.of(module), synchronised
        if code in self._agreeing:
            return None

        outcome = self._interpret(module, calling, synchronised)
        if outcome is None:
            self._agreeing.append(code)
        return outcome

    def _interpret(self, module: IRModule, calling: Calling, synchronised: bool) -> None | Wrong | Unsure:
        """Runs the module, or only the calls that differ from the last run that agreed. Reads of uninitialised elements
        are no fault if these are only copied and all results agree."""
        if self._recorded is not None and self._recorded.speaks_for(module, calling, synchronised):
            return None
        left_out = Counter(self.left_out)
        copied_before = self._recorded is not None and self._recorded.carrying
        outcome = self._run(RecordedRun(module, calling, synchronised), module, calling, synchronised)
        if not (isinstance(outcome, Wrong) and outcome.evidence == _UNWRITTEN):
            return outcome
        self.left_out.clear()  # The same calls are made again, and left out again.
        self.left_out.update(left_out)
        carried = self._run(RecordedRun(module, calling, synchronised, carrying=True), module, calling, synchronised)
        return carried if carried is None or copied_before else outcome

    def _run(
        self, recorded: RecordedRun, module: IRModule, calling: Calling, synchronised: bool
    ) -> None | Wrong | Unsure:
        outcome = self.judge_run(interpreted(module, synchronised, recorded), calling)
        if outcome is None:
            self._recorded = recorded
        return outcome

    def judge_run(self, run: Run, calling: Calling = direct) -> None | Wrong | Unsure:
        """Compares the results of `run` with the reference; `run` may raise Trap or Unsupported.

        Entry calls that `calling` leaves out are not compared; Unsure if it leaves out all of them.
        """
        if isinstance(self.expected, NoMeaning):
            return Unsure(self.expected.reason)
        undecided: list[float] = []
        left_out = ""
        for (index, call), expected in zip(self._judged, self.expected, strict=True):
            try:
                actual = calling(run, call.function, [from_argument(a) for a in call.arguments])
            except LeftOut as why:
                left_out = why.reason
                self.left_out[why.reason] += 1
                continue
            except Unsupported as error:
                return Unsure(f"reference: {error.node}", stop=error.stop)
            except Trap as trap:
                if trap.kind in DISCARDS:
                    return Unsure(f"discarded: {trap.kind}")
                return Wrong(symptom_of(trap.kind), trap.detail, index, trap.evidence)
            result = compare(expected, actual)
            if isinstance(result, Difference):
                return Wrong(WRONG_RESULT, f"{result.kind}: {result.sentence}", index, result.evidence)
            assert isinstance(result, Agreement)
            undecided.append(result.undecided)
        if left_out and not undecided:
            return Unsure(left_out)
        if undecided and min(undecided) >= 1.0:
            return Unsure("every bound is infinite", skipped=False)
        return None
