"""Cases that start from a module of `--corpus` instead of a drawn program. Worker processes only.

A seed is any case folder: what `passfuzz harvest` leaves, or a corpus of known bugs. Its module is taken, its passes
are not; the inputs are drawn anew from the types. They could lie outside of what operators accept, so they are calm:
no zero among the floats, every whole number the same. What the reference cannot follow, or no sequence starts from, is
no seed: its reason is counted, and another one is picked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from corpus.scripts.module_text import live_module
from corpus.store import CorruptCase, StoredCase, read_case
from fuzzer.trial.subject.flaws import flaw_of
from fuzzer.trial.subject.inputs import ENTRY, facts_of
from fuzzer.trial.subject.phase import phase_of
from fuzzer.trial.subject.unpromised_inputs import NoInputs, calm, meaning_of
from fuzzer.trust import is_trusted
from fuzzer.worker.knobs import KNOBS
from generators.case import EntryCall
from generators.passes.row import Phase
from generators.program import Program
from generators.script_shape import complaint_about
from generators.source import Source
from generators.tvm_api import IRModule
from generators.unavailable import Unavailable
from oracles.ir.operators import operator_calls
from oracles.ir.threads import binds_threads
from oracles.ir.walk import prim_funcs, relax_functions
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning

STARTS = (Phase.HIGH, Phase.LEGAL)
"""Where the module of a seed may stand: a lowered one is past the first half of every sequence."""
_WHOLE = (0, 1)
_CPU = ("llvm", "c")


@dataclass(frozen=True, slots=True)
class SeedProgram(Program):
    """A program that is a seed's module. `folder` is the seed's, as it was found."""

    folder: str = ""


def draw_seed(
    source: Source, folders: tuple[Path, ...], trust: bool = False
) -> tuple[SeedProgram | None, Counter[str]]:
    """One of the seeds with inputs, and why others that were picked before it are of no use; None where all are."""
    useless: Counter[str] = Counter()
    for _ in range(KNOBS.seed.tries):
        try:
            return _program(source.pick(folders), source, trust), useless
        except Unavailable as reason:
            useless[str(reason)] += 1
    return None, useless


def _program(folder: Path, source: Source, trust: bool) -> SeedProgram:
    stored = _stored(folder, trust)
    module = _module(stored)
    calls = _calls(module, stored, source)
    operators = [call.op.name for call, _ in operator_calls(module)]
    program = SeedProgram(module, calls, facts_of(module, calls), folder=str(folder))
    program.operators.update(operators)
    return program


def _stored(folder: Path, trust: bool) -> StoredCase:
    try:
        stored = read_case(folder)
    except CorruptCase as error:
        raise Unavailable("its case folder cannot be read") from error
    text = stored.case.module
    as_it_is = trust or text.json is not None or complaint_about(text.script) is None
    if not as_it_is and not is_trusted(folder):
        raise Unavailable("a module of another user that is not plain TVMScript")
    return stored


def _module(stored: StoredCase) -> IRModule:
    try:
        module = live_module(stored.case.module)
    except Exception as error:  # noqa: BLE001 - what this TVM says of a text of another one
        raise Unavailable("this TVM cannot read its module") from error
    phase = phase_of(module)
    flaw = flaw_of(module, phase)
    if flaw is not None:
        raise Unavailable(flaw)
    if phase not in STARTS or not relax_functions(module):
        raise Unavailable("no sequence starts from its phase")
    if any(variable.name_hint == ENTRY for variable, _ in prim_funcs(module)):
        raise Unavailable("its main is a PrimFunc")  # which passes with entry functions take for one of Relax
    if _is_for_a_device(module):
        raise Unavailable("made for another device")
    return module


def _calls(module: IRModule, stored: StoredCase, source: Source) -> tuple[EntryCall, ...]:
    """Entry calls that the reference has a result of: drawn from the types, else those that the seed brings."""
    found = meaning_of(module, source.integer(0, (1 << 31) - 1), KNOBS.seed.largest)
    drawn = stored.case.calls if isinstance(found, NoInputs) else found.calls
    reason = found.reason if isinstance(found, NoInputs) else ""
    for whole in _WHOLE:
        numbers = Numbers(module, calm(module, drawn, whole))
        if drawn and not isinstance(numbers.expected, NoMeaning):
            return numbers.calls
        reason = numbers.expected.reason if drawn and isinstance(numbers.expected, NoMeaning) else reason
    raise Unavailable(reason)


def _is_for_a_device(module: IRModule) -> bool:
    """Whether something in the module is made for another device than the CPU that the build is judged on."""
    devices = [info for infos in module.global_infos.values() for info in infos if hasattr(info, "target")]
    targets = [info.target for info in devices]
    functions = [function for _, function in (*prim_funcs(module), *relax_functions(module))]
    targets += [function.attrs["target"] for function in functions if function.attrs and "target" in function.attrs]
    if any(str(target.kind) not in _CPU for target in targets if target is not None):
        return True
    return any(binds_threads(function) for _, function in prim_funcs(module))
