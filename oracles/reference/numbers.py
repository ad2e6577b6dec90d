"""The meaning of one case: the results of the starting module with bounds, and the comparison of later modules.

A bound that is wider than the value that it bounds judges nothing. Such a comparison is made again with the sharper
bounds of `oracles.reference.noise`; where these are too wide as well, only the bits of the module before can tell.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from generators.case import EntryCall
from generators.tvm_api import Constant, IRModule
from oracles.evidence import Evidence, ReferenceTrap, Stop
from oracles.ir.fingerprint import FINGERPRINTS
from oracles.reference.calling import Calling, LeftOut, Packed, Run, direct
from oracles.reference.compare import Agreement, Difference, compare, doubted, same_bits, width, within
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported, symptom_of
from oracles.reference.noise import Noise
from oracles.reference.recorded_run import RecordedRun
from oracles.reference.values import Runtime, Tensor, flattened, from_argument
from oracles.tolerance import Tolerance
from oracles.verdict import WRONG_RESULT, Inconclusive, Skipped


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
    how: str = ""
    """What the bound is, where it is not the worst case."""


@dataclass(frozen=True, slots=True)
class Unsure:
    """Nothing can be said of a module: `skipped` when it was not run, else the bounds were infinite or too wide.

    width: how many times as wide as the values the bounds are; 0 where that is not the reason.
    """

    reason: str
    skipped: bool = True
    stop: Stop | None = None
    width: float = 0.0

    @property
    def verdict(self) -> Skipped | Inconclusive:
        """What an oracle says of it."""
        if self.skipped:
            return Skipped(self.reason, stop=self.stop)
        return Inconclusive(self.reason, f"{self.width:.3g} times as wide" if self.width else "")


_UNWRITTEN = ReferenceTrap("uninitialised")
DISCARDS = ("integer-overflow", "float8-range", "domain", "fuel", "aliasing")
"""Traps that say nothing against a pass: TVM leaves the result of overflow open (apache/tvm#12383), and one tensor as
two operands of an in-place call is a known way of DataflowUseInplaceCalls that elementwise PrimFuncs survive."""

Results: TypeAlias = "dict[int, Runtime]"
"""Results of entry calls by their position among those of the case."""
SAMPLED_S = 5.0
"""CPU seconds that the first evaluation of an entry call may have taken where it is sampled, which takes several times
as long. Drawn modules take milliseconds."""
TOO_WIDE = "every bound is wider than its value"
SAMPLED = "bound by runs with random rounding, as the worst case is wider than the value; wrong in float64, too"


def interpreted(
    module: IRModule, synchronised: bool = False, recorded: RecordedRun | None = None, exactly: bool = False
) -> Run:
    """Runs functions of a module in the reference; as in the VM, constants keep their memory from call to call.

    exactly: operators of Relax give float64, whatever the dtypes; else every result is rounded to its dtype. PrimFuncs
    compute in their own dtypes.
    """
    constants: dict[Constant, Tensor] = {}

    def run(function: str, arguments: list[Runtime], packed: Packed = MappingProxyType({})) -> Runtime:
        machine = Interpreter(
            module,
            bounded=exactly,
            packed=packed,
            constants=constants,
            synchronised=synchronised,
            recorded=recorded,
        )
        with np.errstate(all="ignore"):
            return machine.apply(machine.function(function), arguments, function)

    return run


class Numbers:
    """Reference results of a case's entry calls, made once and compared with later modules.

    The first call must have a result, else nothing can be compared; others that have none are left out. left_out
    counts why entry calls were: in the starting module, or after a pass that they have no counterpart for. floor: the
    dtype that float operations may be carried out in instead of their own. tolerance: what a user asks for in place of
    all bounds.
    """

    def __init__(
        self,
        start: IRModule,
        calls: Sequence[EntryCall],
        floor: str | None = None,
        tolerance: Tolerance | None = None,
    ) -> None:
        self.start = start
        self.floor = floor
        self.tolerance = tolerance
        self._asked = tuple(calls)
        self.left_out: Counter[str] = Counter()
        self._judged: list[tuple[int, EntryCall]] = []
        self._took: list[float] = []
        self.expected: tuple[Runtime, ...] | NoMeaning = self._evaluate(calls)
        """The result of every call that is not left out."""
        self._known: dict[tuple[int, bool], None | Unsure] = {(FINGERPRINTS.of(start), False): None}
        """What was said of modules that do not differ, by fingerprint and whether barriers are explicit."""
        self._recorded: RecordedRun | None = None
        self._sharp: dict[int, Runtime] = {}
        self._before: Results | None = None
        """The results of the module that was interpreted last; None where that was not the last one."""
        self._first = True

    def coarser(self, floor: str) -> Numbers:
        """The same results with the bounds of an implementation in dtype `floor`; both share one `left_out`."""
        numbers = Numbers(self.start, self._asked, floor, self.tolerance)
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
            begun = time.thread_time()
            result = self._result(call)
            if not isinstance(result, NoMeaning):
                self._took.append(time.thread_time() - begun)
                self._judged.append((index, call))
                results.append(result)
            elif index == 0:
                return result
            else:
                self.left_out[f"entry call: {result.reason}"] += 1
        return tuple(results)

    def _result(self, call: EntryCall) -> Runtime | NoMeaning:
        try:
            result = Interpreter(self.start, bounded=True, floor=self.floor).run(call)
            return result if self.tolerance is None else within(result, self.tolerance)
        except Unsupported as error:
            return NoMeaning(f"reference: {error.node}", stop=error.stop)
        except Trap as trap:
            return NoMeaning(symptom_of(trap.kind), f"{trap.kind}: {trap.detail}", trap.kind, ReferenceTrap(trap.kind))

    @property
    def decisive(self) -> tuple[Runtime, ...]:
        """`expected` with the sharper bounds wherever the worst-case ones do not decide."""
        if isinstance(self.expected, NoMeaning):
            return ()
        return tuple(
            self._sharpened(place) if any(map(width, flattened(result))) else result
            for place, result in enumerate(self.expected)
        )

    def _sharpened(self, place: int) -> Runtime:
        """The result of an entry call with the sharper bounds; as it is where the runs for these come to no end, or
        would take too long."""
        assert not isinstance(self.expected, NoMeaning)
        if self.tolerance is not None or self._took[place] > SAMPLED_S:
            return self.expected[place]
        if place not in self._sharp:
            call = self._judged[place][1]
            machine = Interpreter(self.start, bounded=True, floor=self.floor, noise=Noise())
            try:
                self._sharp[place] = machine.run(call)
            except (Trap, Unsupported):
                self._sharp[place] = self.expected[place]
        return self._sharp[place]

    def judge_module(
        self, module: IRModule, calling: Calling = direct, synchronised: bool = False
    ) -> None | Wrong | Unsure:
        """Interprets `module` and compares every entry call's result; None where all agree.

        synchronised: the module is past ThreadSync, so that barriers between GPU threads are explicit.
        """
        if isinstance(self.expected, NoMeaning):
            return Unsure(self.expected.reason)
        code = FINGERPRINTS.of(module), synchronised
        if code in self._known:
            self._before, self._first = None, False
            return self._known[code]

        outcome = self._interpret(module, calling, synchronised)
        if not isinstance(outcome, Wrong) and _no_difference(outcome):
            self._known[code] = outcome
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
        return carried if _no_difference(carried) or copied_before else outcome

    def _run(
        self, recorded: RecordedRun, module: IRModule, calling: Calling, synchronised: bool
    ) -> None | Wrong | Unsure:
        results: Results = {}
        exactly = interpreted(module, synchronised, exactly=True)
        outcome = self.judge_run(interpreted(module, synchronised, recorded), calling, results, exactly)
        before, self._before = self._before, None
        if not _no_difference(outcome):
            return outcome
        if outcome is not None and self._as_before(before, results):
            outcome = None
        self._recorded, self._before, self._first = recorded, results, False
        return outcome

    def _as_before(self, before: Results | None, results: Results) -> bool:
        """Whether a module gives the bits that the one before it gives; the first one follows the starting module."""
        if before is None and self._first:
            before = {}
            self.judge_run(interpreted(self.start), direct, before)
        return (
            before is not None
            and before.keys() == results.keys()
            and all(same_bits(before[index], result) for index, result in results.items())
        )

    def judge_run(
        self, run: Run, calling: Calling = direct, results: Results | None = None, exactly: Run | None = None
    ) -> None | Wrong | Unsure:
        """Compares the results of `run` with the reference; `run` may raise Trap or Unsupported.

        Entry calls that `calling` leaves out are not compared; Unsure if it leaves out all of them. results: takes what
        `run` gives. exactly: the same functions with operators in float64; without it, only worst-case bounds say that
        a result is wrong.
        """
        if isinstance(self.expected, NoMeaning):
            return Unsure(self.expected.reason)
        agreed: list[Agreement] = []
        left_out = ""
        for place, (index, call) in enumerate(self._judged):
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
            again = None if exactly is None else partial(_called, calling, exactly, call)
            result, how = self._compared(place, actual, again)
            if isinstance(result, Difference):
                return Wrong(WRONG_RESULT, f"{result.kind}: {result.sentence}", index, result.evidence, how)
            agreed.append(result)
            if results is not None:
                results[index] = actual
        if left_out and not agreed:
            return Unsure(left_out)
        return undecided(agreed)

    def _compared(
        self, place: int, actual: Runtime, again: Callable[[], Runtime | None] | None
    ) -> tuple[Difference | Agreement, str]:
        """The comparison by the worst-case bounds; where these do not decide, by the sharper ones, which is said.

        again: the actual result in float64, None where it has none. Rounding may be biased, as in a long sum of equal
        terms, where the sharper bounds take it for random: so a difference by these alone counts only where the result
        in float64 differs as well.
        """
        assert not isinstance(self.expected, NoMeaning)
        found = compare(self.expected[place], actual)
        if self.tolerance is not None:
            return found, str(self.tolerance)
        if isinstance(found, Difference) or not any(found.widths) or again is None:
            return found, ""
        sharp = self._sharpened(place)
        sharper = compare(sharp, actual)
        if isinstance(sharper, Agreement):
            return sharper, ""
        if (exact := again()) is None:
            return found, ""
        confirmed = compare(doubted(sharp, exact), exact)
        return (sharper, SAMPLED) if isinstance(confirmed, Difference) else (confirmed, "")


def _called(calling: Calling, exactly: Run, call: EntryCall) -> Runtime | None:
    """What a call gives in float64; None where it comes to no end."""
    try:
        return calling(exactly, call.function, [from_argument(a) for a in call.arguments])
    except (LeftOut, Unsupported, Trap):
        return None


def _no_difference(outcome: None | Wrong | Unsure) -> bool:
    """Whether a module was run and nothing was found, though bounds may have been too wide to find anything."""
    return outcome is None or (isinstance(outcome, Unsure) and outcome.width > 0)


def undecided(agreed: list[Agreement]) -> Unsure | None:
    """What is said of entry calls that agree: Unsure where a finite bound is too wide for an output of one of them, or
    where the bounds of all outputs of all of them are."""
    if not agreed:
        return None
    if min(agreement.undecided for agreement in agreed) >= 1.0:
        return Unsure("every bound is infinite", skipped=False)
    finite = [w for agreement in agreed for w in agreement.widths if math.isfinite(w)]
    if any(finite):
        return Unsure(TOO_WIDE, skipped=False, width=max(finite))
    silent = [min(agreement.widths, default=0.0) for agreement in agreed]
    return Unsure(TOO_WIDE, skipped=False, width=min(silent)) if min(silent) > 0 else None
