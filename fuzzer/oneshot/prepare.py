"""What a one-shot process works with: the user's passes loaded, the module read, inputs drawn.

What may crash or hang runs in a forked child first; the process itself applies no pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import tvm
from tvm import relax
from typing_extensions import assert_never

from corpus.reduce import Candidate, candidate_of
from fuzzer.oneshot.given import NotGiven, given_call
from fuzzer.oneshot.messages import Request
from fuzzer.pass_items import LOADED, call_of, is_call, name_of, options_in
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Say, in_child
from fuzzer.protocol import Plan, Warned
from fuzzer.trial.repertoire import LoadFault, Repertoire, repertoire_of
from fuzzer.trial.subject.entries import with_entries
from fuzzer.trial.subject.inputs import ATTEMPTS, Undrawable, drawn_calls, facts_of
from fuzzer.trial.subject.phase import phase_of
from fuzzer.trial.subject.same_results import SameResults, same_results
from fuzzer.trial.subject.wide_inputs import Widths, wide_calls, widths_of
from generators.case import EntryCall, PassCall
from generators.passes.constructors import options_of
from generators.passes.official import rest_of_pipeline
from generators.passes.row import Phase
from generators.passes.table import rest_of_tir_pipeline
from generators.source import SeededSource
from generators.tvm_api import PASS_NAMES, IRModule
from oracles.activities import Interpreting, Working, described
from oracles.builds.needs import builder_of
from oracles.checks.well_formed import complaint
from oracles.forked import Ended
from oracles.process_state import limit_memory
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import DISCARDS, NoMeaning
from oracles.reference.values import mostly_numbers
from oracles.tvm_errors import headline
from oracles.workbench import constructed

ROUNDS = 3
"""How often a function is called when no inputs are given: one input may be blind (symmetric, all zero)."""
STAGE_S = 30.0
"""Seconds that one stage (a pass, an oracle, the reference) may take."""

KILLED = "the process that judged was killed, from outside or by itself, or there was no memory"


class NotCarriedOut(Exception):
    """The request makes no sense; one line that says why. usage: whether the user can mend it."""

    def __init__(self, message: str, usage: bool = True) -> None:
        super().__init__(message)
        self.usage = usage


class Unreadable(msgspec.Struct, frozen=True, tag="unreadable"):
    """Why a module cannot be used."""

    why: str


class Usable(msgspec.Struct, frozen=True, tag="usable"):
    """The number of the first attempt at inputs that the module takes. widths: of the sets with wide whole numbers.
    same: the outputs that are the same on all sets."""

    attempt: int
    widths: Widths = Widths()
    same: SameResults = SameResults()


class Unusable(msgspec.Struct, frozen=True, tag="unusable"):
    """The module takes no inputs. ill_typed: a value is not of its annotated type, which TVM does not always check."""

    why: str
    ill_typed: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: a live candidate with its entry calls. repertoire.under_test is None.

    note: why there are no entry calls, where there could be. implied: whether the user named no passes, so that
    these are what an official pipeline does next with such a module. drawn: what is known of drawn inputs.
    """

    request: Request
    plan: Plan
    repertoire: Repertoire
    recorder: Recorder
    start: Candidate
    note: str = ""
    implied: bool = False
    drawn: Usable = Usable(0)


def recorder_of(request: Request) -> Recorder:
    """A new flight recorder in the scratch folder of the request, which must be there. Raises OSError."""
    return Recorder.create(Path(request.scratch) / "flight")


def prepared(request: Request, say: Say) -> Subject:
    """Loads the user's passes and reads the module. say: hears of the loaded file. Raises NotCarriedOut."""
    plan = Plan(
        seed=0,
        targets=(request.case.target,),
        under_test=tuple(name_of(item) for item in request.passes if item != LOADED),
        load=request.case.load,
        deadline_s=STAGE_S,
        scratch=request.scratch,
        tolerance=request.own.tolerance,
    )
    try:
        repertoire = repertoire_of(plan, lambda line: say(Warned(line)))
    except LoadFault as fault:
        raise NotCarriedOut(str(fault)) from fault
    recorder = recorder_of(request)
    candidate = live_candidate(request, recorder)
    candidate = _with_given(replace(candidate, module=with_entries(candidate.module)), request)
    inputs = _inputs(candidate, request, recorder)
    note, known = (inputs, Usable(0)) if isinstance(inputs, str) else ("", inputs)
    calls = () if note else candidate.calls or _calls(candidate.module, known)
    # The module of a case that was drawn was high-level when its passes were found wrong.
    drawn = request.case.passes and not request.case.origin.captured
    phase = Phase.HIGH if drawn else phase_of(candidate.module)
    passes = _passes(request, repertoire, candidate.module, calls, phase)
    setup = () if request.passes else candidate.setup
    start = replace(candidate, setup=setup, passes=passes, calls=calls)
    # All names are known now; from here on every failure counts, of any pass.
    plan, repertoire = replace(plan, under_test=(), phase=int(phase)), replace(repertoire, under_test=None)
    implied = not (request.passes or request.case.passes or repertoire.loaded)
    return Subject(request, plan, repertoire, recorder, start, note, implied, known)


