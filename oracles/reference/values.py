"""Values of the reference interpreter, and the way between them and arguments of entry calls.

A float tensor is carried in float64 whatever its dtype; `error`, where present, bounds how far a faithful
implementation in the declared precision may be from `value`, element by element (inf: nothing can be said).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from generators.case import Argument, Shape
from generators.dtypes import Array, is_float, numpy_dtype
from generators.tvm_api import BaseFunc, GlobalVar
from oracles.reference.allocations import Memory, Storage


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: float64 for float dtypes, else the declared dtype. error None means exact.

    memory: its allocation by the program; None for a plain value. first: the element of the allocation at which it
    begins, for a view of fewer elements.
    """

    value: Array
    dtype: str
    error: Array | None = None
    memory: Memory | None = None
    first: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Run-time shape."""
        shape: tuple[int, ...] = self.value.shape
        return shape

    @property
    def left_open(self) -> Array:
        """Elements of which nothing can be said, as a mask."""
        return np.zeros(self.shape, np.bool_) if self.error is None else np.isinf(self.error)


@dataclass(frozen=True, slots=True)
class ShapeHeap(Tensor):
    """The memory in which a lowered function keeps its symbolic dimensions: int64 slots. written: which are."""

    written: Array = field(default_factory=lambda: np.zeros(0, np.bool_))


@dataclass(frozen=True, slots=True)
class Closure:
    """A function as a value: a Relax function or a GlobalVar, with captured arguments."""

    function: BaseFunc | GlobalVar
    captured: tuple[Runtime, ...] = ()
    environment: Any = None


@dataclass(frozen=True, slots=True)
class Callback:
    """A function of the user's: `answer` takes the arguments as runtime values and returns the result."""

    answer: Callable[..., Runtime]


class Unit:
    """The result of a call made for its effect."""


UNIT = Unit()
Runtime: TypeAlias = (
    "Tensor | Shape | Closure | Callback | Storage | Unit | int | float | bool | str | tuple[Runtime, ...]"
)


def round_to(value: Array, dtype: str) -> Array:
    """float64 carriers rounded to the nearest value of a float dtype, still as float64."""
    if dtype == "float64":
        return value
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(numpy_dtype(dtype)).astype(np.float64)


def carried(array: Array, dtype: str) -> Tensor:
    """An array in its declared dtype as a Tensor."""
    return Tensor(np.asarray(array).astype(np.float64) if is_float(dtype) else np.asarray(array), dtype)


def declared(tensor: Tensor) -> Array:
    """The tensor's value in its declared dtype, as a fresh contiguous array."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(tensor.value, dtype=numpy_dtype(tensor.dtype), order="C")


def from_argument(argument: Argument) -> Runtime:
    """An entry call's argument as a runtime value."""
    if isinstance(argument, np.ndarray):
        return carried(argument.copy(), argument.dtype.name)
    if isinstance(argument, tuple):
        return tuple(from_argument(a) for a in argument)
    return argument


def flattened(value: Runtime) -> list[Runtime]:
    """The leaves of nested tuples, in order."""
    if isinstance(value, tuple):
        return [leaf for field in value for leaf in flattened(field)]
    return [value]


def mostly_numbers(value: Runtime) -> bool:
    """Whether at least half of the elements of a result are finite."""
    tensors = [leaf for leaf in flattened(value) if isinstance(leaf, Tensor)]
    total = sum(tensor.value.size for tensor in tensors)
    return 2 * sum(int(np.isfinite(tensor.value).sum()) for tensor in tensors) >= total
