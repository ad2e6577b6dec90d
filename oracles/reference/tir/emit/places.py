"""Where an access lies, as code: tuples of indices, and the element of the memory for the checks of data races."""

from __future__ import annotations

from math import prod

from oracles.reference.tir.constants import fold
from oracles.reference.tir.emit.state import Code, EmitState
from oracles.reference.tir.nodes import INT64, Buffer, Const, Expr, Watched


def place_of(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...], actor: Watched) -> str:
    """Element of the memory, block, thread and statement of an access, as code, and where that is."""
    parts = [state.expr(part) for part in (flat_index(buffer, indices), actor.block, actor.thread)]
    return f"{tuple_of(parts)}, {actor.statement}, {state.site(buffer.name)}"


def unit_of(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...]) -> str:
    """The arguments that say to `Flights` which part of which memory is accessed, under what mask."""
    element = state.expr(flat_index(buffer, indices)).text
    return f"{buffer.memory}, {element}, {state.mask}, {state.buffers.parts(buffer)}, {state.site(buffer.name)}"


def flat_index(buffer: Buffer, indices: tuple[Expr, ...]) -> Expr:
    """The number of an element in the memory of a buffer."""
    total: Expr = Const(buffer.start // buffer.dtype.numpy.itemsize, INT64)
    for extent, index, stride in zip(buffer.shape, indices, _strides(buffer.shape), strict=True):
        if extent > 1:
            total = fold("add", total, fold("mul", index, Const(stride, INT64), INT64), INT64)
    return total


def _strides(shape: tuple[int, ...]) -> list[int]:
    return [prod(shape[number + 1 :]) for number in range(len(shape))]


def tuple_of(codes: list[Code]) -> str:
    """The text of a Python tuple of expressions, `()` of none."""
    return "(" + "".join(f"{code.text}, " for code in codes) + ")"
