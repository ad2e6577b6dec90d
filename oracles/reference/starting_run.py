"""The starting module of a case, run: what each entry call gives, and how near to it a later module must come.

A bound that is wider than the value that it bounds judges nothing. Such a comparison is made again with the sharper
bounds of `oracles.reference.noise`, which are made once for an entry call, and only where that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from generators.case import EntryCall
from generators.tvm_api import IRModule
from oracles.reference.compare import Agreement, Difference, compare, doubted, widths_of, within
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.noise import Noise
from oracles.reference.outcome import NoMeaning, no_meaning
from oracles.reference.values import Runtime
from oracles.tolerance import Tolerance

SAMPLED_S = 5.0
"""CPU seconds that the first evaluation of an entry call may have taken where it is sampled, which takes several times
as long. Drawn modules take milliseconds."""
SAMPLED = "bound by runs with random rounding, as the worst case is wider than the value; wrong in float64, too"


@dataclass(frozen=True, slots=True)
class CallResult:
    """What one entry call gives, with bounds. index: its place among the entry calls of the case. took_s: CPU seconds.
    widths: of the bounds, by output; every later module is compared with the same."""

    index: int
    call: EntryCall
    value: Runtime
    took_s: float
    widths: tuple[float, ...]


class StartingRun:
    """The results of the entry calls of a case in the starting module.

    The first call must have a result, else there are none (`nothing`); others that have none are left out, for the
    reasons in `left_out`. floor: the dtype that float operations may be carried out in instead of their own.
    tolerance: what a user asks for in place of all bounds.
    """

    def __init__(
        self, module: IRModule, calls: Sequence[EntryCall], floor: str | None, tolerance: Tolerance | None
    ) -> None:
        self.module = module
        self.floor = floor
        self.tolerance = tolerance
        self.nothing: NoMeaning | None = None
        self.left_out: list[str] = []
        self.results = self._evaluated(calls)
        self._sharp: dict[int, CallResult] = {}

    def _evaluated(self, calls: Sequence[EntryCall]) -> tuple[CallResult, ...]:
        results: list[CallResult] = []
        for index, call in enumerate(calls):
            begun = time.thread_time()
            value = self._value(call)
            if not isinstance(value, NoMeaning):
                took_s = time.thread_time() - begun
                results.append(CallResult(index, call, value, took_s, widths_of(value)))
            elif index == 0:
                self.nothing = value
                return ()
            else:
                self.left_out.append(f"entry call: {value.reason}")
        return tuple(results)

    def _value(self, call: EntryCall) -> Runtime | NoMeaning:
        try:
            value = Interpreter(self.module, bounded=True, floor=self.floor).run(call)
        except (Trap, Unsupported) as error:
            return no_meaning(error)
        return value if self.tolerance is None else within(value, self.tolerance)

    @property
    def decisive(self) -> tuple[Runtime, ...]:
        """The results with the sharper bounds wherever the worst-case ones do not decide."""
        return tuple(self._sharpened(result).value if any(result.widths) else result.value for result in self.results)

    def _sharpened(self, result: CallResult) -> CallResult:
        """The result with the sharper bounds; as it is where the runs for these come to no end, or would take too
        long."""
        if self.tolerance is not None or result.took_s > SAMPLED_S:
            return result
        if result.index not in self._sharp:
            machine = Interpreter(self.module, bounded=True, floor=self.floor, noise=Noise())
            try:
                value = machine.run(result.call)
                self._sharp[result.index] = replace(result, value=value, widths=widths_of(value))
            except (Trap, Unsupported):
                self._sharp[result.index] = result
        return self._sharp[result.index]

    def compared(self, result: CallResult, actual: Runtime) -> Difference | Agreement:
        """The comparison by the worst-case bounds, or the user's."""
        return compare(result.value, actual, result.widths)

    def compared_sharply(
        self, result: CallResult, actual: Runtime, found: Agreement, again: Callable[[], Runtime | None]
    ) -> Difference | Agreement:
        """The comparison by the sharper bounds, where the worst-case ones `found` an agreement that does not decide.

        again: the actual result in float64, None where it has none. Rounding may be biased, as in a long sum of equal
        terms, where the sharper bounds take it for random: so a difference by these alone counts only where the result
        in float64 differs as well.
        """
        if self.tolerance is not None or not any(found.widths):
            return found
        sharp = self._sharpened(result)
        sharper = compare(sharp.value, actual, sharp.widths)
        if isinstance(sharper, Agreement):
            return sharper
        if (exact := again()) is None:
            return found
        confirmed = compare(doubted(sharp.value, exact), exact)
        return sharper if isinstance(confirmed, Difference) else confirmed
