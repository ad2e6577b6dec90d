"""The meaning of one case: the results of the starting module, and the comparison of later modules with them.

The results and their bounds are `oracles.reference.starting_run`'s. Here is what follows from one module on the way to
the next one: what was said of the same module before, the record of the last run, and what that gave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeAlias

from generators.case import EntryCall
from generators.dtypes import coarsest
from generators.tvm_api import IRModule
from oracles.evidence import ReferenceTrap
from oracles.ir.fingerprint import FINGERPRINTS
from oracles.reference.calling import Calling, LeftOut, Run, direct
from oracles.reference.compare import Agreement, Difference, same_bits
from oracles.reference.engine import interpreted
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.folded import NarrowContents, narrow_contents
from oracles.reference.outcome import NoMeaning, Outcome, Unsure, Wrong, no_difference, undecided, without_result
from oracles.reference.recorded_run import RecordedRun
from oracles.reference.starting_run import IN_FLOAT64, SAMPLED, STEPS_TAKEN, CallResult, StartingRun
from oracles.reference.values import Runtime, from_argument
from oracles.tolerance import Tolerance
from oracles.verdict import WRONG_RESULT

_UNWRITTEN = ReferenceTrap("uninitialised")
_OWN_FAULT = "own fault: the reference gives the starting module itself other numbers than its bounds allow"

_ModuleKey: TypeAlias = "tuple[int, Calling, frozenset[str]]"
"""A module by its fingerprint, how it is called, and the scopes in which barriers are explicit."""

Results: TypeAlias = "dict[int, Runtime]"
"""Results of entry calls by their position among those of the case."""


@dataclass(frozen=True, slots=True)
class _Lowered:
    """A module after a pass. calling: how entry calls are made in it. synchronised: see `tir.Context`."""

    module: IRModule
    calling: Calling
    synchronised: frozenset[str]

    def record(self, carrying: bool = False) -> RecordedRun:
        """An empty record of its run."""
        return RecordedRun(self.module, self.calling, self.synchronised, carrying)


@dataclass(frozen=True, slots=True)
class _LastRun:
    """What is kept of the modules before. record: of the last run that agreed, None before there is one. gave: the
    results of the module before, if that is the one that was run last."""

    record: RecordedRun | None
    gave: Callable[[], Results | None]

    def left(self) -> _LastRun:
        """The same, after a module whose results are not known."""
        return replace(self, gave=lambda: None)


@dataclass(frozen=True, slots=True)
class _Sharply:
    """How to judge results that worst-case bounds do not decide. exactly: the same functions with operators in float64.
    widely: with PrimFuncs of 16-bit floats in float64 as well, None where a pass may have computed in 16 bits.
    same_as_before: whether the results are those of the
    module before, bit for bit."""

    exactly: Run
    widely: Run | None
    same_as_before: Callable[[], bool]


class Numbers:
    """Reference results of a case's entry calls, made once and compared with later modules.

    starting: the run of the starting module. left_out counts why entry calls were: in the starting module, or after a
    pass that they have no counterpart for. floor, tolerance: see `StartingRun`.
    """

    def __init__(
        self,
        start: IRModule,
        calls: Sequence[EntryCall],
        floor: str | None = None,
        tolerance: Tolerance | None = None,
    ) -> None:
        self._asked = tuple(calls)
        self.starting = StartingRun(start, calls, floor, tolerance)
        self.left_out = Counter(self.starting.left_out)
        self._code = FINGERPRINTS.of(start)
        self._known: dict[_ModuleKey, None | Unsure] = {(self._code, direct, frozenset()): None}
        """What was said of modules that do not differ."""
        self._coarser: dict[str, Numbers] = {}
        self._last = _LastRun(None, self._gave_at_start)
        self._folded = False
        self._contents: NarrowContents | None = None

    def held_to(self, floor: str | None) -> Numbers:
        """The same results with the bounds of an implementation in dtype `floor`, made once; all share one `left_out`.
        These themselves for None, and where they have the bounds of a dtype that rounds as much already."""
        floor = coarsest((self.starting.floor, floor))
        if floor is None or floor == self.starting.floor:
            return self
        if floor not in self._coarser:
            numbers = Numbers(self.starting.module, self._asked, floor, self.starting.tolerance)
            self.left_out |= numbers.left_out
            numbers.left_out = self.left_out
            self._coarser[floor] = numbers
        return self._coarser[floor]

    @property
    def expected(self) -> tuple[Runtime, ...] | NoMeaning:
        """The result of every call that is not left out."""
        return self.starting.nothing or tuple(result.value for result in self.starting.results)

    @property
    def calls(self) -> tuple[EntryCall, ...]:
        """The entry calls with a result in `expected`."""
        return tuple(result.call for result in self.starting.results)

    @property
    def indices(self) -> tuple[int, ...]:
        """The positions of `calls` among the entry calls of the case."""
        return tuple(result.index for result in self.starting.results)

    def judge_module(
        self, module: IRModule, calling: Calling = direct, synchronised: frozenset[str] = frozenset()
    ) -> Outcome:
        """Interprets `module` and compares every entry call's result; None where all agree.

        synchronised: the scopes of memory in which barriers between GPU threads are explicit; see `tir.Context`.
        """
        if self.starting.nothing is not None:
            return Unsure(self.starting.nothing.reason)
        code = FINGERPRINTS.of(module), calling, synchronised
        if code in self._known:
            self._last = self._last.left()
            return self._known[code]
        outcome = self._interpret(_Lowered(module, calling, synchronised))
        if not isinstance(outcome, Wrong) and no_difference(outcome):
            self._known[code] = outcome
        return outcome

    def _interpret(self, after: _Lowered) -> Outcome:
        """Runs the module, or only the calls that differ from the last run that agreed. Reads of uninitialised elements
        are no fault if these are only copied and all results agree."""
        last, self._last = self._last, self._last.left()
        record = last.record
        if record is not None and record.speaks_for(after.module, after.calling, after.synchronised):
            self._last = last
            return None
        left_out = Counter(self.left_out)
        outcome = self._run(after, after.record(), last.gave)
        if not (isinstance(outcome, Wrong) and outcome.evidence == _UNWRITTEN):
            return outcome
        self.left_out.clear()  # The same calls are made again, and left out again.
        self.left_out.update(left_out)
        carried = self._run(after, after.record(carrying=True), last.gave)
        copied_before = record is not None and record.carrying
        return carried if no_difference(carried) or copied_before else outcome

    def _run(self, after: _Lowered, record: RecordedRun, gave: Callable[[], Results | None]) -> Outcome:
        results: Results = {}
        run = interpreted(after.module, after.synchronised, record)
        exactly = interpreted(after.module, after.synchronised, exactly=True)
        folded = self._folds(after.module)
        widely = None if folded else interpreted(after.module, after.synchronised, exactly=True, widened=True)
        sharply = _Sharply(exactly, widely, lambda: _same_results(gave(), results))
        outcome = self.judge_run(run, after.calling, results, sharply)
        if not no_difference(outcome):
            return outcome
        self._last = _LastRun(record, lambda: results)
        return outcome

    def _folds(self, module: IRModule) -> bool:
        """Whether a pass, this one or one before, has folded calls to 16-bit constants: these were computed in 16 bits,
        with a rounding for each operation, and no run in float64 undoes that."""
        if not self._folded and self.starting.has_16_bits:
            before, self._contents = self._contents or narrow_contents(self.starting.module), narrow_contents(module)
            self._folded = self._contents.folded_from(before)
        return self._folded

    def _gave_at_start(self) -> Results:
        """What the starting module gives in its declared precision."""
        results: Results = {}
        self.judge_run(interpreted(self.starting.module), direct, results)
        return results

    def judge_run(
        self, run: Run, calling: Calling = direct, results: Results | None = None, sharply: _Sharply | None = None
    ) -> Outcome:
        """Compares the results of `run` with the reference; `run` may raise Trap or Unsupported.

        Entry calls that `calling` leaves out are not compared; Unsure if it leaves out all of them, and where an
        integer overflows in one while no other is wrong; and where the starting module itself gives other numbers in
        the same call, since then the reference is at fault. results: takes what `run` gives. sharply: how to go on
        where worst-case bounds do not decide; without it, only these say that a result is wrong.
        """
        if self.starting.nothing is not None:
            return Unsure(self.starting.nothing.reason)
        said = self._compared(run, calling, results, sharply)
        if not isinstance(said, Wrong) or said.symptom != WRONG_RESULT or self._contradiction is None:
            return said
        return Unsure(_OWN_FAULT, skipped=False) if self._contradiction.call == said.call else said

    @cached_property
    def _contradiction(self) -> Wrong | None:
        """Where the starting module in its declared precision does not give the results that it is held to. Asked only
        where another one does not; tolerances of the user's hold for that one, and a pass may have changed this one."""
        if self.starting.tolerance is not None or FINGERPRINTS.fresh(self.starting.module) != self._code:
            return None
        said = self._compared(interpreted(self.starting.module), direct, None, None)
        return said if isinstance(said, Wrong) else None

    def _compared(self, run: Run, calling: Calling, results: Results | None, sharply: _Sharply | None) -> Outcome:
        agreed: list[Agreement] = []
        made: list[tuple[CallResult, Runtime]] = []
        left_out, overflown = "", None
        for wanted in self.starting.results:
            try:
                actual = calling(run, wanted.call.function, [from_argument(a) for a in wanted.call.arguments])
            except LeftOut as why:
                left_out = why.reason
                self.left_out[why.reason] += 1
                continue
            except (Trap, Unsupported) as error:
                stopped = without_result(error, wanted.index)
                if not (isinstance(stopped, Unsure) and isinstance(error, Trap)):
                    return stopped
                overflown = overflown or stopped  # Another call may still show that the pass is wrong.
                continue
            found = self.starting.compared(wanted, actual)
            if isinstance(found, Difference):
                return _wrong(wanted, found, str(self.starting.tolerance or ""))
            agreed.append(found)
            made.append((wanted, actual))
            if results is not None:
                results[wanted.index] = actual
        if sharply is not None and any(wanted.coarse for wanted, _ in made):
            said = self._judge_sharply(made, agreed, calling, sharply)
        else:
            said = Unsure(left_out) if left_out and not agreed else undecided(agreed)
        return said if isinstance(said, Wrong) or overflown is None else overflown

    def _judge_sharply(
        self, made: list[tuple[CallResult, Runtime]], agreed: list[Agreement], calling: Calling, sharply: _Sharply
    ) -> Outcome:
        """What is said of results that worst-case bounds do not decide. First the cheap question."""
        outcome = undecided(agreed)
        if no_difference(outcome) and sharply.same_as_before():
            return None
        sharper: list[Agreement] = []
        for (wanted, actual), found in zip(made, agreed, strict=True):
            again = partial(_called, calling, sharply.exactly, wanted.call)
            said = self.starting.compared_sharply(wanted, actual, found, again)
            if isinstance(said, Difference):
                return _wrong(wanted, said, SAMPLED)
            if sharply.widely is not None:
                widely = partial(_called, calling, sharply.widely, wanted.call)
                said = self.starting.compared_in_float64(wanted, said, widely)
            if isinstance(said, Difference):
                return _wrong(wanted, said, IN_FLOAT64)
            said = self.starting.compared_after_steps(wanted, actual, said, again)
            if isinstance(said, Difference):
                return _wrong(wanted, said, STEPS_TAKEN)
            sharper.append(said)
        return undecided(sharper)


def _wrong(wanted: CallResult, found: Difference, how: str) -> Wrong:
    return Wrong(WRONG_RESULT, f"{found.kind}: {found.sentence}", wanted.index, found.evidence, how)


def _called(calling: Calling, exactly: Run, call: EntryCall) -> Runtime | None:
    """What a call gives in float64; None where it comes to no end."""
    try:
        return calling(exactly, call.function, [from_argument(a) for a in call.arguments])
    except (LeftOut, Unsupported, Trap):
        return None


def _same_results(before: Results | None, results: Results) -> bool:
    """Whether a module gives the bits that the one before it gives."""
    return (
        before is not None
        and before.keys() == results.keys()
        and all(same_bits(before[index], result) for index, result in results.items())
    )
