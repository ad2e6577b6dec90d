"""The noun of the TIR generator: a PrimFunc with exact arguments and the facts about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from generators.dtypes import Array, Scalar, numpy_dtype
from generators.ranges import Range
from generators.tvm_api import IRModule, PrimFunc


@dataclass(frozen=True, slots=True)
class PrimParameter:
    """A parameter of the function: a buffer (dims as texts: "8", "n", "n + 1") or a number (dims None).

    role: "input" or "output" (written whole before any read). `range` bounds the elements, of an
    output after the call; of a float with special values it bounds the finite ones.
    """

    name: str
    dtype: str
    dims: tuple[str, ...] | None
    role: str
    range: Range


@dataclass(frozen=True, slots=True)
class PrimProgram:
    """`module` has the public PrimFunc `function`; other functions in it are private and dead.

    arguments: one for each parameter in order: arrays in their declared dtype, outputs filled with a sentinel that no
    program computes, and Python numbers for scalars. symbols: the value of each symbolic extent in them; any other
    from 0 to `knobs.SYMBOL_LIMIT` is in range as well. exact: no operation rounds, so that every order of evaluation
    gives the same bits (NaN as a class). schedulable: the function is of sblocks.
    buffers: the range of every buffer of the function, inner ones too, by name.
    """

    module: IRModule
    function: str
    parameters: tuple[PrimParameter, ...]
    arguments: tuple[Array | Scalar, ...]
    symbols: dict[str, int]
    buffers: dict[str, Range]
    exact: bool
    schedulable: bool
    features: frozenset[str] = field(default_factory=frozenset)

    @property
    def func(self) -> PrimFunc:
        """The PrimFunc."""
        return self.module[self.function]

    @property
    def outputs(self) -> tuple[int, ...]:
        """The numbers of the parameters that the function writes."""
        return tuple(i for i, parameter in enumerate(self.parameters) if parameter.role != "input")

    def fresh_arguments(self) -> list[Array | Scalar]:
        """Arguments that a call may overwrite: copies of the arrays."""
        return [value.copy() if isinstance(value, np.ndarray) else value for value in self.arguments]

    def initialised(self) -> list[bool]:
        """For each parameter whether it holds something before the call."""
        return [parameter.role != "output" for parameter in self.parameters]


def blank(shape: tuple[int, ...], dtype: str) -> Array:
    """An output before the call."""
    return np.full(shape, True if dtype == "bool" else 77, numpy_dtype(dtype))
