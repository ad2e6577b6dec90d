"""Judges one pass call of a test in a forked child, and says what it finds. Worker processes only.

The oracles are asked and recorded as for a case of ours (`fuzzer.trial.ask`, `fuzzer.trial.record`), but numbers last,
so that a child that is ended in the interpreter has said the rest.
"""

from __future__ import annotations

import gc
import os
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec
import tvm

from corpus.scripts.module_text import text_of
from fuzzer.processes.lines import Say
from fuzzer.protocol import Failure, Tallied
from fuzzer.trial.ask import ask_in_order
from fuzzer.trial.foreign.application import Application
from fuzzer.trial.foreign.contracts import (
    Contract,
    Knowledge,
    asked_of,
    contract_of,
    is_by_request,
    keeps_meaning,
    no_numbers,
    tier_of,
)
from fuzzer.trial.foreign.gaps import Gap
from fuzzer.trial.foreign.parts import guarded, parts_of
from fuzzer.trial.foreign.pass_origin import is_of_tvm, origin_of
from fuzzer.trial.foreign.unpromised_numbers import Compared, compared
from fuzzer.trial.record import Record
from fuzzer.trial.subject.flaws import flaw_of
from fuzzer.trial.subject.phase import phase_of
from fuzzer.trial.subject.unpromised_inputs import seed_of
from generators import tvm_api as T
from generators.case import Case, EntryCall, Origin, PassCall
from generators.passes.table import EXCLUDED, rows_named
from generators.source import SeededSource, Source
from generators.targets import of_kind
from generators.tvm_api import IRModule, Pass
from oracles.activities import Activity, Announce, Asking, Working, kind_of
from oracles.checks import numeric
from oracles.checks.numeric import change_of
from oracles.ir.fingerprint import fingerprint
from oracles.nested import Part
from oracles.oracle import Stage, StepOracle
from oracles.process_state import limit_memory
from oracles.reference.numbers import Numbers
from oracles.trace import Position, Raised, Step
from oracles.verdict import Failed, Skipped, Verdict
from oracles.walk import step_of
from oracles.workbench import constructed
from reports.tally import Tally

R = TypeVar("R")
MEMORY_BYTES = 4 << 30


class ForeignFound(msgspec.Struct, frozen=True, tag="foreign found"):
    """A failed verdict, the phase of the module before the pass, and the pickled Case that shows it."""

    failure: Failure
    phase: int
    case: bytes


class Pair(msgspec.Struct, frozen=True, tag="pair"):
    """Whether the reference ran the modules before and after a pass: None, or why not."""

    missing: Gap | None


class Unpromised(msgspec.Struct, frozen=True, tag="unpromised"):
    """A pass of a user's own changed its module and promises nothing of the numbers."""

    name: str


@dataclass(frozen=True, slots=True)
class Terms:
    """How calls are judged. where: the test that is running. same_meaning: see `contracts.contract_of`.

    keep: leaves the input module for `passfuzz harvest`; None where it is not wanted.
    """

    where: str
    same_meaning: frozenset[str]
    keep: Callable[[Application], None] | None = None


class ForeignBench:
    """What oracles may do besides looking. A call without a constructor is of the pass object that the test made.

    A pass is applied to a copy, so that one which works in place changes nothing that is judged.
    """

    def __init__(self, transform: Pass | None, module: IRModule) -> None:
        self.source: Source = SeededSource(seed_of(module))
        self.numbers = Numbers(module, ())
        self.applications = 0
        self._transform = transform

    def apply(self, call: PassCall, module: IRModule) -> IRModule | Raised:
        self.applications += 1
        if call.source:
            return self.guarded(lambda: constructed(call.source)(module.clone()))
        transform = self._transform
        assert transform is not None, "a part of a pass has no constructor of its own"
        return self.guarded(lambda: transform(module.clone()))

    def guarded(self, action: Callable[[], R]) -> R | Raised:
        return guarded(action)