# --- the module -----------------------------------------------------------------------------------------


def live_candidate(request: Request, recorder: Recorder) -> Candidate:
    """The candidate of the request's case, read in a child before it is read here. Raises NotCarriedOut."""
    lenient = request.predicate is not None

    def read(say: Say) -> None:
        limit_memory(Plan(0).memory_bytes)
        why = _unreadable(request, lenient, recorder)
        if why is not None:
            say(Unreadable(why))

    recorder.write(0, Working("read"))
    heard = in_child(read, Unreadable, recorder, STAGE_S, per_activity=True)
    where = request.subject
    for unreadable in heard.messages:
        raise NotCarriedOut(f"{where}: {unreadable.why}")
    if heard.ended is not None:
        raise _unread(where, heard.ended, described(heard.activity))
    candidate = candidate_of(request.case)
    return replace(candidate, module=_module_of(candidate.module))


def _unread(where: str, ended: Ended, activity: str) -> NotCarriedOut:
    """The error for a module whose reading ended its process: only code in the module, or of TVM, does that."""
    if ended.raised:
        return own_fault(ended, activity)
    if ended.from_outside:
        return NotCarriedOut(f"{KILLED}: {ended.how} in {activity}", usage=False)
    if ended.by_exit:
        return NotCarriedOut(f"{where}: ends the process that reads it: {ended.how} in `{activity}`")
    return NotCarriedOut(f"{where}: this TVM {ended.verb} in `{activity}`")


def own_fault(ended: Ended, activity: str) -> NotCarriedOut:
    """The error for an end that is a fault of passfuzz."""
    return NotCarriedOut(f"internal error: {ended.what or ended.how} in {activity}", usage=False)


def _unreadable(request: Request, lenient: bool, recorder: Recorder) -> str | None:
    """Why a module cannot be used; None when it can."""
    try:
        module = candidate_of(request.case).module
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary to TVM and the file: they raise anything
        text = headline(str(error)) or "no message"
        if "No result exists in IRBuilder" in text:
            return "no module in it"
        return f"this TVM cannot read it: {type(error).__name__}: {text}"
    module = _module_of(module)
    if module is None:
        return "holds no IRModule"
    if lenient:
        return None
    recorder.write(0, Working("well_formed"))
    said = complaint(module)
    return f"ill-formed before any pass: {headline(said)}" if said else None


def _module_of(value: object) -> IRModule | None:
    """The module; a function that stands alone in its file becomes the `main` of one. None for anything else."""
    if isinstance(value, tvm.ir.BaseFunc):
        builder = relax.BlockBuilder()  # gives the name its type, which call_tir asks for
        builder.add_func(value, "main")
        return builder.finalize()
    return value if isinstance(value, tvm.ir.IRModule) else None


# --- inputs and passes ----------------------------------------------------------------------------------


def _with_given(candidate: Candidate, request: Request) -> Candidate:
    """The candidate with the user's own inputs, where there are any. Raises NotCarriedOut."""
    if not request.own.file:
        return candidate
    try:
        return replace(candidate, calls=(given_call(candidate.module, request.own.arrays),))
    except NotGiven as error:
        raise NotCarriedOut(f"--inputs {request.own.file}: {error}") from error


def _calls(module: IRModule, known: Usable) -> tuple[EntryCall, ...]:
    """The sets of drawn inputs."""
    ordinary = drawn_calls(module, known.attempt, ROUNDS)
    return ordinary + wide_calls(module, known.attempt, known.widths.each)


