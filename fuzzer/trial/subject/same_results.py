"""Which outputs of a module are the same on all sets of inputs that were drawn, so that these show little of it.

An output that is zero throughout, or saturated, is what most wrong passes give as well. Worker processes only.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from tvm import relax

from generators.case import EntryCall
from generators.dtypes import Array
from generators.tvm_api import Expr, IRModule, RelaxFunction, TupleType, Type, type_of
from oracles.ir.walk import functions_of
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.values import Runtime, Tensor, flattened


class SameResults(msgspec.Struct, frozen=True):
    """The outputs that stay, in words; every: whether no output changes."""

    outputs: tuple[str, ...] = ()
    every: bool = False


def same_results(module: IRModule, calls: Sequence[EntryCall]) -> SameResults:
    """The outputs of functions that were called on several sets, and gave one and the same tensor each time, or one
    and the same number throughout. Those that are computed of no parameter are none of them: they cannot change."""
    words: list[str] = []
    tensors = 0
    for name in dict.fromkeys(call.function for call in calls):
        given = [leaves for call in calls if call.function == name and (leaves := _leaves(module, call)) is not None]
        if len(given) < 2:
            continue
        hanging = _hanging(functions_of(module)[name])
        for place, outputs in enumerate(zip(*given, strict=False)):
            arrays = [output.value for output in outputs if isinstance(output, Tensor) and output.value.size]
            if len(arrays) == len(given) and (place >= len(hanging) or hanging[place]):
                tensors += 1
                words += [f"output {place} of {name}"] if _stays(arrays) else []
    return SameResults(tuple(words), 0 < len(words) == tensors)


def _hanging(function: RelaxFunction) -> list[bool]:
    """For each output, in order, whether it is computed of a parameter."""
    body = function.body
    bindings = [binding for block in body.blocks for binding in block.bindings]
    values = {binding.var: binding.value for binding in bindings}
    hanging = set(function.params)
    for binding in bindings:
        if any(var in hanging for var in relax.analysis.all_vars(binding.value)):
            hanging.add(binding.var)

    def leaves(expr: Expr) -> list[bool]:
        whole = values.get(expr, expr) if isinstance(expr, relax.Var) else expr
        if isinstance(whole, relax.Tuple):
            return [leaf for field in whole.fields for leaf in leaves(field)]
        return [any(var in hanging for var in relax.analysis.all_vars(expr))] * _count(type_of(expr))

    return leaves(body.body)


def _count(ty: Type) -> int:
    """How many outputs a result of this type is."""
    return sum(map(_count, ty.fields)) if isinstance(ty, TupleType) else 1


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
