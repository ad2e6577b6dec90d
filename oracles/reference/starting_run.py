"""The starting module of a case, run: what each entry call gives, and how near to it a later module must come.

A bound that is wider than the value that it bounds judges nothing, and one that is much of it judges little. Such a
comparison is made again with the sharper bounds of `oracles.reference.noise`, which are made once for an entry call,
and only where that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from generators.case import EntryCall
from generators.dtypes import NARROW, is_float
from generators.tvm_api import IRModule
from oracles.reference.compare import Agreement, Difference, compare, doubted, is_coarse, width, widths_of, within
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.noise import Noise
from oracles.reference.outcome import NoMeaning, no_meaning
from oracles.reference.sampling import Sampling
from oracles.reference.shaken import RUNS, Shaken, with_steps
from oracles.reference.values import Runtime, Tensor, flattened, round_to
from oracles.tolerance import Tolerance

SAMPLED_S = 5.0
"""CPU seconds that the first evaluation of an entry call may have taken where it is sampled, which takes several times
as long. Drawn modules take milliseconds."""
MOST_BY_STEPS = 1 / 4
"""The share of the values of an output that steps may change where they are to decide."""
IN_FLOAT64 = "both in float64, where a result of 16 bits may be off by one rounding alone"
STEPS_TAKEN = "bound by runs in which rounding decides steps as it comes; wrong in float64, too"
SAMPLED = "bound by runs with random rounding, as the worst case is much of the value; wrong in float64, too"


@dataclass(frozen=True, slots=True)
class CallResult:
    """What one entry call gives, with bounds. index: its place among the entry calls of the case. took_s: CPU seconds.
    widths: of the bounds, by output; every later module is compared with the same. coarse: see `is_coarse`."""

    index: int
    call: EntryCall
    value: Runtime
    took_s: float
    widths: tuple[float, ...]
    coarse: bool


class StartingRun:
    """The results of the entry calls of a case in the starting module.

    The first call must have a result, else there are none (`nothing`); others that have none are left out, for the
    reasons in `left_out`. floor: the dtype that float operations may be carried out in instead of their own.
    tolerance: what a user asks for instead of all bounds.
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
        self._sharp: dict[tuple[int, bool], CallResult | None] = {}
        self._with_steps: dict[int, CallResult | None] = {}

    def _evaluated(self, calls: Sequence[EntryCall]) -> tuple[CallResult, ...]:
        results: list[CallResult] = []
        for index, call in enumerate(calls):
            begun = time.thread_time()
            value = self._value(call)
            if not isinstance(value, NoMeaning):
                took_s = time.thread_time() - begun
                results.append(CallResult(index, call, value, took_s, widths_of(value), is_coarse(value)))
            elif index == 0:
                self.nothing = value
                return ()
            else:
                self.left_out.append(f"entry call: {value.reason}")
        return tuple(results)

    def _value(self, call: EntryCall) -> Runtime | NoMeaning:
        try:
            value = Interpreter(self.module, bounded=True, floor=self.floor).run(call)
            if self.tolerance is None:
                return value
            unrounded = self._run(call, Noise(absent=True))
            declared = Interpreter(self.module).run(call)
        except (Trap, Unsupported) as error:
            return no_meaning(error)
        return within(value, self.tolerance, unrounded, declared)

    @cached_property
    def has_16_bits(self) -> bool:
        """Whether a result has floats of 16 bits."""
        return any(_has_16_bits(leaf) for result in self.results for leaf in flattened(result.value))

    @property
    def decisive(self) -> tuple[Runtime, ...]:
        """The results with the sharper bounds wherever the worst-case ones do not decide."""
        return tuple(self._most_decisive(result).value for result in self.results)

    def _most_decisive(self, result: CallResult) -> CallResult:
        if not any(result.widths):
            return result
        sharp = self._sharpened(result)
        return self._stepping(result) or sharp if any(sharp.widths) else sharp

    def _sharpened(self, result: CallResult) -> CallResult:
        """The result with the sharper bounds; as it is where the runs for these come to no end, or would take too
        long."""
        return self._sampled(result, False) or result

    def _sampled(self, result: CallResult, once: bool) -> CallResult | None:
        """The result with bounds from runs with random rounding, None where there are none. once: those of exact
        arithmetic, see `Noise`."""
        if self.tolerance is not None or result.took_s > SAMPLED_S:
            return None
        place = result.index, once
        if place not in self._sharp:
            sampling = Noise(once=once)
            machine = Interpreter(self.module, bounded=True, floor=self.floor, sampling=sampling, widened=once)
            try:
                value = machine.run(result.call)
                self._sharp[place] = replace(result, value=value, widths=widths_of(value))
            except (Trap, Unsupported):
                self._sharp[place] = None
        return self._sharp[place]

    def _stepping(self, result: CallResult) -> CallResult | None:
        """The sharpened result with bounds for what comes after steps that rounding decides; None where there are none
        or they do not decide either."""
        if self.tolerance is not None or result.took_s > SAMPLED_S:
            return None
        if result.index not in self._with_steps:
            sharp = self._sharpened(result)
            try:
                unrounded = self._run(result.call, Noise(absent=True))
                runs = [self._run(result.call, Shaken(seed)) for seed in range(RUNS)]
            except (Trap, Unsupported):
                self._with_steps[result.index] = None
                return None
            value = with_steps(sharp.value, unrounded, runs)
            bounded = replace(sharp, value=value, widths=widths_of(value))
            decides = not any(width(leaf, MOST_BY_STEPS) for leaf in flattened(value))
            self._with_steps[result.index] = bounded if decides else None
        return self._with_steps[result.index]

    def _run(self, call: EntryCall, sampling: Sampling) -> Runtime:
        return Interpreter(self.module, bounded=True, floor=self.floor, sampling=sampling).run(call)

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
        if self.tolerance is not None or not result.coarse:
            return found
        sharp = self._sharpened(result)
        sharper = compare(sharp.value, actual, sharp.widths)
        if isinstance(sharper, Agreement):
            return sharper
        if (exact := again()) is None:
            return found
        confirmed = compare(doubted(sharp.value, exact), exact)
        return sharper if isinstance(confirmed, Difference) else confirmed

    def compared_in_float64(
        self, result: CallResult, found: Agreement, again: Callable[[], Runtime | None]
    ) -> Difference | Agreement:
        """The comparison of what both modules give in float64, where a result has 16 bits and bounds that are wide.

        Rounding to 16 bits in each operation hides what a wrong pass does: an epsilon of 0.01 for 1e-5 is less than
        what two right orders of a sum may differ by. In float64 these do not differ, so each result may be off by what
        one rounding to its dtype does, and no more: conversions that the pass moves. A folded constant may be off by
        more, see `Numbers`. again: the actual result with PrimFuncs in float64 as well, None where it has none.
        """
        if self.floor is not None or not any(map(_has_16_bits, flattened(result.value))):
            return found
        expected = self._sampled(result, once=True)
        if expected is None or (exact := again()) is None:
            return found
        return compare(doubted(expected.value, exact), _rounded(exact), expected.widths)

    def compared_after_steps(
        self, result: CallResult, actual: Runtime, found: Agreement, again: Callable[[], Runtime | None]
    ) -> Difference | Agreement:
        """The comparison by what steps do that rounding decides, where `found` leaves most of an output open for such.

        again: the actual result in float64, None where it has none. It has to differ as well.
        """
        if not found.undecided or not any(found.widths) or (stepping := self._stepping(result)) is None:
            return found
        said = compare(stepping.value, actual, stepping.widths)
        if isinstance(said, Agreement):
            return said
        if (exact := again()) is None:
            return found
        return said if isinstance(compare(stepping.value, exact), Difference) else found


def _has_16_bits(leaf: Runtime) -> bool:
    return isinstance(leaf, Tensor) and leaf.dtype in NARROW


def _rounded(value: Runtime) -> Runtime:
    """A result in its declared dtypes."""
    if isinstance(value, tuple):
        return tuple(_rounded(field) for field in value)
    if isinstance(value, Tensor) and is_float(value.dtype):
        return replace(value, value=round_to(value.value, value.dtype))
    return value
