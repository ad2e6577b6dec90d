"""The results of PrimFuncs that Relax calls, on fresh buffers or in place, with error bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tvm import tirx

from generators.dtypes import Array
from oracles.reference.errors import Unsupported
from oracles.reference.memory import before_call, blank, written
from oracles.reference.prim_bounds import if_known, may_trap, with_bounds, with_own_error
from oracles.reference.prim_call import PrimCall, run_fresh, run_in_place, same_when_shared, shares
from oracles.reference.sampling import Sampling
from oracles.reference.values import Runtime, Tensor, carried


def prim_result(call: PrimCall, bounded: bool, sampling: Sampling | None = None) -> list[Tensor]:
    """The results of a call_tir. With `bounded`, with error bounds from perturbed runs, which `sampling` sharpens."""
    if not isinstance(call.function, tirx.PrimFunc):
        raise Unsupported(f"call_tir of a {type(call.function).__name__}")
    ran = run_fresh(call)
    results = _carried(call, ran.arrays)
    if bounded and sampling is not None and sampling.absent:
        results = if_known(call, results)
    elif bounded:
        results = _sharpened(call, results, ran.rounds, sampling)
    return [_partly(mask, tensor, call.name, bounded) for mask, tensor in zip(ran.written, results, strict=True)]


def _sharpened(call: PrimCall, exact: list[Tensor], rounds: bool, sampling: Sampling | None) -> list[Tensor]:
    def again(moved: list[Runtime]) -> list[Array]:
        return run_fresh(call.on(moved)).arrays

    def evaluate(carriers: Sequence[Any]) -> list[Array]:
        with may_trap():
            return [np.asarray(a, np.float64) for a in again(_held(call.inputs, carriers))]

    def worst(operands: Sequence[Runtime]) -> list[Tensor]:
        return with_bounds(call.on(list(operands)), exact, again, rounds)

    def alone(operands: Sequence[Runtime]) -> list[Tensor]:
        return with_own_error(call.on(list(operands)), exact)

    if sampling is None:
        return worst(call.inputs)
    return sampling.sharpened(call.inputs, worst, evaluate, alone if sampling.by_itself else worst)


def results_in_place(
    call: PrimCall, places: list[int], bounded: bool, sampling: Sampling | None = None
) -> list[Tensor]:
    """The results of a call_tir_inplace: result k is input places[k] after the call, or a fresh one for -1."""
    if shares(call, places) and not same_when_shared(call, places):
        raise Unsupported("aliased arguments of a call in place")
    before = [before_call(i) if isinstance(i, Tensor) else None for i in call.inputs]
    ran = run_in_place(call, places)
    results = _carried(call, ran.arrays)
    if bounded and sampling is not None and sampling.absent:
        results = if_known(call, results)
    elif bounded:
        results = with_bounds(
            call, results, lambda moved: run_in_place(call.on(moved), places, tracked=False).arrays, ran.rounds
        )
    for k, place in enumerate(places):
        operand = None if place < 0 else call.inputs[place]
        if place < 0:
            results[k] = _partly(ran.written[k], results[k], call.name, bounded)
        elif isinstance(operand, Tensor) and operand.memory is not None:
            operand.value[...] = ran.arrays[k]
            written(operand, ran.known[place], before[place])
            results[k] = operand if results[k].error is None else replace(operand, error=results[k].error)
    return results


def _carried(call: PrimCall, arrays: list[Array]) -> list[Tensor]:
    return [carried(array, dtype) for array, (_, dtype) in zip(arrays, call.outputs, strict=True)]


def _held(inputs: list[Runtime], carriers: Sequence[Any]) -> list[Runtime]:
    """The inputs with other values in the tensors among them."""
    pairs = zip(inputs, carriers, strict=True)
    return [Tensor(carrier, i.dtype) if isinstance(i, Tensor) else i for i, carrier in pairs]


def _partly(written: Array | None, tensor: Tensor, name: str, bounded: bool) -> Tensor:
    """An output of which some elements were not written: these are uninitialised and have an infinite error."""
    if written is None or written.all():
        return tensor
    empty = blank(tensor.shape, tensor.dtype, f"an output of function {name}")
    assert empty.memory is not None
    empty.memory.known = written.reshape(-1)
    empty.memory.used = True
    if not bounded:
        return Tensor(np.where(written, tensor.value, empty.value), tensor.dtype, None, empty.memory)
    error = np.zeros(tensor.shape) if tensor.error is None else tensor.error
    return Tensor(tensor.value, tensor.dtype, np.where(written, error, np.inf), empty.memory)
