"""What an errand works with: the user's passes loaded, the module read, inputs drawn. Worker processes only.

Whatever may crash or hang runs in a forked child first; the errand's process itself applies no pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from fuzzer.oneshot.ask import Errand
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Plan
from fuzzer.worker.main import limit_memory

ILL_TYPED = "type"
"""The reference's trap at a value that is not of its annotated type: TVM does not check them all."""
ROUNDS = 3
"""How often a function is called where nobody says with what: one input may be blind (symmetric, all zero)."""
STAGE_S = 30.0
"""Seconds that one stage (a pass, an oracle, the reference) may take."""

Say: TypeAlias = Callable[..., None]
"""Answers with a line of this kind and payload."""


class Refused(Exception):
    """The errand makes no sense; one line that says why. usage: whether the user can mend it."""

    def __init__(self, message: str, usage: bool = True) -> None:
        super().__init__(message)
        self.usage = usage


@dataclass(frozen=True, slots=True)
class Bench:
    """What an errand works with. `start` is the live candidate with its entry calls; repertoire.under_test is None."""

    errand: Errand
    plan: Plan
    repertoire: Any
    recorder: Recorder
    start: Any
    note: str = ""
    """Why there are no entry calls, where there could be."""
    implied: bool = False
    """Whether nobody asked for these passes: they are what an official pipeline does next with such a module."""


def recorder_of(errand: Errand) -> Recorder:
    return Recorder.create(Path(errand.scratch) / "flight")


def make_ready(errand: Errand) -> Bench:
    """Loads the user's passes and reads the module. Raises Refused."""
    from fuzzer.trial.subject.entries import with_entries
    from fuzzer.trial.subject.phase import phase_of
    from fuzzer.worker.draw import LoadFault, repertoire_of
    from generators.passes.row import Phase

    plan = Plan(
        seed=0,
        targets=(errand.case.target,),
        under_test=errand.passes,
        load=errand.case.load,
        deadline_s=STAGE_S,
        scratch=errand.scratch,
    )
    try:
        repertoire = repertoire_of(plan)
    except LoadFault as fault:
        raise Refused(str(fault)) from fault
    recorder = recorder_of(errand)
    candidate = live_candidate(errand, recorder)
    candidate = replace(candidate, module=with_entries(candidate.module))
    calls, note = _entry_calls(candidate, errand, recorder)
    # The module of a case was high-level when its passes were found wrong.
    phase = Phase.HIGH if errand.case.passes else phase_of(candidate.module)
    passes = _passes(errand, repertoire, candidate.module, calls, phase)
    setup = () if errand.passes else candidate.setup
    start = replace(candidate, setup=setup, passes=passes, calls=calls)
    # Whatever a name stands for is known now; from here on every failure counts, whoever is to blame.
    plan, repertoire = replace(plan, under_test=(), phase=int(phase)), replace(repertoire, under_test=None)
    implied = not (errand.passes or errand.case.passes or _loaded(repertoire))
    return Bench(errand, plan, repertoire, recorder, start, note, implied)


# --- the module -----------------------------------------------------------------------------------------


def live_candidate(errand: Errand, recorder: Recorder) -> Any:
    """The candidate of the errand's case, read in a child before it is read here. Raises Refused."""
    from corpus.reduce import candidate_of
    from fuzzer.processes.fork import in_child

    lenient = errand.interesting is not None

    def read(say: Callable[[str], None]) -> None:
        recorder.write(0, "read")
        limit_memory(Plan(0).memory_bytes)
        why = _unreadable(errand, lenient, recorder)
        if why is not None:
            say(json.dumps({"why": why}))

    recorder.write(0, "read")
    lines, ended, stage = in_child(read, recorder, STAGE_S, per_stage=True)
    where = errand.case.origin.file or "the case"
    if lines:
        raise Refused(f"{where}: {json.loads(lines[-1])['why']}")
    if ended is not None:
        raise Refused(f"{where}: this TVM does not get through `{stage}`: {ended}")
    candidate = candidate_of(errand.case)
    return replace(candidate, module=_module_of(candidate.module))


def _unreadable(errand: Errand, lenient: bool, recorder: Recorder) -> str | None:
    """Why a module cannot be used; None when it can."""
    from corpus.reduce import candidate_of
    from oracles.checks.survives import headline
    from oracles.checks.well_formed import complaint

    try:
        module = candidate_of(errand.case).module
    except Exception as error:  # noqa: BLE001 - the boundary to TVM: its parser and its loader raise anything
        text = headline(str(error)) or "no message"
        if "No result exists in IRBuilder" in text:
            text = "no module in the file"
        return f"this TVM cannot read it: {type(error).__name__}: {text}"
    module = _module_of(module)
    if module is None:
        return "holds no IRModule"
    if lenient:
        return None
    recorder.write(0, "well_formed")
    said = complaint(module)
    return f"ill-formed before any pass: {headline(said)}" if said else None


