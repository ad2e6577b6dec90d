"""Inputs for the modules of other people's tests: drawn from types, the same for the same module.

Worker processes only. What the ranges and symbolic dims of the attempts are is `fuzzer.trial.subject.inputs`'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fuzzer.trial.subject.domains import in_domains
from fuzzer.trial.subject.inputs import ATTEMPTS, NoArgument, Undrawable, drawn_calls
from generators.case import Argument, EntryCall
from generators.dtypes import is_float
from generators.tvm_api import IRModule
from oracles.checks.attributes import MADE_FOR_TOOLS
from oracles.evidence import Stop
from oracles.ir.compare import digest
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning

SETS = 2
"""How many sets of inputs a module is called with: others of the attempts come in where one is not taken."""
LARGEST = 1 << 24
"""Elements that the arguments of one call may have together: more takes the interpreter too long."""


@dataclass(frozen=True, slots=True)
class NoInputs:
    """Why the module is called with nothing; `reason` is a counter's key. stop: what the reference stops at."""

    reason: str
    stop: Stop | None = None


def seed_of(module: IRModule) -> int:
    """The seed of a module's inputs, which is the same for it in every process."""
    return int(digest(module), 16)


def meaning_of(module: IRModule, seed: int, largest: int = LARGEST) -> Numbers | NoInputs:
    """What the reference gives for a module on SETS sets of drawn inputs of at most `largest` elements.

    The first set is one that the module takes; where it does not take another one, that is left out.
    """
    sets: list[tuple[EntryCall, ...]] = []
    why = "no public Relax function"
    for attempt in range(len(ATTEMPTS)):
        try:
            drawn = drawn_calls(module, attempt, seed=seed & 0xFFFFFFFF)
        except Undrawable as error:
            why = _why(error)
            continue
        if sum(_elements(argument) for call in drawn for argument in call.arguments) > largest:
            why = f"more than {largest} elements"
            continue
        people = tuple(call for call in drawn if not _for_tools(module, call.function))
        if people:
            sets.append(people)
    if not sets:
        return NoInputs(f"no inputs: {why}")
    return _first_that_runs(module, sets)


def _for_tools(module: IRModule, name: str) -> bool:
    """Whether a function was made for an external code generator, so that nothing else calls it."""
    attrs = module[name].attrs
    return attrs is not None and any(key in attrs for key in MADE_FOR_TOOLS)


def _why(error: Undrawable) -> str:
    """Why no call can be drawn, without names."""
    for kind in NoArgument:
        if kind in error.kinds:
            return f"more than {LARGEST} elements" if kind is NoArgument.TOO_LARGE else kind.value
    return "no public Relax function, and PrimFuncs that call_tir cannot call"


def _first_that_runs(module: IRModule, sets: list[tuple[EntryCall, ...]]) -> Numbers | NoInputs:
    for index in range(len(sets)):
        numbers = Numbers(module, [call for drawn in sets[index : index + SETS] for call in drawn])
        if not isinstance(numbers.expected, NoMeaning):
            return numbers
        found = NoInputs(numbers.expected.reason, numbers.expected.stop)
        if numbers.expected.trap is None:
            break  # a construct that the reference does not know
    return found


def calm(module: IRModule, calls: tuple[EntryCall, ...], whole: int) -> tuple[EntryCall, ...]:
    """The calls with every whole number `whole`, and no zero among the floats: no index, no divisor and no scale is
    out of what an operator is defined for. What has a documented domain is drawn in it."""

    def quiet(argument: Argument) -> Argument:
        if isinstance(argument, tuple):
            return tuple(quiet(field) for field in argument)
        if isinstance(argument, (int, float)):
            return whole if isinstance(argument, int) else argument or 1.0
        if not isinstance(argument, np.ndarray) or argument.dtype == np.bool_:
            return argument
        if is_float(argument.dtype.name):
            return np.where(argument == 0, np.ones_like(argument), argument)
        return np.full_like(argument, whole)

    return tuple(
        in_domains(module, replace(call, arguments=tuple(quiet(a) for a in call.arguments)), whole) for call in calls
    )


def _elements(argument: Argument) -> int:
    if isinstance(argument, tuple):
        return sum(_elements(field) for field in argument)
    return argument.size if isinstance(argument, np.ndarray) else 1
