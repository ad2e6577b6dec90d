"""Whether an official pipeline shows a failure too, which makes it tier A: asked once, of the reduced module alone.

An error is shown where `tvm.compile`, or the target's own pipeline, dies at the same place of TVM's code with the same
message, or in the same pass by a signal. A changed input is shown where the same pass of theirs changes the module that
the user has handed over: what goes from pass to pass is their own. Anything else is shown where the passes of an
official pipeline, one by one in its order, fail in the same way under the same oracle. At most one build; what ends a
child says no.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import tvm
from msgspec import Struct
from tvm import relax

from corpus.causes.signature import normalise
from corpus.causes.throw_site import sites
from corpus.reduce import Candidate
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Heard, in_child
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.end_of_child import judged_end
from fuzzer.trial.rejudge import stage_of
from generators import tvm_api
from generators.passes.official import calls_of, rest_of_pipeline
from generators.passes.row import Phase
from generators.passes.table import PASSES, PIPELINES, TIR_PIPELINE, object_name
from generators.targets import TARGETS, TargetRow
from generators.tvm_api import IRModule, Node, Target
from oracles.activities import Announce, Applying, Building
from oracles.builds.build import passes_to_come
from oracles.checks import pipelines
from oracles.evidence import AcrossProcesses, BuiltUntyped, Died, Hung, OutOfMemory
from oracles.ir.fingerprint import fingerprint
from oracles.oracle import Stage, StepOracle, TraceOracle
from oracles.process_state import limit_memory
from oracles.table import BUILD, ORACLES
from oracles.tvm_errors import in_a_line, raised_from
from oracles.verdict import CODEGEN, CRASH, DOES_NOT_BUILD

DIES = (CRASH, DOES_NOT_BUILD)
"""Symptoms of a failure that the call itself shows: it raises, or a signal ends it."""

Alike: TypeAlias = Callable[[Candidate], bool]
"""Whether a candidate fails as the finding does; False too where judging it tells nothing."""


def official_entry(failure: Failure, case: Candidate, plan: Plan, alike: Alike) -> str:
    """The call that shows the failure of a reduced case by an official pipeline with default options, as Python text
    over its `Module`; "" where none does, or a failure is of a kind that is not asked about.

    Not asked: hangs and memory, which would cost too much; what follows hash seeds; modules that are lowered already.
    """
    row = TARGETS[plan.target]
    if isinstance(failure.evidence, Hung | OutOfMemory | AcrossProcesses) or plan.phase != Phase.HIGH:
        return ""
    if failure.oracle == pipelines.ORACLE.name:
        return _text(row, row.pipelines[-1 if failure.culprit == pipelines.TARGET_DEFAULT else 0])
    if not takes_as_it_is(case.module, plan):
        return ""
    if failure.oracle == BUILD and not (case.setup or case.passes):
        return _text(row, row.pipelines[0])
    tried = zip(row.pipelines, (tvm.compile, _default_pipeline), strict=False)
    if failure.symptom in DIES:
        return next((_text(row, name) for name, how in tried if _dies_alike(failure, case.module, plan, how)), "")
    if failure.oracle in ORACLES and ORACLES[failure.oracle].stage is Stage.INPUT:
        return next((_text(row, name) for name, how in tried if _changes_given(failure, case.module, plan, how)), "")
    if failure.oracle == BUILD and alike(replace(case, setup=(), passes=())):
        return _text(row, row.pipelines[0])
    return next((_text(row, name) for name in row.pipelines if any(map(alike, _in_order(failure, case, name)))), "")


def takes_as_it_is(module: IRModule, plan: Plan) -> bool:
    """Whether the official pipelines take such a module. They do not where it has local functions, for which our builds
    put a pass before the pipeline."""
    phase = Phase(plan.phase)
    return passes_to_come(module, phase, plan.target) == rest_of_pipeline(phase, plan.target)


def _text(row: TargetRow, pipeline: str) -> str:
    """How a user has this pipeline applied to a module: `tvm.compile` alone applies the first one of the target."""
    plain = f'tvm.target.Target("{row.kind}")'
    target = f'"{row.kind}"' if row.source == plain else row.source
    if pipeline == row.pipelines[0]:
        return f"tvm.compile(Module, target={target})"
    return f"tvm.compile(Module, target={target}, relax_pipeline=relax.get_default_pipeline({row.source}))"


# --- one by one -----------------------------------------------------------------------------------------


def _in_order(failure: Failure, case: Candidate, pipeline: str) -> Iterator[Candidate]:
    """The case under a pipeline instead of its own passes, as far as the oracle of the failure has to see it; nothing
    where that has no place in it."""
    calls, oracle = calls_of(pipeline), ORACLES.get(failure.oracle)
    if isinstance(oracle, StepOracle):
        ends = [end for end, call in enumerate(calls, 1) if call.name == failure.culprit]
        yield from (replace(case, setup=(), passes=calls[:end]) for end in ends[-1:])
    elif isinstance(oracle, TraceOracle) and oracle.of_passes:
        yield replace(case, setup=(), passes=calls[: -len(TIR_PIPELINE)])


# --- tvm.compile ----------------------------------------------------------------------------------------


class Threw(Struct, frozen=True, tag="threw"):
    """What a call raised, in a line, and its traceback."""

    said: str
    traceback: str


OFFICIAL = frozenset(name for names in (*PIPELINES.values(), TIR_PIPELINE) for name in names)
"""The rows of the pass table that stand in official pipelines."""


def _runs_as(name: str) -> str:
    """What a pass is called where TVM runs it."""
    return object_name(PASSES[name]) if name in PASSES else name


_RUNS_AS = frozenset(map(_runs_as, OFFICIAL))


class Changed(Struct, frozen=True, tag="changed"):
    """The module that a call was given is another after this official pass, as TVM calls it."""

    after: str


@tvm.ir.instrument.pass_instrument
class _Announcer:
    """Announces the official pass that runs, and code generation while none does. after: is told of each official pass
    that has run, parts of others apart."""

    def __init__(self, announce: Announce, after: Callable[[str], None] = lambda name: None) -> None:
        self._announce = announce
        self._after = after
        self._running: list[str] = []

    def run_before_pass(self, module: IRModule, info: Node) -> None:
        if str(info.name) in _RUNS_AS:
            self._running.append(str(info.name))
            self._announce(Applying(self._running[-1]))

    def run_after_pass(self, module: IRModule, info: Node) -> None:
        if self._running and self._running[-1] == str(info.name):
            self._running.pop()
            self._announce(Applying(self._running[-1]) if self._running else Building(BUILD, CODEGEN))
            if not self._running:
                self._after(str(info.name))


def _default_pipeline(module: IRModule, target: Target) -> None:
    """The target's own pipeline of Relax alone: what it does not show, the build after it shows after the other too."""
    with target:
        relax.get_default_pipeline(target)(module)


