"""Which outputs of a module are the same on all sets of inputs that were drawn, so that these show little of it.

An output that is zero throughout, or saturated, is what most wrong passes give as well. Worker processes only.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from generators.case import EntryCall
from generators.dtypes import Array
from generators.tvm_api import IRModule
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.values import Runtime, Tensor, flattened


class SameResults(msgspec.Struct, frozen=True):
    """The outputs that stay, in words; every: whether no output changes."""

    outputs: tuple[str, ...] = ()
    every: bool = False


def same_results(module: IRModule, calls: Sequence[EntryCall]) -> SameResults:
    """The outputs of functions that were called on several sets, and gave one and the same tensor each time, or one
    and the same number throughout."""
    words: list[str] = []
    tensors = 0
    for name in dict.fromkeys(call.function for call in calls):
        given = [leaves for call in calls if call.function == name and (leaves := _leaves(module, call)) is not None]
        if len(given) < 2:
            continue
        for place, outputs in enumerate(zip(*given, strict=False)):
            arrays = [output.value for output in outputs if isinstance(output, Tensor) and output.value.size]
            if len(arrays) == len(given):
                tensors += 1
                words += [f"output {place} of {name}"] if _stays(arrays) else []
    return SameResults(tuple(words), 0 < len(words) == tensors)


def _leaves(module: IRModule, call: EntryCall) -> list[Runtime] | None:
    try:
        return flattened(Interpreter(module).run(call))
    except (Trap, Unsupported):
        return None


def _stays(arrays: Sequence[Array]) -> bool:
    first = arrays[0]
    if all(np.array_equal(array, first, equal_nan=first.dtype.kind == "f") for array in arrays):
        return True
    return all(bool(np.all(array == first.flat[0])) for array in arrays)
