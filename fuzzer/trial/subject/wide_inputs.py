"""Sets of inputs in which whole numbers use the width of their dtypes, for modules that come without any.

The small whole numbers of `fuzzer.trial.subject.inputs` are exact in every sum and lie in every table; but a shift to
the right, a requantisation or a division makes zeros of them, and they fit into every narrower dtype. So a module is
called on two more sets: numbers of any size up to a limit, and numbers whose orders of magnitude are equally likely.
The limit is the largest that the module takes: TVM leaves open what an integer that overflows is, and an index has to
lie in its table. Worker processes only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
from tvm import relax

from fuzzer.trial.subject.domains import domains_of
from fuzzer.trial.subject.inputs import Undrawable, drawn_calls
from fuzzer.trial.subject.parameters import ParameterPath
from generators.case import Argument, EntryCall
from generators.dtypes import Array, integer_limits
from generators.tvm_api import IRModule
from oracles.ir.walk import functions_of
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported

BITS = (20, 17, 15, 12, 9)
"""Sizes that are tried, largest first: below 2**bits and the end of the dtype. Products of two int32 overflow from 16
bits on, sums of many of these from 12."""
HEADROOM = 3
"""Numbers are drawn this many bits smaller: a right pass may compute in another order, which needs more of them."""
ALONE = 8
"""How many parameters are tried one by one where they cannot all be wide."""
SLOW_S = 2.0
"""CPU seconds that one run may take where others are tried: there may be twenty."""
_SEEDS = (7919, 104729)
"""Those of the two sets, which the seeds of ordinary sets do not come to."""


class Width(msgspec.Struct, frozen=True):
    """How whole numbers of one call are drawn. call: its place among the calls of a set. by_order: whether orders of
    magnitude are equally likely, and not numbers. paths: the parameters, the others stay small."""

    call: int
    by_order: bool
    bits: int
    paths: tuple[ParameterPath, ...]


class Widths(msgspec.Struct, frozen=True):
    """Those of the two sets. overflowing: parameters that stay small as an integer overflows otherwise."""

    each: tuple[Width, ...] = ()
    overflowing: tuple[str, ...] = ()


def widths_of(module: IRModule, attempt: int, say: Callable[[], None] = lambda: None) -> Widths:
    """How wide the whole numbers may be in each call of the two sets.

    say: called before each run of the module. The module and what LegalizeOps makes of it must take the numbers, as
    PrimFuncs say where an integer overflows.
    """
    runs = _runs(module)
    each: list[Width] = []
    overflowing: list[str] = []
    for number, call in enumerate(_calls(module, attempt, False) if runs else ()):
        paths = tuple(_whole(module, call))
        trial = _Takes(runs, call, say)
        if not paths or not trial.is_quick():
            continue
        bits, good = _widest(paths, trial)
        overflowing += [_named(module, call, path) for path in sorted(trial.overflowing - set(good))]
        if good:
            each.append(Width(number, False, bits - HEADROOM, good))
            if _Takes(runs, _calls(module, attempt, True)[number], say).takes(bits, good, by_order=True):
                each.append(Width(number, True, bits - HEADROOM, good))
    return Widths(tuple(each), tuple(overflowing))


def wide_calls(module: IRModule, attempt: int, widths: Sequence[Width]) -> tuple[EntryCall, ...]:
    """The calls of these widths."""
    return tuple(
        _with(_calls(module, attempt, width.by_order)[width.call], width.bits, width.paths, width.by_order)
        for width in widths
    )


def _runs(module: IRModule) -> tuple[IRModule, ...]:
    """The modules that must take the numbers; () where LegalizeOps fails, so that nothing says what overflows."""
    try:
        return module, relax.transform.LegalizeOps()(module)
    except Exception:  # noqa: BLE001 - the boundary to TVM, which raises anything
        return ()


@dataclass(slots=True)
class _Takes:
    """Runs of one call with other numbers. overflowing: the parameters that made an integer overflow alone."""

    modules: tuple[IRModule, ...]
    call: EntryCall
    say: Callable[[], None]
    overflowing: set[ParameterPath] = field(default_factory=set)

    def is_quick(self) -> bool:
        """Whether the call ends as it is, and soon."""
        begun = time.thread_time()
        return self.takes(0, ()) and time.thread_time() - begun < SLOW_S

    def takes(self, bits: int, paths: tuple[ParameterPath, ...], by_order: bool = False) -> bool:
        """Whether the modules give a result where these parameters are so wide."""
        call = _with(self.call, bits, paths, by_order)
        for module in self.modules:
            self.say()
            try:
                Interpreter(module).run(call)
            except (Trap, Unsupported) as error:
                if isinstance(error, Trap) and error.kind == "integer-overflow" and len(paths) == 1:
                    self.overflowing.update(paths)
                return False
        return True


def _widest(paths: tuple[ParameterPath, ...], trial: _Takes) -> tuple[int, tuple[ParameterPath, ...]]:
    """The largest limit at which all parameters may be wide, else at which those may that may be at all."""
    for bits in BITS:
        if trial.takes(bits, paths):
            return bits, paths
    good: tuple[ParameterPath, ...] = ()
    for path in paths[:ALONE] if len(paths) > 1 else ():
        if trial.takes(BITS[-1], (path,)) and trial.takes(BITS[-1], (*good, path)):
            good = (*good, path)
    return next((bits, good) for bits in (*BITS, 0) if not bits or not good or trial.takes(bits, good))


def _named(module: IRModule, call: EntryCall, path: ParameterPath) -> str:
    """A parameter, or a field of one, as `--inputs` calls it."""
    parameter = functions_of(module)[call.function].params[path[0]]
    return ".".join([str(parameter.name), *map(str, path[1:])])


def _calls(module: IRModule, attempt: int, by_order: bool) -> tuple[EntryCall, ...]:
    try:
        return drawn_calls(module, attempt, seed=_SEEDS[by_order])
    except Undrawable:
        return ()


def _whole(module: IRModule, call: EntryCall) -> Iterator[ParameterPath]:
    """The arrays of whole numbers among the arguments, but for those with a documented domain."""
    known = domains_of(module, call.function)

    def within(argument: Argument, path: ParameterPath) -> Iterator[ParameterPath]:
        if isinstance(argument, tuple):
            for place, field in enumerate(argument):
                yield from within(field, (*path, place))
        elif isinstance(argument, np.ndarray) and argument.dtype.kind in "iu" and argument.size and path not in known:
            yield path

    for place, argument in enumerate(call.arguments):
        yield from within(argument, (place,))


def _with(call: EntryCall, bits: int, paths: tuple[ParameterPath, ...], by_order: bool) -> EntryCall:
    """The call with whole numbers below 2**bits in these arguments."""

    def changed(argument: Argument, path: ParameterPath) -> Argument:
        if isinstance(argument, tuple):
            return tuple(changed(field, (*path, place)) for place, field in enumerate(argument))
        if path not in paths or not isinstance(argument, np.ndarray):
            return argument
        random = np.random.default_rng([_SEEDS[by_order], *path])
        return _drawn(random, argument, bits, by_order)

    return replace(call, arguments=tuple(changed(a, (place,)) for place, a in enumerate(call.arguments)))


def _drawn(random: np.random.Generator, like: Array, bits: int, by_order: bool) -> Array:
    """Numbers of both signs where the dtype has them. The smallest of a dtype, which has no negative, is left out."""
    low, high = integer_limits(like.dtype.name)
    largest = min(high, (1 << bits) - 1)
    numbers = np.asarray(random.integers(-largest if low else 0, largest + 1, like.shape))
    if by_order:
        sizes = np.minimum(np.floor(2.0 ** random.uniform(0, largest.bit_length(), like.shape)), float(largest))
        signs = np.where(numbers < 0, -1, 1)
        numbers = sizes.astype(np.int64) * signs
    return numbers.astype(like.dtype)
