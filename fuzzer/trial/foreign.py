"""Judges one pass call in a forked child, and says what it finds line by line. Worker processes only.

The order of things is that of `fuzzer.trial.judge`: structure first, numbers last, so that a child that is ended in
the interpreter has said the rest.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import tvm

from corpus.module_text import text_of
from fuzzer.plugin.spy import Application
from fuzzer.protocol import Counts, Failure
from fuzzer.trial.contracts import Contract, asked_of, contract_of, is_by_request, keeps_meaning, rows_named, tier_of
from fuzzer.trial.parts import guarded, parts_of
from fuzzer.trial.subject.flaws import flaw_of
from fuzzer.trial.subject.phase import phase_of
from fuzzer.trial.unpromised_numbers import compared
from fuzzer.worker.main import limit_memory
from generators import tvm_api as T
from generators.case import Case, EntryCall, Origin, PassCall
from generators.passes.table import EXCLUDED
from generators.source import SeededSource, Source
from oracles.ir.fingerprint import fingerprint
from oracles.nested import Part
from oracles.oracle import StepOracle
from oracles.table import ORACLES as ALL_ORACLES
from oracles.trace import Raised, Step
from oracles.verdict import Failed, Inconclusive, Passed, Skipped, Verdict
from oracles.workbench import constructed

Say: TypeAlias = Callable[[str], None]
MEMORY_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Terms:
    """How calls are judged. where: the test that is running. same_meaning: see `contracts.contract_of`.

    keep: a folder to leave the input module in, None where it is not wanted.
    """

    where: str
    same_meaning: frozenset[str]
    keep: str | None = None


class _Bench:
    """What oracles may do besides looking: the pass is the one that the test made, or its constructor."""

    trusting = False

    def __init__(self, transform: Any, source: str, seed: int) -> None:
        self.source: Source = SeededSource(seed)
        self.meaning: Any = None
        self._transform = transform
        self._text = source

    def apply(self, call: PassCall, module: Any) -> Any | Raised:
        if self._text:
            return self.guarded(lambda: constructed(self._text)(module))
        return self.guarded(lambda: self._transform(module))

    def apply_all(self, calls: Sequence[PassCall], module: Any) -> Any | Raised:
        raise NotImplementedError("one pass is judged at a time")

    def guarded(self, action: Callable[[], Any]) -> Any | Raised:
        return guarded(action)


class Trial:
    """The judging of one pass call. enter: told of each stage. say: told of each verdict, as one line of JSON."""

    def __init__(self, application: Application, terms: Terms, enter: Callable[[str], None]) -> None:
        self._application = application
        self._terms = terms
        self._told = enter
        self._stage, self._since = "", time.process_time()
        self._keeps: bool | None = None
        """Whether every part so far keeps what its module means; None before the first."""
        self.say: Say = lambda line: None

    def _enter(self, stage: str) -> None:
        """Tells of a stage, and counts the CPU time of the one before."""
        if self._stage:
            counts = Counts()
            counts.name("phases", self._stage.split(" of ")[0], time.process_time() - self._since)
            self.say(json.dumps({"delta": counts.delta()}))
        self._stage, self._since = stage, time.process_time()
        self._told(stage)

    def run(self) -> None:
        """Says {"delta": ...}, {"failure": ..., "case": ...} and {"pair": ...} lines: see `pairs`."""
        be_quiet()
        limit_memory(MEMORY_BYTES)
        gc.disable()
        if self._terms.keep is not None:
            self._keep()
        self._enter("well-formedness")
        before = self._as_it_was()
        if before is None:
            self._count("skipped", "input: changed in place, and what it was is not kept")
            return
        phase = phase_of(before)
        flaw = flaw_of(before, phase)
        if flaw is not None:
            self._count("skipped", flaw)
            return
        parts = self._parts(before)
        for part in parts:
            self._judge(part, part is parts[-1])
        self._enter("end")

    def _as_it_was(self) -> Any | None:
        """The module before the pass; None where the pass has changed its functions and it was too large to keep."""
        application = self._application
        if fingerprint(application.before) == application.hash_before:
            return application.before
        return None if application.text is None else T.module_from_json(application.text)

    def _parts(self, before: Any) -> list[Part]:
        """The parts of a pass of no row that has any, then the whole."""
        application = self._application
        whole = Part(application.name, before, application.hash_before, application.after)
        if rows_named(application.name) or application.name in EXCLUDED:
            return [whole]
        self._enter(f"parts of {application.name}")
        return [*parts_of(application.transform, before, lambda name: bool(rows_named(name))), whole]

    def _keep(self) -> None:
        from fuzzer.plugin.modules import keep

        self._enter("keeping the module")
        keep(self._terms.keep or "", self._application, self._terms.where)

    # --- one pass -----------------------------------------------------------------------------------------------

    def _judge(self, part: Part, whole: bool) -> None:
        phase = phase_of(part.before)
        if not whole and (flaw_of(part.before, phase) or fingerprint(part.before) != part.hash_before):
            self._count("skipped", "input: ill-formed after an earlier part")
            self._keeps = False
            return
        self._enter(f"constructors of {part.name}")
        same_meaning = self._terms.same_meaning | ({part.name} if whole and self._keeps else set())
        contract = contract_of(part.name, part.before, part.after, guarded, same_meaning)
        self._keeps = not whole and (self._keeps is not False) and keeps_meaning(contract, part.before)
        row = contract.row
        tier = tier_of(contract, phase)
        call = PassCall(row.name, contract.source)
        step = Step(0, call, row, phase, part.before, part.after, None, part.hash_before, tier)
        changed = fingerprint(part.after) != part.hash_before
        self._cell("passes", row.name, "applied")
        if changed:
            self._cell("passes", row.name, "changed")
        bench = _Bench(self._application.transform if whole else None, contract.source, part.hash_before)
        if whole:
            given = replace(step, before=self._application.given)
            self._ask("input_unchanged", given, step, contract, bench)
        if changed and self._ask_all(step, contract, bench):
            self._ask_numbers(step, contract, bench)

    def _ask_all(self, step: Step, contract: Contract, bench: _Bench) -> bool:
        """Asks every oracle of structure that has a say; whether the numbers are worth looking at."""
        good, broken = True, False
        for oracle in asked_of(contract, step.before):
            row = ALL_ORACLES[oracle]
            if broken and row.of_structure:
                continue
            verdict = self._ask(oracle, step, step, contract, bench)
            if isinstance(verdict, Failed):
                broken = broken or row.of_structure
                good = good and not row.ends_case
        return good

    def _ask(self, oracle: str, seen: Step, step: Step, contract: Contract, bench: _Bench) -> Verdict:
        self._enter(f"{oracle} of {step.row.name}")
        row = ALL_ORACLES[oracle]
        assert isinstance(row, StepOracle), f"{oracle} does not judge one pass"
        verdict = row.judge(seen, bench)
        if isinstance(verdict, Failed) and is_by_request(verdict.evidence):
            verdict = Skipped("attributes: a request to this pass")
        self._verdict(oracle, step.row.name, verdict)
        if isinstance(verdict, Failed):
            self._fail(oracle, verdict, step, contract, step.before, ())
        return verdict

    def _ask_numbers(self, step: Step, contract: Contract, bench: _Bench) -> None:
        self._enter(f"numeric of {step.row.name}")
        found = compared(step, contract, bench)
        self._verdict("numeric", step.row.name, found.verdict)
        self.say(json.dumps({"pair": found.missing}))
        if isinstance(found.verdict, Failed):
            self._keeps = False
            self._fail("numeric", found.verdict, step, contract, found.module, found.calls)

    # --- what is said -------------------------------------------------------------------------------------------

    def _verdict(self, oracle: str, name: str, verdict: Verdict) -> None:
        match verdict:
            case Passed():
                column = "passed"
            case Skipped(reason):
                column = "skipped"
                self._count("skipped", reason)
            case Inconclusive(reason):
                column = "inconclusive"
                self._count("inconclusive", reason)
            case Failed():
                column = "failed"
                self._cell("passes", name, "failed")
        self._cell("oracles", oracle, column)
        if oracle == "numeric" and column in ("passed", "failed"):
            self.say(json.dumps({"delta": {"numeric_verdicts": 1}}))

    def _count(self, field: str, name: str) -> None:
        counts = Counts()
        counts.name(field, name)
        self.say(json.dumps({"delta": counts.delta()}))

    def _cell(self, table: str, name: str, column: str) -> None:
        counts = Counts()
        counts.cell(table, name, column)
        self.say(json.dumps({"delta": counts.delta()}))

    def _fail(
        self, oracle: str, verdict: Failed, step: Step, contract: Contract, module: Any, calls: tuple[EntryCall, ...]
    ) -> None:
        """A failure carries the phase of its module in the place of a case's index."""
        culprit = verdict.culprit or step.row.name
        detail = verdict.detail[-20_000:]
        phase = int(step.phase)
        failure = Failure(
            phase, oracle, verdict.symptom, verdict.message, detail, culprit, step.tier, 0, (), verdict.evidence
        )
        self._enter(f"text of the input of {step.row.name}")
        passes = (PassCall(step.row.name, contract.source),)
        case = Case(text_of(module), passes, calls, _target(), origin=Origin(file=self._terms.where))
        packed = base64.b64encode(pickle.dumps(case)).decode()
        self.say(json.dumps({"failure": failure.to_json(), "case": packed}))


def _target() -> str:
    """The name of the test's target among those that cases have."""
    current = tvm.target.Target.current(allow_none=True)
    return "cuda" if current is not None and str(current.kind) == "cuda" else "llvm"


def be_quiet() -> None:
    """Nothing that a pass prints in this child reaches the test's captured output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
