"""A call of a PrimFunc that can be repeated: its arguments, and the arguments as it left them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from generators.dtypes import Array
from generators.tvm_api import PrimFunc
from oracles.reference.tir.memory import InitMask
from oracles.reference.tir.program import PythonProgram

LIMIT = 1 << 18
"""Bytes of arguments up to which a call keeps copies of them."""
MOST_CALLS = 256
"""Calls of one run that do."""


@dataclass(slots=True, eq=False)
class RecordedCall:
    """One call. function: the PrimFunc's object; compiled, program: its compiled form, and the generated code that ran.

    full: numbers of the arguments of which all elements were initialised. arguments, known: copies from before the
    call; None where they were too large or shared memory. left, masks, number: the arguments after it,
    the initialisation mask of each array, and the result.
    """

    function: PrimFunc
    compiled: Any
    program: PythonProgram
    given: tuple[object, ...]
    full: frozenset[int]
    arguments: list[object] | None = None
    known: list[InitMask] = field(default_factory=list)
    left: list[object] = field(default_factory=list)
    masks: tuple[InitMask, ...] = ()
    number: float | None = None

    @classmethod
    def begun(
        cls,
        function: PrimFunc,
        compiled: Any,
        program: PythonProgram,
        args: Sequence[object],
        known: Sequence[InitMask],
        number: int = 0,
    ) -> RecordedCall:
        """The call before it runs, after `number` others."""
        call = cls(function, compiled, program, tuple(args), full_of(known))
        arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
        if number < MOST_CALLS and sum(array.nbytes for array in arrays) <= LIMIT and not _overlap(arrays):
            call.arguments, call.known = copied(args), copied(known)
        return call

    def ended(self, args: Sequence[object], masks: tuple[InitMask, ...], number: float | None) -> None:
        """The call has run."""
        if self.arguments is not None:
            self.left, self.masks, self.number = copied(args), tuple(copied(masks)), number

    def gave(self, args: Sequence[object], masks: tuple[InitMask, ...], number: float | None) -> bool:
        """Whether these are, bit for bit, the arguments as the call left them, and its result."""
        return (
            type(number) is type(self.number)
            and repr(number) == repr(self.number)
            and all(map(_same_bits, args, self.left))
            and all(map(_same_mask, masks, self.masks))
        )


def full_of(known: Sequence[InitMask]) -> frozenset[int]:
    """Numbers of the arguments of which all elements are initialised."""
    return frozenset([number for number, mask in enumerate(known) if mask is None])


def copied(values: Sequence[Any]) -> list[Any]:
    """The values, arrays as copies that can be written where the originals can."""
    return [_copy(value) if isinstance(value, np.ndarray) else value for value in values]


def _copy(array: Array) -> Array:
    copy = array.copy()
    copy.flags.writeable = array.flags.writeable
    return copy


def _overlap(arrays: list[Array]) -> bool:
    return any(np.may_share_memory(one, other) for index, one in enumerate(arrays) for other in arrays[index + 1 :])


def _same_bits(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.tobytes() == other.tobytes()
    return True  # a number, which no call changes


def _same_mask(one: InitMask, other: InitMask) -> bool:
    if one is None or other is None:
        return (one is None or bool(one.all())) and (other is None or bool(other.all()))
    return bool(np.array_equal(one, other))
