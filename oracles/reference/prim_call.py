"""A call of a PrimFunc by call_tir or call_tir_inplace, and its runs: on fresh buffers, or into its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from generators.case import Shape
from generators.dtypes import NARROW, Array, Scalar, numpy_dtype
from generators.tvm_api import BaseFunc
from oracles.reference.errors import Unsupported
from oracles.reference.memory import mask_of
from oracles.reference.tir import ALONE, Context, run_tracked
from oracles.reference.tir.arithmetic import Roundings
from oracles.reference.tir.widened import in_float64
from oracles.reference.values import Runtime, Tensor, declared


@dataclass(frozen=True, slots=True)
class PrimCall:
    """name: of the function, for traps. outputs: the shape and the dtype of each result. extra: the scalar arguments
    after all tensors."""

    function: BaseFunc
    name: str
    inputs: list[Runtime]
    outputs: list[tuple[tuple[int, ...], str]]
    extra: list[int]
    context: Context = ALONE

    def on(self, inputs: list[Runtime]) -> PrimCall:
        """The same call with other inputs."""
        return replace(self, inputs=inputs)


@dataclass(frozen=True, slots=True)
class Ran:
    """arrays: the results. written: which elements of each are written, None for all. rounds: whether an operation on
    floats of 8 bits has rounded."""

    arrays: list[Array]
    written: tuple[Array | None, ...]
    rounds: bool


@dataclass(frozen=True, slots=True)
class RanInPlace:
    """arrays: the results, of which some are inputs. written: which elements of each fresh result are written, by its
    number, None for all. known: the same of each input, None for a scalar too. rounds: as of `Ran`."""

    arrays: list[Array]
    written: Mapping[int, Array | None]
    known: list[Array | None]
    rounds: bool


def run_fresh(call: PrimCall) -> Ran:
    """Runs a call_tir."""
    arguments = [_argument(i) for i in call.inputs]
    blanks = [_empty(shape, dtype) for shape, dtype in call.outputs]
    if call.context.widened:
        arguments = [_wide(i) if isinstance(i, Tensor) and i.dtype in NARROW else _argument(i) for i in call.inputs]
        blanks = [in_float64(blank) for blank in blanks]
    masks = [np.zeros(blank.shape, np.bool_) for blank in blanks]
    known = [*_masks(call), *masks, *[None] * len(call.extra)]
    roundings = Roundings.count
    after = run_tracked(call.function, [*arguments, *blanks, *call.extra], known, context=call.context)
    buffers = sum(isinstance(argument, np.ndarray) for argument in arguments)
    return Ran(blanks, after[buffers : buffers + len(blanks)], Roundings.count != roundings)


def run_in_place(call: PrimCall, places: list[int], tracked: bool = True) -> RanInPlace:
    """Runs a call_tir_inplace: result k is input places[k] after the call, or a fresh one for -1. The inputs themselves
    stay as they are. tracked: False where it is known that initialised elements alone are read."""
    buffers = [_argument(i) for i in call.inputs]
    fresh = {k: _empty(*out) for k, (out, place) in enumerate(zip(call.outputs, places, strict=True)) if place < 0}
    given = [*buffers, *fresh.values(), *call.extra]
    masks: list[Array | None] = [None] * len(given)
    if tracked:
        empty = [np.zeros(array.shape, np.bool_) for array in fresh.values()]
        masks = [*_masks(call), *empty, *[None] * len(call.extra)]
    roundings = Roundings.count
    after = iter(run_tracked(call.function, given, masks, context=call.context))
    known = [next(after) if isinstance(i, Tensor) else None for i in call.inputs]
    arrays = [fresh[k] if place < 0 else np.asarray(buffers[place]) for k, place in enumerate(places)]
    return RanInPlace(arrays, dict(zip(fresh, after, strict=False)), known, Roundings.count != roundings)


def same_when_shared(call: PrimCall, places: list[int]) -> bool:
    """Whether a call in place gives the same where inputs have memory in common, as they have once it is lowered."""
    arrays: dict[int, Array] = {}
    buffers = [
        arrays.setdefault(id(i.value), declared(i)) if isinstance(i, Tensor) else _argument(i) for i in call.inputs
    ]
    fresh = [_empty(*out) for out, place in zip(call.outputs, places, strict=True) if place < 0]
    given = [*buffers, *fresh, *call.extra]
    run_tracked(call.function, given, [None] * len(given), context=call.context)
    alone = run_in_place(call, places, tracked=False).arrays
    return all(p < 0 or np.asarray(buffers[p]).tobytes() == a.tobytes() for p, a in zip(places, alone, strict=True))


def shares(call: PrimCall, places: list[int]) -> bool:
    """Whether an input that a call in place writes to has memory of another one."""
    values = [one.value if isinstance(one, Tensor) else np.empty(0) for one in call.inputs]
    pairs = ((values[place], other) for place in places if place >= 0 for other in values[:place] + values[place + 1 :])
    return any(np.shares_memory(one, other) for one, other in pairs)


def _masks(call: PrimCall) -> list[Array | None]:
    """Which elements of each input are initialised, None for all."""
    return [mask_of(i) if isinstance(i, Tensor) else None for i in call.inputs]


def _empty(shape: tuple[int, ...], dtype: str) -> Array:
    return np.zeros(shape, numpy_dtype(dtype))


def _argument(value: Runtime) -> Array | Scalar:
    if isinstance(value, Tensor):
        return declared(value)
    if isinstance(value, (Shape, tuple, str)):
        raise Unsupported(f"call_tir with a {type(value).__name__} argument")
    return value


def _wide(tensor: Tensor) -> Array:
    return np.array(tensor.value, dtype=np.float64, order="C")