def _inputs(candidate: Candidate, request: Request, recorder: Recorder) -> Usable | str:
    """What inputs the module takes, or why the reference makes nothing of any."""

    def running() -> None:
        recorder.write(0, Working("reference, wide whole numbers"))

    def attempt(say: Say) -> None:
        limit_memory(Plan(0).memory_bytes)
        found = _first_usable(candidate, recorder)
        say(found)
        if isinstance(found, Usable) and not candidate.calls:  # The child may end here: then the above holds.
            found = Usable(found.attempt, widths_of(candidate.module, found.attempt, running))
            say(found)
            running()
            say(msgspec.structs.replace(found, same=same_results(candidate.module, _calls(candidate.module, found))))

    recorder.write(0, Interpreting())
    heard = in_child(attempt, Usable | Unusable, recorder, STAGE_S, per_activity=True)
    if not heard.messages:
        assert heard.ended is not None, "a child that gets through says what it found"
        if heard.ended.by_exit:  # No pass is applied here.
            raise own_fault(heard.ended, described(heard.activity))
        if heard.ended.from_outside:
            raise NotCarriedOut(f"{KILLED}: {heard.ended.how} in {described(heard.activity)}", usage=False)
        return f"the reference interpreter finished no inputs: {heard.ended.how}"
    found: Usable | Unusable = heard.messages[-1]
    match found:
        case Usable():
            return found
        case Unusable(why, True):
            raise NotCarriedOut(f"{request.subject}: ill-typed before any pass: {why}")
        case Unusable(why):
            return f"no inputs that the module takes: {why}"
        case _:
            assert_never(found)


def _first_usable(candidate: Candidate, recorder: Recorder) -> Usable | Unusable:
    """The first attempt at inputs on which the module gives numbers, else the first that it takes, or what the last one
    was refused for."""
    refused, first = Unusable("no attempt"), None
    for attempt in range(1 if candidate.calls else len(ATTEMPTS)):
        recorder.write(0, Working(f"reference, attempt {attempt}"))
        try:
            calls = candidate.calls or drawn_calls(candidate.module, attempt, ROUNDS)
        except Undrawable as error:
            refused = Unusable(str(error))
            continue
        expected = Numbers(candidate.module, calls).expected
        if not isinstance(expected, NoMeaning):
            if mostly_numbers(expected):
                return Usable(attempt)
            first = first or Usable(attempt)
            continue
        if expected.trap is None:
            return first or Usable(attempt)
        if expected.kind in DISCARDS and candidate.calls:
            return Usable(attempt)
        refused = Unusable(expected.trap, expected.kind == "type")
        if expected.kind == "fuel":
            break  # As long again for each other attempt.
    return first or refused


def _passes(
    request: Request, repertoire: Repertoire, module: IRModule, calls: tuple[EntryCall, ...], phase: Phase
) -> tuple[PassCall, ...]:
    """The passes to apply: those named, else the case's own, else those of the loaded file, else the default build's.

    `phase` is that of the module: what has been done already is not done again.
    """
    if not request.passes and request.case.passes:
        unknown = [call.name for call in request.case.passes + request.case.setup if call.name not in repertoire.rows]
        if unknown:
            where = "which is neither in the pass table nor in a loaded file"
            raise NotCarriedOut(f"{request.subject}: applies {unknown[0]}, {where}")
        return request.case.passes
    drawn: list[PassCall] = []
    facts, source = facts_of(module, calls), SeededSource(0)
    implied = rest_of_pipeline(phase, request.case.target)
    if builder_of(request.case.target) is None:  # else building does the rest
        implied += rest_of_tir_pipeline(phase)
    for item in _each(request.passes, repertoire) or repertoire.loaded or implied:
        if is_call(item):
            drawn.append(call_of(item, trust=True))  # it was read, or is trusted, before this process began
            continue
        name = name_of(item)
        row = repertoire.rows[name]
        text = row.sources[0] if row.sources else row.draw(source, facts)
        if text is None:
            raise NotCarriedOut(f"--passes {name}: has nothing to do in this module")
        drawn.append(PassCall(name, text, options_in(item)))
    for call in drawn:
        _check_call(call, repertoire)
    return tuple(drawn)


def _each(items: tuple[str, ...], repertoire: Repertoire) -> tuple[str, ...]:
    """The items with the passes of the loaded file where these are asked for."""
    return tuple(name for item in items for name in (repertoire.loaded if item == LOADED else (item,)))


def _check_call(call: PassCall, repertoire: Repertoire) -> None:
    """Raises NotCarriedOut for options that TVM does not have, and for arguments that the pass does not take."""
    try:
        with tvm.target.Target("llvm"), tvm.transform.PassContext(config=options_of(call.options) or None):
            constructed(call.source, {**PASS_NAMES, **repertoire.names})
    except Exception as error:  # noqa: BLE001 - the boundary to TVM: what it says of what the user typed
        raise NotCarriedOut(f"--passes {call}: {type(error).__name__}: {headline(str(error))}") from error
