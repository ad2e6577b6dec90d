"""Error bounds of what a PrimFunc gives, from runs on perturbed inputs: single operations are not followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import numpy as np
from tvm import tirx

from generators import tvm_api
from generators.dtypes import FLOAT8, Array, float_facts, is_float
from generators.tvm_api import BaseFunc, Node
from oracles.ir.walk import nodes_of
from oracles.reference.error_rules import size_of
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.prim_call import PrimCall
from oracles.reference.values import Runtime, Tensor, carried

_SIGNS = 3
_SAFETY = 16.0

Again: TypeAlias = Callable[[list[Runtime]], list[Array]]
"""All results of a call for other inputs."""


@contextmanager
def may_trap() -> Iterator[None]:
    """Around a run on other values within the errors of the inputs: a trap there may be one of a right module later, so
    that nothing can be said of it."""
    try:
        yield
    except Trap as trap:
        raise Unsupported("call_tir on the verge of a trap") from trap


def _is_open(value: Runtime) -> bool:
    """Whether some elements of a tensor may be anything."""
    return isinstance(value, Tensor) and value.error is not None and not np.all(np.isfinite(value.error))


def if_known(call: PrimCall, results: list[Tensor]) -> list[Tensor]:
    """The results without bounds for rounding: of nothing is known anything where an input is not known."""
    if not any(map(_is_open, call.inputs)):
        return results
    return [replace(result, error=np.full(result.shape, np.inf)) for result in results]


def with_own_error(call: PrimCall, results: list[Tensor]) -> list[Tensor]:
    """The results with what rounding in the PrimFunc itself is likely to do to them: as if its inputs were exact, and
    each number that an element reads were rounded once, in whatever direction."""
    tensors = [i for i in call.inputs if isinstance(i, Tensor)]
    unit = max((float_facts(t.dtype).unit for t in [*tensors, *results] if is_float(t.dtype)), default=0.0)
    own = unit * (max((t.value.size for t in tensors), default=1) ** 0.5 + 8)
    bounded = [replace(one, error=own * np.abs(one.value)) if is_float(one.dtype) else one for one in results]
    return if_known(call, bounded)


def with_bounds(call: PrimCall, results: list[Tensor], again: Again, rounds: bool) -> list[Tensor]:
    """The results with their bounds; numbers of few bits that only sums and products compute are exact.

    rounds: whether an operation on floats of 8 bits has rounded. Where the inputs are exact, what they are moved to is
    no input of any module: a trap there says no more than that the result changes by leaps, and the bound is infinite.
    Elements of inputs with an infinite bound may be anything: what changes with them has an infinite bound, too, and
    everything has where a few numbers do not show what changes.
    """
    function, inputs = call.function, call.inputs
    tensors = [i for i in inputs if isinstance(i, Tensor)]
    exact = all(t.error is None for t in tensors)
    unit = max((float_facts(t.dtype).unit for t in [*tensors, *results] if is_float(t.dtype)), default=0.0)
    terms = max((t.value.size for t in tensors), default=1)

    @cache
    def moved() -> list[list[Array]] | None:
        random = np.random.default_rng(0)
        try:
            with nullcontext() if exact else may_trap():
                return [again([_perturbed(i, random, unit * terms**0.5) for i in inputs]) for _ in range(_SIGNS)]
        except Trap:
            return None

    bounded = []
    open_to_all = list(filter(_is_open, tensors))
    infinite = any(not is_float(t.dtype) for t in open_to_all) or (bool(open_to_all) and _leaps(function))
    for index, result in enumerate(results):
        if exact and (not is_float(result.dtype) or (_ring_only(function) and _few_bits([*tensors, result], rounds))):
            bounded.append(result)
        elif infinite or (seen := moved()) is None:
            bounded.append(Tensor(result.value, result.dtype, np.full(result.shape, np.inf)))
        else:
            bounded.append(_moved_apart(result, [run[index] for run in seen], unit * (terms + 8)))
    if open_to_all and not infinite:
        return _open_to_all(bounded, results, inputs, again)
    return bounded


def _open_to_all(bounded: list[Tensor], results: list[Tensor], inputs: list[Runtime], again: Again) -> list[Tensor]:
    """Those with an infinite bound wherever a result changes with the elements of inputs that have one: these are NaN,
    the ends of their dtype, and numbers of both signs. What does not leap changes with one of them."""
    random = np.random.default_rng(1)
    changed = [np.zeros(result.shape, np.bool_) for result in results]
    try:
        with may_trap():
            for scale in (np.nan, np.inf, -np.inf, 1e-3, 1.0, 1e3):
                others = again([_with_others(one, random, scale) for one in inputs])
                for change, result, other in zip(changed, results, others, strict=True):
                    change |= ~_same(carried(other, result.dtype).value, result.value)
    except Unsupported:
        changed = [np.ones(result.shape, np.bool_) for result in results]
    errors = (np.zeros(one.shape) if one.error is None else one.error for one in bounded)
    return [
        replace(one, error=np.where(change, np.inf, error))
        for one, change, error in zip(bounded, changed, errors, strict=True)
    ]


def _same(one: Array, other: Array) -> Array:
    return np.asarray((one == other) | ((one != one) & (other != other)))


def _with_others(value: Runtime, random: np.random.Generator, scale: float) -> Runtime:
    """An input with other numbers where its bound is infinite, about so large next to the other ones."""
    if not isinstance(value, Tensor) or value.error is None or not _is_open(value):
        return value
    largest = float_facts(value.dtype).largest
    drawn = random.standard_normal(value.shape) * (1 + size_of(value.value)) if np.isfinite(scale) else 1.0
    others = np.clip(drawn * scale, -largest, largest)
    return Tensor(np.where(value.left_open, others, value.value), value.dtype)


def _moved_apart(result: Tensor, others: list[Array], own: float) -> Tensor:
    """A result with a bound from the results of perturbed inputs. own: the relative error of its own rounding."""
    error = np.zeros(result.shape)
    for other in others:
        seen = carried(other, result.dtype)
        gap = np.abs(seen.value.astype(np.float64) - result.value.astype(np.float64))
        error = np.maximum(error, np.nan_to_num(gap, nan=np.inf))
    if not is_float(result.dtype):
        return Tensor(result.value, result.dtype, np.where(error > 0, np.inf, 0.0) if error.any() else None)
    return Tensor(result.value, result.dtype, _SAFETY * error + own * np.abs(result.value))


def _perturbed(value: Runtime, random: np.random.Generator, relative: float) -> Runtime:
    if not isinstance(value, Tensor) or not is_float(value.dtype):
        return value
    error = 0.0 if value.error is None else np.where(np.isfinite(value.error), value.error, 0.0)
    width = relative * size_of(value.value) + error
    moved, largest = value.value + random.choice((-1.0, 1.0), value.shape) * width, float_facts(value.dtype).largest
    return Tensor(np.where(np.isfinite(value.value), np.clip(moved, -largest, largest), moved), value.dtype)


def _few_bits(tensors: list[Tensor], rounds: bool) -> bool:
    """Whether all are small multiples of a power of two, on which sums and products round nothing; of floats of 8 bits,
    on which some soon do, that is seen as they are computed."""
    narrow = any(t.dtype in FLOAT8 for t in tensors)
    wider = [t for t in tensors if is_float(t.dtype) and t.dtype not in FLOAT8]
    return not (narrow and rounds) and all(any(_small_whole(t, places) for places in _PLACES) for t in wider)


_PLACES = (0, 4, 8)
"""Numbers of binary places after the point that are tried."""


def _small_whole(tensor: Tensor, places: int) -> bool:
    value, limit = np.ldexp(tensor.value, places), 0.25 / float_facts(tensor.dtype).unit
    return bool(np.all((value == np.trunc(value)) & (np.abs(value) < limit)))


_COMPARING = (tirx.EQ, tirx.NE, tirx.LT, tirx.LE, tirx.GT, tirx.GE, tirx.Mod, tirx.FloorMod, tirx.FloorDiv)
_SMOOTH = frozenset(
    {
        *("if_then_else", "likely", "exp", "exp2", "log", "sqrt", "rsqrt", "fabs"),
        *("pow", "sin", "cos", "tanh", "sigmoid", "erf", "fma"),
    }
)
"""Intrinsics whose results change with their operands everywhere, or up to one side."""


def _leaps(function: BaseFunc) -> bool:
    """Whether a PrimFunc may compute something of floats that changes at some numbers alone."""
    return any(_leaps_at(node) for node in nodes_of(function.body, (*_COMPARING, tirx.Cast, tvm_api.Call)))


def _intrinsic(call: Node) -> str:
    """Its name without the dialect, which is `tirx` for some and `prim` for others."""
    return str(getattr(call.op, "name", "")).rpartition(".")[2]


def _leaps_at(node: Node) -> bool:
    if isinstance(node, tvm_api.Call):
        return _intrinsic(node) not in _SMOOTH
    operand = node.value if isinstance(node, tirx.Cast) else node.a
    whole = isinstance(node, tirx.Cast) and is_float(str(node.ty.dtype))
    return is_float(str(operand.ty.dtype)) and not whole


_INEXACT = (tirx.Div, tvm_api.Call)
"""Divisions and intrinsics: everything else that PrimFuncs compute floats with is exact on few bits."""
_CHOICES = frozenset({"if_then_else", "likely"})
"""Intrinsics that give one of their operands."""
_WHOLE = frozenset({"floor", "ceil", "trunc", "round", "nearbyint"})
"""Intrinsics that give a number of no more bits, but hide what was rounded before them."""


def _ring_only(function: BaseFunc) -> bool:
    """Whether a PrimFunc computes floats by sums, products, minima, maxima and choices alone."""
    return not any(_rounds(node) for node in nodes_of(function.body, _INEXACT))


def _rounds(node: Node) -> bool:
    """Whether a division or a call rounds, or hides that something was rounded, which is seen for floats of 8 bits."""
    name = _intrinsic(node) if isinstance(node, tvm_api.Call) else ""
    return name not in _CHOICES and not (name in _WHOLE and str(node.ty.dtype) in FLOAT8)