def _module_of(value: Any) -> Any | None:
    """The module; a function that stands alone in its file becomes the `main` of one. None for anything else."""
    import tvm
    from tvm import relax

    if isinstance(value, tvm.ir.BaseFunc):
        builder = relax.BlockBuilder()  # gives the name its type, which call_tir asks for
        builder.add_func(value, "main")
        return builder.finalize()
    return value if isinstance(value, tvm.ir.IRModule) else None


# --- inputs and passes ----------------------------------------------------------------------------------


def _entry_calls(candidate: Any, errand: Errand, recorder: Recorder) -> tuple[tuple[Any, ...], str]:
    """The case's entry calls, or drawn ones; () and why, where the reference makes nothing of any."""
    from fuzzer.processes.fork import in_child
    from fuzzer.trial.subject.inputs import drawn_calls

    def attempt(say: Callable[[str], None]) -> None:
        limit_memory(Plan(0).memory_bytes)
        say(json.dumps(_first_usable(candidate, errand, recorder)))

    recorder.write(0, "reference")
    lines, ended, _ = in_child(attempt, recorder, STAGE_S, per_stage=True)
    if not lines:
        return (), f"the reference does not get through any inputs: {ended or 'own fault'}"
    found = json.loads(lines[-1])
    if found.get("kind") == ILL_TYPED:
        raise Refused(f"{errand.case.origin.file or 'the case'}: ill-typed before any pass: {found['why']}")
    if found["attempt"] is None:
        return (), f"no inputs that the module takes: {found['why']}"
    return (candidate.calls or drawn_calls(candidate.module, found["attempt"], ROUNDS)), ""


def _first_usable(candidate: Any, errand: Errand, recorder: Recorder) -> dict[str, Any]:
    """The first attempt at inputs that the module takes: {"attempt": its number or None, "why": ..., "kind": of
    the trap}."""
    from fuzzer.trial.subject.inputs import ATTEMPTS, Undrawable, drawn_calls
    from oracles.reference.numbers import DISCARDS, NoMeaning, Numbers

    whys: list[str] = []
    kind: str | None = None
    for attempt in range(1 if candidate.calls else len(ATTEMPTS)):
        recorder.write(0, f"reference, attempt {attempt}")
        try:
            calls = candidate.calls or drawn_calls(candidate.module, attempt, ROUNDS)
        except Undrawable as error:
            whys.append(str(error))
            kind = None
            continue
        expected = Numbers(candidate.module, calls).expected
        trapped = isinstance(expected, NoMeaning) and expected.trap is not None
        if not trapped:
            return {"attempt": attempt}
        assert isinstance(expected, NoMeaning)
        kind = expected.kind
        if kind in DISCARDS and candidate.calls:
            return {"attempt": attempt}
        whys.append(str(expected.trap))
        if kind == "fuel":
            break  # As long again for each other attempt.
    return {"attempt": None, "why": whys[-1], "kind": kind}


def _passes(errand: Errand, repertoire: Any, module: Any, calls: tuple[Any, ...], phase: Any) -> tuple[Any, ...]:
    """The passes to apply: those named, else the case's own, else those of the loaded file, else the default build's.

    `phase` is where the module stands: what has been done already is not done again.
    """
    from fuzzer.trial.subject.inputs import facts_of
    from generators.case import PassCall
    from generators.passes.table import rest_of_tir_pipeline
    from generators.source import SeededSource
    from oracles.builds.build import rest_of_pipeline
    from oracles.builds.needs import builder_of

    if not errand.passes and errand.case.passes:
        unknown = [call.name for call in errand.case.passes + errand.case.setup if call.name not in repertoire.rows]
        if unknown:
            raise Refused(f"the case applies {unknown[0]}, which is neither in the pass table nor in a loaded file")
        return errand.case.passes
    drawn: list[PassCall] = []
    facts, source = facts_of(module, calls), SeededSource(0)
    implied = rest_of_pipeline(phase, errand.case.target)
    if builder_of(errand.case.target) is None:  # else building does the rest
        implied += rest_of_tir_pipeline(phase)
    for name in errand.passes or _loaded(repertoire) or implied:
        row = repertoire.rows[name]
        text = row.sources[0] if row.sources else row.draw(source, facts)
        if text is None:
            raise Refused(f"--passes {name}: has nothing to do in this module")
        drawn.append(PassCall(name, text))
    return tuple(drawn)


def _loaded(repertoire: Any) -> tuple[str, ...]:
    """The names of the passes that the loaded file brings."""
    from generators.passes.table import PASSES

    return tuple(name for name in repertoire.rows if name not in PASSES)