Compiles: TypeAlias = Callable[[IRModule, Target], object]
"""What compiles a module for a target, or is the first half of that."""


def _dies_alike(failure: Failure, module: IRModule, plan: Plan, call: Compiles) -> bool:
    """Whether the call on the module, in a child, dies as the failure says."""
    heard = _heard(failure, module, plan, call)
    if heard.ended is None:
        return any(isinstance(said, Threw) and _thrown_alike(failure, said) for said in heard.messages)
    end = judged_end(failure.index, heard.activity, heard.ended, deadline_s=plan.deadline_s)
    if not (isinstance(end, Failure) and isinstance(end.evidence, Died)):
        return False
    return (stage_of(end.culprit), end.evidence) == (stage_of(failure.culprit), failure.evidence)


def _changes_given(failure: Failure, module: IRModule, plan: Plan, call: Compiles) -> bool:
    """Whether the culprit is what first changes the module that the call is given, in a child."""
    changed = [said.after for said in _heard(failure, module, plan, call).messages if isinstance(said, Changed)]
    return changed[:1] == [_runs_as(failure.culprit)]


def _heard(failure: Failure, module: IRModule, plan: Plan, call: Compiles) -> Heard[Threw | Changed]:
    """What is heard of a child in which the call is made for the module."""
    recorder = Recorder.create(Path(plan.scratch) / f"official-{os.getpid()}")
    recorder.write(failure.index, Building(BUILD, CODEGEN))

    def compiled(say: Callable[[Struct], None]) -> None:
        limit_memory(plan.memory_bytes)
        given = fingerprint(module)

        def look(name: str) -> None:
            if fingerprint(module) != given:
                say(Changed(name))

        instrument = _Announcer(lambda activity: recorder.write(failure.index, activity), look)
        target: Target = eval(TARGETS[plan.target].source, dict(tvm_api.PASS_NAMES))
        try:
            with tvm.transform.PassContext(instruments=[instrument]):
                call(module, target)
        except Exception as error:  # noqa: BLE001 - the boundary to TVM: what it raises is a value here
            raised = raised_from(error)
            say(Threw(in_a_line(raised), raised.traceback))

    return in_child(compiled, Threw | Changed, recorder, plan.deadline_s)


def _thrown_alike(failure: Failure, threw: Threw) -> bool:
    """Whether two exceptions are one: the same throw site, and the same message but for names and numbers."""
    site = sites(threw.traceback)[-1:]
    said = failure.evidence.said if isinstance(failure.evidence, BuiltUntyped) else failure.message
    return bool(site) and site == sites(failure.detail)[-1:] and normalise(said) == normalise(threw.said)