class ForeignTrial:
    """The judging of one pass call. announce: called with each activity. say: called with each record."""

    def __init__(self, application: Application, terms: Terms, announce: Announce, say: Say) -> None:
        self._application = application
        self._terms = terms
        self._announced = announce
        self._say = say
        self._doing: Activity | None = None
        self._since = time.process_time()

    def _announce(self, activity: Activity) -> None:
        """Announces an activity, and counts the CPU time of the one before."""
        if self._doing is not None:
            self._say(Tallied(Tally(phases={kind_of(self._doing): time.process_time() - self._since})))
        self._doing, self._since = activity, time.process_time()
        self._announced(activity)

    def run(self) -> None:
        """Says Tallied, ForeignFound and Pair."""
        be_quiet()
        limit_memory(MEMORY_BYTES)
        gc.disable()
        if self._terms.keep is not None:
            self._announce(Working("keeping the module"))
            self._terms.keep(self._application)
        self._announce(Working("well-formedness"))
        before = self._as_it_was()
        if before is None:
            self._skip("input: changed in place, and what it was is not kept")
            return
        flaw = flaw_of(before, phase_of(before))
        if flaw is not None:
            self._skip(f"input: {flaw}")
            return
        inner = self._parts(before)
        before = self._as_it_was()
        if before is None:
            self._skip("input: changed in place, and what it was is not kept")
            return
        keeps = [self._judge_inner(part) for part in inner]
        # A pass made of passes that all keep the meaning keeps it, too.
        application = self._application
        kept = {application.name} if keeps and all(keeps) else set()
        whole = Part(application.name, before, application.hash_before, application.after)
        self._judge(whole, application.given, self._terms.same_meaning | kept)
        self._announce(Working("end"))

    def _as_it_was(self) -> IRModule | None:
        """The module before the pass; None where the pass has changed its functions and it was too large to keep."""
        application = self._application
        if fingerprint(application.before) == application.hash_before:
            return application.before
        return None if application.text is None else T.module_from_json(application.text)

    def _parts(self, before: IRModule) -> list[Part]:
        """The parts of a pass of no row that has any."""
        application = self._application
        if rows_named(application.name) or application.name in EXCLUDED:
            return []
        self._announce(Working("parts", application.name))
        return parts_of(application.transform, before, lambda name: bool(rows_named(name)))

    # --- one pass -----------------------------------------------------------------------------------------------

    def _judge_inner(self, part: Part) -> bool:
        """Judges a part of a pass; whether it keeps what its module means."""
        if flaw_of(part.before, phase_of(part.before)) or fingerprint(part.before) != part.hash_before:
            self._skip("input: ill-formed after an earlier part")
            return False
        return self._judge(part, None, self._terms.same_meaning)

    def _judge(self, part: Part, given: IRModule | None, same_meaning: frozenset[str]) -> bool:
        """Judges a pass; whether it keeps what its module means. given: the object that the test handed over."""
        self._announce(Working("constructors", part.name))
        contract = contract_of(part.name, part.before, part.after, guarded, same_meaning)
        phase = phase_of(part.before)
        call = PassCall(contract.row.name, contract.source)
        start = Position.at(part.before, phase, code=part.hash_before)
        step = step_of(0, start, call, contract.row, part.after, tier_of(contract, phase))
        transform = None if given is None else self._application.transform
        seen = None
        if given is not None:
            kept = fingerprint(given) == part.hash_before
            seen = replace(step, start=replace(step.start, module=given), input_kept=kept)
        bench = ForeignBench(transform, part.before)
        one = _JudgedPass(step, contract, bench, self._announce, self._say, self._terms.where, seen)
        return one.run() and keeps_meaning(contract, part.before)

    def _skip(self, reason: str) -> None:
        self._say(Tallied(Tally(skipped={reason: 1})))


@dataclass(slots=True)
class _JudgedPass:
    """The judging of one pass: its step, what it is held to, and what has been found by now.

    as_given: the step with the module object that the test handed over; None where it is not to be had.
    """

    step: Step
    contract: Contract
    bench: ForeignBench
    announce: Announce
    say: Say
    where: str
    as_given: Step | None
    record: Record = field(default_factory=lambda: Record(0))

    def run(self) -> bool:
        """Asks every oracle that has a say; whether the numbers are not wrong."""
        self.record.count_step(self.step)
        rows = asked_of(self.contract, self.step.before)
        answered = ask_in_order([row for row in rows if not row.judges_numbers], self.step, self._ask, self.record)
        self.tell()
        numbers = [row for row in rows if row.judges_numbers]
        if not numbers or not answered.step.changed or answered.step.broken:
            return True
        found = self._compare(answered.step)
        ask_in_order(numbers, answered.step, lambda row, step: found.verdict, self.record)
        self.record.count_numbers(row.name for row in numbers)
        self.say(Pair(found.missing))
        self.tell(found.module, found.calls)
        return not isinstance(found.verdict, Failed)

    def _ask(self, row: StepOracle, step: Step) -> Verdict | None:
        self.tell()
        if row.stage is Stage.INPUT:
            return None if self.as_given is None else self._verdict_of(row, self.as_given)
        if not step.changed:
            return None
        return self._verdict_of(row, step)

    def _compare(self, step: Step) -> Compared:
        self.announce(Asking(numeric.ORACLE.name, step.call.name))
        found = compared(step, self.contract, self.bench)
        of_no_row = self.contract.known is Knowledge.NOTHING and no_numbers(self.contract, step.before) is not None
        if of_no_row and not is_of_tvm(step.call.name):
            self.say(Unpromised(step.call.name))
        return found

    def _verdict_of(self, row: StepOracle, step: Step) -> Verdict:
        self.announce(Asking(row.name, step.call.name))
        verdict = row.judge(step, self.bench)
        if isinstance(verdict, Failed) and is_by_request(verdict.evidence):
            return Skipped("attributes: a request to this pass")
        return verdict

    def tell(self, module: IRModule | None = None, calls: tuple[EntryCall, ...] = ()) -> None:
        """Says what the record holds by now, and empties it: this process may not live to say it later.

        module, calls: what shows the failures; that of the step, without calls, where none is given."""
        counts, failures = self.record.take()
        if counts != Tally():
            self.say(Tallied(counts))
        for failure in failures:
            self.announce(Working("text of the input"))
            failed = failure if failure.difference else replace(failure, difference=change_of(self.step, guarded))
            case = self._case(self.step.before if module is None else module, calls)
            self.say(ForeignFound(failed, int(self.step.phase), pickle.dumps(case)))

    def _case(self, module: IRModule, calls: tuple[EntryCall, ...]) -> Case:
        name, source, load = self.step.call.name, self.contract.source, None
        if not source and (origin := origin_of(name, lambda make: _makes(make, self.step))) is not None:
            source, load = origin.expression, str(origin.file)
        passes = (PassCall(name, source),)
        return Case(text_of(module), passes, calls, _target(), origin=Origin(file=self.where), load=load)


def _makes(make: Callable[[], Pass], step: Step) -> bool:
    """Whether the pass that `make` constructs takes the module before the step to the one after it."""

    def again() -> bool:
        transform = make()
        if str(transform.info.name) != step.call.name:
            return False
        return bool(T.structural_equal(step.after, transform(step.before.clone()), map_free_vars=True))

    return guarded(again) is True


def _target() -> str:
    """The name of the test's target among those that cases have."""
    current = tvm.target.Target.current(allow_none=True)
    return of_kind(None if current is None else str(current.kind))


def be_quiet() -> None:
    """Nothing that a pass prints in this child reaches the test's captured output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
